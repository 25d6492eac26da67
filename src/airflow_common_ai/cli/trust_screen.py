"""What a model earned, on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_common_ai.cli.figures import columns, percent

if TYPE_CHECKING:
    from airflow_common_ai.evals.trust import Earned, TrustMeasurement

__all__ = ["trust_lines"]


def trust_lines(found: TrustMeasurement, output: Path) -> Iterator[str]:
    table = found.table
    yield f"{table.model}, connection type {table.conn_type}, measured {table.measured_at:%Y-%m-%d}"
    rows = [["category", "right", "of", "at least", "may fail a task"]]
    for one in found.earned:
        precision = one.precision
        rows.append([one.category, str(precision.right), str(precision.cases), percent(one.lower), _may_fail(one)])
    yield from columns(rows)
    yield f"written: {output}. Use it: LLMRetryPolicy(..., trust={str(output)!r})"


def _may_fail(one: Earned) -> str:
    if one.bar is None:
        return "it retries, and needs no trust"
    if one.missing_cases:
        return f"no: {one.missing_cases} more failures are needed to measure it"
    return f"yes: the bar is {percent(one.bar, 0)}" if one.may_fail else f"no: under the bar of {percent(one.bar, 0)}"
