"""The arithmetic of waiting: asks, backoff, clamps and the span that the task's own schedule promises."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.policies.delay import (
    BACKOFFS,
    Backoff,
    DelayPlan,
    Limits,
    RetrySchedule,
    RoundProgress,
    plan_delay,
)

HOUR = 3600.0


def plan(
    *,
    wait: Wait = Wait.SHORT,
    progress: RoundProgress = RoundProgress(try_number=1, max_tries=3),
    schedule: RetrySchedule = RetrySchedule(),
    limits: Limits = Limits(),
    uniform: float = 0.0,
    asked_s: float | None = None,
    fixed_s: float | None = None,
    backoff: Backoff | None = None,
) -> DelayPlan:
    return plan_delay(
        wait=wait,
        progress=progress,
        schedule=schedule,
        limits=limits,
        uniform=lambda: uniform,
        asked_s=asked_s,
        fixed_s=fixed_s,
        backoff=backoff,
    )


@pytest.mark.parametrize(
    ("asked_s", "uniform", "expected"), [(120, 0.0, 120), (120, 0.999999, 132), (0, 0.5, 0), (0.25, 0.0, 0.25)]
)
def test_an_ask_is_never_undercut_and_gets_up_to_a_tenth_more(asked_s: float, uniform: float, expected: float) -> None:
    assert plan(asked_s=asked_s, uniform=uniform).seconds == pytest.approx(expected, rel=1e-4)


def test_an_ask_of_more_than_a_week_is_ignored_and_noted() -> None:
    planned = plan(asked_s=1e9)
    assert planned.seconds == BACKOFFS[Wait.SHORT].low_s
    assert "implausible" in planned.steps[0]
    assert planned.refusal is None


def test_an_ask_beyond_the_limit_fails_rather_than_being_shortened() -> None:
    planned = plan(asked_s=25 * HOUR)
    assert planned.refusal == "the server asked for 25 h, longer than max_server_delay (24 h)"


def test_an_ask_beyond_what_max_elapsed_leaves_fails() -> None:
    assert "max_elapsed leaves 60 s" in (plan(asked_s=61, limits=Limits(elapsed_left_s=60)).refusal or "")
    assert plan(asked_s=59, uniform=0.99, limits=Limits(elapsed_left_s=60)).seconds == 60


def test_used_up_time_fails() -> None:
    assert "max_elapsed" in (plan(limits=Limits(elapsed_left_s=0)).refusal or "")


def test_an_ask_is_not_cut_by_the_limit_for_computed_delays() -> None:
    schedule = RetrySchedule(retry_delay_s=10, max_retry_delay_s=20)
    assert plan(asked_s=2 * HOUR, limits=Limits(max_delay_s=60), schedule=schedule).seconds == 2 * HOUR


def test_a_small_ask_that_keeps_coming_does_not_burn_the_tries() -> None:
    again = RoundProgress(try_number=3, max_tries=3, first_try=1, attempt=3, waited_s=2)
    assert plan(asked_s=1, progress=again).seconds == 3 * 300 - 2


def test_a_fixed_delay_of_a_rule_is_kept_but_for_absurd_ones() -> None:
    assert plan(fixed_s=2 * HOUR).seconds == 2 * HOUR
    assert plan(fixed_s=1e12).seconds == 7 * 24 * HOUR
    assert plan(fixed_s=0).seconds == 0


@pytest.mark.parametrize(
    ("wait", "low", "high"), [(Wait.NOW, 0, 5), (Wait.SHORT, 5, 30), (Wait.MEDIUM, 60, 75), (Wait.LONG, 600, 1800)]
)
def test_the_first_retry_waits_the_backoff_of_its_class(wait: Wait, low: float, high: float) -> None:
    assert plan(wait=wait).seconds == low
    assert plan(wait=wait, uniform=0.999999).seconds == pytest.approx(high, rel=1e-3)


def test_no_class_of_wait_leaves_the_tasks_own_delay() -> None:
    assert plan(wait=Wait.NONE).seconds is None


def test_a_backoff_is_clamped_by_max_delay_and_by_the_tasks_max_retry_delay() -> None:
    assert plan(wait=Wait.LONG, limits=Limits(max_delay_s=30)).seconds == 30
    schedule = RetrySchedule(retry_delay_s=1, max_retry_delay_s=7)
    assert plan(wait=Wait.LONG, schedule=schedule).seconds == 7


def test_the_only_retry_waits_at_least_what_airflow_would() -> None:
    assert plan(progress=RoundProgress(try_number=1, max_tries=1)).seconds == 300


def test_where_the_span_needs_more_than_max_delay_the_tasks_own_longer_delay_stays() -> None:
    schedule = RetrySchedule(retry_delay_s=6 * HOUR)
    assert plan(progress=RoundProgress(1, 1), schedule=schedule).seconds is None


def test_three_retries_of_a_blip_take_as_long_as_the_tasks_own_schedule() -> None:
    delays = _whole_round(RetrySchedule(), retries=3, wait=Wait.SHORT)
    assert delays == pytest.approx([5, 895 / 3, 895 / 3 * 2])


def _whole_round(schedule: RetrySchedule, retries: int, wait: Wait, uniform: float = 0.0) -> list[float]:
    delays: list[float] = []
    for attempt in range(1, retries + 1):
        progress = RoundProgress(
            try_number=attempt, max_tries=retries, first_try=1, attempt=attempt, waited_s=sum(delays)
        )
        planned = plan(wait=wait, progress=progress, schedule=schedule, uniform=uniform)
        delays.append(schedule.delay_s(attempt) if planned.seconds is None else planned.seconds)
    return delays


@given(
    retries=st.integers(1, 12),
    retry_delay_s=st.floats(0, 300),
    wait=st.sampled_from([Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG]),
    uniform=st.floats(0, 1, exclude_max=True),
)
def test_a_round_never_spans_less_than_the_tasks_own_schedule(
    retries: int, retry_delay_s: float, wait: Wait, uniform: float
) -> None:
    schedule = RetrySchedule(retry_delay_s=retry_delay_s)
    delays = _whole_round(schedule, retries, wait, uniform)
    assert sum(delays) >= schedule.span_s(1, retries) * (1 - 1e-9)


any_float = st.floats(allow_nan=False)


@given(
    wait=st.sampled_from(Wait),
    asked_s=st.none() | st.floats(0, allow_nan=False),
    fixed_s=st.none() | st.floats(0, 1e15),
    try_number=st.integers(1, 10_000),
    max_tries=st.integers(0, 10_000),
    attempt=st.integers(1, 10_000),
    waited_s=st.floats(0, 1e12),
    retry_delay_s=st.floats(0, 1e9),
    multiplier=st.floats(0, 1e6),
    left=st.none() | any_float,
    uniform=st.floats(0, 1, exclude_max=True),
)
def test_whatever_comes_in_the_delay_is_a_sane_number_or_the_tasks_own(
    wait: Wait,
    asked_s: float | None,
    fixed_s: float | None,
    try_number: int,
    max_tries: int,
    attempt: int,
    waited_s: float,
    retry_delay_s: float,
    multiplier: float,
    left: float | None,
    uniform: float,
) -> None:
    planned = plan(
        wait=wait,
        progress=RoundProgress(try_number, max_tries, min(attempt, try_number), attempt, waited_s),
        schedule=RetrySchedule(retry_delay_s, multiplier),
        limits=Limits(elapsed_left_s=left),
        uniform=uniform,
        asked_s=asked_s,
        fixed_s=fixed_s,
    )
    if planned.seconds is not None:
        assert math.isfinite(planned.seconds)
        assert 0 <= planned.seconds <= 7 * 24 * HOUR
        assert planned.refusal is None


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (RetrySchedule(300), [300, 300, 300]),
        (RetrySchedule(10, multiplier=2), [10, 20, 40]),
        (RetrySchedule(10, multiplier=3, max_retry_delay_s=50), [10, 30, 50]),
        (RetrySchedule(0, multiplier=2), [1, 1, 1]),
        (RetrySchedule(1, multiplier=1e300), [1, 86400, 86400]),
    ],
)
def test_the_tasks_own_schedule_is_airflows(schedule: RetrySchedule, expected: list[float]) -> None:
    assert [schedule.delay_s(number) for number in (1, 2, 3)] == expected
