"""What a month would have looked like: failures arrive, their causes pass or not, and policies spend tries on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from airflow_common_ai.evals.course import Course, Task, course_of
from airflow_common_ai.evals.json_form import as_json
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.runs.run_file import Run
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.evals.score import judged_rows
from airflow_common_ai.evals.statistics.estimate import CONFIDENCE, Estimate
from airflow_common_ai.recordings.label import ShouldRetry

__all__ = ["Assumptions", "Month", "PolicyMonth", "simulate"]

_SHORTEST_S = 1.0
"""No cause passes faster; a label may say that 0 s make sense."""

_FIVE_PERCENT = 1.6448536269514722
"""Standard deviations from the middle of a normal distribution that leave 5 % on a side."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What is not in a run, and has to be assumed."""

    failures: int | None = None
    """That a month brings on average; ``None``: as many as the corpus was seen to have."""
    attempt_minutes: float = 5.0
    """How long a try runs until it fails again."""
    retries: int = 5
    """That a task has, at least one."""
    retry_delay_s: float = 300.0
    """A task's own."""
    either_passes: float = 0.5
    """The chance that the cause of a failure passes of which it can be argued whether a retry helps."""
    months: int = 200
    """That are simulated."""
    seed: int = 1

    @property
    def task(self) -> Task:
        return Task(self.retries, self.retry_delay_s)

    def in_words(self) -> tuple[str, ...]:
        return (
            f"A task has {self.retries} retries and a retry_delay of {self.retry_delay_s:g} s; a try that fails takes "
            f"{self.attempt_minutes:g} min.",
            "Failures arrive at random, each kind as often as it was seen in the corpus.",
            "What no retry can help never passes. What a retry helps passes after a time that is lognormal: 5 % before "
            "the shortest wait that makes sense to those who judged it, 95 % before the longest.",
            "A rate limit passes at the time that the server named; where it named none, at any time up to the longest "
            "wait that makes sense.",
            f"What can be argued passes in {self.either_passes:.0%} of the cases, like what a retry helps.",
            "Where the run tells about the first try only, every later try is decided like it, and a model is asked "
            "again each time.",
            "Airflow's default retries after retry_delay, 'always retry' at once, 'never retry' not at all.",
        )


@dataclass(frozen=True, slots=True)
class PolicyMonth:
    """One policy's month; each number with the range that 95 % of the simulated months fall into, NaN if in none."""

    policy: str
    wasted_attempts: Estimate
    """Retries that failed again."""
    wasted_slot_hours: Estimate
    """What they ran."""
    recovered: Estimate
    """Tasks that a retry saved."""
    lost: Estimate
    """Tasks that failed though their cause passed: later, or in time for a retry that nobody made."""
    failed: Estimate
    """All tasks that failed in the end."""
    minutes_to_recovery: Estimate
    """From the failure to the start of the try that succeeds; of those that this policy saves."""
    minutes_to_give_up: Estimate
    """From the failure to the end of the last try, where no retry can help: until somebody is told."""
    model_calls: Estimate


@dataclass(frozen=True, slots=True)
class Month:
    """Policies side by side, on the same failures whose causes pass at the same times."""

    header: RunHeader
    split: str | None
    assumptions: Assumptions
    failures: Estimate
    policies: tuple[PolicyMonth, ...]

    def to_json(self) -> dict[str, Any]:
        return {"version": 1, **as_json(self), "assumptions_in_words": list(self.assumptions.in_words())}


@dataclass(frozen=True, slots=True)
class _Courses:
    """What one policy does about each case."""

    waits_s: NDArray[np.float64]
    """A row for each case, a column for each retry; NaN where the task was failed by then."""
    calls: NDArray[np.float64]

    @classmethod
    def of(cls, courses: Sequence[Course], retries: int) -> _Courses:
        waits = np.full((len(courses), retries), np.nan)
        calls = np.zeros((len(courses), retries + 1))
        for at, course in enumerate(courses):
            waits[at, : len(course.waits_s)] = course.waits_s
            calls[at, : len(course.calls)] = course.calls
        return cls(waits, calls)


