"""Actions, delays, sources, usage and repeats, scored."""

from __future__ import annotations

import pytest
from evals.replayed_run import header, label, row

from airflow_common_ai.evals.answer import Action, LaterTry, Outcome
from airflow_common_ai.evals.course import Task
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evals.scoring.actions import ActionScore, score_actions
from airflow_common_ai.evals.scoring.consistency import score_consistency
from airflow_common_ai.evals.scoring.delays import score_delays, score_window
from airflow_common_ai.evals.scoring.sources import score_sources
from airflow_common_ai.evals.scoring.usage import score_usage
from airflow_common_ai.evals.statistics.intervals import clopper_pearson, wilson
from airflow_common_ai.evals.statistics.sample import Sample

TASK = Task(retries=3, retry_delay_s=300.0)


def judged(*rows: Row) -> tuple[list[Judged], Sample]:
    found = [Judged(one, one.label) for one in rows if one.label is not None]
    return found, Sample([one.row.fingerprint for one in found])


def actions_of(*rows: Row) -> ActionScore:
    return score_actions(*judged(*rows))


def test_abstentions_and_crashes_are_in_the_denominator() -> None:
    score = actions_of(
        row(1, "retry", label("yes")),
        row(2, "fail", label("no")),
        row(3, "fail", label("yes")),
        row(4, "retry", label("no")),
        row(5, "default", label("yes")),
        row(6, "retry", label("yes"), outcome=Outcome.CRASHED),
        row(7, "fail", label("either")),
        row(8, "fail", label("no"), outcome=Outcome.TIMED_OUT),
    )
    assert (score.right.value, score.settled.value) == (3 / 8, 5 / 8)
    assert score.right_of_settled is not None
    assert score.right_of_settled.value == 3 / 5
    assert (score.right.low, score.right.high) == pytest.approx(wilson(3 / 8, 8))
    assert (score.false_fails.value, score.wasted_retries.value, score.unanswered.value) == (1 / 8, 1 / 8, 2 / 8)
    assert (score.false_fails.low, score.false_fails.high) == clopper_pearson(1, 8)
    assert score.false_fails_of_worth is not None
    assert score.false_fails_of_worth.value == 1 / 4
    assert score.wasted_retries_of_hopeless is not None
    assert score.wasted_retries_of_hopeless.value == 1 / 3
    assert score.matrix["yes"] == {
        "retry": 1.0, "fail": 1.0, "default": 1.0, "crashed": 1.0, "timed_out": 0.0, "stale": 0.0,
    }  # fmt: skip


def test_what_settles_nothing_is_right_of_nothing() -> None:
    score = actions_of(row(1, "default"), row(2, "default"))
    assert score.right_of_settled is None
    assert score.right.value == 0.0


def test_delays_are_judged_where_a_retry_was_right() -> None:
    rows = [
        row(1, delay_s=60.0),
        row(2, delay_s=1.0),
        row(3, delay_s=60.0, asked_delay_s=120.0),
        row(4, delay_s=9999.0),
        row(5, delay_s=1.0, judged=label("no")),
        row(6, "default"),
    ]
    found = score_delays(*judged(*rows), TASK)
    assert found is not None
    assert [found.within.value, found.too_early.value, found.undercut.value, found.too_long.value] == [0.25] * 4
    assert found.within.failures == 4
    assert score_delays(*judged(rows[4], rows[5]), TASK) is None


