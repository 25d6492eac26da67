"""Measured numbers as people read them."""

from __future__ import annotations

import math

from airflow_common_ai.evals.statistics.estimate import Estimate
from airflow_common_ai.policies.delay import seconds

__all__ = ["amount", "count", "duration", "interval", "money", "percent", "percent_interval", "wait"]

_NO_BREAK = "\u00a0"
NOTHING = "–"


def percent(share: float | Estimate | None) -> str:
    """Return ``93.4 %``; nothing that is more than none looks like none, nothing less than all like all."""
    number = _value(share)
    return NOTHING if number is None else f"{_percent_digits(number)}{_NO_BREAK}%"


def percent_interval(share: Estimate | None) -> str:
    """Return ``92.1 to 94.5 %``; nothing where there is no doubt."""
    if share is None or share.low == share.high:
        return ""
    return f"{_percent_digits(share.low)} to {percent(share.high)}"


def amount(number: float | Estimate | None) -> str:
    """Return three digits that count: ``1,234``, ``56.7``, ``0.125``."""
    value = _value(number)
    if value is None:
        return NOTHING
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    digits = next((digits for digits, least in ((1, 10), (2, 1), (3, 0.01)) if abs(value) >= least), 5)
    return f"{value:.{digits}f}"


def interval(number: Estimate | None) -> str:
    """Return ``54.2 to 59.3``; nothing where there is no doubt."""
    return "" if number is None or number.low == number.high else f"{amount(number.low)} to {amount(number.high)}"


def count(number: float) -> str:
    """Return a number of failures, of which some count in part: ``1,234`` or ``0.5``."""
    return f"{number:,.1f}".removesuffix(".0")


def money(dollars: float | Estimate | None) -> str:
    return NOTHING if dollars is None else f"${amount(dollars)}"


def duration(milliseconds: float | Estimate) -> str:
    """Return ``35 ms`` or ``1.4 s``."""
    value = _value(milliseconds) or 0.0
    return seconds(round(value / 1000, 1)) if value >= 1000 else f"{value:.3g}{_NO_BREAK}ms"


def wait(delay_s: float | Estimate | None) -> str:
    """Return ``120 s`` or ``2 h``; ``the task's own`` where none is set."""
    value = _value(delay_s)
    return "the task's own" if value is None else seconds(value).replace(" ", _NO_BREAK)


def _value(number: float | Estimate | None) -> float | None:
    value = number.value if isinstance(number, Estimate) else number
    return value if value is not None and math.isfinite(value) else None


def _percent_digits(share: float) -> str:
    if share in (0, 1):
        return f"{100 * share:.0f}"
    if share < 0.0001:
        return "<0.01"
    if share > 0.9999:
        return ">99.99"
    return f"{100 * share:.{2 if share < 0.01 or share > 0.99 else 1}f}"
