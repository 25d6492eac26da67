"""What the embedded model makes of a failure that the evidence leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES, FailureCategory
from airflow_common_ai.policies.ladder import Case, Verdict

if TYPE_CHECKING:
    from airflow_common_ai.classifier import Prediction

__all__ = ["ClassifierTier"]


@dataclass(frozen=True)
class ClassifierTier:
    """
    Answers with the likeliest category that the table treats as the model would: retried or failed.

    How sure it must be is chosen with the model, and stands in its file; a ``min_confidence`` of the category's row
    counts instead.
    """

    categories: Mapping[str, FailureCategory]
    name: str = "classifier"

    def decide(self, case: Case) -> Verdict | None:
        prediction = case.prediction
        if prediction is None:
            return None
        category, confidence = self._choice(prediction)
        row = self.categories[category]
        words = ", ".join(f"'{word}'" for word in prediction.top_features)
        return Verdict(
            code=f"classifier.{category}",
            sentence=f"reads like {category} ({confidence:.2f}){f': {words}' if words else ''}",
            category=category,
            confidence=round(confidence, 4),
            is_sure=None if _is_changed(category, row) else prediction.should_retry is row.retry,
            asked_delay_s=case.conclusion.asked_delay_s,
        )

    def _choice(self, prediction: Prediction) -> tuple[str, float]:
        """Return the category to name, and how sure the model is that what the table does about it is right."""
        likeliest = prediction.category
        row = self.categories[likeliest]
        if _is_changed(likeliest, row):
            return likeliest, prediction.confidence  # the user knows better than the model whether to retry it
        if prediction.retry_probability < 0.5:
            is_right = prediction.retry_probability if row.retry else 1 - prediction.retry_probability
            return likeliest, min(prediction.confidence, is_right)
        retried = [name for name in prediction.probabilities if self.categories[name].retry]
        best = max(retried, key=lambda name: prediction.probabilities[name], default=likeliest)
        return best, prediction.retry_probability


def _is_changed(category: str, row: FailureCategory) -> bool:
    return row.retry != DEFAULT_CATEGORIES[category].retry
