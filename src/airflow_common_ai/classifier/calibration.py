"""Make probabilities honest, on what the model said about groups that it had not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_common_ai.classifier.fitting import Fitted
from airflow_common_ai.classifier.model import CATEGORIES

if TYPE_CHECKING:
    from airflow_common_ai.classifier.training import Example, Numbers

__all__ = ["Calibration", "calibrate"]

_LOG_TEMPERATURES = (-3.0, 3.0)
_CERTAIN = 1e-9


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

    def confidences(self, probabilities: Numbers) -> Numbers:
        """Return how sure to be of the most probable categories."""
        import numpy as np
        from scipy.special import expit, logit

        slope, shift = self.confidence
        sure = logit(np.clip(probabilities.max(axis=1), _CERTAIN, 1 - _CERTAIN))
        found: Numbers = expit(slope * sure + shift)
        return found

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
