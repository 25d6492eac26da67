"""What decisions cost, by prices that the user sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from airflow_common_ai.evals.course import Course, Task, course_of
from airflow_common_ai.evals.gates.toml_table import TomlTable, read_toml
from airflow_common_ai.evals.judged import DelayVerdict, Judged, judged_delay
from airflow_common_ai.evals.statistics.estimate import Estimate
from airflow_common_ai.evals.statistics.resampling import bootstrap_interval, resampled_sums
from airflow_common_ai.evals.statistics.sample import Sample

__all__ = [
    "ERRORS",
    "CostRow",
    "CostTable",
    "Costs",
    "cost_parts",
    "costs_of",
    "read_costs",
    "row_parts",
    "score_costs",
]

ERRORS = (
    "false FAILs",
    "wasted retries",
    "left to Airflow in vain",
    "asks undercut",
    "retries too early",
    "retries too late",
    "model",
)
"""What a cost is made of."""


@dataclass(frozen=True, slots=True)
class Costs:
    """
    Prices, in any one unit.

    The defaults count minutes of work, and are a guess: set your own.
    """

    unit: str = "minutes"
    false_fail: float = 60.0
    """A task failed that a retry would have saved: somebody looks, and runs it again."""
    wasted_retry_minutes: float = 5.0
    """How long a try runs until it fails again."""
    minute: float = 1.0
    """A minute of a worker's slot."""
    undercut_ask: float = 10.0
    """A retry before the time that a server asked for: a wasted try, and services that throttle or ban."""
    early_retry: float = 5.0
    """A retry before any wait that makes sense."""
    late_minute: float = 0.1
    """Each minute that a retry comes later than makes sense."""
    model_call: float = 0.0
    dollar: float = 0.0
    """What a dollar paid for a model is in this unit."""
    retries: int = 5
    """That a task has, as many as the runner takes it to have; what is retried in vain is retried as often, unless the
    run says when it was given up."""
    retry_delay_s: float = 300.0
    """A task's own. Source: Airflow's ``core.default_task_retry_delay``."""

    @property
    def task(self) -> Task:
        return Task(self.retries, self.retry_delay_s)


@dataclass(frozen=True, slots=True)
class CostRow:
    """One policy's cost for each hundred failures."""

    policy: str
    """``this policy``, ``Airflow's default``, ``always retry``, ``never retry`` or ``oracle``."""
    per_100: Estimate
    over_this: Estimate | None
    """How much more it costs than this policy, paired; ``None`` for this policy itself."""


@dataclass(frozen=True, slots=True)
class CostTable:
    """
    This policy beside others, on the same failures.

    *Airflow's default* retries everything after ``retry_delay_s``, *always retry* at once, *never retry* fails
    everything; the *oracle* does what is right, after the shortest wait that makes sense.
    """

    costs: Costs
    rows: tuple[CostRow, ...]
    errors: tuple[tuple[str, float], ...]
    """What this policy's cost is made of, for each hundred failures."""


def read_costs(path: Path) -> Costs:
    """
    Read prices from a TOML file: the fields of :class:`Costs`; what it leaves out keeps its default.

    :raises ValueError: with the file, the key, the rule and the fix.
    """
    try:
        return costs_of(read_toml(path))
    except ValueError as fault:
        raise ValueError(f"{path}: {fault}") from None


def costs_of(table: TomlTable) -> Costs:
    """Return the prices of a table, e.g. ``[costs]`` in a file of gates."""
    costs = Costs(
        unit=table.text("unit", default=_DEFAULT.unit),
        retries=table.count("retries", default=_DEFAULT.retries, most=100),
        **{name: table.number(name, default=getattr(_DEFAULT, name)) for name in _PRICES},
    )
    table.nothing_else()
    return costs


def score_costs(judged: Sequence[Judged], sample: Sample, costs: Costs) -> CostTable:
    """Price the decisions, and what others would have decided about the same failures."""
    parts = np.array([row_parts(one, costs) for one in judged])
    own = costs.task.own_course
    courses = {
        "Airflow's default": own,
        "always retry": Course((0.0,) * costs.retries),
        "never retry": Course(()),
    }
    others = {
        name: np.array([sum(cost_parts(one, course, costs)) for one in judged]) for name, course in courses.items()
    }
    others["oracle"] = np.zeros(len(judged))  # what it does is right, and only what is wrong has a price
    this = parts.sum(axis=1)
    columns = np.column_stack([sample.per_failure(100 * cost) for cost in (this, *others.values())])
    drawn = resampled_sums(columns) / sample.failures
    means = columns.mean(axis=0)
    rows = [CostRow("this policy", bootstrap_interval(float(means[0]), drawn[:, 0]), None)]
    for number, name in enumerate(others, 1):
        over = bootstrap_interval(float(means[number] - means[0]), drawn[:, number] - drawn[:, 0])
        rows.append(CostRow(name, bootstrap_interval(float(means[number]), drawn[:, number]), over))
    errors = ((name, 100 * float(sample.per_failure(parts[:, at]).mean())) for at, name in enumerate(ERRORS))
    return CostTable(costs, tuple(rows), tuple(errors))


def row_parts(one: Judged, costs: Costs) -> tuple[float, ...]:
    """Return what one decision costs, by :data:`ERRORS`."""
    *parts, _ = cost_parts(one, course_of(one.row, costs.task), costs, is_left=not one.is_settled)
    return (*parts, one.row.calls * costs.model_call + (one.row.cost_usd or 0.0) * costs.dollar)


def cost_parts(one: Judged, course: Course, costs: Costs, *, is_left: bool = False) -> tuple[float, ...]:
    """
    Return what a course of retries costs where it is wrong, by :data:`ERRORS`.

    :param one: The failure; what was decided about it does not matter here.
    :param is_left: Whether the retries are Airflow's own.
    """
    parts = dict.fromkeys(ERRORS, 0.0)
    if one.is_hopeless:
        vain = len(course.waits_s) * costs.wasted_retry_minutes * costs.minute
        parts["left to Airflow in vain" if is_left else "wasted retries"] = vain
    elif not course.waits_s:
        parts["false FAILs"] = costs.false_fail if one.is_worth_a_retry else 0.0
    elif one.label.delay_s is not None:
        wait_s = course.waits_s[0]
        match judged_delay(wait_s, one.label.delay_s, one.row.asked_delay_s):
            case DelayVerdict.UNDERCUT:
                parts["asks undercut"] = costs.undercut_ask
            case DelayVerdict.TOO_EARLY:
                parts["retries too early"] = costs.early_retry
            case DelayVerdict.TOO_LONG:
                parts["retries too late"] = (wait_s - one.label.delay_s[1]) / 60 * costs.late_minute
    return tuple(parts.values())


_DEFAULT = Costs()
_PRICES = tuple(field.name for field in fields(Costs) if field.name not in ("unit", "retries"))
