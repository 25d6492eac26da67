"""How small a drop a paired comparison can show at all: a gate that could see nothing is no gate."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

__all__ = ["ALPHA", "OPPOSITE", "POWER", "drop_power", "likely_opposite", "smallest_drop"]

ALPHA = 0.05
"""One-sided: how often a gate may call two equal policies different."""

POWER = 0.8
"""How surely a drop has to be seen to count as one that can be seen."""

OPPOSITE = 0.01
"""The share of failures that get better while others get worse; the more, the harder is a drop to see."""


def drop_power(
    failures: int, drop: float, *, opposite: float = OPPOSITE, alpha: float = ALPHA, least: float = 0
) -> float:
    """
    Return how often the one-sided exact McNemar test sees a drop, computed exactly.

    :param failures: Distinct failures that both runs decided about.
    :param drop: The share of them by which more get worse than better.
    :param opposite: The share that gets better.
    :param alpha: The level of the test.
    :param least: A smaller observed drop does not count.
    """
    changed_share = min(2 * opposite + drop, 1.0)
    if drop <= 0 or not changed_share:
        return 0.0
    changed = np.arange(failures + 1)
    changed = changed[stats.binom.pmf(changed, failures, changed_share) > 1e-12]
    worse_share = min((opposite + drop) / changed_share, 1.0)
    critical = stats.binom.isf(alpha, changed, 0.5) + 1
    critical = np.maximum(critical, np.ceil((changed + least * failures) / 2 - 1e-9))
    seen = stats.binom.sf(critical - 1, changed, worse_share)
    return float(np.sum(stats.binom.pmf(changed, failures, changed_share) * seen))


def smallest_drop(failures: int, *, opposite: float = OPPOSITE, alpha: float = ALPHA, least: float = 0) -> float | None:
    """
    Return the smallest drop, to a thousandth, that is seen with 80 % chance; ``None``: not even the largest is.

    :param failures: and the others as in :func:`drop_power`.
    """
    step = 0.001
    low, high = 0, math.floor((1 - 2 * opposite) / step)
    if failures < 1 or drop_power(failures, high * step, opposite=opposite, alpha=alpha, least=least) < POWER:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if drop_power(failures, middle * step, opposite=opposite, alpha=alpha, least=least) < POWER:
            low = middle
        else:
            high = middle
    return high * step


def likely_opposite(share: float, *, is_good: bool) -> float:
    """
    Return how many failures may get better while others get worse: 1 %, or all that are bad by now if they are fewer.

    :param share: Of the failures that the metric is true of.
    :param is_good: Whether it is good where it is true.
    """
    return min(OPPOSITE, 1 - share if is_good else share)
