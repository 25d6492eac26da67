"""What gates and comparisons can be about, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from airflow_common_ai.evals.course import Task
from airflow_common_ai.evals.judged import DelayVerdict, Judged
from airflow_common_ai.evals.score import Score
from airflow_common_ai.evals.statistics.estimate import Estimate
from airflow_common_ai.recordings.label import CATEGORIES

__all__ = ["PAIRED", "SCORED", "PairedMetric"]


@dataclass(frozen=True, slots=True)
class PairedMetric:
    """Something that is true or not of one decision, so that two runs can be compared decision by decision."""

    words: str
    is_good: bool
    """Whether it is good where it is true."""
    is_true: Callable[[Judged, Task], bool]


PAIRED: Mapping[str, PairedMetric] = MappingProxyType(
    {
        "right": PairedMetric("right of all", True, lambda one, task: one.is_right),
        "settled": PairedMetric("settled", True, lambda one, task: one.is_settled),
        "false_fails": PairedMetric("false FAILs", False, lambda one, task: one.is_false_fail),
        "wasted_retries": PairedMetric("wasted retries", False, lambda one, task: one.is_wasted_retry),
        "undercut": PairedMetric(
            "asks undercut",
            False,
            lambda one, task: one.delay_verdict(task.retry_delay_s) is DelayVerdict.UNDERCUT,
        ),
        "category": PairedMetric("category right", True, lambda one, task: one.label.accepts(one.category)),
    }
)


def _of_category(name: str, measure: str) -> Callable[[Score], Estimate | None]:
    def estimate(score: Score) -> Estimate | None:
        rows = score.categories.rows if score.categories else ()
        found: Estimate | None = next((getattr(row, measure) for row in rows if row.name == name), None)
        return found

    return estimate


SCORED: Mapping[str, Callable[[Score], Estimate | None]] = MappingProxyType(
    {
        "right": lambda score: score.actions.right,
        "right_of_settled": lambda score: score.actions.right_of_settled,
        "settled": lambda score: score.actions.settled,
        "false_fails": lambda score: score.actions.false_fails,
        "false_fails_of_worth": lambda score: score.actions.false_fails_of_worth,
        "wasted_retries": lambda score: score.actions.wasted_retries,
        "wasted_retries_of_hopeless": lambda score: score.actions.wasted_retries_of_hopeless,
        "unanswered": lambda score: score.actions.unanswered,
        "undercut": lambda score: score.delays.undercut if score.delays else None,
        "too_early": lambda score: score.delays.too_early if score.delays else None,
        "too_long": lambda score: score.delays.too_long if score.delays else None,
        "delay_within": lambda score: score.delays.within if score.delays else None,
        "window_of_default": lambda score: score.window.of_default if score.window else None,
        "category": lambda score: score.categories.accuracy if score.categories else None,
        "category_of_named": lambda score: score.categories.accuracy_of_named if score.categories else None,
        "macro_f1": lambda score: score.categories.macro_f1 if score.categories else None,
        "cost_per_100": lambda score: score.costs.rows[0].per_100,
        "asked": lambda score: score.usage.asked,
        "usd_per_100": lambda score: score.usage.cost_usd_per_100,
        "milliseconds_p95": lambda score: score.usage.milliseconds_p95,
        **{f"precision.{name}": _of_category(name, "precision") for name in CATEGORIES},
        **{f"recall.{name}": _of_category(name, "recall") for name in CATEGORIES},
    }
)
