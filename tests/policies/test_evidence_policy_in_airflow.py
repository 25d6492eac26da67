"""Every way in, run by Airflow's own task runner with its Execution API and its task state store."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, BaseOperator, BaseSensorOperator, Context, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from airflow.triggers.base import BaseTrigger
from airflow_runner import DagRunner

from airflow_common_ai.policies import (
    ChainRetryPolicy,
    EvidenceRetryPolicy,
    ExceptionRetryPolicy,
    FailureRule,
    RetryAction,
    RetryRule,
    history,
)


def refuse() -> None:
    raise ConnectionRefusedError(111, "Connection refused")


def actions(store: dict[str, Any]) -> list[str]:
    return [attempt["action"] for attempt in store["ai_retry"]["attempts"]]


def test_a_missing_file_fails_at_once_and_the_record_says_why(run_dag: DagRunner) -> None:
    with DAG("policy_missing_file") as dag:

        @task(retries=3, retry_policy=EvidenceRetryPolicy())
        def read() -> None:
            Path("/nowhere/orders.csv").read_text()

        read()

    outcome = run_dag(dag).task("read")
    assert [one.state for one in outcome.tries] == ["failed"]
    (attempt,) = outcome.store["ai_retry"]["attempts"]
    assert (attempt["action"], attempt["category"], attempt["tier"]) == ("fail", "resource", "signals")
    assert attempt["reason"].startswith("os.enoent: ")
    assert [vote["tier"] for vote in attempt["votes"]] == ["rules", "signals", "classifier"]


def test_a_refused_connection_is_retried_with_growing_delays_that_span_the_tasks_own_schedule(
    run_dag: DagRunner,
) -> None:
    with DAG("policy_refused") as dag:

        @task(
            retries=3, retry_delay=timedelta(minutes=30), retry_policy=EvidenceRetryPolicy(max_delay=timedelta(hours=9))
        )
        def connect() -> None:
            refuse()

        connect()

    tries = run_dag(dag).task("connect").tries
    delays = [one.retry_delay for one in tries if one.retry_delay is not None]
    assert delays == sorted(delays)
    assert sum(delays, timedelta(0)) >= timedelta(minutes=90) - timedelta(milliseconds=10)  # of rounding
    assert delays[0] < timedelta(minutes=30)
    assert tries[0].retry_reason is not None
    assert tries[0].retry_reason.startswith("os.econnrefused: ")


def test_default_args_class_operators_and_mapped_tasks_each_have_a_record_of_their_own(run_dag: DagRunner) -> None:
    class Reads(BaseOperator):
        def __init__(self, *, path: str, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.path = path

        def execute(self, context: Context) -> None:
            Path(self.path).read_text()

    with DAG("policy_default_args", default_args={"retries": 1, "retry_policy": EvidenceRetryPolicy()}) as dag:
        Reads.partial(task_id="mapped").expand(path=["/nowhere/a", "/dev/null", "/nowhere/b"])

        @task
        def decorated() -> None:
            refuse()

        decorated()

    outcome = run_dag(dag)
    assert [outcome.task("mapped", index).state for index in range(3)] == ["failed", "success", "failed"]
    assert actions(outcome.task("mapped", 0).store) == ["fail"]
    assert "ai_retry" not in outcome.task("mapped", 1).store
    assert actions(outcome.task("decorated").store) == ["retry", "retry"]


def test_an_async_task_is_judged_like_any_other(run_dag: DagRunner) -> None:
    with DAG("policy_async") as dag:

        @task(retries=2, retry_policy=EvidenceRetryPolicy())
        async def read() -> None:
            await asyncio.sleep(0)
            Path("/nowhere").read_text()

        read()

    assert actions(run_dag(dag).task("read").store) == ["fail"]


def test_an_async_task_that_is_cancelled_is_judged_and_left_to_airflow(run_dag: DagRunner) -> None:
    with DAG("policy_async_cancelled") as dag:

        @task(retries=3, retry_policy=EvidenceRetryPolicy())
        async def cancelled() -> None:
            current = asyncio.current_task()
            assert current is not None
            current.cancel()
            await asyncio.sleep(60)

        cancelled()

    outcome = run_dag(dag).task("cancelled")
    assert actions(outcome.store) == ["default"] * 4
    assert outcome.attempts[0]["types"][0].endswith("CancelledError")


def test_a_deep_copy_of_a_policy_decides_and_is_recorded_as_the_same(run_dag: DagRunner) -> None:
    policy = EvidenceRetryPolicy(
        rules=[FailureRule(exception=ConnectionError, message="refused", max_attempts=2, retry_delay=timedelta(0))],
        max_delay=timedelta(minutes=1),
    )
    with DAG("policy_deep_copy") as dag:
        for task_id, own in {"original": policy, "copied": copy.deepcopy(copy.deepcopy(policy))}.items():

            @task(task_id=task_id, retries=3, retry_policy=own)
            def connect() -> None:
                refuse()

            connect()

    outcome = run_dag(dag)
    kept = [
        [(one["action"], one["code"], one["policy"]) for one in outcome.task(task_id).attempts]
        for task_id in ("original", "copied")
    ]
    assert kept[0] == kept[1]
    assert [action for action, _, _ in kept[0]] == ["retry", "fail"]


class Breaking(BaseTrigger):
    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{__name__}.Breaking", {}

    async def run(self) -> Any:
        raise FileNotFoundError(2, "No such file or directory", "/nowhere")
        yield


class Defers(BaseOperator):
    def execute(self, context: Context) -> None:
        self.defer(trigger=Breaking(), method_name="resume")

    def resume(self, context: Context, event: Any) -> None: ...


def test_a_trigger_that_fails_is_judged_by_its_own_traceback(run_dag: DagRunner) -> None:
    with DAG("policy_trigger") as dag:
        Defers(task_id="wait", retries=2, retry_policy=EvidenceRetryPolicy())

    outcome = run_dag(dag).task("wait")
    assert [one.state for one in outcome.tries] == ["failed"]
    (attempt,) = outcome.store["ai_retry"]["attempts"]
    assert attempt["code"] == "os.enoent"
    assert any(path.endswith("FileNotFoundError") for path in attempt["types"])


class Refused(BaseSensorOperator):
    def poke(self, context: Context) -> bool:
        refuse()
        return True


class Never(BaseSensorOperator):
    def poke(self, context: Context) -> bool:
        return False


def test_a_sensor_whose_poke_fails_is_judged_and_one_that_times_out_is_not(run_dag: DagRunner) -> None:
    options: dict[str, Any] = {"retries": 1, "retry_policy": EvidenceRetryPolicy()}
    with DAG("policy_sensors") as dag:
        Refused(task_id="refused", **options)
        Refused(task_id="refused_reschedule", mode="reschedule", **options)
        Refused(task_id="refused_soft", soft_fail=True, **options)
        Never(task_id="times_out", timeout=0.01, poke_interval=0.01, **options)
        Never(task_id="times_out_soft", timeout=0.01, poke_interval=0.01, soft_fail=True, **options)

    outcome = run_dag(dag)
    assert actions(outcome.task("refused").store) == ["retry", "retry"]
    assert actions(outcome.task("refused_reschedule").store) == ["retry", "retry"]
    # soft_fail is about the sensor's timeout; a poke that raises is a failure like any other.
    assert actions(outcome.task("refused_soft").store) == ["retry", "retry"]
    assert outcome.task("times_out").state == "failed"
    assert len(outcome.task("times_out").tries) == 1
    assert outcome.task("times_out_soft").state == "skipped"
    for task_id in ("times_out", "times_out_soft"):
        assert "ai_retry" not in outcome.task(task_id).store


def test_airflow_fail_exception_never_reaches_a_policy(run_dag: DagRunner) -> None:
    with DAG("policy_fail_exception") as dag:

        @task(retries=2, retry_policy=EvidenceRetryPolicy())
        def give_up() -> None:
            raise AirflowFailException("no")

        give_up()

    outcome = run_dag(dag).task("give_up")
    assert len(outcome.tries) == 1
    assert outcome.store == {}


def test_execution_timeout_and_system_exit_reach_the_policy_although_they_are_no_exceptions(run_dag: DagRunner) -> None:
    with DAG("policy_base_exceptions") as dag:

        @task(retries=1, execution_timeout=timedelta(seconds=0.05), retry_policy=EvidenceRetryPolicy())
        def too_slow() -> None:
            import time

            while True:
                time.sleep(0.01)

        @task(retries=1, retry_policy=EvidenceRetryPolicy())
        def exits() -> None:
            raise SystemExit(75)

        too_slow()
        exits()

    outcome = run_dag(dag)
    assert any(
        "AirflowTaskTimeout" in path for path in outcome.task("too_slow").store["ai_retry"]["attempts"][0]["types"]
    )
    assert outcome.task("exits").store["ai_retry"]["attempts"][0]["code"].startswith("exit.")


def test_a_policy_in_a_chain_decides_or_leaves_it_to_the_next(run_dag: DagRunner) -> None:
    rules = [RetryRule(AirflowException, RetryAction.FAIL, reason="ours")]
    with DAG("policy_chain") as dag:
        chain = ChainRetryPolicy([EvidenceRetryPolicy(), ExceptionRetryPolicy(rules=rules)])

        @task(retries=2, retry_policy=chain)
        def known() -> None:
            Path("/nowhere").read_text()

        @task(retries=2, retry_policy=chain)
        def unknown() -> None:
            raise AirflowException("something odd")

        known()
        unknown()

    outcome = run_dag(dag)
    assert actions(outcome.task("known").store) == ["fail"]
    assert actions(outcome.task("unknown").store) == ["default"]
    assert [one.state for one in outcome.task("unknown").tries] == ["failed"]


def test_two_policies_of_a_chain_keep_apart_in_the_record_and_count_as_one_try(run_dag: DagRunner) -> None:
    cap = FailureRule(exception=AirflowException, max_attempts=3, retry_delay=timedelta(0))
    with DAG("policy_two_in_a_chain") as dag:

        @task(retries=4, retry_policy=ChainRetryPolicy([EvidenceRetryPolicy(), EvidenceRetryPolicy(rules=[cap])]))
        def odd() -> None:
            raise AirflowException(f"something odd {id(object())}")

        odd()

    outcome = run_dag(dag).task("odd")
    attempts = outcome.store["ai_retry"]["attempts"]
    assert len({attempt["policy"] for attempt in attempts}) == 2
    assert len(attempts) == len({(attempt["try_number"], attempt["policy"]) for attempt in attempts})
    assert len(outcome.tries) == 3


def test_the_same_unsure_failure_twice_in_a_row_fails(run_dag: DagRunner) -> None:
    with DAG("policy_repeat") as dag:

        @task(retries=5, retry_policy=EvidenceRetryPolicy())
        def odd() -> None:
            raise AirflowException("something odd")

        odd()

    outcome = run_dag(dag).task("odd")
    assert len(outcome.tries) == 2
    assert outcome.store["ai_retry"]["attempts"][-1]["code"] == "repeat.identical"


def test_a_clear_begins_a_new_round_while_the_old_one_stays_visible(run_dag: DagRunner) -> None:
    cap = FailureRule(exception=ValueError, max_attempts=2, retry_delay=timedelta(0))
    with DAG("policy_clear") as dag:

        @task(retries=3, retry_policy=EvidenceRetryPolicy(rules=[cap]))
        def parse() -> None:
            raise ValueError("bad")

        parse()

    first = run_dag(dag)
    assert actions(first.task("parse").store) == ["retry", "fail"]
    second = run_dag.clear_and_run(dag, first, "parse")
    assert actions(second.task("parse").store) == ["retry", "fail", "retry", "fail"]


def test_with_no_retries_the_decision_is_still_made_and_recorded(run_dag: DagRunner) -> None:
    with DAG("policy_no_retries") as dag:

        @task(retries=0, retry_policy=EvidenceRetryPolicy())
        def connect() -> None:
            refuse()

        connect()

    (attempt,) = run_dag(dag).task("connect").store["ai_retry"]["attempts"]
    assert (attempt["action"], attempt["is_last_try"]) == ("retry", True)


def test_a_policy_without_retries_is_warned_about_when_the_dag_is_parsed(tmp_path: Path) -> None:
    from airflow.dag_processing.dagbag import DagBag

    (tmp_path / "no_retries.py").write_text(
        "from airflow.sdk import DAG, task\n"
        "from airflow_common_ai.policies import ChainRetryPolicy, EvidenceRetryPolicy, ExceptionRetryPolicy\n"
        "class Ours(EvidenceRetryPolicy): ...\n"
        "theirs = ExceptionRetryPolicy(rules=[])\n"
        "chain = ChainRetryPolicy([theirs, ChainRetryPolicy([Ours(), EvidenceRetryPolicy()])])\n"
        "with DAG('no_retries') as dag:\n"
        "    for name, options in {\n"
        "        'plain': {'retry_policy': EvidenceRetryPolicy()},\n"
        "        'subclass': {'retry_policy': Ours()},\n"
        "        'chained': {'retry_policy': chain},\n"
        "        'mapped': {'retry_policy': EvidenceRetryPolicy()},\n"
        "        'has_retries': {'retries': 1, 'retry_policy': chain},\n"
        "        'theirs': {'retry_policy': ChainRetryPolicy([theirs])},\n"
        "        'none': {},\n"
        "    }.items():\n"
        "        @task(task_id=name, **options)\n"
        "        def run(x): ...\n"
        "        run.expand(x=[1]) if name == 'mapped' else run(1)\n"
    )
    with pytest.warns(UserWarning, match="retries=0") as caught:
        DagBag(tmp_path)
    warned = dict(re.findall(r"Task '(\w+)' has retry_policy=(\w+) but", "".join(str(one.message) for one in caught)))
    assert warned == {
        "plain": "EvidenceRetryPolicy",
        "subclass": "Ours",
        "chained": "Ours",
        "mapped": "EvidenceRetryPolicy",
    }


def test_shadow_mode_records_and_leaves_the_task_to_airflow(run_dag: DagRunner) -> None:
    with DAG("policy_shadow") as dag:

        @task(retries=1, retry_policy=EvidenceRetryPolicy(mode="shadow"))
        def read() -> None:
            Path("/nowhere").read_text()

        read()

    outcome = run_dag(dag).task("read")
    assert len(outcome.tries) == 2
    assert [(attempt["action"], attempt["mode"]) for attempt in outcome.store["ai_retry"]["attempts"]] == [
        ("fail", "shadow"),
        ("fail", "shadow"),
    ]


def test_the_kill_switch_of_the_deployment_beats_every_argument(
    run_dag: DagRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__COMMON_AI_RETRY__FORCE_SHADOW", "True")
    with DAG("policy_kill_switch") as dag:

        @task(retries=1, retry_policy=EvidenceRetryPolicy(mode="enforce"))
        def read() -> None:
            Path("/nowhere").read_text()

        read()

    assert len(run_dag(dag).task("read").tries) == 2


def test_a_value_of_somebody_else_under_our_key_is_not_fatal(run_dag: DagRunner) -> None:
    with DAG("policy_foreign_value") as dag:

        @task(retries=1, retry_policy=EvidenceRetryPolicy())
        def connect(**context: Any) -> None:
            context["task_state_store"].set("ai_retry", {"version": 7, "mine": True})
            refuse()

        connect()

    assert actions(run_dag(dag).task("connect").store) == ["retry"]


def test_callbacks_read_the_record_on_retry_and_on_failure(run_dag: DagRunner) -> None:
    seen: list[tuple[str, str | None]] = []

    def note(context: Context) -> None:
        last = history.read(context).last
        seen.append((str(context["ti"].state), last.code if last else None))

    with DAG("policy_callbacks") as dag:

        @task(retries=1, retry_policy=EvidenceRetryPolicy(), on_retry_callback=note, on_failure_callback=note)
        def connect() -> None:
            refuse()

        connect()

    run_dag(dag)
    assert [code for _, code in seen] == ["os.econnrefused", "os.econnrefused"]


def test_a_state_store_backend_of_the_deployment_holds_the_record(
    run_dag: DagRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from airflow.sdk.execution_time import context as context_module

    monkeypatch.setenv("AIRFLOW__WORKERS__STATE_STORE_BACKEND", "state_store_in_files.BackendInFiles")
    monkeypatch.setenv("STATE_STORE_FOLDER", str(tmp_path))
    monkeypatch.syspath_prepend(Path(__file__).parent)
    context_module._get_worker_state_store_backend.cache_clear()
    with DAG("policy_backend") as dag:

        @task(retries=1, retry_policy=EvidenceRetryPolicy())
        def connect() -> None:
            refuse()

        connect()

    try:
        run_dag(dag)
    finally:
        monkeypatch.undo()
        context_module._get_worker_state_store_backend.cache_clear()
    (stored,) = tmp_path.iterdir()
    assert actions({"ai_retry": json.loads(stored.read_text())}) == ["retry", "retry"]