def simulate(run: Run, assumptions: Assumptions | None = None, *, split: str | None = None) -> Month:
    """
    Simulate months.

    :raises Unmeasurable: Nobody judged any case of the run.
    """
    assumed = assumptions or Assumptions()
    # Of a case that was asked several times one answer counts, the first.
    judged = list({one.row.id: one for one in reversed(judged_rows(run, split))}.values())
    task = assumed.task
    policies = {
        "this policy": _Courses.of([course_of(one.row, task) for one in judged], task.retries),
        "Airflow's default": _Courses.of([task.own_course] * len(judged), task.retries),
        "always retry": _Courses.of([Course((0.0,) * task.retries)] * len(judged), task.retries),
        "never retry": _Courses.of([Course(())] * len(judged), task.retries),
    }
    seen = np.array([one.row.count for one in judged], dtype=float)
    rates = seen if assumed.failures is None else seen * (assumed.failures / seen.sum())
    causes = _Causes(judged, assumed)
    generator = np.random.default_rng(assumed.seed)
    months: dict[str, list[list[float]]] = {name: [] for name in policies}
    arrived = []
    for _ in range(assumed.months):
        cases = np.repeat(np.arange(len(judged)), generator.poisson(rates))
        passes_s = causes.passing_times(cases, generator)
        arrived.append(float(len(cases)))
        for name, courses in policies.items():
            months[name].append(_month(courses, cases, passes_s, assumed))
    return Month(
        header=run.header,
        split=split,
        assumptions=assumed,
        failures=_range(arrived),
        policies=tuple(
            PolicyMonth(name, *(_range(list(column)) for column in zip(*rows, strict=True)))
            for name, rows in months.items()
        ),
    )


class _Causes:
    """When the causes of failures pass, by what those say who judged them."""

    def __init__(self, judged: Sequence[Judged], assumed: Assumptions) -> None:
        chance: Mapping[ShouldRetry, float] = {
            ShouldRetry.YES: 1.0,
            ShouldRetry.EITHER: assumed.either_passes,
            ShouldRetry.NO: 0.0,
        }
        self._chance = np.array([chance[one.label.should_retry] for one in judged])
        sensible = np.array([one.label.delay_s or (_SHORTEST_S, _SHORTEST_S) for one in judged])
        self._longest_s = np.maximum(sensible[:, 1], _SHORTEST_S)
        low, high = np.log(np.maximum(sensible[:, 0], _SHORTEST_S)), np.log(self._longest_s)
        self._middle, self._spread = (low + high) / 2, (high - low) / (2 * _FIVE_PERCENT)
        self._is_window = np.array([one.label.category == "rate_limit" for one in judged])
        # An ask that is longer than makes sense to those who judged is a mistake, as it is for the delays.
        asked = [one.row.asked_delay_s or np.nan for one in judged]
        self._asked_s = np.where(np.array(asked) <= self._longest_s, asked, np.nan)

    def passing_times(self, cases: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.float64]:
        """Return the seconds after which each cause passes; infinite where it does not."""
        drawn, chance = generator.random(len(cases)), generator.random(len(cases))
        lognormal = np.exp(self._middle[cases] + self._spread[cases] * generator.standard_normal(len(cases)))
        window = np.where(np.isnan(self._asked_s[cases]), drawn * self._longest_s[cases], self._asked_s[cases])
        passes = np.where(self._is_window[cases], window, lognormal)
        return np.where(chance < self._chance[cases], passes, np.inf)


def _month(
    courses: _Courses, cases: NDArray[np.int64], passes_s: NDArray[np.float64], assumed: Assumptions
) -> list[float]:
    """Return the numbers of :class:`PolicyMonth` in its order."""
    waits, calls = courses.waits_s[cases], courses.calls[cases]
    runs_s = assumed.attempt_minutes * 60
    # The n-th retry starts after all waits so far and the tries that failed in between.
    starts = np.cumsum(waits, axis=1) + runs_s * np.arange(waits.shape[1])
    is_made = np.isfinite(starts)
    succeeds = is_made & (starts >= passes_s[:, None])
    is_saved = succeeds.any(axis=1)
    first = np.where(is_saved, succeeds.argmax(axis=1), is_made.sum(axis=1))
    wasted = float(first.sum())
    recovery_s = np.take_along_axis(starts, np.minimum(first, starts.shape[1] - 1)[:, None], axis=1)[:, 0][is_saved]
    passes = np.isfinite(passes_s)
    last_start = np.where(is_made, starts, -runs_s).max(axis=1, initial=-runs_s)[~passes]
    asked = np.arange(calls.shape[1]) <= first[:, None]  # at the failure itself, and at each retry that failed again
    return [
        wasted,
        wasted * assumed.attempt_minutes / 60,
        float(is_saved.sum()),
        float((passes & ~is_saved).sum()),
        float((~is_saved).sum()),
        float(recovery_s.mean() / 60) if len(recovery_s) else float("nan"),
        float((last_start + runs_s).mean() / 60) if len(last_start) else float("nan"),
        float((calls * asked).sum()),
    ]


def _range(values: list[float]) -> Estimate:
    known = np.array([value for value in values if np.isfinite(value)])
    if not len(known):
        return Estimate(float("nan"), float("nan"), float("nan"), "simulation")
    low, high = np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(float(known.mean()), float(low), float(high), "simulation")
