"""The arithmetic of waiting: asks, backoff, clamps and the span that the task's own schedule promises."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    seconds,
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


@pytest.mark.parametrize(("asked_s", "uniform", "expected"), [(120, 0.0, 120), (120, 0.999999, 132), (0.25, 0.0, 0.25)])
def test_an_ask_is_never_undercut_and_gets_up_to_a_tenth_more(asked_s: float, uniform: float, expected: float) -> None:
    assert plan(asked_s=asked_s, uniform=uniform).seconds == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("asked_s", [0, -3, -math.inf])
def test_an_ask_of_no_time_is_none(asked_s: float) -> None:
    planned = plan(asked_s=asked_s, wait=Wait.MEDIUM)
    assert planned.seconds == BACKOFFS[Wait.MEDIUM].low_s
    assert planned.note is None


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
    assert plan(wait=Wait.LONG, schedule=RetrySchedule(20), limits=Limits(max_delay_s=30)).seconds == 30
    schedule = RetrySchedule(retry_delay_s=1, max_retry_delay_s=7)
    assert plan(wait=Wait.LONG, schedule=schedule).seconds == 7


def test_the_only_retry_waits_at_least_what_airflow_would() -> None:
    assert plan(progress=RoundProgress(try_number=1, max_tries=1)).seconds == 300


@pytest.mark.parametrize(
    ("schedule", "retries", "max_delay_s", "expected"),
    [
        (RetrySchedule(6 * HOUR), 1, HOUR, [None]),
        (RetrySchedule(300), 3, 3, [None, None, None]),
        (RetrySchedule(300), 3, 300, [300, 300, 300]),  # 5 s now could not be made up for later
        (RetrySchedule(300), 3, 400, [100, 400, 400]),
        (RetrySchedule(2), 3, 3, [3, 3, 3]),
        (RetrySchedule(10, multiplier=10), 3, 200, [5, 200, None]),
    ],
)
def test_where_later_tries_cannot_make_up_within_max_delay_the_tasks_own_delay_stays(
    schedule: RetrySchedule, retries: int, max_delay_s: float, expected: list[float | None]
) -> None:
    planned = _planned_round(schedule, retries, Wait.SHORT, limits=Limits(max_delay_s=max_delay_s))
    assert [one.seconds for one in planned] == expected


def test_a_delay_of_a_task_that_is_not_known_is_not_left_to_it() -> None:
    schedule = RetrySchedule(is_known=False)
    assert plan(schedule=schedule, limits=Limits(max_delay_s=30)).seconds == 30


def test_three_retries_of_a_blip_take_as_long_as_the_tasks_own_schedule() -> None:
    delays = _whole_round(RetrySchedule(), retries=3, wait=Wait.SHORT)
    assert delays == pytest.approx([5, 895 / 3, 895 / 3 * 2])


def _planned_round(
    schedule: RetrySchedule,
    retries: int,
    wait: Wait,
    uniform: float = 0.0,
    limits: Limits = Limits(),
    asks_s: Sequence[float | None] = (),
) -> list[DelayPlan]:
    """Plan every retry of a round, one after the other; the server's asks come in order."""
    planned: list[DelayPlan] = []
    for attempt in range(1, retries + 1):
        progress = RoundProgress(
            try_number=attempt,
            max_tries=retries,
            first_try=1,
            attempt=attempt,
            waited_s=sum(_waits(schedule, planned)),
        )
        asked_s = asks_s[attempt - 1] if attempt <= len(asks_s) else None
        planned.append(
            plan(wait=wait, progress=progress, schedule=schedule, limits=limits, uniform=uniform, asked_s=asked_s)
        )
    return planned


def _waits(schedule: RetrySchedule, planned: Sequence[DelayPlan]) -> list[float]:
    return [schedule.delay_s(attempt) if one.seconds is None else one.seconds for attempt, one in enumerate(planned, 1)]


