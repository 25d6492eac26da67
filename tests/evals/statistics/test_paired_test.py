"""McNemar and Holm against statsmodels."""

from __future__ import annotations

import pytest
from scipy import stats

from airflow_common_ai.evals.statistics.paired_test import McNemar, holm, mcnemar

STATSMODELS = [
    (6, 0, 0.015625, 0.03125),
    (5, 0, 0.03125, 0.0625),
    (12, 5, 0.0717315674, 0.1434631348),
    (5, 12, 0.975479126, 0.1434631348),
    (30, 11, 0.0021620025, 0.0043240049),
]
"""``binom_test(worse, worse + better, 0.5, alternative="larger")`` and ``mcnemar(table, exact=True).pvalue``;
statsmodels 0.15.0."""


@pytest.mark.parametrize(("worse", "better", "one_sided", "two_sided"), STATSMODELS)
def test_the_test_is_that_of_statsmodels(worse: int, better: int, one_sided: float, two_sided: float) -> None:
    found = mcnemar(worse, better)
    assert (found.p, found.p_two_sided) == pytest.approx((one_sided, two_sided), abs=1e-6)


def test_mid_p_takes_half_of_what_was_observed() -> None:
    assert mcnemar(6, 0).mid_p == pytest.approx(0.015625 / 2)
    assert mcnemar(12, 5).mid_p == pytest.approx(
        float(stats.binom.sf(12, 17, 0.5) + 0.5 * stats.binom.pmf(12, 17, 0.5)), abs=1e-12
    )


def test_where_nothing_changed_there_is_no_doubt() -> None:
    assert mcnemar(0, 0) == McNemar(0, 0, 1.0, 1.0, 1.0)


def test_p_values_are_adjusted_as_statsmodels_does() -> None:
    # multipletests([...], method="holm"); statsmodels 0.15.0.
    assert holm([0.01, 0.04, 0.03, 0.005, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.5])
    assert holm([]) == []
