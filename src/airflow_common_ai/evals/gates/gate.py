"""Does a run pass? Absolute bounds, no drop against a baseline that is no chance, and cases that must pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.compare import compare_metrics
from airflow_common_ai.evals.gates.gates_file import Bound, Demand, Drop, Gates, MustPass
from airflow_common_ai.evals.json_form import as_json
from airflow_common_ai.evals.judged import DelayVerdict, Judged
from airflow_common_ai.evals.metric import SCORED
from airflow_common_ai.evals.runs.run_file import Run
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.evals.score import Score, judged_rows, score
from airflow_common_ai.evals.statistics.estimate import Estimate
from airflow_common_ai.evals.statistics.power import likely_opposite, smallest_drop
from airflow_common_ai.evals.unmeasurable import Unmeasurable

__all__ = ["JSON_VERSION", "BoundResult", "DropResult", "GateVerdict", "MustPassResult", "Status", "check"]

JSON_VERSION = 1
"""Raised when a field of the JSON changes its meaning or goes; new fields may come any time."""


class Status(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_MEASURED = "not measured"
    """Neither: the run does not say enough."""
    NO_BASELINE = "no baseline"
    """Neither: there is nothing to compare with, and nobody asked for that."""


@dataclass(frozen=True, slots=True)
class BoundResult:
    bound: Bound
    status: Status
    found: Estimate | None
    """``None``: the run has nothing to measure it on."""
    room: float | None
    """How far the bound of the interval is on the right side of the bar; below zero: on the wrong one."""


@dataclass(frozen=True, slots=True)
class DropResult:
    drop: Drop
    status: Status
    loss: Estimate | None
    """By how much it got worse; below zero: better. ``None``: there is no baseline."""
    worse: int | None
    better: int | None
    p: float | None
    """One-sided, exact."""
    holm_p: float | None
    """Adjusted for all the drops."""
    detectable: float | None
    """The smallest drop that this gate sees with 80 % chance on this many failures; ``None``: it sees none."""


@dataclass(frozen=True, slots=True)
class MustPassResult:
    must: MustPass
    status: Status
    cases: int
    broken: tuple[str, ...]
    """The ids of those that are not as demanded."""


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What the gates say about a run."""

    status: Status
    reasons: tuple[str, ...]
    """Why nothing, or not all, was measured; empty if it was."""
    header: RunHeader
    split: str | None
    failures: int
    alpha: float
    bounds: tuple[BoundResult, ...] = ()
    drops: tuple[DropResult, ...] = ()
    must_pass: tuple[MustPassResult, ...] = ()
    score: Score | None = None

    @property
    def exit_code(self) -> int:
        """0: passed, 1: failed, 3: not measured."""
        return {Status.PASSED: 0, Status.FAILED: 1}.get(self.status, 3)

    def to_json(self) -> dict[str, Any]:
        data = as_json(self)
        data["score"] = None if self.score is None else self.score.to_json()
        return {"version": JSON_VERSION, "exit_code": self.exit_code, **data}


def check(run: Run, gates: Gates, baseline: Run | None = None) -> GateVerdict:
    """Judge a run by gates; without a baseline no drop is judged, but how small a one would be seen is told."""
    split = gates.measure.split
    try:
        scored = score(run, split=split, costs=gates.costs)
    except Unmeasurable as reason:
        return GateVerdict(Status.NOT_MEASURED, (str(reason),), run.header, split, 0, gates.measure.alpha)
    too_little = list(_too_little(scored, gates))
    drops: tuple[DropResult, ...] = ()
    if not too_little:
        try:
            drops = tuple(_drops(run, gates, baseline))
        except Unmeasurable as reason:
            too_little.append(str(reason))
    judged = judged_rows(run, split)
    bounds = tuple(_bound(bound, scored) for bound in gates.bounds)
    must_pass = tuple(_must_pass(must, judged, gates) for must in gates.must_pass)
    unmeasured = list(_unmeasured(bounds, must_pass))
    results: Sequence[BoundResult | DropResult | MustPassResult] = (*bounds, *drops, *must_pass)
    if too_little:
        status = Status.NOT_MEASURED
    elif any(result.status is Status.FAILED for result in results):
        status = Status.FAILED  # also where another gate had nothing to measure: what failed, failed
    else:
        status = Status.NOT_MEASURED if unmeasured else Status.PASSED
    return GateVerdict(
        status=status,
        reasons=(*too_little, *unmeasured),
        header=run.header,
        split=split,
        failures=scored.counts.failures,
        alpha=gates.measure.alpha,
        bounds=bounds,
        drops=drops,
        must_pass=must_pass,
        score=scored,
    )


