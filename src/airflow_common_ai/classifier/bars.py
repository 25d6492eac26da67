"""Choose how sure the model must be about each category, from what a mistake costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_common_ai.classifier.model import CATEGORIES, HOPELESS, Bars

if TYPE_CHECKING:
    import numpy as np

    from airflow_common_ai.classifier.training import Example, Numbers

__all__ = ["FAIL_COST", "RETRY_COST", "Cost", "choose_bars"]

_STEP = 0.01
"""Between the bars that are tried."""
_BORROWED = 10.0
"""The weight of the other categories beside a category's own examples: of a category with few examples they decide."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What it costs to decide wrongly, and between which values a bar may lie, however few mistakes there were."""

    most_mistakes: float
    """The share of an action's decisions that may be mistakes: 1 / (1 + the right decisions that one undoes)."""
    lowest: float
    highest: float


FAIL_COST = Cost(most_mistakes=0.05, lowest=0.75, highest=0.99)
"""A false FAIL throws away every retry that is left: nineteen right ones make good for it. Source: judgement."""
RETRY_COST = Cost(most_mistakes=0.2, lowest=0.5, highest=0.95)
"""A wasted RETRY costs one try: four right ones make good for it. Source: judgement."""


def choose_bars(
    categories: np.ndarray[Any, np.dtype[np.int64]],
    confidences: Numbers,
    retry_probabilities: Numbers,
    examples: Sequence[Example],
    *,
    fail: Cost = FAIL_COST,
    retry: Cost = RETRY_COST,
) -> Bars:
    """
    Return for each category the lowest bars that keep mistakes rare enough among failures that are taken for it.

    :param categories: The place of each example's likeliest category, by a model that had not seen its group.
    :param confidences: How sure it was of it.
    :param retry_probabilities: How sure it was that another try helps.
    """
    import numpy as np

    weights = np.array([example.weight for example in examples])
    is_yes = np.array([example.should_retry == "yes" for example in examples])
    is_no = np.array([example.should_retry == "no" for example in examples])
    is_hopeless = np.isin(categories, [CATEGORIES.index(name) for name in HOPELESS])
    sure_to_fail = np.where(is_hopeless, np.minimum(confidences, 1 - retry_probabilities), 0.0)
    failing = _Mistakes(sure_to_fail, weights, weights * is_yes)
    retrying = _Mistakes(retry_probabilities, weights, weights * is_no)
    everywhere = np.ones(len(examples), dtype=bool)
    least = failing.bar(everywhere, fail)
    return Bars(
        # Never below the bar of all together: what is good for one category must not add a false FAIL.
        fail={
            name: max(least, failing.bar(categories == at, fail))
            for at, name in enumerate(CATEGORIES)
            if name in HOPELESS
        },
        retry={name: retrying.bar(categories == at, retry) for at, name in enumerate(CATEGORIES)},
    )


@dataclass(frozen=True, slots=True)
class _Mistakes:
    """Of one action."""

    sure: Numbers
    weights: Numbers
    mistaken: Numbers
    """The weights of those that would be mistakes."""

    def bar(self, of_category: np.ndarray[Any, np.dtype[np.bool_]], cost: Cost) -> float:
        for step in range(round((cost.highest - cost.lowest) / _STEP)):
            bar = round(cost.lowest + step * _STEP, 2)
            over = self.sure >= bar
            borrowed = _BORROWED * self.mistaken[over].sum() / max(self.weights[over].sum(), 1.0)
            mistaken = self.mistaken[over & of_category].sum() + borrowed
            if mistaken <= cost.most_mistakes * (self.weights[over & of_category].sum() + _BORROWED):
                return bar
        return cost.highest
