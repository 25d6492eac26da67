"""One Dag for each thing that only real processes show."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from functools import partial

import requests
from airflow.sdk import DAG, BaseOperator, Context, task
from witness import FailingTrigger, write_down

from airflow_common_ai.policies import EvidenceRetryPolicy


def dag(dag_id: str, **defaults) -> DAG:
    return DAG(
        dag_id,
        schedule="@once",
        is_paused_upon_creation=False,
        default_args={
            "retries": 3,
            "retry_delay": timedelta(seconds=1),
            "retry_policy": EvidenceRetryPolicy(max_delay=timedelta(seconds=2)),
            **defaults,
        },
    )


class Deferring(BaseOperator):
    def __init__(self, *, failure: str, **kwargs) -> None:
        super().__init__(**kwargs)
        self.failure = failure

    def execute(self, context: Context) -> None:
        self.defer(trigger=FailingTrigger(self.failure), method_name="resume")

    def resume(self, context: Context, event: object) -> None:
        raise AssertionError("the trigger never fires")


with dag("deferred", retries=1):
    Deferring(task_id="link_broken", failure="connection")
    Deferring(task_id="file_missing", failure="file")


with dag(
    "called_back",
    retries=1,
    on_retry_callback=partial(write_down, "on_retry_callback"),
    on_failure_callback=partial(write_down, "on_failure_callback"),
):

    @task
    def refused() -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    refused()


with dag("killed"):

    @task
    def broken_killed_then_lost(ti) -> None:
        if ti.try_number == 1:
            raise ConnectionResetError(104, "Connection reset by peer")
        if ti.try_number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        open("/nowhere/upload.csv").close()

    broken_killed_then_lost()


with dag("mapped", retries=1):

    @task
    def load(source: str) -> None:
        if source == "broken":
            raise ConnectionResetError(104, "Connection reset by peer")
        if source == "missing":
            open("/nowhere/source.csv").close()

    load.expand(source=["broken", "missing", "good"])


with dag("cleared"):

    @task
    def unauthorized() -> None:
        requests.get(os.environ["DEMO_SERVICE"] + "/customers", timeout=10).raise_for_status()

    unauthorized()
