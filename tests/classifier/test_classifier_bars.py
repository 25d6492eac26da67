"""How sure the model must be, by category, from what it said about groups that it had not seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pytest
from classified_failures import small_corpus

from airflow_common_ai.classifier.bars import FAIL_COST, RETRY_COST, choose_bars
from airflow_common_ai.classifier.model import CATEGORIES, HOPELESS, Bars

EXAMPLE = small_corpus()[0]


class Said(NamedTuple):
    category: str
    retry_probability: float
    should_retry: Literal["yes", "no"]
    confidence: float = 1.0


def chosen(*said: Said) -> Bars:
    return choose_bars(
        np.array([CATEGORIES.index(one.category) for one in said]),
        np.array([one.confidence for one in said]),
        np.array([one.retry_probability for one in said]),
        [replace(EXAMPLE, should_retry=one.should_retry, weight=1.0) for one in said],
    )


RIGHT = [Said(name, 0.1, "no") for name in HOPELESS for _ in range(50)] + [
    Said(name, 0.9, "yes") for name in ("network", "transient", "rate_limit") for _ in range(50)
]


def test_without_mistakes_every_bar_is_the_lowest_and_to_fail_takes_more() -> None:
    bars = chosen(*RIGHT)

    assert set(bars.fail.values()) == {FAIL_COST.lowest}
    assert set(bars.retry.values()) == {RETRY_COST.lowest}
    assert FAIL_COST.lowest > RETRY_COST.lowest
    assert FAIL_COST.most_mistakes < RETRY_COST.most_mistakes
    assert bars.is_sound


def test_a_category_with_false_fails_gets_a_higher_bar_than_the_others() -> None:
    bars = chosen(*RIGHT, *[Said("auth", 0.2, "yes")] * 8)

    assert bars.fail["auth"] == pytest.approx(0.81)
    assert bars.fail["data"] == FAIL_COST.lowest


def test_a_category_with_wasted_retries_gets_a_higher_bar_than_the_others() -> None:
    bars = chosen(*RIGHT, *[Said("network", 0.7, "no")] * 20)

    assert bars.retry["network"] == pytest.approx(0.71)
    assert bars.retry["transient"] == RETRY_COST.lowest


def test_a_category_with_few_examples_goes_by_all_of_them() -> None:
    few = [Said("network", 0.7, "no")] * 2

    assert chosen(*RIGHT, *few).retry["network"] == RETRY_COST.lowest
    only_few = [one for one in RIGHT if one.category != "network"]
    assert chosen(*only_few, *few).retry["network"] == RETRY_COST.lowest


def test_a_good_category_never_lowers_its_bar_below_that_of_all_together() -> None:
    bars = chosen(*RIGHT, *[Said("auth", 0.15, "yes")] * 40)

    assert bars.fail["data"] > FAIL_COST.lowest
    assert bars.fail["data"] == bars.fail["permanent"] <= bars.fail["auth"]


def test_a_mistake_that_only_one_head_makes_is_none_since_to_fail_takes_both() -> None:
    unsure = [Said("auth", 0.2, "yes", confidence=0.5)] * 40

    assert chosen(*RIGHT, *unsure).fail["auth"] == FAIL_COST.lowest
