"""Where to set the bar that a confidence has to reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from airflow_common_ai.evals.answer import Action
from airflow_common_ai.evals.course import Course, course_of
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.scoring.costs import Costs, cost_parts
from airflow_common_ai.evals.statistics.estimate import Estimate, Share
from airflow_common_ai.evals.statistics.sample import Sample
from airflow_common_ai.evals.voice import Answer, answers_by_voice

__all__ = ["BARS", "RiskCoverage", "RiskPoint", "aurc", "score_risk_coverage"]

BARS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
"""That are worth telling apart; the common ones among them."""


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """What one bar comes to."""

    min_confidence: float
    coverage: Share
    """Of the answers: sure enough to be followed. The others are left to Airflow."""
    error: Share | None
    """Of those followed: a false FAIL or a wasted retry; ``None``: none is followed."""
    false_fails: Share | None
    """Of those followed; exact."""
    cost_per_100: Estimate
    """Of all answers, in the unit of the costs."""


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """
    The table for one voice, and one action that its answers lead to.

    Of the answers that could decide: not where another tier has settled the failure.
    """

    voice: str
    action: str
    """``any``, ``fail`` or ``retry``: FAIL throws the remaining retries away, so its bar may have to be higher."""
    answers: int
    """Distinct failures."""
    points: tuple[RiskPoint, ...]
    """By rising bar."""
    best: float | None
    """The ``min_confidence`` of least cost, the lowest of several; ``None``: following none costs no more. It was
    chosen on the very answers that it is shown for: choose on one split and look at another."""
    cost_of_none: float
    """For each hundred answers, if none is followed."""
    aurc: float
    """The area under the risk-coverage curve: the mean error over all coverages; 0 is perfect."""


def score_risk_coverage(judged: Sequence[Judged], costs: Costs) -> tuple[RiskCoverage, ...]:
    """Make the tables of each voice."""
    tables = []
    for voice, answers in answers_by_voice(judged).items():
        for name, action in (("any", None), ("fail", Action.FAIL), ("retry", Action.RETRY)):
            chosen = [answer for answer in answers if answer.counts and action in (None, answer.action)]
            if chosen:
                tables.append(_table(voice, name, chosen, costs))
    return tuple(tables)


def aurc(confidence: NDArray[np.float64], loss: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """
    Return the mean of the error over all coverages, answers taken by falling confidence.

    Of equal confidences each stands for the mean of them, so that the order of rows decides nothing. Source:
    Geifman and El-Yaniv 2017.
    """
    values, at = np.unique(-confidence, return_inverse=True)
    mass = np.bincount(at, weights, len(values))
    mean_loss = np.bincount(at, weights * loss, len(values)) / mass
    order = np.argsort(at, kind="stable")
    covered = np.cumsum(weights[order])
    return float((weights[order] * np.cumsum((weights * mean_loss[at])[order]) / covered).sum() / covered[-1])


def _table(voice: str, action: str, answers: Sequence[Answer], costs: Costs) -> RiskCoverage:
    sample = Sample([answer.judged.row.fingerprint for answer in answers])
    confidence = np.array([answer.confidence for answer in answers])
    is_harmful = np.array([answer.is_harmful for answer in answers])
    followed = np.array([sum(cost_parts(one.judged, _course(one, costs), costs)) for one in answers])
    left = np.array([sum(cost_parts(one.judged, costs.task.own_course, costs)) for one in answers])
    bars = list(_bars(confidence))
    cost_per_100 = sample.means([100 * np.where(confidence >= bar, followed, left) for bar in bars])
    points = []
    for bar, cost in zip(bars, cost_per_100, strict=True):
        is_over = confidence >= bar
        points.append(
            RiskPoint(
                min_confidence=bar,
                coverage=sample.share(is_over),
                error=sample.share_within(is_harmful, is_over),
                false_fails=sample.exact_share_within([one.is_false_fail for one in answers], is_over),
                cost_per_100=cost,
            )
        )
    best = min(points, key=lambda point: point.cost_per_100.value)
    none_followed = 100 * float(sample.per_failure(left).mean())
    return RiskCoverage(
        voice=voice,
        action=action,
        answers=sample.failures,
        points=tuple(points),
        best=best.min_confidence if best.cost_per_100.value < none_followed else None,
        cost_of_none=none_followed,
        aurc=aurc(confidence, is_harmful.astype(float), sample.weights),
    )


def _bars(confidence: NDArray[np.float64]) -> Iterator[float]:
    """Yield the bars that part the answers otherwise than the bar before; none that no answer reaches."""
    over = -1
    for bar in BARS:
        count = int((confidence >= bar).sum())
        if count and count != over:
            yield bar
        over = count


def _course(answer: Answer, costs: Costs) -> Course:
    """Return what following an answer means. Of one that was not followed, no delay is known but the task's own."""
    if answer.is_followed:
        return course_of(answer.judged.row, costs.task)
    return Course(()) if answer.action is Action.FAIL else costs.task.own_course
