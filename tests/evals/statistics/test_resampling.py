"""The bootstrap: seeded, and as wide as theory says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from airflow_common_ai.evals.statistics.resampling import bootstrap_interval, resampled_sums


def test_the_same_values_are_resampled_the_same_way() -> None:
    values = np.array([[0.0], [1.0], [2.5]])
    assert (resampled_sums(values, 50) == resampled_sums(values, 50)).all()


def test_sums_spread_as_those_of_independent_draws() -> None:
    values = np.random.default_rng(7).integers(0, 4, size=(400, 1)).astype(float)
    sums = resampled_sums(values)
    assert sums.mean() == pytest.approx(values.sum(), rel=0.005)
    assert sums.std() == pytest.approx(np.sqrt(400) * values.std(), rel=0.03)


def test_columns_are_drawn_together_so_that_differences_are_paired() -> None:
    before = np.random.default_rng(7).normal(size=300)
    sums = resampled_sums(np.column_stack([before, before + 1.0]))
    assert sums[:, 1] - sums[:, 0] == pytest.approx(300.0)


def test_the_interval_is_that_of_scipy_but_for_chance() -> None:
    values = np.random.default_rng(7).exponential(size=200)
    found = bootstrap_interval(float(values.mean()), resampled_sums(values[:, None])[:, 0] / 200)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=1).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=0.01)


def test_many_different_values_are_drawn_like_few() -> None:
    values = np.arange(3000.0)[:, None]
    sums = resampled_sums(values, 1000)
    assert sums.shape == (1000, 1)
    assert sums.mean() == pytest.approx(values.sum(), rel=0.005)
    assert sums.std() == pytest.approx(np.sqrt(3000) * values.std(), rel=0.1)


def test_what_cannot_be_measured_in_a_resample_is_left_out() -> None:
    found = bootstrap_interval(1.0, np.array([np.nan, 0.5, 1.5]))
    assert (found.low, found.high) == pytest.approx((0.525, 1.475))
    assert bootstrap_interval(1.0, np.array([np.nan])).low == 1.0
