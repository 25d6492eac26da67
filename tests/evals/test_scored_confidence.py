"""Calibration and the bar, against scikit-learn and against a slow way that is plainly right."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from evals.replayed_run import label, row
from sklearn.metrics import brier_score_loss

from airflow_common_ai.evals.answer import Action
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evals.scoring.calibration import score_calibration
from airflow_common_ai.evals.scoring.costs import Costs
from airflow_common_ai.evals.scoring.risk_coverage import RiskCoverage, aurc, score_risk_coverage
from airflow_common_ai.evals.voice import answers_by_voice


def vote(category: str, confidence: float | None, *, outcome: str = "unsure", tier: str = "llm") -> dict[str, Any]:
    found = {"tier": tier, "outcome": outcome, "category": category, "confidence": confidence}
    return {name: value for name, value in found.items() if value is not None}


def said(number: int, confidence: float, *, is_right: bool, **changes: Any) -> Row:
    """A model calls a transient failure by its name, or permanent, and nothing rests on it."""
    votes = (vote("transient" if is_right else "permanent", confidence),)
    return row(number, "default", label("yes", "transient"), votes=votes, **changes)


def judged(rows: Sequence[Row]) -> list[Judged]:
    return [Judged(one, one.label) for one in rows if one.label is not None]


def random_answers(count: int) -> list[Row]:
    generator = np.random.default_rng(5)
    confidences = generator.choice([0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99], count)
    return [
        said(number, float(confidence), is_right=bool(generator.random() < confidence))
        for number, confidence in enumerate(confidences)
    ]


def test_the_brier_score_is_that_of_scikit_learn() -> None:
    (found,) = score_calibration(judged(rows := random_answers(300)))
    truth = [one.votes[0]["category"] == "transient" for one in rows]
    confidences = [one.votes[0]["confidence"] for one in rows]
    assert found.brier.value == pytest.approx(brier_score_loss(truth, confidences), abs=1e-6)
    assert found.brier.low < found.brier.value < found.brier.high
    assert (found.voice, found.failures, found.accuracy.value) == ("llm", 300, pytest.approx(np.mean(truth)))


def test_bins_hold_about_a_tenth_each_and_the_error_is_their_mean_gap() -> None:
    rows = [said(number, number / 1000, is_right=number % 3 > 0) for number in range(1000)]
    (found,) = score_calibration(judged(rows))
    assert [one.accuracy.failures for one in found.bins] == [100] * 10
    by_hand = np.mean([abs(one.confidence - one.accuracy.value) for one in found.bins])
    assert found.ece.value == pytest.approx(by_hand, abs=1e-9)
    assert found.ece.low <= found.ece.value <= found.ece.high


def test_equal_confidences_share_a_bin_whatever_the_order() -> None:
    rows = [said(number, 0.9, is_right=number < 15) for number in range(20)]
    (found,) = score_calibration(judged(rows))
    (backwards,) = score_calibration(judged(rows[::-1]))
    assert len(found.bins) == 1
    assert found.ece.value == pytest.approx(abs(0.9 - 0.75))
    assert backwards == found


def test_copies_of_a_failure_are_one_answer() -> None:
    copies = [said(number, 0.9, is_right=False, fingerprint="copied") for number in range(40)]
    (found,) = score_calibration(judged([*copies, said(41, 0.9, is_right=True)]))
    assert (found.failures, found.accuracy.value) == (2, 0.5)


def test_a_policy_without_votes_is_one_voice_and_certainty_is_no_confidence() -> None:
    rows = [
        row(1, category="transient", confidence=0.8, source="ClassifierRetryPolicy"),
        row(2, category="transient", confidence=None, source="signals"),
        row(3, votes=(vote("transient", None, tier="signals", outcome="retry"),)),
    ]
    found = answers_by_voice(judged(rows))
    assert list(found) == ["ClassifierRetryPolicy"]
    assert found["ClassifierRetryPolicy"][0].is_followed


def test_an_answer_leads_to_what_the_policy_did_about_its_category() -> None:
    rows = [
        row(1, "retry", source="llm", votes=(vote("auth", 0.9, outcome="retry"),)),
        row(2, "default", votes=(vote("auth", 0.3),)),
        row(3, "default", votes=(vote("data", 0.3),)),
        row(4, "default", votes=(vote("unheard_of", 0.3),)),
    ]
    actions = [answer.action for answer in answers_by_voice(judged(rows))["llm"]]
    assert actions == [Action.RETRY, Action.RETRY, Action.FAIL, Action.RETRY]


def table(rows: Sequence[Row], action: str = "any", costs: Costs | None = None) -> RiskCoverage:
    found = {one.action: one for one in score_risk_coverage(judged(rows), costs or Costs())}
    return found[action]


def test_each_bar_says_what_is_followed_and_how_often_that_is_wrong() -> None:
    rows = [
        said(1, 0.95, is_right=True),
        said(2, 0.92, is_right=True),
        said(3, 0.65, is_right=False),
        row(4, "default", label("no", "permanent"), votes=(vote("permanent", 0.65),)),
    ]
    points = {point.min_confidence: point for point in table(rows).points}
    assert list(points) == [0.0, 0.7, 0.95], "bars that follow the same answers as a lower one are left out"
    assert (points[0.0].coverage.value, points[0.0].error and points[0.0].error.value) == (1.0, 0.25)
    assert points[0.7].coverage.value == 0.5
    assert points[0.7].error is not None
    assert points[0.7].error.value == 0.0
    assert points[0.0].false_fails is not None
    assert points[0.0].false_fails.hits == 1


def test_what_another_tier_has_settled_says_nothing_about_the_bar() -> None:
    rows = [said(1, 0.9, is_right=True), row(2, "retry", source="signals", votes=(vote("permanent", 0.95),))]
    assert table(rows).answers == 1
    assert score_calibration(judged(rows))[0].failures == 2, "but it says something about the confidence"
    assert score_risk_coverage(judged(rows[1:]), Costs()) == ()


def test_the_bar_of_least_cost_is_chosen_by_the_users_prices() -> None:
    rows = [
        *(row(number, "default", label("no"), votes=(vote("permanent", 0.7),)) for number in range(10)),
        row(10, "default", label("yes"), votes=(vote("permanent", 0.7),)),
        *(row(number, "default", label("no"), votes=(vote("permanent", 0.97),)) for number in range(11, 20)),
    ]
    cheap = table(rows, "fail", Costs(false_fail=10.0, wasted_retry_minutes=1.0, retries=5))
    assert cheap.best == 0.0, "one false FAIL costs less than fifty wasted minutes"
    dear = table(rows, "fail", Costs(false_fail=1000.0, wasted_retry_minutes=1.0, retries=5))
    assert dear.best == 0.75
    free = table(rows, "fail", Costs(false_fail=1000.0, wasted_retry_minutes=0.0, retries=5))
    assert free.best is None, "where retries cost nothing, no answer is worth following"
    assert dear.cost_of_none == pytest.approx(100 * 5 * 19 / 20)


@pytest.mark.parametrize("confidence", [[0.9, 0.8, 0.7, 0.6], [0.9, 0.9, 0.9, 0.6], [0.5, 0.5, 0.5, 0.5]])
def test_the_area_is_the_mean_over_all_orders_of_equal_confidences(confidence: list[float]) -> None:
    loss = np.array([0.0, 1.0, 0.0, 1.0])
    orders = [
        list(order)
        for order in itertools.permutations(range(4))
        if all(confidence[one] >= confidence[other] for one, other in itertools.pairwise(order))
    ]
    areas = [np.mean([loss[order[: k + 1]].mean() for k in range(4)]) for order in orders]
    assert aurc(np.array(confidence), loss, np.ones(4)) == pytest.approx(np.mean(areas), abs=1e-9)


def test_the_area_is_zero_where_nothing_is_wrong_and_one_where_all_is() -> None:
    confidence = np.array([0.1, 0.5, 0.9])
    assert aurc(confidence, np.zeros(3), np.ones(3)) == 0.0
    assert aurc(confidence, np.ones(3), np.ones(3)) == pytest.approx(1.0)
