"""Numbers as people read them."""

from __future__ import annotations

import pytest

from airflow_common_ai.evals.report.numerals import amount, count, duration, interval, percent, percent_interval, wait
from airflow_common_ai.evals.statistics.estimate import Estimate


def estimate(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high, "wilson")


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.93412, "93.4 %"),
        (0.005, "0.50 %"),
        (0.00001, "<0.01 %"),
        (0.99997, ">99.99 %"),
        (0.9996, "99.96 %"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_a_share_is_never_rounded_to_none_or_all(share: float | None, words: str) -> None:
    assert percent(share).replace("\u00a0", " ") == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (12345.6, "12,346"),
        (56.71, "56.7"),
        (5.671, "5.67"),
        (0.1254, "0.125"),
        (0.00247, "0.00247"),
        (-3, "-3.00"),
    ],
)
def test_an_amount_has_the_digits_that_count(number: float, words: str) -> None:
    assert amount(number) == words


def test_an_interval_is_told_where_there_is_doubt() -> None:
    assert percent_interval(estimate(0.5, 0.6)) == "50.0 to 60.0\u00a0%"
    assert interval(estimate(5, 6)) == "5.00 to 6.00"
    assert percent_interval(estimate(0.5, 0.5)) == interval(estimate(5, 5)) == percent_interval(None) == ""


def test_a_failure_that_counts_in_part_is_shown_so() -> None:
    assert [count(number) for number in (0.5, 1, 1234)] == ["0.5", "1", "1,234"]


def test_times_have_the_unit_that_people_use() -> None:
    assert [wait(number).replace("\u00a0", " ") for number in (None, 0.0, 90.0, 7200.0)] == [
        *("the task's own", "0 s", "90 s", "2 h")
    ]
    assert [duration(number).replace("\u00a0", " ") for number in (0.25, 35.0, 1400.0)] == ["0.25 ms", "35 ms", "1.4 s"]
