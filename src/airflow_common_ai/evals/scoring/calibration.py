"""Does a confidence mean what it says?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.statistics.estimate import Estimate, Share
from airflow_common_ai.evals.statistics.resampling import bootstrap_interval, resampled_sums
from airflow_common_ai.evals.statistics.sample import Sample
from airflow_common_ai.evals.voice import Answer, answers_by_voice

__all__ = ["BINS", "Bin", "Calibration", "equal_mass_bins", "expected_error", "score_calibration"]

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers of a tenth of the failures, by confidence."""

    low: float
    high: float
    confidence: float
    """The mean."""
    accuracy: Share
    """How often the category was right."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The confidence of one voice: a tier such as ``llm``. Answers count whether or not they were followed."""

    voice: str
    failures: int
    """Distinct failures about which it named a category with a confidence."""
    of_failures: int
    """Distinct failures that it could have been asked about."""
    accuracy: Share
    """How often the category was right."""
    brier: Estimate
    """The mean squared distance between confidence and truth: 0 is perfect, 0.25 is what a confidence of 0.5 gets."""
    ece: Estimate
    """The expected calibration error over the bins. It is too high where answers are few: no gate rests on it."""
    bins: tuple[Bin, ...]
    """Ten, or fewer where answers or confidences are few; of equal mass."""


def score_calibration(judged: Sequence[Judged]) -> tuple[Calibration, ...]:
    """Score the confidence of each voice."""
    failures = len({one.row.fingerprint for one in judged})
    return tuple(_score(voice, answers, failures) for voice, answers in answers_by_voice(judged).items())


def _score(voice: str, answers: Sequence[Answer], failures: int) -> Calibration:
    sample = Sample([answer.judged.row.fingerprint for answer in answers])
    confidence = np.array([answer.confidence for answer in answers])
    is_right = np.array([answer.is_right for answer in answers])
    bins = equal_mass_bins(confidence, sample.weights)
    return Calibration(
        voice=voice,
        failures=sample.failures,
        of_failures=failures,
        accuracy=sample.share(is_right),
        brier=sample.mean((confidence - is_right) ** 2),
        ece=_ece(confidence - is_right, bins, sample),
        bins=tuple(_bins(confidence, is_right, bins, sample)),
    )


def equal_mass_bins(confidence: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the bin of each answer. Equal confidences share one, so that the order of rows decides nothing."""
    at = np.unique(confidence, return_inverse=True)[1]
    mass = np.bincount(at, weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    return np.asarray(np.minimum(middle * BINS, BINS - 1)[at], dtype=np.int64)


def expected_error(gaps: NDArray[np.float64], mass: float) -> NDArray[np.float64]:
    """Return the calibration error: ``gaps`` holds for each bin by how much confidence exceeds truth, in all."""
    return np.asarray(np.abs(gaps).sum(axis=-1) / mass)


def _bins(
    confidence: NDArray[np.float64], is_right: NDArray[np.bool_], bins: NDArray[np.int64], sample: Sample
) -> Iterator[Bin]:
    for number in np.unique(bins):
        within = bins == number
        mean = float(np.average(confidence[within], weights=sample.weights[within]))
        if accuracy := sample.share_within(is_right, within):
            yield Bin(float(confidence[within].min()), float(confidence[within].max()), mean, accuracy)


def _ece(gap: NDArray[np.float64], bins: NDArray[np.int64], sample: Sample) -> Estimate:
    """Return the mean over bins, by mass, of how far confidence and truth are apart; the bins stay in a resample."""
    columns = np.column_stack([sample.per_failure(np.where(bins == number, gap, 0.0)) for number in np.unique(bins)])
    drawn = expected_error(resampled_sums(columns), sample.failures)
    return bootstrap_interval(float(expected_error(columns.sum(axis=0), sample.failures)), drawn)
