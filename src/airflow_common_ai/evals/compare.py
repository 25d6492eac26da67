"""Two runs on the same corpus: what changed, whether it can be chance, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.json_form import as_json
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.metric import PAIRED, PairedMetric
from airflow_common_ai.evals.runs.run_file import Row, Run
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.evals.score import judged_rows
from airflow_common_ai.evals.scoring.costs import Costs, row_parts
from airflow_common_ai.evals.statistics.estimate import Estimate, Share
from airflow_common_ai.evals.statistics.paired_test import McNemar, holm, mcnemar
from airflow_common_ai.evals.statistics.power import likely_opposite, smallest_drop
from airflow_common_ai.evals.statistics.resampling import bootstrap_interval, resampled_sums
from airflow_common_ai.evals.statistics.sample import Sample
from airflow_common_ai.evals.unmeasurable import Unmeasurable

__all__ = ["JSON_VERSION", "Change", "Comparison", "PairedScore", "compare", "compare_metrics"]

JSON_VERSION = 1
"""Raised when a field of the JSON changes its meaning or goes; new fields may come any time."""


@dataclass(frozen=True, slots=True)
class PairedScore:
    """One metric in both runs."""

    name: str
    words: str
    is_good: bool
    """Whether more of it is better."""
    before: Share
    after: Share
    gain: Estimate
    """By how much it got better; below zero: worse. Paired: failures are drawn whole, in both runs at once."""
    test: McNemar
    holm_p: float
    """The one-sided p for a regression, adjusted for all metrics that are compared."""
    detectable_drop: float | None
    """The smallest drop that this many failures could have shown with 80 % chance; ``None``: none."""


@dataclass(frozen=True, slots=True)
class Change:
    """A case that is decided otherwise now; one whose delay alone moved, without a cost, is none."""

    cost: float
    """How much more it costs now; below zero: less."""
    before: Row
    after: Row


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside an earlier one, its baseline. Of repeats, the majority counts; copies of a failure count as one."""

    before: RunHeader
    after: RunHeader
    split: str | None
    failures: int
    """Distinct failures that both runs decided about."""
    metrics: tuple[PairedScore, ...]
    unit: str
    cost_before: Estimate
    """For each hundred failures."""
    cost_after: Estimate
    cost_change: Estimate
    """Paired; below zero: it costs less now."""
    changes: tuple[Change, ...]
    """Those first that cost most by now."""

    def to_json(self) -> dict[str, Any]:
        return {"version": JSON_VERSION, **as_json(self)}


def compare(before: Run, after: Run, *, split: str | None = None, costs: Costs | None = None) -> Comparison:
    """
    Compare two runs.

    :raises Unmeasurable: They are not on the same corpus, or not on the same cases of it, nobody judged those, or rows
        are missing or stale.
    """
    costs = costs or Costs()
    old, new = _pairs(before, after, split)
    sample = Sample([one.row.fingerprint for one in new])
    old_costs, new_costs = _costs(old, costs), _costs(new, costs)
    columns = np.column_stack([sample.per_failure(100 * old_costs), sample.per_failure(100 * new_costs)])
    means, drawn = columns.mean(axis=0), resampled_sums(columns) / sample.failures
    return Comparison(
        before=before.header,
        after=after.header,
        split=split,
        failures=sample.failures,
        metrics=_compared(old, new, sample, PAIRED, costs),
        unit=costs.unit,
        cost_before=bootstrap_interval(float(means[0]), drawn[:, 0]),
        cost_after=bootstrap_interval(float(means[1]), drawn[:, 1]),
        cost_change=bootstrap_interval(float(means[1] - means[0]), drawn[:, 1] - drawn[:, 0]),
        changes=_changes(old, new, new_costs - old_costs),
    )


