"""What happens if the same failure comes again and again."""

from __future__ import annotations

import pytest
from evals.replayed_run import row

from airflow_common_ai.evals.answer import Action, LaterTry, Outcome
from airflow_common_ai.evals.course import Task, course_of

TASK = Task(retries=3, retry_delay_s=300.0)
RETRY, FAIL, DEFAULT = Action.RETRY, Action.FAIL, Action.DEFAULT


@pytest.mark.parametrize(
    ("action", "delay_s", "later", "waits_s", "is_known"),
    [
        ("fail", None, (), (), True),
        ("retry", 60.0, (), (60.0, 60.0, 60.0), False),
        ("retry", None, (), (300.0, 300.0, 300.0), False),
        ("default", None, (), (300.0, 300.0, 300.0), False),
        ("retry", 5.0, (LaterTry(RETRY, 100.0), LaterTry(RETRY, 800.0)), (5.0, 100.0, 800.0), True),
        ("retry", 5.0, (LaterTry(RETRY, 100.0),), (5.0, 100.0, 100.0), False),
        ("retry", 5.0, (LaterTry(FAIL),), (5.0,), True),
        ("retry", 5.0, (LaterTry(DEFAULT), LaterTry(FAIL)), (5.0, 300.0), True),
        ("retry", 5.0, (LaterTry(RETRY, 6.0),) * 6, (5.0, 6.0, 6.0), True),
    ],
)
def test_the_waits_of_a_failure_that_does_not_go_away(
    action: str, delay_s: float | None, later: tuple[LaterTry, ...], waits_s: tuple[float, ...], is_known: bool
) -> None:
    course = course_of(row(1, action, delay_s=delay_s, later=later), TASK)
    assert (course.waits_s, course.is_known) == (waits_s, is_known)
    assert course.window_s == sum(waits_s)


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.STALE])
def test_what_crashed_is_left_to_airflow(outcome: Outcome) -> None:
    assert course_of(row(1, "fail", outcome=outcome), TASK).waits_s == TASK.own_course.waits_s


def test_calls_are_those_at_each_failure() -> None:
    assert course_of(row(1, calls=1), TASK).calls == (1, 1, 1)
    assert course_of(row(1, "fail", calls=1), TASK).calls == (1,)
    assert course_of(row(1, calls=1, later=(LaterTry(RETRY, 1.0), LaterTry(FAIL))), TASK).calls == (1, 0, 0)
