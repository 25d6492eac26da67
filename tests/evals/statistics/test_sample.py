"""Copies of a failure weigh as one, and intervals know it."""

from __future__ import annotations

import pytest

from airflow_common_ai.evals.statistics.intervals import wilson
from airflow_common_ai.evals.statistics.sample import Sample

FINGERPRINTS = list("aaaabbbccdefghijklmnoopq")
HITS = [bool(int(bit)) for bit in "110100111101101111011011"]
WITHIN = [bool(int(bit)) for bit in "111010111111111111111111"]

STATSMODELS = [
    (None, 0.7401960784313727, 21.29790231684408),
    (WITHIN, 0.7512690355329948, 20.397567913410352),
]
"""
``WLS(hits, ones, weights=1 / size of the fingerprint).fit(cov_type="cluster", cov_kwds={"groups": fingerprint,
"use_correction": False})``: the parameter p, and p (1 - p) / its squared standard error; statsmodels 0.15.0.
"""


@pytest.mark.parametrize(("within", "value", "effective_n"), STATSMODELS)
def test_a_share_is_cluster_robust_as_in_statsmodels(
    within: list[bool] | None, value: float, effective_n: float
) -> None:
    sample = Sample(FINGERPRINTS)
    found = sample.share(HITS) if within is None else sample.share_within(HITS, within)
    assert found is not None
    assert found.value == pytest.approx(value, abs=1e-6)
    # More independent failures than there are rows is what chance makes of so few.
    assert found.effective_n == pytest.approx(min(effective_n, 24), abs=1e-6)
    assert (found.low, found.high) == pytest.approx(wilson(value, effective_n), abs=1e-6)


def test_forty_copies_of_one_failure_weigh_as_much_as_one() -> None:
    copied = Sample(["copied"] * 40 + list("abcd"))
    alone = Sample(["copied", *"abcd"])
    assert copied.share([True] * 40 + [False] * 4) == alone.share([True] + [False] * 4)


def test_a_failure_whose_copies_differ_counts_in_part_and_exactly_as_a_whole() -> None:
    sample = Sample(["a", "a", "b"])
    hits = [True, False, False]
    assert sample.share(hits).value == 0.25
    assert sample.exact_share(hits).value == 0.5
    assert sample.exact_share(hits).hits == 1
    assert sample.total(hits) == 0.5


def test_where_all_are_alike_there_are_as_many_as_there_are() -> None:
    found = Sample(["a", "a", "b", "c"]).share([True] * 4)
    assert (found.value, found.effective_n, found.failures) == (1.0, 3.0, 3)


def test_a_share_of_none_is_none() -> None:
    sample = Sample(["a", "b"])
    assert sample.share_within([True, True], [False, False]) is None
    assert sample.exact_share_within([True, True], [False, False]) is None


def test_a_mean_is_that_of_failures_with_an_interval_around_it() -> None:
    found = Sample(["a", "a", *"bcdefghij"]).mean([0.0, 10.0, *range(1, 10)])
    assert found.value == pytest.approx(5.0)
    assert found.low < 5.0 < found.high
