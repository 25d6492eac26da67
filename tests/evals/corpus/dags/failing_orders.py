"""Tasks that fail in the ways that an API tells apart."""

from __future__ import annotations

import logging
from datetime import timedelta

from airflow.sdk import DAG, task

log = logging.getLogger(__name__)

with DAG(
    "nightly-orders",
    schedule="@once",
    is_paused_upon_creation=False,
    default_args={"retry_delay": timedelta(seconds=1)},
):

    @task(retries=0)
    def load_orders() -> None:
        """Fail, and handle another exception before."""
        try:
            raise LookupError("handled by the task")
        except LookupError:
            log.exception("going on")
        raise ConnectionRefusedError(111, "cannot reach postgresql://bob:canary-hunter2@db/orders")

    @task(retries=1)
    def late(ti=None) -> None:  # type: ignore[no-untyped-def]
        if ti.try_number == 1:
            raise TimeoutError("took too long")

    @task(retries=0)
    def part(number: int) -> None:
        raise ValueError(f"row {number} is bad")

    load_orders()
    late()
    part.expand(number=[1, 2])
