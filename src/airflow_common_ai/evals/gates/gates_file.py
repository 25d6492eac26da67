"""``gates.toml``: what a run must hold, so that a build stops when a policy gets worse."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from airflow_common_ai.evals.gates.toml_table import TomlTable, read_toml
from airflow_common_ai.evals.metric import PAIRED, SCORED
from airflow_common_ai.evals.scoring.costs import Costs, costs_of

__all__ = ["Bound", "Demand", "Drop", "Gates", "Measure", "MustPass", "read_gates"]


class Demand(StrEnum):
    """What a case that must pass must be."""

    RIGHT = "right"
    """Settled, rightly, and no ask is undercut."""
    HARMLESS = "harmless"
    """Not wrong: no false FAIL, no wasted retry, no ask undercut. It may be left to Airflow."""
    NOT_FAILED = "not_failed"
    """No false FAIL."""


@dataclass(frozen=True, slots=True)
class Measure:
    """On what, and when a run says enough to be judged at all; else nothing passes and nothing fails."""

    split: str | None = None
    """``None``: all splits together."""
    min_failures: int = 59
    """Distinct failures with a label. Source: with 59, none of them wrong, a share is bounded at 5 %."""
    max_unanswered: float = 0.01
    """The share of rows that may have crashed or timed out. A stale row is always one too many."""
    alpha: float = 0.05
    """How often the drops together may fail a policy that did not get worse."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An absolute bar. The bound of the 95 % interval has to hold it, not the number in its middle."""

    metric: str
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """What must not get worse than in the baseline: fails where the drop is no chance, and matters."""

    metric: str
    practical: float
    """A smaller drop, as a share of all failures, does not matter."""


@dataclass(frozen=True, slots=True)
class MustPass:
    """Cases of which not a single one may break."""

    name: str
    demand: Demand
    ids: tuple[str, ...] = ()
    """Ids, or patterns of them such as ``requests_http/429-*``."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gates:
    """A whole file."""

    measure: Measure
    bounds: tuple[Bound, ...] = ()
    drops: tuple[Drop, ...] = ()
    must_pass: tuple[MustPass, ...] = ()
    costs: Costs = field(default_factory=Costs)


def read_gates(path: Path) -> Gates:
    """
    Read the gates.

    :raises ValueError: with the file, the key, the rule and the fix.
    """
    try:
        table = read_toml(path)
        gates = Gates(
            measure=_measure(table.table("measure")),
            bounds=tuple(map(_bound, table.tables("bound"))),
            drops=tuple(map(_drop, table.tables("drop"))),
            must_pass=tuple(map(_must_pass, table.tables("must_pass"))),
            costs=costs_of(table.table("costs")),
        )
        table.nothing_else()
        if not (gates.bounds or gates.drops or gates.must_pass):
            raise ValueError("there is no gate in it. Add at least one [[bound]], [[drop]] or [[must_pass]].")
        _refuse_twins([bound.metric for bound in gates.bounds], "bound")
        _refuse_twins([drop.metric for drop in gates.drops], "drop")
    except ValueError as fault:
        raise ValueError(f"{path}: {fault}") from None
    return gates


def _measure(table: TomlTable) -> Measure:
    plain = Measure()
    measure = Measure(
        split=table.optional_text("split"),
        min_failures=table.count("min_failures", default=plain.min_failures, least=1),
        max_unanswered=table.number("max_unanswered", default=plain.max_unanswered, most=1),
        alpha=table.number("alpha", default=plain.alpha, least=0.0001, most=0.5),
    )
    table.nothing_else()
    return measure


def _bound(table: TomlTable) -> Bound:
    bound = Bound(
        metric=table.one_of("metric", tuple(SCORED)),
        at_least=table.optional_number("at_least"),
        at_most=table.optional_number("at_most"),
    )
    table.nothing_else()
    if (bound.at_least is None) == (bound.at_most is None):
        raise ValueError(f"{table.where} must have either at_least or at_most. Write e.g. at_least = 0.9.")
    return bound


def _drop(table: TomlTable) -> Drop:
    drop = Drop(
        metric=table.one_of("metric", tuple(PAIRED)),
        practical=table.number("practical", default=0.01, most=1),
    )
    table.nothing_else()
    return drop


def _must_pass(table: TomlTable) -> MustPass:
    must = MustPass(
        name=table.text("name"),
        demand=Demand(table.one_of("demand", tuple(Demand), default=Demand.RIGHT.value)),
        ids=table.texts("ids"),
        tags=table.texts("tags"),
    )
    table.nothing_else()
    if not (must.ids or must.tags):
        raise ValueError(f'{table.where} names no cases. Write e.g. tags = ["must-pass"], or ids = ["requests/429-*"].')
    return must


def _refuse_twins(metrics: list[str], kind: str) -> None:
    for metric in metrics:
        if metrics.count(metric) > 1:
            raise ValueError(f"[[{kind}]] has {metric!r} twice. Keep one of them.")
