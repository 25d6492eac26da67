"""Intervals against statsmodels."""

from __future__ import annotations

import pytest

from airflow_common_ai.evals.statistics.intervals import clopper_pearson, quantile, wilson

STATSMODELS = [
    (0, 59, 0.0, 0.06112937, 0.0, 0.0606089),
    (1, 59, 0.00299823, 0.08995726, 0.00042902, 0.09085593),
    (3, 1022, 0.0009988, 0.00859475, 0.00060576, 0.00855437),
    (45, 50, 0.78639769, 0.95652424, 0.78186463, 0.96672491),
    (50, 50, 0.9286524, 1.0, 0.92887826, 1.0),
    (845, 900, 0.92129656, 0.95275054, 0.9211951, 0.95363456),
]
"""``proportion_confint(hits, n, 0.05, "wilson")``, then ``"beta"``; statsmodels 0.15.0."""


@pytest.mark.parametrize(("hits", "n", "wilson_low", "wilson_high", "exact_low", "exact_high"), STATSMODELS)
def test_shares_have_the_intervals_that_statsmodels_gives(
    hits: int, n: int, wilson_low: float, wilson_high: float, exact_low: float, exact_high: float
) -> None:
    assert wilson(hits / n, n) == pytest.approx((wilson_low, wilson_high), abs=1e-6)
    assert clopper_pearson(hits, n) == pytest.approx((exact_low, exact_high), abs=1e-6)


def test_half_as_many_effective_cases_make_a_wider_interval() -> None:
    low, high = wilson(0.9, 100)
    wider_low, wider_high = wilson(0.9, 50.5)
    assert wider_low < low < 0.9 < high < wider_high


def test_a_quantile_lies_between_two_of_the_values() -> None:
    found = quantile([float(number) for number in range(1, 101)], 0.5)
    # Of a hundred values the 40th and the 61st: the binomial distribution leaves less than 2.5 % beyond each.
    assert (found.value, found.low, found.high) == (50.0, 40.0, 61.0)
    assert found.method == "order"


def test_of_few_values_the_largest_bounds_a_quantile() -> None:
    found = quantile([3.0, 1.0, 2.0], 0.95)
    # That two of three are below has a chance of 0.993, that all are one of 0.857.
    assert (found.value, found.low, found.high) == (3.0, 2.0, 3.0)
