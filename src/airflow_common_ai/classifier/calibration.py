"""Make probabilities honest, and choose the bars, on what the model said about groups that it had not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_common_ai.classifier.fitting import Fitted
from airflow_common_ai.classifier.model import CATEGORIES, Bars

if TYPE_CHECKING:
    from airflow_common_ai.classifier.training import Example, Numbers

__all__ = ["Calibration", "calibrate", "choose_bars"]

_LOG_TEMPERATURES = (-3.0, 3.0)
_CERTAIN = 1e-9
_STEP = 0.01
"""Between the bars that are tried."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Five numbers: more would fit the chance in a few hundred failures."""

    temperature: float
    """The categories' log-odds are multiplied by this."""
    slope: float
    shift: float
    """Of the retry head's log-odds (Platt)."""
    confidence: tuple[float, float]
    """Slope and shift of the log-odds of the most probable category, to those that it is right."""

    def probabilities(self, scores: Numbers) -> tuple[Numbers, Numbers]:
        """Return the probabilities of the categories and of a retry."""
        from scipy.special import expit, softmax

        return softmax(scores[:, :-1] * self.temperature, axis=1), expit(scores[:, -1] * self.slope + self.shift)

    def applied(self, fitted: Fitted) -> Fitted:
        """Return weights whose scores need no calibration any more."""
        import numpy as np

        factors = np.array([self.temperature] * len(CATEGORIES) + [self.slope])
        intercepts = fitted.intercepts * factors
        intercepts[-1] += self.shift
        return Fitted(fitted.coefficients * factors, intercepts)


def calibrate(scores: Numbers, examples: Sequence[Example]) -> Calibration:
    """
    Return what makes the probabilities most likely.

    The confidence of a category is the probability that it is right, also where the label has several right ones.
    """
    import numpy as np
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    weights = np.array([example.weight for example in examples])
    best = scores[:, :-1].argmax(axis=1)
    is_right = np.array([one.accepts(CATEGORIES[at]) for one, at in zip(examples, best, strict=True)])
    rows = np.arange(len(best))

    def category_loss(log_temperature: float) -> float:
        sure = np.exp(log_softmax(scores[:, :-1] * np.exp(log_temperature), axis=1)[rows, best])
        sure = np.clip(sure, _CERTAIN, 1 - _CERTAIN)
        return float(-(weights * np.where(is_right, np.log(sure), np.log1p(-sure))).sum())

    asked = np.array([index for index, example in enumerate(examples) if example.should_retry != "either"])
    signs = np.array([1.0 if examples[index].should_retry == "yes" else -1.0 for index in asked])

    def retry_loss(parameters: Numbers) -> float:
        margins = signs * (parameters[0] * scores[asked, -1] + parameters[1])
        return float((weights[asked] * np.logaddexp(0, -margins)).sum())

    temperature = float(np.exp(minimize_scalar(category_loss, bounds=_LOG_TEMPERATURES, method="bounded").x))
    logs = log_softmax(scores[:, :-1] * temperature, axis=1)[rows, best]
    sure = np.clip(np.exp(logs), _CERTAIN, 1 - _CERTAIN)
    asked = np.array([index for index, example in enumerate(examples) if example.should_retry != "either"])
    is_yes = np.array([examples[index].should_retry == "yes" for index in asked])
    slope, shift = _platt(scores[asked, -1], is_yes, weights[asked])
    return Calibration(temperature, slope, shift, _platt(np.log(sure / (1 - sure)), is_right, weights))


def _platt(scores: Numbers, answers: Numbers, weights: Numbers) -> tuple[float, float]:
    """Return the slope and the shift that make log-odds most likely."""
    import numpy as np
    from scipy.optimize import minimize

    signs = np.where(answers, 1.0, -1.0)

    def loss(parameters: Numbers) -> float:
        margins = signs * (parameters[0] * scores + parameters[1])
        return float((weights * np.logaddexp(0, -margins)).sum())

    slope, shift = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead").x
    return float(slope), float(shift)


def choose_bars(
    retry_probabilities: Numbers,
    examples: Sequence[Example],
    *,
    fail: tuple[float, float, float],
    retry: tuple[float, float, float],
) -> Bars:
    """
    Return the lowest bars that keep mistakes rare enough.

    :param fail: The share of mistakes that is allowed, the lowest bar and the highest. So for ``retry``.
    """
    import numpy as np

    weights = np.array([example.weight for example in examples])
    is_yes = np.array([example.should_retry == "yes" for example in examples])
    is_no = np.array([example.should_retry == "no" for example in examples])
    return Bars(
        fail=_bar(1 - retry_probabilities, is_yes, weights, *fail),
        retry=_bar(retry_probabilities, is_no, weights, *retry),
    )


def _bar(sure: Numbers, is_mistake: Numbers, weights: Numbers, most: float, lowest: float, highest: float) -> float:
    for step in range(round((highest - lowest) / _STEP)):
        bar = round(lowest + step * _STEP, 2)
        over = sure >= bar
        if (weights * is_mistake)[over].sum() <= most * weights[over].sum():
            return bar
    return highest
