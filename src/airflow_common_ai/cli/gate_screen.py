"""What the gates say on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from airflow_common_ai.cli.figures import amount, columns, percent
from airflow_common_ai.cli.score_screen import title

if TYPE_CHECKING:
    from airflow_common_ai.evals.gates.gate import BoundResult, DropResult, GateVerdict
    from airflow_common_ai.evals.statistics.estimate import Estimate

__all__ = ["gate_lines"]

_MAX_BROKEN = 5
_MAX_MUST_PASS = 10
_MAX_ID_CHARS = 80
_NOT_SHARES = ("cost_per_100", "usd_per_100", "milliseconds_p95")


def gate_lines(verdict: GateVerdict, *, is_long: bool) -> Iterator[str]:
    yield title(verdict.header, verdict.split)
    yield f"{verdict.failures} distinct failures with a label"
    if verdict.bounds:
        rows = [["Bounds", "", "95 % interval", "bar", "room"], *map(_bound, verdict.bounds)]
        yield from columns(rows, indent=0, left=2)
    if verdict.drops:
        rows = [["Drops", "", "worse by", "worse", "better", "p", "Holm", "sees from"], *map(_drop, verdict.drops)]
        yield from columns(rows, indent=0, left=2)
        yield (
            f"  A drop fails if it matters and its p, adjusted for {len(verdict.drops)} drops (Holm), is at most "
            f"{verdict.alpha:g}."
        )
        yield "  'sees from': the smallest drop that is seen with 80 % chance."
    if verdict.must_pass:
        yield "Must pass"
    for must in verdict.must_pass[: None if is_long else _MAX_MUST_PASS]:
        broken = f", {len(must.broken)} are not" if must.broken else ""
        yield f"  {must.status.value:<12}  {must.must.name}: {must.cases} cases {must.must.demand.value}{broken}"
        for case in must.broken[: None if is_long else _MAX_BROKEN]:
            yield f"      {case[:_MAX_ID_CHARS]}"
    for reason in verdict.reasons:
        yield f"not measured: {reason}"
    yield f"{verdict.status.value.upper()} (exit code {verdict.exit_code})"


def _bound(result: BoundResult) -> list[str]:
    bound, found = result.bound, result.found
    is_share = bound.metric not in _NOT_SHARES
    bar = f"at least {_number(bound.at_least, is_share)}" if bound.at_least is not None else ""
    bar = bar or f"at most {_number(bound.at_most, is_share)}"
    room = "" if result.room is None else _number(result.room, is_share)
    return [f"  {result.status.value}", bound.metric, _interval(found, is_share), bar, room]


def _interval(found: Estimate | None, is_share: bool) -> str:
    if found is None:
        return "-"
    return f"{_number(found.value, is_share)} ({_number(found.low, is_share)} to {_number(found.high, is_share)})"


def _number(value: float | None, is_share: bool) -> str:
    if value is None:
        return "-"
    return percent(value, 2) if is_share else amount(value)


def _drop(result: DropResult) -> list[str]:
    loss = "-" if result.loss is None else percent(result.loss.value, 2)
    tests = [result.worse, result.better]
    chances = [result.p, result.holm_p]
    return [
        f"  {result.status.value}",
        result.drop.metric,
        loss,
        *("-" if count is None else str(count) for count in tests),
        *("-" if chance is None else f"{chance:.3f}" for chance in chances),
        "nothing" if result.detectable is None else percent(result.detectable),
    ]
