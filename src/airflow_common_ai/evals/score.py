"""How often a policy was right about recorded failures, and what it would have cost: all from its run file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.json_form import as_json
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.runs.run_file import Row, Run
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.evals.scoring.actions import ActionScore, score_actions
from airflow_common_ai.evals.scoring.calibration import Calibration, score_calibration
from airflow_common_ai.evals.scoring.categories import CategoryScore, score_categories
from airflow_common_ai.evals.scoring.consistency import Consistency, score_consistency
from airflow_common_ai.evals.scoring.costs import ERRORS, Costs, CostTable, row_parts, score_costs
from airflow_common_ai.evals.scoring.delays import DelayScore, RecoveryWindow, score_delays, score_window
from airflow_common_ai.evals.scoring.risk_coverage import RiskCoverage, score_risk_coverage
from airflow_common_ai.evals.scoring.sources import SourceScore, score_sources
from airflow_common_ai.evals.scoring.usage import Usage, score_usage
from airflow_common_ai.evals.statistics.sample import Sample
from airflow_common_ai.evals.unmeasurable import Unmeasurable

__all__ = ["JSON_VERSION", "CostlyRow", "Counts", "Score", "judged_rows", "score"]

JSON_VERSION = 1
"""Raised when a field of the JSON changes its meaning or goes; new fields may come any time."""

_MAX_WORST = 100


@dataclass(frozen=True, slots=True)
class Counts:
    """What was there to measure on."""

    rows: int
    cases: int
    """Distinct ids: a case that was asked several times is one."""
    failures: int
    """Distinct fingerprints among the judged cases: the n of every interval."""
    unlabelled: int
    """Cases that nobody judged: they count in no accuracy."""
    missing: int
    """Rows that a run which was killed still lacks, of all splits."""
    outcomes: Mapping[str, int]
    """Rows by how the asking ended: ``decided``, ``crashed``, ``timed_out``, ``stale``."""


@dataclass(frozen=True, slots=True)
class CostlyRow:
    """A decision that was wrong, and what it costs."""

    cost: float
    why: str
    """The largest part of the cost, one of the cost table's errors, e.g. ``false FAILs``."""
    row: Row


@dataclass(frozen=True, slots=True)
class Score:
    """Everything that one run says about one policy. Intervals are 95 %, and copies of a failure count as one."""

    header: RunHeader
    split: str | None
    """``None``: all splits together."""
    counts: Counts
    actions: ActionScore
    delays: DelayScore | None
    """``None``: nothing was rightly retried."""
    window: RecoveryWindow | None
    """``None``: nothing is worth a retry."""
    categories: CategoryScore | None
    """``None``: the policy names no categories."""
    sources: tuple[SourceScore, ...]
    """By how much they decided."""
    usage: Usage
    calibrations: tuple[Calibration, ...]
    """One for each voice that reports a confidence."""
    risk_coverage: tuple[RiskCoverage, ...]
    costs: CostTable
    consistency: Consistency | None
    """``None``: each case was asked once."""
    worst: tuple[CostlyRow, ...]
    """By cost, the highest first; of several copies of a failure, and repeats, one."""

    def to_json(self) -> dict[str, Any]:
        """Return the score for programs."""
        return {"version": JSON_VERSION, **as_json(self)}


def score(run: Run, *, split: str | None = None, costs: Costs | None = None) -> Score:
    """
    Score a run.

    :param split: One split only, e.g. ``gate``; ``None``: all of them together.
    :param costs: Prices; a guess of ours if ``None``.
    :raises Unmeasurable: Nothing in it was judged by anybody.
    """
    costs = costs or Costs()
    rows = [row for row in run.rows if split in (None, row.split)]
    judged = judged_rows(run, split)
    sample = Sample([one.row.fingerprint for one in judged])
    task = costs.task
    return Score(
        header=run.header,
        split=split,
        counts=_counts(run, rows, sample.failures),
        actions=score_actions(judged, sample),
        delays=score_delays(judged, sample, task),
        window=score_window(judged, sample, task),
        categories=score_categories(judged, sample),
        sources=score_sources(judged, sample),
        usage=score_usage(run.header, rows),
        calibrations=score_calibration(judged),
        risk_coverage=score_risk_coverage(judged, costs),
        costs=score_costs(judged, sample, costs),
        consistency=score_consistency(judged),
        worst=_worst(judged, costs),
    )


def judged_rows(run: Run, split: str | None) -> list[Judged]:
    """
    Return the rows of a split that somebody judged.

    :raises Unmeasurable: There are none.
    """
    judged = [Judged(row, row.label) for row in run.rows if row.label is not None and split in (None, row.split)]
    if not judged:
        splits = ", ".join(sorted({row.split for row in run.labelled})) or "none"
        where = "the run" if split is None else f"split {split!r} of the run"
        raise Unmeasurable(f"{where} holds no case with a label; splits with labels: {splits}")
    return judged


def _counts(run: Run, rows: Sequence[Row], failures: int) -> Counts:
    outcomes = Counter(row.outcome for row in rows)
    return Counts(
        rows=len(rows),
        cases=len({row.id for row in rows}),
        failures=failures,
        unlabelled=len({row.id for row in rows if row.label is None}),
        missing=run.missing,
        outcomes={outcome.value: outcomes[outcome] for outcome in Outcome},
    )


def _worst(judged: Sequence[Judged], costs: Costs) -> tuple[CostlyRow, ...]:
    found: dict[str, CostlyRow] = {}
    for one in judged:
        parts = row_parts(one, costs)
        cost, kept = sum(parts), found.get(one.row.fingerprint)
        if cost > 0 and (kept is None or cost > kept.cost):
            found[one.row.fingerprint] = CostlyRow(cost, ERRORS[parts.index(max(parts))], one.row)
    return tuple(sorted(found.values(), key=lambda costly: (-costly.cost, costly.row.key))[:_MAX_WORST])
