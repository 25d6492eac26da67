"""Whether a decision is right, and its delay."""

from __future__ import annotations

import pytest
from evals.replayed_run import label, row

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.judged import DelayVerdict, Judged, judged_delay

RIGHT, FALSE_FAIL, WASTED, LEFT = "right", "false FAIL", "wasted retry", "left"


@pytest.mark.parametrize(
    ("answer", "action", "outcome", "expected"),
    [
        ("yes", "retry", Outcome.DECIDED, RIGHT),
        ("yes", "fail", Outcome.DECIDED, FALSE_FAIL),
        ("yes", "default", Outcome.DECIDED, LEFT),
        ("no", "retry", Outcome.DECIDED, WASTED),
        ("no", "fail", Outcome.DECIDED, RIGHT),
        ("no", "default", Outcome.DECIDED, LEFT),
        ("either", "retry", Outcome.DECIDED, RIGHT),
        ("either", "fail", Outcome.DECIDED, RIGHT),
        ("either", "default", Outcome.DECIDED, LEFT),
        ("yes", "fail", Outcome.CRASHED, LEFT),
        ("no", "retry", Outcome.TIMED_OUT, LEFT),
        ("no", "retry", Outcome.STALE, LEFT),
    ],
)
def test_what_is_left_to_airflow_is_neither_right_nor_wrong(
    answer: str, action: str, outcome: Outcome, expected: str
) -> None:
    one = Judged(row(1, action, outcome=outcome), label(answer))
    flags = {RIGHT: one.is_right, FALSE_FAIL: one.is_false_fail, WASTED: one.is_wasted_retry, LEFT: not one.is_settled}
    assert [name for name, is_true in flags.items() if is_true] == [expected]


@pytest.mark.parametrize(
    ("delay_s", "sensible_s", "asked_s", "verdict"),
    [
        (60, (30, 600), None, DelayVerdict.WITHIN),
        (30, (30, 600), None, DelayVerdict.WITHIN),
        (29, (30, 600), None, DelayVerdict.TOO_EARLY),
        (601, (30, 600), None, DelayVerdict.TOO_LONG),
        (119, (30, 600), 120, DelayVerdict.UNDERCUT),
        (120, (30, 600), 120, DelayVerdict.WITHIN),
        (119.9995, (30, 600), 120, DelayVerdict.WITHIN),
        (20, (30, 600), 10, DelayVerdict.TOO_EARLY),
        (60, (30, 600), 1e9, DelayVerdict.WITHIN),
        (5, (30, 600), 1e9, DelayVerdict.TOO_EARLY),
    ],
)
def test_an_ask_is_kept_unless_it_is_longer_than_makes_sense(
    delay_s: float, sensible_s: tuple[float, float], asked_s: float | None, verdict: DelayVerdict
) -> None:
    assert judged_delay(delay_s, sensible_s, asked_s) is verdict


def test_only_what_was_rightly_retried_has_a_delay_to_judge() -> None:
    assert Judged(row(1, "retry", delay_s=None), label()).delay_verdict(300) is DelayVerdict.WITHIN
    assert Judged(row(1, "retry", delay_s=None), label()).delay_verdict(10) is DelayVerdict.TOO_EARLY
    assert Judged(row(1, "default"), label()).delay_verdict(300) is None
    assert Judged(row(1, "fail"), label()).delay_verdict(300) is None
    assert Judged(row(1, "retry"), label("no")).delay_verdict(300) is None
