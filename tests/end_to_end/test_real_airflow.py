"""What only the real scheduler, triggerer, API server and task processes show."""

from __future__ import annotations

from datetime import timedelta

import pytest
from real_airflow import RealAirflow

from demo.outcomes import TaskOutcome


def decisions(task: TaskOutcome) -> list[tuple[int, str, str]]:
    return [(one["try_number"], one["action"], one["code"]) for one in task.attempts]


@pytest.mark.parametrize("dag_id", ["deferred", "called_back", "killed"])
def test_a_retry_comes_no_earlier_than_the_policy_asked(real_airflow: RealAirflow, dag_id: str):
    waits = [
        (following.start - this.end, this.retry_delay)
        for task in real_airflow.finished_run(dag_id).tasks
        for this, following in zip(task.tries, task.tries[1:], strict=False)
        if this.retry_delay is not None
    ]

    assert waits
    for waited, asked in waits:
        assert timedelta(seconds=1) < asked <= timedelta(seconds=2)
        assert waited >= asked


def test_the_exception_of_a_failed_trigger_decides_about_its_task(real_airflow: RealAirflow):
    run = real_airflow.finished_run("deferred")

    broken, missing = run.task("link_broken"), run.task("file_missing")
    assert decisions(broken) == [(1, "retry", "os.econnreset"), (2, "retry", "os.econnreset")]
    assert [one.state for one in broken.tries] == ["failed", "failed"]
    assert decisions(missing) == [(1, "fail", "os.enoent")]
    assert [one.state for one in missing.tries] == ["failed"]


def test_callbacks_and_listeners_read_the_decision_about_the_try_that_called_them(real_airflow: RealAirflow):
    real_airflow.finished_run("called_back")

    first = [1, "retry", "os.econnrefused"]
    second = [2, "retry", "os.econnrefused"]
    assert real_airflow.seen("called_back") == [
        ("on_retry_callback", 1, [first]),
        ("listener", 1, [first]),
        ("on_failure_callback", 2, [first, second]),
        ("listener", 2, [first, second]),
    ]


def test_a_killed_task_is_retried_by_airflow_and_leaves_the_record_whole(real_airflow: RealAirflow):
    task = real_airflow.finished_run("killed").task("broken_killed_then_lost")

    assert [one.state for one in task.tries] == ["failed", "failed", "failed"]
    assert [one.retry_reason is not None for one in task.tries] == [True, False, False]
    assert decisions(task) == [(1, "retry", "os.econnreset"), (3, "fail", "os.enoent")]


def test_mapped_tasks_have_records_of_their_own(real_airflow: RealAirflow):
    run = real_airflow.finished_run("mapped")

    broken, missing, good = (run.task("load", index) for index in range(3))
    assert decisions(broken) == [(1, "retry", "os.econnreset"), (2, "retry", "os.econnreset")]
    assert decisions(missing) == [(1, "fail", "os.enoent")]
    assert (good.state, decisions(good)) == ("success", [])


def test_a_clear_begins_a_new_round_and_the_old_one_stays_visible(real_airflow: RealAirflow):
    before = real_airflow.finished_run("cleared")
    round_one = [(1, "retry", "http.401.expired"), (2, "fail", "http.401.expired")]
    assert decisions(before.task("unauthorized")) == round_one

    real_airflow.clear("cleared", before.run_id)
    after = real_airflow.finished_run("cleared")

    assert decisions(after.task("unauthorized")) == [
        *round_one,
        (3, "retry", "http.401.expired"),
        (4, "fail", "http.401.expired"),
    ]
    assert [one["max_tries"] for one in after.task("unauthorized").attempts] == [3, 3, 5, 5]


def test_the_record_is_what_the_api_shows_as_the_task_state_store(real_airflow: RealAirflow):
    run = real_airflow.finished_run("called_back")

    record = run.task("refused").record
    assert record["attempts"]
    assert real_airflow.record_in_api("called_back", run.run_id, "refused") == record
