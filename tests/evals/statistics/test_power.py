"""What a comparison can see, against a simulation and against what is known of the exact McNemar test."""

from __future__ import annotations

import numpy as np
import pytest

from airflow_common_ai.evals.statistics.paired_test import mcnemar
from airflow_common_ai.evals.statistics.power import drop_power, likely_opposite, smallest_drop


@pytest.mark.parametrize("least", [0.0, 0.03])
def test_the_power_is_that_of_simulated_comparisons(least: float) -> None:
    failures, drop, opposite = 200, 0.04, 0.015
    draws = np.random.default_rng(3).multinomial(
        failures, [drop + opposite, opposite, 1 - drop - 2 * opposite], size=1500
    )
    seen = np.mean(
        [
            mcnemar(int(worse), int(better)).p <= 0.05 and worse - better >= least * failures
            for worse, better, _ in draws
        ]
    )
    assert drop_power(failures, drop, opposite=opposite, least=least) == pytest.approx(float(seen), abs=0.03)


def test_the_smallest_drop_is_seen_and_one_that_is_smaller_is_not() -> None:
    drop = smallest_drop(300)
    assert drop is not None
    assert drop_power(300, drop) >= 0.8 > drop_power(300, drop - 0.001)


@pytest.mark.parametrize(("failures", "drop"), [(100, 0.084), (300, 0.035), (1000, 0.016)])
def test_more_failures_show_a_smaller_drop(failures: int, drop: float) -> None:
    assert smallest_drop(failures) == pytest.approx(drop)


def test_a_drop_that_does_not_matter_is_not_seen_by_any_number_of_failures() -> None:
    drop = smallest_drop(20_000, least=0.02)
    assert drop is not None
    assert 0.02 < drop < 0.024


def test_few_failures_show_nothing() -> None:
    # Five of five that get worse have a p of 1/32, four of four one of 1/16.
    assert smallest_drop(4) is None
    assert smallest_drop(0) is None
    assert smallest_drop(5, opposite=0.0) is not None


@pytest.mark.parametrize(
    ("share", "is_good", "opposite"),
    [(0.9, True, 0.01), (0.995, True, 0.005), (0.003, False, 0.003), (0.2, False, 0.01)],
)
def test_no_more_failures_can_get_better_than_are_bad(share: float, is_good: bool, opposite: float) -> None:
    assert likely_opposite(share, is_good=is_good) == pytest.approx(opposite)
