"""Gates as lines of a table: what was asked, what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from airflow_common_ai.evals.gates.gate import BoundResult, DropResult, GateVerdict, MustPassResult, Status
from airflow_common_ai.evals.gates.gates_file import Demand
from airflow_common_ai.evals.metric import PAIRED
from airflow_common_ai.evals.report.numerals import amount, duration, interval, money, percent, percent_interval
from airflow_common_ai.evals.statistics.estimate import Estimate

__all__ = ["GateLine", "gate_lines"]

_DEMANDS = {
    Demand.RIGHT: "settled rightly",
    Demand.HARMLESS: "not wrong",
    Demand.NOT_FAILED: "no false FAIL",
}
_MAX_BROKEN = 10


@dataclass(frozen=True, slots=True)
class GateLine:
    """One gate."""

    kind: str
    """``bound``, ``drop`` or ``must pass``."""
    name: str
    asked: str
    found: str
    status: Status


def gate_lines(verdict: GateVerdict) -> tuple[GateLine, ...]:
    """Return the gates in the order of their file."""
    return tuple(_lines(verdict))


def _lines(verdict: GateVerdict) -> Iterator[GateLine]:
    for bound in verdict.bounds:
        yield GateLine("bound", bound.bound.metric, _asked(bound), _found(bound), bound.status)
    for drop in verdict.drops:
        asked = f"no drop of {percent(drop.drop.practical)} or more that is no chance"
        yield GateLine("drop", PAIRED[drop.drop.metric].words, asked, _dropped(drop), drop.status)
    for must in verdict.must_pass:
        asked = f"{_DEMANDS[must.must.demand]}, all {must.cases:,}"
        yield GateLine("must pass", must.must.name, asked, _broken(must), must.status)


def _asked(result: BoundResult) -> str:
    bound, unit = result.bound, result.bound.metric
    if bound.at_least is not None:
        return f"at least {_number(unit, bound.at_least)}"
    return f"at most {_number(unit, bound.at_most or 0.0)}"


def _found(result: BoundResult) -> str:
    if result.found is None:
        return "nothing to measure it on"
    number, doubt = _number(result.bound.metric, result.found), _interval(result.bound.metric, result.found)
    return f"{number} ({doubt})" if doubt else number


def _dropped(result: DropResult) -> str:
    seen = "sees none" if result.detectable is None else f"sees one of {percent(result.detectable)} with 80 % chance"
    if result.loss is None:
        return f"no baseline; {seen}"
    way = "worse" if result.loss.value > 0 else "better"
    return (
        f"{percent(abs(result.loss.value))} {way}: {result.worse} worse, {result.better} better, "
        f"p = {result.holm_p:.3g}; {seen}"
    )


def _broken(result: MustPassResult) -> str:
    if not result.cases:
        return "no such case has a label"
    if not result.broken:
        return "all are"
    more = len(result.broken) - _MAX_BROKEN
    ids = ", ".join(result.broken[:_MAX_BROKEN]) + (f", and {more:,} more" if more > 0 else "")
    return f"{len(result.broken):,} broken: {ids}"


def _number(metric: str, number: float | Estimate) -> str:
    match metric:
        case "milliseconds_p95":
            return duration(number)
        case "usd_per_100":
            return money(number)
        case "cost_per_100":
            return amount(number)
    return percent(number)


def _interval(metric: str, found: Estimate) -> str:
    match metric:
        case "milliseconds_p95":
            return f"{duration(found.low)} to {duration(found.high)}"
        case "usd_per_100" | "cost_per_100":
            return interval(found)
    return percent_interval(found)
