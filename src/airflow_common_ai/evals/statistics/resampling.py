"""The bootstrap: what sums over failures come to when the same number of failures is drawn again and again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from airflow_common_ai.evals.statistics.estimate import CONFIDENCE, Estimate

__all__ = ["DRAWS", "bootstrap_interval", "resampled_sums"]

DRAWS = 10_000
"""Of the bootstrap."""

_SEED = 20_261_130
"""The same run is scored to the same digits each time."""

_MAX_AT_ONCE = 1_000_000
_MANY_CELLS = 300
"""From here on it is quicker to draw failures one by one than cells by their counts."""

_MAX_DRAWN, _FEWEST_DRAWS = 20_000_000, 2_000
"""Of failures, in all draws together; chance moves the bounds of an interval by 1 or 2 % of its width then."""


def resampled_sums(values: NDArray[np.float64], draws: int = DRAWS) -> NDArray[np.float64]:
    """
    Return the column sums of each resample.

    Failures with the same values are one cell that is drawn by its count where the cells are few: the distribution is
    the same as when each is drawn by itself, at a fraction of the time.

    :param values: A row for each distinct failure.
    :param draws: At most; of very many failures that all differ, fewer are made.
    :return: A row for each draw.
    """
    cells, counts = np.unique(values, axis=0, return_counts=True)
    generator = np.random.default_rng(_SEED)
    failures = len(values)
    step = max(1, _MAX_AT_ONCE // failures)
    if len(cells) < _MANY_CELLS:
        parts = [generator.multinomial(failures, counts / failures, size) @ cells for size in _steps(draws, step)]
    else:
        draws = min(draws, max(_FEWEST_DRAWS, _MAX_DRAWN // failures))
        parts = [_one_by_one(generator, values, size) for size in _steps(draws, step)]
    return np.concatenate(parts)


def _one_by_one(generator: np.random.Generator, values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    failures = len(values)
    drawn = generator.integers(0, failures, (size, failures)) + failures * np.arange(size)[:, None]
    often = np.bincount(drawn.ravel(), minlength=size * failures).reshape(size, failures)
    return np.asarray(often @ values, dtype=float)


def _steps(draws: int, step: int) -> list[int]:
    """Return how many draws are made at once, so that memory stays small."""
    return [min(step, draws - start) for start in range(0, draws, step)]


def bootstrap_interval(value: float, resampled: NDArray[np.float64]) -> Estimate:
    """Return a number with the percentile interval of what it came to in the resamples where it could be measured."""
    measured = resampled[np.isfinite(resampled)]
    if not len(measured):
        return Estimate(value, value, value, "bootstrap")
    low, high = np.quantile(measured, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    # A number that is biased, such as a calibration error, may lie outside of its own resamples.
    return Estimate(value, min(float(low), value), max(float(high), value), "bootstrap")
