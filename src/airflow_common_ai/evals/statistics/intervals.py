"""Intervals of shares and quantiles: Wilson, Clopper-Pearson, and by order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from airflow_common_ai.evals.statistics.estimate import CONFIDENCE, Estimate

__all__ = ["clopper_pearson", "quantile", "wilson"]


def wilson(share: float, n: float) -> tuple[float, float]:
    """
    Return the 95 % interval of a share of ``n`` independent cases; ``n`` may be an effective number.

    Source: Wilson 1927; Brown, Cai, DasGupta 2001 recommend it for small n.
    """
    z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    reach = z / scale * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, centre - reach) if share else 0.0, min(1.0, centre + reach) if share < 1 else 1.0


def clopper_pearson(hits: int, n: int) -> tuple[float, float]:
    """Return the exact 95 % interval of ``hits`` of ``n``: it covers the truth at least as often as it says."""
    interval = stats.binomtest(hits, n).proportion_ci(CONFIDENCE, "exact")
    return float(interval.low), float(interval.high)


def quantile(values: Sequence[float] | NDArray[np.float64], share: float) -> Estimate:
    """
    Return a quantile with the interval between two of the sorted values that covers it, whatever the distribution.

    Where the values are too few for a bound, it is the smallest or the largest of them.
    """
    tested = stats.quantile_test(np.asarray(values, dtype=float), p=share).confidence_interval(CONFIDENCE)
    low = float(min(values)) if math.isnan(tested.low) else float(tested.low)
    high = float(max(values)) if math.isnan(tested.high) else float(tested.high)
    return Estimate(float(np.quantile(values, share, method="inverted_cdf")), low, high, "order")
