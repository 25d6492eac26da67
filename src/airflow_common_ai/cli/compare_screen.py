"""A comparison on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from airflow_common_ai.cli.figures import amount, columns, percent, spread
from airflow_common_ai.cli.score_screen import title

if TYPE_CHECKING:
    from airflow_common_ai.evals.compare import Change, Comparison, PairedScore
    from airflow_common_ai.evals.runs.run_file import Row

__all__ = ["comparison_lines"]

_MAX_CHANGES = 20
_MAX_ID_CHARS = 60


def comparison_lines(found: Comparison, *, is_long: bool) -> Iterator[str]:
    yield f"before  {title(found.before, found.split)}"
    yield f"after   {title(found.after, found.split)}"
    yield f"{found.failures} distinct failures. One-sided p: that so many got worse by chance. Intervals: 95 %."
    head = ["", "before", "after", "gain, points", "worse", "better", "p", "mid-p", "Holm", "could show"]
    yield from columns([head, *map(_metric, found.metrics)], indent=0)
    yield (
        f"Cost of 100 failures, {found.unit}: {spread(found.cost_before)} before, {spread(found.cost_after)} after; "
        f"{spread(found.cost_change)} more"
    )
    yield "'could show': the smallest drop that this corpus shows with 80 % chance."
    shown = found.changes if is_long else found.changes[:_MAX_CHANGES]
    yield f"{len(found.changes)} cases changed{', worst first' if shown else ''}"
    for change in shown:
        yield _change(change)
    if len(found.changes) > len(shown):
        yield f"  and {len(found.changes) - len(shown)} more: -v or --json"


def _metric(one: PairedScore) -> list[str]:
    return [
        one.words,
        percent(one.before.value),
        percent(one.after.value),
        f"{100 * one.gain.value:+.1f} ({100 * one.gain.low:+.1f} to {100 * one.gain.high:+.1f})",
        str(one.test.worse),
        str(one.test.better),
        _p(one.test.p),
        _p(one.test.mid_p),
        _p(one.holm_p),
        "nothing" if one.detectable_drop is None else percent(one.detectable_drop),
    ]


def _p(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def _change(change: Change) -> str:
    label = change.after.label
    wanted = f", worth a retry: {label.should_retry.value}" if label else ""
    sign = "+" if change.cost > 0 else ""
    decided = f"{_decided(change.before)} -> {_decided(change.after)}"
    return f"  {sign + amount(change.cost):>6}  {change.after.id[:_MAX_ID_CHARS]}: {decided}{wanted}"


def _decided(row: Row) -> str:
    if row.outcome.value != "decided":
        return row.outcome.value
    delay = f" in {amount(row.delay_s)} s" if row.delay_s is not None else ""
    return f"{row.action.value}{delay}" + (f" ({row.category})" if row.category else "")
