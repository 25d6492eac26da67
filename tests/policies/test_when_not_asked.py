"""Rows of the page on when a policy is not asked, each run by Airflow's own task runner."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, BaseOperator, BaseSensorOperator, Context, task
from airflow.sdk.exceptions import AirflowSkipException
from airflow.triggers.base import BaseTrigger, TriggerEvent
from airflow_runner import DagRunner

from airflow_common_ai.policies import EvidenceRetryPolicy, FailureRule, RetryAction
from demo.outcomes import read_run

NEVER_ASKED: dict[str, Any] = {
    "retries": 2,
    "retry_policy": EvidenceRetryPolicy(rules=[FailureRule(exception=BaseException, action=RetryAction.FAIL)]),
}
"""A policy that leaves a record of whatever it is asked about."""


class Fires(BaseTrigger):
    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{__name__}.Fires", {}

    async def run(self) -> Any:
        yield TriggerEvent("done")


class Breaks(Fires):
    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{__name__}.Breaks", {}

    async def run(self) -> Any:
        raise FileNotFoundError(2, "No such file or directory", "/nowhere")
        yield


class Defers(BaseOperator):
    def __init__(self, *, trigger: BaseTrigger, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.awaited = trigger

    def execute(self, context: Context) -> None:
        self.defer(trigger=self.awaited, method_name="resume")

    def resume(self, context: Context, event: Any) -> None: ...


class SecondLook(BaseSensorOperator):
    def poke(self, context: Context) -> bool:
        store = context["task_state_store"]
        looks = (store.get("looks") or 0) + 1
        store.set("looks", looks)
        return looks > 1


def test_what_is_no_failure_leaves_no_record(run_dag: DagRunner) -> None:
    with DAG("not_asked_no_failure") as dag:

        @task(**NEVER_ASKED)
        def skips() -> None:
            raise AirflowSkipException("nothing to do")

        skips()
        Defers(task_id="defers", trigger=Fires(), **NEVER_ASKED)
        SecondLook(task_id="reschedules", mode="reschedule", poke_interval=1, **NEVER_ASKED)

    outcome = run_dag(dag)
    states = {name: outcome.task(name).state for name in ("skips", "defers", "reschedules")}
    assert states == {"skips": "skipped", "defers": "success", "reschedules": "success"}
    assert outcome.task("reschedules").store["looks"] == 2
    for name in states:
        assert "ai_retry" not in outcome.task(name).store


@pytest.mark.parametrize(("skips", "state"), [(False, "failed"), (True, "skipped")])
def test_a_run_that_is_there_already_is_decided_by_the_operator(run_dag: DagRunner, skips: bool, state: str) -> None:
    with DAG(f"not_asked_triggered_{state}") as target:

        @task
        def nothing() -> None: ...

        nothing()
    there = run_dag(target)
    with DAG(f"not_asked_triggering_{state}") as dag:
        TriggerDagRunOperator(
            task_id="again",
            trigger_dag_id=target.dag_id,
            trigger_run_id=there.run_id,
            skip_when_already_exists=skips,
            **NEVER_ASKED,
        )

    outcome = run_dag(dag).task("again")
    assert [one.state for one in outcome.tries] == [state]
    assert "ai_retry" not in outcome.store


@pytest.fixture
def own_sigterm() -> Iterator[None]:
    """The task runner sets a handler in this very process."""
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


def test_sigterm_raises_nothing_and_what_the_task_raises_then_is_judged(run_dag: DagRunner, own_sigterm: None) -> None:
    class Told(BaseOperator):
        is_told = False

        def execute(self, context: Context) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            if self.is_told:
                raise ConnectionResetError(104, "Connection reset by peer")

        def on_kill(self) -> None:
            self.is_told = True

    with DAG("not_asked_sigterm") as dag:
        Told(task_id="told", retries=1, retry_policy=EvidenceRetryPolicy())

    codes = [attempt["code"] for attempt in run_dag(dag).task("told").attempts]
    assert codes == ["os.econnreset", "os.econnreset"]


def test_dag_test_asks_no_policy_when_a_trigger_fails_and_a_triggerer_makes_it_be_asked(
    run_dag: DagRunner, airflow_database: Path
) -> None:
    with DAG("not_asked_dag_test") as dag:
        Defers(task_id="breaks", trigger=Breaks(), **NEVER_ASKED)
    assert [attempt["action"] for attempt in run_dag(dag).task("breaks").attempts] == ["fail"]

    alone = dag.test()
    outcome = read_run(airflow_database, dag.dag_id, alone.run_id).task("breaks")
    assert [one.state for one in outcome.tries] == ["failed"]
    assert "ai_retry" not in outcome.store
