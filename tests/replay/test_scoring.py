from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.recordings.label import Label, ShouldRetry
from airflow_common_ai.recordings.recording import Provenance, Recording
from airflow_common_ai.recordings.split import Split
from tools.replay import Decided, Figures, decide, measure, read_measured

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORTH_A_RETRY = ("yes", (30.0, 300.0))
NOT_WORTH_IT = ("no", None)
ARGUABLE = ("either", (0.0, 300.0))


def recording(words: str = "x", case: str = "case") -> Recording:
    evidence = Redactor().redact(collect(RuntimeError(words), observed_at=NOW))
    return Recording.of(f"tests/{case}", evidence, Provenance("t", "python", "3.11", "h")).in_split(Split.GATE)


def decision(
    action: str,
    should_retry: str,
    delays: tuple[float, float] | None,
    *,
    delay_s: float | None = None,
    words: str = "x",
) -> Decided:
    one = recording(words)
    attempt = next(decide([one], {})).attempt
    label = Label(one.id, "transient", ShouldRetry(should_retry), delays, "why", "reading")
    return Decided(one, label, replace(attempt, action=action, delay_s=delay_s))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "is_right", "is_false_fail", "is_wasted"),
    [
        (decision("fail", *NOT_WORTH_IT), True, False, False),
        (decision("fail", *WORTH_A_RETRY), False, True, False),
        (decision("retry", *WORTH_A_RETRY), True, False, False),
        (decision("retry", *NOT_WORTH_IT), False, False, True),
        (decision("fail", *ARGUABLE), True, False, False),
        (decision("retry", *ARGUABLE), True, False, False),
        (decision("default", *WORTH_A_RETRY), False, False, False),
        (decision("default", *NOT_WORTH_IT), False, False, False),
    ],
)
def test_a_decision_is_held_against_its_label(
    one: Decided, is_right: bool, is_false_fail: bool, is_wasted: bool
) -> None:
    assert (one.is_right, one.is_false_fail, one.is_wasted_retry) == (is_right, is_false_fail, is_wasted)


@pytest.mark.parametrize(("delay_s", "is_early"), [(29.9, True), (30.0, False), (400.0, False), (None, False)])
def test_a_retry_before_its_time_is_early(delay_s: float | None, is_early: bool) -> None:
    assert decision("retry", *WORTH_A_RETRY, delay_s=delay_s).is_early is is_early


@pytest.mark.parametrize(
    ("words", "is_undercut"),
    [
        ("429 Too Many Requests, retry-after: 30", True),
        ("please try again in half a minute, or 30 seconds", True),
        ("please wait 30 seconds", True),
        ("429 Too Many Requests", False),
        ("connection reset by 10.0.0.1", False),
    ],
)
def test_an_early_retry_undercuts_an_ask_where_the_failure_names_a_time(words: str, is_undercut: bool) -> None:
    assert decision("retry", *WORTH_A_RETRY, delay_s=5, words=words).is_undercut is is_undercut
    assert not decision("retry", *WORTH_A_RETRY, delay_s=30, words=words).is_undercut


def test_what_differs_in_values_only_counts_once_and_what_has_no_label_not_at_all() -> None:
    unlabelled = replace(decision("fail", *WORTH_A_RETRY), label=None)
    twins = [decision("fail", *WORTH_A_RETRY, words=f"row {number} is bad") for number in range(3)]
    asks_for_more = decision("retry", "yes", (600.0, 900.0), delay_s=5, words="row 1 is bad")

    figures = Figures.of([unlabelled, *twins, asks_for_more, decision("default", *NOT_WORTH_IT, words="other words")])

    assert figures == Figures(recordings=6, labelled=3, settled=2, right=1, false_fails=1, wasted_retries=0, early=1)
    assert figures.settled_share == pytest.approx(2 / 3)
    assert figures.accuracy == pytest.approx(1 / 2)


def test_splits_are_measured_apart() -> None:
    gate = decision("fail", *NOT_WORTH_IT)
    dev = replace(gate, recording=gate.recording.in_split(Split.DEV))

    measured = measure([gate, dev, dev])

    assert {split: figures.recordings for split, figures in measured.items()} == {
        Split.DEV: 2,
        Split.GATE: 1,
        Split.HELD_OUT: 0,
    }


def test_what_was_never_measured_is_empty(tmp_path: Path) -> None:
    assert read_measured(tmp_path / "measured.json") == dict.fromkeys(Split, Figures())


def test_the_first_of_several_tries_is_judged_by_the_recorded_facts() -> None:
    attempt: Attempt = next(decide([recording("connection reset by peer")], {})).attempt

    assert (attempt.try_number, attempt.is_last_try, attempt.at) == (1, False, NOW)
    assert attempt.action == "retry"
