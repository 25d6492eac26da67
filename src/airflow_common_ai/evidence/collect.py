"""Walk a live exception once and write down what it says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from airflow_common_ai.evidence.model import Evidence


def collect(
    exception: BaseException, *, extra_tracebacks: Sequence[str] = (), observed_at: datetime | None = None
) -> Evidence:
    raise NotImplementedError