def test_the_recovery_window_is_what_passes_before_the_last_retry() -> None:
    again = (LaterTry(Action.RETRY, 100.0), LaterTry(Action.RETRY, 900.0))
    found = score_window(
        *judged(
            row(1, delay_s=10.0, later=again),  # 1010 s, longer than Airflow's 900 s
            row(2, delay_s=10.0),  # 30 s, if later tries are like the first
            row(3, "fail"),  # none
            row(4, "default"),  # Airflow's own
            row(5, delay_s=20.0, judged=label("yes", delay_s=(1.0, 60.0))),  # 60 s: shorter, but long enough
            row(6, delay_s=1.0, judged=label("no")),
        ),
        TASK,
    )
    assert found is not None
    assert (found.default_s, found.median_s.value) == (900.0, 60.0)
    assert (found.shorter.value, found.too_short.value) == (3 / 5, 2 / 5)
    assert found.of_default.value == pytest.approx((1 + 30 / 900 + 0 + 1 + 60 / 900) / 5)
    assert found.later_known.value == 2 / 5, "what was failed needs no later try"


def test_nothing_worth_a_retry_leaves_no_window_to_measure() -> None:
    assert score_window(*judged(row(1, "fail", label("no"))), TASK) is None
    assert score_window(*judged(row(1)), Task(retries=0)) is None


def test_sources_are_scored_apart_and_in_order() -> None:
    found = score_sources(
        *judged(
            row(1, source="signals"),
            row(2, "fail", label("no"), source="signals"),
            row(3, "fail", label("yes"), source="llm"),
            row(4, "default"),
            row(5, "default"),
            row(6, source="signals"),
        )
    )
    assert [one.name for one in found] == ["signals", "default", "llm"]
    signals, default, llm = found
    assert signals.right is not None
    assert (signals.decided.value, signals.right.value) == (0.5, 1.0)
    assert default.right is None
    assert llm.false_fails is not None
    assert llm.false_fails.value == 1.0


def test_usage_adds_up_what_was_counted() -> None:
    rows = [
        row(1, calls=1, model="a", input_tokens=400, output_tokens=20, cost_usd=0.01, milliseconds=100.0),
        row(2, calls=2, model="b", input_tokens=600, output_tokens=40, cost_usd=0.02, milliseconds=300.0),
        row(3, milliseconds=1.0),
        row(4, milliseconds=1.0),
    ]
    found = score_usage(header(), rows)
    assert (found.calls, found.models, found.input_tokens, found.output_tokens) == (3, ("a", "b"), 1000, 60)
    assert found.tokens_per_call == pytest.approx(1060 / 3)
    assert found.tokens_per_100 is not None
    assert (found.tokens_per_100.value, found.calls_per_100.value) == pytest.approx((26_500, 75))
    assert found.calls_per_100.low < 75 < found.calls_per_100.high
    assert found.cost_usd == pytest.approx(0.03)
    assert found.cost_usd_per_100 is not None
    assert found.cost_usd_per_100.value == pytest.approx(0.75)
    assert (found.asked.value, found.milliseconds_p50.value, found.milliseconds_p95.value) == (0.5, 1.0, 300.0)


def test_what_nobody_counted_is_not_zero() -> None:
    found = score_usage(header(), [row(1)])
    assert found.input_tokens is found.output_tokens is found.cost_usd is found.cost_usd_per_100 is None


def test_repeats_are_compared_within_their_case() -> None:
    rows = [
        *(row(1, "retry", repeat=number) for number in (1, 2, 3)),
        row(2, "retry", repeat=1),
        row(2, "fail", repeat=2),
        row(2, "retry", repeat=3),
        row(3, "default", repeat=1),
        row(3, "retry", repeat=2),
        row(3, "retry", repeat=3),
        row(4, "fail", repeat=1),
        row(4, "fail", repeat=2),
        row(4, "fail", repeat=3),
    ]
    found = score_consistency(judged(*rows)[0])
    assert found is not None
    assert found.agreement.value == 0.5
    # Of case 2 and 3 two of three are right: pairs drawn of them are both right once in three.
    assert [one.value for one in found.right_each_time] == pytest.approx([7 / 12, 5 / 12, 1 / 4])
    assert found.flips == ("family/case-2", "family/case-3"), "the one that was failed and retried comes first"
    assert score_consistency(judged(row(1), row(2))[0]) is None
