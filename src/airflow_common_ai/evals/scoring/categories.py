"""Was the category right? A policy that names none has no such score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.statistics.estimate import Estimate, Share
from airflow_common_ai.evals.statistics.resampling import bootstrap_interval, resampled_sums
from airflow_common_ai.evals.statistics.sample import Sample
from airflow_common_ai.recordings.label import CATEGORIES

__all__ = ["ABSTAINED", "CategoryRow", "CategoryScore", "score_categories"]

ABSTAINED = "abstained"
_NOT_NAMED = (ABSTAINED, *(outcome.value for outcome in Outcome if outcome is not Outcome.DECIDED))


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """One category."""

    name: str
    failures: float
    """Distinct failures that belong here."""
    named: float
    """Distinct failures that were said to belong here."""
    precision: Share | None
    """``None``: it was never named."""
    recall: Share | None
    """``None``: nothing belongs here. What was abstained about is missed."""
    f1: Estimate | None


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """Where several categories are as right, the one that was named counts as the true one."""

    accuracy: Share
    """Of all; an abstention is not right."""
    accuracy_of_named: Share | None
    """Of those that a category was named for."""
    macro_f1: Estimate
    """The mean of F1 over the categories that failures belong to."""
    rows: tuple[CategoryRow, ...]
    columns: tuple[str, ...]
    """Of the confusion matrix: every category that was named, then ``abstained``, ``crashed``, ``timed_out`` and
    ``stale``."""
    matrix: Mapping[str, Mapping[str, float]]
    """Distinct failures by true category, then by column."""


def score_categories(judged: Sequence[Judged], sample: Sample) -> CategoryScore | None:
    """Score categories; ``None`` if the policy named none at all."""
    named = [_column(one) for one in judged]
    true = [found if one.label.accepts(found) else one.label.category for one, found in zip(judged, named, strict=True)]
    others = {name for name in named if name not in CATEGORIES and name not in _NOT_NAMED}
    categories = (*CATEGORIES, *sorted(others))
    is_named = [name not in _NOT_NAMED for name in named]
    if not any(is_named):
        return None
    columns = (*categories, *_NOT_NAMED)
    matrix = confusion_matrix(true, named, labels=columns, sample_weight=sample.weights)
    is_right = [wanted == found for wanted, found in zip(true, named, strict=True)]
    f1, macro_f1 = _f1(true, named, categories, sample)
    return CategoryScore(
        accuracy=sample.share(is_right),
        accuracy_of_named=sample.share_within(is_right, is_named),
        macro_f1=macro_f1,
        rows=tuple(
            CategoryRow(
                name=name,
                failures=float(matrix[number].sum()),
                named=float(matrix[:, number].sum()),
                precision=sample.share_within(is_right, [found == name for found in named]),
                recall=sample.share_within(is_right, [wanted == name for wanted in true]),
                f1=f1[name],
            )
            for number, name in enumerate(categories)
        ),
        columns=columns,
        matrix={
            name: dict(zip(columns, map(float, matrix[number]), strict=True)) for number, name in enumerate(categories)
        },
    )


def _column(one: Judged) -> str:
    if one.row.outcome is not Outcome.DECIDED:
        return one.row.outcome.value
    return one.category or ABSTAINED


def _f1(
    true: Sequence[str], named: Sequence[str], categories: Sequence[str], sample: Sample
) -> tuple[dict[str, Estimate | None], Estimate]:
    """Return F1 of each category, ``None`` where it never occurs, and the mean over those that failures belong to."""
    wanted, found = np.asarray(true), np.asarray(named)
    hits, counts = [], []
    for name in categories:
        hits.append(sample.per_failure((wanted == name) & (found == name)))
        counts.append(sample.per_failure(1.0 * (wanted == name) + (found == name)))
    columns = np.column_stack([*hits, *counts])
    drawn = _f1_of(resampled_sums(columns))
    measured = _f1_of(columns.sum(axis=0, keepdims=True))[0]
    f1 = {
        name: None if np.isnan(measured[number]) else bootstrap_interval(float(measured[number]), drawn[:, number])
        for number, name in enumerate(categories)
    }
    belongs = [number for number, name in enumerate(categories) if (wanted == name).any()]
    # A resample without any failure of a category says nothing about it.
    macro = np.nanmean(drawn[:, belongs], axis=1)
    return f1, bootstrap_interval(float(measured[belongs].mean()), macro)


def _f1_of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    hits, counts = np.split(sums, 2, axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(2 * hits / counts)
