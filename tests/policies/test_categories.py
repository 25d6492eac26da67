"""The table of categories: what is retried, and what a user may put into it."""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

import pytest

from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES, FailureCategory, check_categories


def test_the_categories_are_those_of_the_common_ai_provider_with_the_same_split() -> None:
    from airflow.providers.common.ai.policies.retry import DEFAULT_CATEGORIES as PROVIDERS

    assert {name: row.retry for name, row in DEFAULT_CATEGORIES.items()} == {
        name: row.retry for name, row in PROVIDERS.items()
    }


def test_failing_needs_more_confidence_than_retrying() -> None:
    assert DEFAULT_CATEGORIES["auth"].bar > DEFAULT_CATEGORIES["network"].bar
    assert FailureCategory("x", retry=False, min_confidence=0.5).bar == 0.5


def test_the_providers_own_table_is_accepted() -> None:
    from airflow.providers.common.ai.policies.retry import ErrorCategory

    table = check_categories({"auth": ErrorCategory("Logins.", retry=True, delay=timedelta(seconds=9))})
    assert table["auth"] == FailureCategory("Logins.", retry=True, delay=timedelta(seconds=9))
    assert table["network"] == DEFAULT_CATEGORIES["network"]


@pytest.mark.parametrize(("name", "is_warned_about"), [("ratelimit", True), ("permanant", True), ("weather", False)])
def test_a_name_that_looks_like_a_typing_error_is_warned_about(
    name: str, is_warned_about: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert name in check_categories({name: FailureCategory("x")})
    assert (f"The category {name!r} is none of the usual ones" in caplog.text) is is_warned_about


def test_a_checked_table_can_be_deep_copied() -> None:
    table = check_categories(DEFAULT_CATEGORIES)
    assert copy.deepcopy(table) == table


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"description": " "}, "must say in a sentence"),
        ({"description": "x", "retry": "no"}, "must be True or False, got 'no'"),
        ({"description": "x", "delay": 60}, r"must be a timedelta or None, got 60\. Use e\.g\. timedelta"),
        ({"description": "x", "delay": timedelta(seconds=-1)}, "must not be negative"),
        ({"description": "x", "delay": timedelta(1), "retry": False}, "nothing to wait for"),
        ({"description": "x", "max_attempts": 0}, "whole number of attempts from 1"),
        ({"description": "x", "min_confidence": 70}, r"between 0 and 1, got 70\. Use e\.g\. 0\.9"),
    ],
)
def test_a_wrong_row_fails_with_the_fix(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        FailureCategory(**options)


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        (["auth"], "must map names to FailureCategory, got list"),
        ({"auth": True}, "must be a FailureCategory, got bool"),
        ({"rate limit": FailureCategory("x")}, "must have names like 'rate_limit', got 'rate limit'"),
    ],
)
def test_a_wrong_table_fails_with_the_fix(categories: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        check_categories(categories)
