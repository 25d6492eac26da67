"""Two runs on the same failures: which of them got worse, and can that be chance?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

__all__ = ["McNemar", "holm", "mcnemar"]


@dataclass(frozen=True, slots=True)
class McNemar:
    """The exact test on the failures that changed: were the two runs equal, as many would get worse as better."""

    worse: int
    better: int
    p: float
    """One-sided: how often chance alone makes as many worse or more."""
    mid_p: float
    """The same with half of the observed result's own chance: less conservative, shown beside it."""
    p_two_sided: float


def mcnemar(worse: int, better: int) -> McNemar:
    """Return the exact McNemar test. Source: McNemar 1947; mid-p: Fagerland, Lydersen and Laake 2013."""
    changed = worse + better
    if not changed:
        return McNemar(0, 0, 1.0, 1.0, 1.0)
    one_sided = float(stats.binomtest(worse, changed, 0.5, alternative="greater").pvalue)
    two_sided = float(stats.binomtest(worse, changed, 0.5).pvalue)
    return McNemar(worse, better, one_sided, one_sided - 0.5 * float(stats.binom.pmf(worse, changed, 0.5)), two_sided)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for all of the family. Source: Holm 1979; scipy has no such function."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted
