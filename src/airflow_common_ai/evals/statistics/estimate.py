"""A measured number with its 95 % interval, and a share of failures, of which copies count as one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CONFIDENCE", "Estimate", "Share"]

CONFIDENCE = 0.95
"""Of every interval here, two-sided."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and the interval that it was measured with."""

    value: float
    low: float
    high: float
    method: str
    """How the interval was made: ``wilson``, ``exact`` (Clopper-Pearson), ``bootstrap``, ``order`` (of the sorted
    values) or ``simulation`` (the middle 95 % of what was simulated)."""


@dataclass(frozen=True, slots=True)
class Share(Estimate):
    """
    A share of failures. Every distinct failure weighs one, however often it is in the corpus or was repeated.

    A failure whose copies differ counts in part, as many of them are hit; where the interval is exact it counts whole
    as soon as one is.
    """

    hits: int
    """Distinct failures that it is true of, at least once."""
    failures: int
    """Distinct failures, by fingerprint, that it could be true of."""
    effective_n: float
    """As many independent failures would give this interval."""
