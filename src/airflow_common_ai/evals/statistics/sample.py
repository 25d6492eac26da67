"""Rows as a sample of distinct failures: forty copies of one failure weigh as much as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from airflow_common_ai.evals.statistics.estimate import Estimate, Share
from airflow_common_ai.evals.statistics.intervals import clopper_pearson, wilson
from airflow_common_ai.evals.statistics.resampling import bootstrap_interval, resampled_sums

__all__ = ["Sample"]

Flags = Sequence[bool] | NDArray[np.bool_]


class Sample:
    """
    Rows by their fingerprints. Whatever is measured is averaged over the rows of a failure, then over failures.

    Keeping one row of each fingerprint instead would throw away which row it is by chance, and that copies may be
    decided differently; counting every row would let one failure that somebody recorded often speak for all.

    :param fingerprints: One for each row, at least one.
    """

    def __init__(self, fingerprints: Sequence[str]) -> None:
        _, self.clusters, self._sizes = np.unique(
            np.asarray(fingerprints, dtype=str), return_inverse=True, return_counts=True
        )
        self.weights: NDArray[np.float64] = 1.0 / self._sizes[self.clusters]
        self.failures = len(self._sizes)

    def per_failure(self, values: Sequence[float] | NDArray[np.generic]) -> NDArray[np.float64]:
        """Return the mean of a value over the rows of each failure."""
        return np.bincount(self.clusters, np.asarray(values, dtype=float), self.failures) / self._sizes

    def total(self, flags: Flags) -> float:
        """Return how many failures something is true of; one of whose copies differ counts in part."""
        return float(self.per_failure(np.asarray(flags)).sum())

    def share(self, hits: Flags) -> Share:
        """Return a share with its Wilson interval, made for as many independent failures as vary like these."""
        return self._wilson(self._flags(hits), np.ones(len(self.clusters), bool))

    def share_within(self, hits: Flags, within: Flags) -> Share | None:
        """Return a share of some rows; ``None`` if there are none."""
        inside = self._flags(within)
        return self._wilson(self._flags(hits) & inside, inside) if inside.any() else None

    def exact_share(self, hits: Flags) -> Share:
        """Return a share with its exact interval: a failure counts whole as soon as one of its rows is hit."""
        return self._exact(self._flags(hits), np.ones(len(self.clusters), bool))

    def exact_share_within(self, hits: Flags, within: Flags) -> Share | None:
        """Return an exact share of some rows; ``None`` if there are none."""
        inside = self._flags(within)
        return self._exact(self._flags(hits) & inside, inside) if inside.any() else None

    def mean(self, values: Sequence[float] | NDArray[np.generic]) -> Estimate:
        """Return a mean with its bootstrap interval: failures are drawn whole."""
        return self.means([values])[0]

    def means(self, columns: Sequence[Sequence[float] | NDArray[np.generic]]) -> list[Estimate]:
        """Return several means, each with its interval from the same draws."""
        values = np.column_stack([self.per_failure(column) for column in columns])
        drawn = resampled_sums(values) / self.failures
        return [bootstrap_interval(float(values[:, at].mean()), drawn[:, at]) for at in range(len(columns))]

    def _wilson(self, hit: NDArray[np.bool_], inside: NDArray[np.bool_]) -> Share:
        whole, part = self.per_failure(inside), self.per_failure(hit)
        n = float(whole.sum())
        value = float(part.sum() / n)
        variance = float(((part - value * whole) ** 2).sum() / n**2)
        # Of equal failures, or where all are alike, there are as many as there are (Kish).
        effective_n = n**2 / float((whole**2).sum())
        if variance > 0 and 0 < value < 1:
            effective_n = min(value * (1 - value) / variance, float(inside.sum()))
        low, high = wilson(value, effective_n)
        return Share(value, low, high, "wilson", int((part > 0).sum()), int((whole > 0).sum()), effective_n)

    def _exact(self, hit: NDArray[np.bool_], inside: NDArray[np.bool_]) -> Share:
        failures, hits = len(np.unique(self.clusters[inside])), len(np.unique(self.clusters[hit]))
        low, high = clopper_pearson(hits, failures)
        return Share(hits / failures, low, high, "exact", hits, failures, float(failures))

    def _flags(self, flags: Flags) -> NDArray[np.bool_]:
        return np.asarray(flags, dtype=bool)
