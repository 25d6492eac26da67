"""How good a model is: alone, and where it is asked, behind the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from airflow_common_ai.classifier.classifier import Prediction
from airflow_common_ai.evals.scoring.calibration import equal_mass_bins, expected_error
from airflow_common_ai.evals.statistics.intervals import wilson
from airflow_common_ai.evidence.model import Retry
from airflow_common_ai.recordings.label import ShouldRetry
from tools.training.corpus import Recorded

__all__ = ["Judged", "Rate", "Row", "calibration_bins", "calibration_error", "judge", "measure", "noise_of"]

Predict = Callable[[Recorded], Prediction | None]


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many."""

    count: int
    total: int

    @property
    def value(self) -> float:
        return self.count / self.total if self.total else 0.0

    def interval(self) -> tuple[float, float]:
        """Return Wilson's interval of 95 %."""
        return wilson(self.value, self.total) if self.total else (0.0, 1.0)

    @property
    def per_100(self) -> str:
        """How many of a hundred, with the interval."""
        low, high = self.interval()
        return f"{100 * self.value:.1f} ({100 * low:.1f}–{100 * high:.1f})"

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.value:.1%} ({low:.1%}–{high:.1%})"


@dataclass(frozen=True, slots=True)
class Judged:
    """One failure with what the model said, and what evidence and model come to together."""

    recorded: Recorded
    prediction: Prediction | None

    @property
    def category(self) -> str | None:
        signal = self.recorded.conclusion.signal
        if signal is not None:
            return signal.category
        return self.prediction.category if self.prediction else None

    @property
    def retries(self) -> bool | None:
        """The action on the first of several tries: ``None`` leaves it to the task's own settings."""
        signal = self.recorded.conclusion.signal
        if signal is not None:
            return signal.retry is not Retry.NO
        return self.prediction.should_retry if self.prediction else None

    @property
    def is_category_right(self) -> bool:
        return self.recorded.label.accepts(self.category)

    @property
    def is_model_right(self) -> bool:
        return self.prediction is not None and self.recorded.label.accepts(self.prediction.category)

    @property
    def is_false_fail(self) -> bool:
        return self.retries is False and self.recorded.label.should_retry is ShouldRetry.YES

    @property
    def is_wasted_retry(self) -> bool:
        return self.retries is True and self.recorded.label.should_retry is ShouldRetry.NO

    @property
    def is_right(self) -> bool:
        return self.retries is not None and not self.is_false_fail and not self.is_wasted_retry


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table."""

    name: str
    action: Rate
    category: Rate
    false_fails: Rate
    settled: Rate
    calibration: float
    noise: float


def judge(recorded: Iterable[Recorded], predict: Predict) -> list[Judged]:
    return [Judged(one, predict(one)) for one in recorded]


def measure(name: str, judged: Sequence[Judged]) -> Row:
    """Return evidence and model together over some failures; those that nobody decided count as not right."""
    total = len(judged)
    said = [one for one in judged if one.prediction is not None]
    confidences = np.array([one.prediction.confidence for one in said if one.prediction])
    right = np.array([one.is_model_right for one in said])
    return Row(
        name,
        action=Rate(sum(one.is_right for one in judged), total),
        category=Rate(sum(one.is_category_right for one in judged), total),
        false_fails=Rate(sum(one.is_false_fail for one in judged), total),
        settled=Rate(sum(one.retries is not None for one in judged), total),
        calibration=calibration_error(confidences, right),
        noise=noise_of(confidences),
    )


def calibration_bins(confidences: np.ndarray, right: np.ndarray) -> list[tuple[float, Rate]]:
    """Return the mean confidence and the share that is right of ten bins that hold about equally many."""
    bins = equal_mass_bins(confidences, np.ones(len(confidences)))
    return [
        (float(confidences[within].mean()), Rate(int(right[within].sum()), int(within.sum())))
        for within in (bins == number for number in np.unique(bins))
    ]


def calibration_error(confidences: np.ndarray, right: np.ndarray) -> float:
    """Return the expected calibration error over those bins."""
    if not len(confidences):
        return 0.0
    bins = equal_mass_bins(confidences, np.ones(len(confidences)))
    return float(expected_error(np.bincount(bins, confidences - right).astype(float), len(confidences)))


def noise_of(confidences: np.ndarray) -> float:
    """Return the calibration error that a perfectly calibrated model would show on so few failures, by chance."""
    draws = np.random.default_rng(0)
    errors = [calibration_error(confidences, draws.random(len(confidences)) < confidences) for _ in range(200)]
    return float(np.mean(errors))