def compare_metrics(
    before: Run, after: Run, names: Iterable[str], *, split: str | None, costs: Costs
) -> tuple[PairedScore, ...]:
    """
    Compare two runs by some metrics, which are one family for the adjustment.

    :raises Unmeasurable: as :func:`compare`.
    """
    old, new = _pairs(before, after, split)
    sample = Sample([one.row.fingerprint for one in new])
    return _compared(old, new, sample, {name: PAIRED[name] for name in names}, costs)


def _pairs(before: Run, after: Run, split: str | None) -> tuple[list[Judged], list[Judged]]:
    if before.header.corpus != after.header.corpus:
        raise Unmeasurable(
            f"the runs are on different corpora ({before.header.corpus[:12]} and {after.header.corpus[:12]}): run both "
            "policies on the same one"
        )
    for run in (before, after):
        if run.missing:
            raise Unmeasurable(f"the run of {run.header.policy} lacks {run.missing} rows: finish it with --resume")
        if stale := sum(row.outcome is Outcome.STALE for row in run.rows):
            raise Unmeasurable(f"the run of {run.header.policy} has {stale} stale rows: record their answers again")
    if {row.id for row in before.rows} != {row.id for row in after.rows}:
        raise Unmeasurable("the runs hold different cases of the corpus: run both with the same --shard")
    old = {one.row.key: one for one in judged_rows(before, split)}
    new = {one.row.key: one for one in judged_rows(after, split)}
    if old.keys() != new.keys():
        raise Unmeasurable(
            "the runs asked about each case a different number of times: run both with the same --repeat"
        )
    keys = sorted(new)
    return [old[key] for key in keys], [new[key] for key in keys]


def _compared(
    old: Sequence[Judged], new: Sequence[Judged], sample: Sample, metrics: Mapping[str, PairedMetric], costs: Costs
) -> tuple[PairedScore, ...]:
    found = []
    for name, metric in metrics.items():
        was = np.array([metric.is_true(one, costs.task) for one in old])
        now = np.array([metric.is_true(one, costs.task) for one in new])
        sign = 1.0 if metric.is_good else -1.0
        gain = sign * sample.per_failure(now.astype(float) - was)
        votes = sign * (_majority(new, now, sample) - _majority(old, was, sample))
        test = mcnemar(worse=int((votes < 0).sum()), better=int((votes > 0).sum()))
        found.append((name, metric, sample.share(was), sample.share(now), gain, test))
    adjusted = holm([test.p for *_, test in found])
    return tuple(
        PairedScore(
            name=name,
            words=metric.words,
            is_good=metric.is_good,
            before=was_share,
            after=now_share,
            gain=bootstrap_interval(float(gain.mean()), resampled_sums(gain[:, None])[:, 0] / sample.failures),
            test=test,
            holm_p=p,
            detectable_drop=smallest_drop(
                sample.failures,
                opposite=max(likely_opposite(was_share.value, is_good=metric.is_good), test.better / sample.failures),
            ),
        )
        for (name, metric, was_share, now_share, gain, test), p in zip(found, adjusted, strict=True)
    )


def _majority(judged: Sequence[Judged], flags: NDArray[np.bool_], sample: Sample) -> NDArray[np.float64]:
    """Return for each failure the share of its cases of which more than half of the repeats are true."""
    ids, case = np.unique([one.row.id for one in judged], return_inverse=True)
    is_true = np.bincount(case, flags, len(ids)) > np.bincount(case) / 2
    return sample.per_failure(is_true[case].astype(float)).round(9)


def _costs(judged: Sequence[Judged], costs: Costs) -> NDArray[np.float64]:
    return np.array([sum(row_parts(one, costs)) for one in judged])


def _changes(old: Sequence[Judged], new: Sequence[Judged], more: NDArray[np.float64]) -> tuple[Change, ...]:
    changed = [
        Change(float(cost), was.row, now.row)
        for was, now, cost in zip(old, new, more, strict=True)
        if cost or (was.decided, was.category) != (now.decided, now.category)
    ]
    return tuple(sorted(changed, key=lambda change: (-change.cost, change.after.key)))