def _too_little(scored: Score, gates: Gates) -> Iterator[str]:
    counts, measure = scored.counts, gates.measure
    if counts.missing:
        yield f"{counts.missing} rows are missing: finish the run with --resume"
    if stale := counts.outcomes[Outcome.STALE.value]:
        yield f"{stale} rows are stale, since the cassettes hold no answer to what was asked: record them again"
    if counts.failures < measure.min_failures:
        yield f"{counts.failures} distinct failures with a label are fewer than min_failures = {measure.min_failures}"
    unanswered = counts.outcomes[Outcome.CRASHED.value] + counts.outcomes[Outcome.TIMED_OUT.value]
    if unanswered > measure.max_unanswered * counts.rows:
        yield (
            f"{unanswered} of {counts.rows} rows crashed or timed out, more than max_unanswered = "
            f"{measure.max_unanswered:g} allows"
        )


def _unmeasured(bounds: Sequence[BoundResult], must_pass: Sequence[MustPassResult]) -> Iterator[str]:
    for bound in bounds:
        if bound.status is Status.NOT_MEASURED:
            yield f"the run has nothing to measure {bound.bound.metric} on: take the bound out, or another policy"
    for must in must_pass:
        if must.status is Status.NOT_MEASURED:
            yield f"must_pass {must.must.name!r} names no case with a label: correct its ids or tags"


def _bound(bound: Bound, scored: Score) -> BoundResult:
    found = SCORED[bound.metric](scored)
    if found is None:
        return BoundResult(bound, Status.NOT_MEASURED, None, None)
    room = found.low - bound.at_least if bound.at_least is not None else (bound.at_most or 0.0) - found.high
    return BoundResult(bound, Status.FAILED if room < 0 else Status.PASSED, found, room)


def _drops(run: Run, gates: Gates, baseline: Run | None) -> Iterator[DropResult]:
    alpha, names = gates.measure.alpha, [drop.metric for drop in gates.drops]
    if not names:
        return
    # The run beside itself says how small a drop is seen, also where there is no baseline.
    compared = compare_metrics(baseline or run, run, names, split=gates.measure.split, costs=gates.costs)
    for drop, paired in zip(gates.drops, compared, strict=True):
        detectable = smallest_drop(
            paired.before.failures,
            opposite=likely_opposite(paired.before.value, is_good=paired.is_good),
            # Where all drops are judged together, one that is real meets the strictest of Holm's levels.
            alpha=alpha / len(names),
            least=drop.practical,
        )
        if baseline is None:
            yield DropResult(drop, Status.NO_BASELINE, None, None, None, None, None, detectable)
            continue
        gain = paired.gain
        loss = Estimate(0.0 - gain.value, 0.0 - gain.high, 0.0 - gain.low, gain.method)
        is_worse = paired.holm_p <= alpha and loss.value >= drop.practical
        status = Status.FAILED if is_worse else Status.PASSED
        test = paired.test
        yield DropResult(drop, status, loss, test.worse, test.better, test.p, paired.holm_p, detectable)


def _must_pass(must: MustPass, judged: Sequence[Judged], gates: Gates) -> MustPassResult:
    chosen = [one for one in judged if _is_meant(must, one)]
    if not chosen:
        return MustPassResult(must, Status.NOT_MEASURED, 0, ())
    broken = {one.row.id for one in chosen if not _is_as_demanded(must.demand, one, gates.costs.retry_delay_s)}
    cases = len({one.row.id for one in chosen})
    return MustPassResult(must, Status.FAILED if broken else Status.PASSED, cases, tuple(sorted(broken)))


def _is_meant(must: MustPass, one: Judged) -> bool:
    return not set(must.tags).isdisjoint(one.row.tags) or any(fnmatchcase(one.row.id, ids) for ids in must.ids)


def _is_as_demanded(demand: Demand, one: Judged, retry_delay_s: float) -> bool:
    is_undercut = one.delay_verdict(retry_delay_s) is DelayVerdict.UNDERCUT
    match demand:
        case Demand.RIGHT:
            return one.is_right and not is_undercut
        case Demand.HARMLESS:
            return not (one.is_false_fail or one.is_wasted_retry or is_undercut)
        case Demand.NOT_FAILED:
            return not one.is_false_fail