def _whole_round(schedule: RetrySchedule, retries: int, wait: Wait) -> list[float]:
    return _waits(schedule, _planned_round(schedule, retries, wait))


DAY = 24 * HOUR

schedules = st.builds(
    RetrySchedule,
    retry_delay_s=st.floats(0, DAY),
    multiplier=st.just(1.0) | st.floats(1, 5),
    max_retry_delay_s=st.none() | st.floats(1, DAY),
)
waits = st.sampled_from([Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG])
draws = st.floats(0, 1, exclude_max=True)


@given(
    schedule=schedules,
    retries=st.integers(1, 12),
    max_delay_s=st.floats(1, DAY),
    wait=waits | st.just(Wait.NONE),
    uniform=draws,
)
def test_a_round_spans_what_the_tasks_own_schedule_would_and_no_computed_delay_exceeds_max_delay(
    schedule: RetrySchedule, retries: int, max_delay_s: float, wait: Wait, uniform: float
) -> None:
    planned = _planned_round(schedule, retries, wait, uniform, Limits(max_delay_s=max_delay_s))
    assert sum(_waits(schedule, planned)) >= schedule.span_s(1, retries) * (1 - 1e-9)
    assert all(one.seconds is None or one.seconds <= max_delay_s for one in planned)


@given(
    schedule=schedules,
    max_delay_s=st.floats(1, DAY),
    wait=waits,
    uniform=draws,
    asks_s=st.lists(st.none() | st.floats(0, DAY), min_size=1, max_size=12),
)
def test_with_asks_too_a_round_loses_no_more_than_a_first_ask_that_later_tries_cannot_make_up_for(
    schedule: RetrySchedule, max_delay_s: float, wait: Wait, uniform: float, asks_s: list[float | None]
) -> None:
    retries = len(asks_s)
    planned = _planned_round(schedule, retries, wait, uniform, Limits(max_delay_s=max_delay_s), asks_s)
    delays = _waits(schedule, planned)
    for asked_s, delay_s in zip(asks_s, delays, strict=True):
        assert asked_s is None or delay_s >= asked_s
    longest_computed = min(max_delay_s, schedule.max_retry_delay_s or DAY)
    can_be_made_up = schedule.span_s(2, retries, at_least_s=longest_computed)
    assert sum(delays) >= min(schedule.span_s(1, retries), delays[0] + can_be_made_up) * (1 - 1e-9)


@pytest.mark.parametrize("asked_s", [math.inf, math.nan, 1e300, 8 * DAY])
def test_an_ask_that_is_no_plausible_number_is_ignored_and_said_to_be(asked_s: float) -> None:
    planned = plan(asked_s=asked_s)
    assert planned.seconds == BACKOFFS[Wait.SHORT].low_s
    assert planned.note is not None
    assert planned.note.endswith("which is implausible and was ignored")


@pytest.mark.parametrize(
    ("fixed_s", "expected"), [(math.inf, 7 * DAY), (-5.0, 0), (math.nan, BACKOFFS[Wait.SHORT].low_s)]
)
def test_a_fixed_delay_that_is_no_plausible_number_is_clamped_or_ignored(fixed_s: float, expected: float) -> None:
    assert plan(fixed_s=fixed_s).seconds == expected


def test_a_backoff_that_is_no_number_is_clamped() -> None:
    assert plan(backoff=Backoff(math.nan, math.nan)).seconds == Limits().max_delay_s


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 s"),
        (2.34, "2.3 s"),
        (120, "120 s"),
        (1500, "25 min"),
        (7200, "2 h"),
        (9000, "2.5 h"),
        (90000, "25 h"),
        (691200, "8 days"),
        (1e9, "more than a year"),
        (math.inf, "an endless time"),
        (math.nan, "no time that is a number"),
    ],
)
def test_times_are_told_as_people_read_them(value: float, words: str) -> None:
    assert seconds(value) == words


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
