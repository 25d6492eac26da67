"""Find examples that say nearly the same as a recording of another split: what is measured must not be learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from airflow_common_ai.classifier.features import features_of
from airflow_common_ai.evidence.model import RedactedEvidence

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["ALIKE", "nearest"]

ALIKE = 0.8
"""From this cosine of their words on, pairs of words included, two failures are twins."""


def nearest(ours: Sequence[RedactedEvidence], others: Sequence[RedactedEvidence]) -> list[tuple[int, float]]:
    """Return for each of ``ours`` the place of the one of ``others`` that is most like it, and how alike they are."""
    from sklearn.feature_extraction import DictVectorizer

    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform([_words(evidence) for evidence in (*ours, *others)])
    left, right = matrix[: len(ours)], matrix[len(ours) :]
    found: list[tuple[int, float]] = []
    for start in range(0, len(ours), 256):
        alike = _products(left[start : start + 256], right)
        best = alike.argmax(axis=1)
        found += [(int(at), float(alike[row, at])) for row, at in enumerate(best)]
    return found


def _products(left: csr_matrix, right: csr_matrix) -> np.ndarray[Any, Any]:
    products: np.ndarray[Any, Any] = (left @ right.T).toarray()
    return products


def _words(evidence: RedactedEvidence) -> dict[str, float]:
    """Return the words and pairs of words of a failure as a vector of length 1, without hints and bases."""
    words = {name: weight for name, weight in features_of(evidence, ()).weights.items() if not name.startswith("base:")}
    length = sum(weight * weight for weight in words.values()) ** 0.5 or 1.0
    return {name: weight / length for name, weight in words.items()}
