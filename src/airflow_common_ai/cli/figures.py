"""How numbers are written on a screen: percent, with their interval, in columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airflow_common_ai.evals.statistics.estimate import Estimate, Share

__all__ = ["amount", "columns", "percent", "range_of", "share", "span", "spread"]


def percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f} %"


def share(found: Share | None) -> str:
    """Return a share with its interval: ``93.9 % (92.1 to 95.3)``."""
    if found is None:
        return "-"
    return f"{percent(found.value)} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def range_of(found: Estimate | None, digits: int = 2) -> str:
    """Return a number with its interval: ``0.88 (0.86 to 0.90)``."""
    if found is None or not math.isfinite(found.value):
        return "-"
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def spread(found: Estimate, scale: float = 1.0) -> str:
    """Return an amount with its interval, in as many digits as it has: ``1,234 (1,180 to 1,290)``."""
    if not math.isfinite(found.value):
        return "-"
    return f"{amount(found.value * scale)} ({amount(found.low * scale)} to {amount(found.high * scale)})"


def amount(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 1 else f"{value:.2g}"


def span(seconds: float) -> str:
    """Return a time as people say it: ``15 s``, ``25 min``, ``3.5 h``."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = seconds / timedelta(minutes=1).total_seconds()
    return f"{minutes:.3g} min" if minutes < 120 else f"{minutes / 60:,.3g} h"


def columns(rows: Sequence[Sequence[str]], *, indent: int = 2, left: int = 1) -> Iterator[str]:
    """
    Yield rows in columns, numbers to the right.

    :param left: How many of the first columns are words, and so to the left.
    """
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = zip(row, widths, strict=True)
        line = (cell.ljust(width) if at < left else cell.rjust(width) for at, (cell, width) in enumerate(cells))
        yield " " * indent + "  ".join(line).rstrip()
