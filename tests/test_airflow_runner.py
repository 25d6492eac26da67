from __future__ import annotations

from datetime import timedelta

from airflow.sdk import DAG, BaseOperator, BaseSensorOperator, Context, task
from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryAction, RetryRule
from airflow.triggers.base import BaseTrigger, TriggerEvent
from airflow_runner import DagRunner


class CountingTrigger(BaseTrigger):
    """Fires, or raises what it is told to raise."""

    def __init__(self, fails: bool) -> None:
        super().__init__()
        self.fails = fails

    def serialize(self):
        return f"{__name__}.CountingTrigger", {"fails": self.fails}

    async def run(self):
        if self.fails:
            raise ConnectionResetError("the other side hung up")
        yield TriggerEvent("fired")


class WaitsForTrigger(BaseOperator):
    def __init__(self, *, fails: bool, **kwargs) -> None:
        super().__init__(**kwargs)
        self.fails = fails

    def execute(self, context: Context) -> None:
        self.defer(trigger=CountingTrigger(self.fails), method_name="resume")

    def resume(self, context: Context, event: str) -> str:
        return event


def test_each_try_is_reported_with_the_delay_and_the_reason_of_its_policy_and_nothing_waits(
    run_dag: DagRunner,
):
    with DAG("runner_retries") as dag:
        rules = [RetryRule(ValueError, RetryAction.RETRY, timedelta(hours=2), "a bad value")]

        @task(retries=2, retry_delay=timedelta(hours=1), retry_policy=ExceptionRetryPolicy(rules=rules))
        def parse(**context) -> None:
            context["task_state_store"].set("seen", context["ti"].try_number)
            raise ValueError("bad")

        parse()

    outcome = run_dag(dag)

    parsed = outcome.task("parse")
    assert (outcome.state, parsed.state) == ("failed", "failed")
    assert [one.number for one in parsed.tries] == [1, 2, 3]
    assert [one.retry_delay for one in parsed.tries] == [timedelta(hours=2), timedelta(hours=2), None]
    assert [one.retry_reason for one in parsed.tries] == ["a bad value", "a bad value", None]
    assert parsed.store == {"seen": 3}


def test_a_policy_that_says_fail_leaves_one_try(run_dag: DagRunner):
    with DAG("runner_fails") as dag:
        policy = ExceptionRetryPolicy(rules=[RetryRule(ValueError, RetryAction.FAIL)])

        @task(retries=2, retry_policy=policy)
        def parse() -> None:
            raise ValueError("bad")

        parse()

    assert [one.state for one in run_dag(dag).task("parse").tries] == ["failed"]


def test_mapped_tasks_are_told_apart(run_dag: DagRunner):
    with DAG("runner_mapped") as dag:

        @task(retries=1)
        def halve(number: int) -> int:
            if number % 2:
                raise ValueError(number)
            return number // 2

        halve.expand(number=[1, 2])

    outcome = run_dag(dag)

    assert outcome.task("halve", 0).state == "failed"
    assert len(outcome.task("halve", 0).tries) == 2
    assert outcome.task("halve", 1).state == "success"
    assert len(outcome.task("halve", 1).tries) == 1


def test_a_trigger_that_fires_resumes_its_task_and_one_that_raises_fails_it(run_dag: DagRunner):
    seen: list[object] = []

    class Watching(ExceptionRetryPolicy):
        def evaluate(self, exception, try_number, max_tries, context=None):
            seen.append(context["ti"]._ti_context_from_server.next_kwargs)
            return super().evaluate(exception, try_number, max_tries, context)

    with DAG("runner_deferred") as dag:
        WaitsForTrigger(task_id="fires", fails=False)
        WaitsForTrigger(task_id="raises", fails=True, retries=1, retry_policy=Watching(rules=[]))

    outcome = run_dag(dag)

    assert outcome.task("fires").state == "success"
    assert [one.state for one in outcome.task("raises").tries] == ["failed", "failed"]
    assert len(seen) == 2
    assert "ConnectionResetError: the other side hung up\n" in seen[0]["traceback"]


def test_a_sensor_in_reschedule_mode_is_poked_again_within_one_try(run_dag: DagRunner):
    pokes: list[int] = []

    class Third(BaseSensorOperator):
        def poke(self, context: Context) -> bool:
            pokes.append(1)
            return len(pokes) == 3

    with DAG("runner_sensor") as dag:
        Third(task_id="third", mode="reschedule", poke_interval=3600, timeout=36000)

    outcome = run_dag(dag)

    assert outcome.task("third").state == "success"
    assert len(outcome.task("third").tries) == 1
    assert len(pokes) == 3


def test_a_clear_gives_a_failed_task_its_retries_again(run_dag: DagRunner):
    with DAG("runner_cleared") as dag:

        @task(retries=1)
        def parse() -> None:
            raise ValueError("bad")

        parse()

    first = run_dag(dag)
    second = run_dag.clear_and_run(dag, first, "parse")

    assert [(one.number, one.max_tries) for one in first.task("parse").tries] == [(1, 1), (2, 1)]
    assert [(one.number, one.max_tries) for one in second.task("parse").tries] == [
        (1, 1),
        (2, 1),
        (3, 3),
        (4, 3),
    ]
    assert second.run_id == first.run_id
