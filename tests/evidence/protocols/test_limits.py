"""All kinds of limits share their words; the units tell them apart."""
# ruff: noqa: E501 - messages stand as they were written

from __future__ import annotations

import pytest
from word_reading import read_message, sayings

from airflow_common_ai.evidence.model import Retry
from airflow_common_ai.evidence.protocols.text.limits import LIMIT


@pytest.mark.parametrize(
    ("message", "code", "category", "retry"),
    [
        ("Limit exceeded: 100 requests per minute", "rate_limit", "rate_limit", Retry.YES),
        ("Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user'", "rate_limit", "rate_limit", Retry.YES),
        ("You exceeded the limit of 20 queries/second", "rate_limit", "rate_limit", Retry.YES),
        ("limit of 40000 TPM reached", "rate_limit", "rate_limit", Retry.YES),
        ("The limit was exceeded. At most 5 calls in 10 seconds are allowed", "rate_limit", "rate_limit", Retry.YES),
        ("Quota exceeded: 1000 requests per day", "daily_limit", "rate_limit", Retry.DEPENDS),
        ("The limit of 10 concurrent jobs was exceeded", "concurrency_limit", "rate_limit", Retry.YES),
        ("Maximum of 50 simultaneous sessions reached", "concurrency_limit", "rate_limit", Retry.YES),
        ("Message exceeds the limit of 10 MB", "size_limit", "data", Retry.NO),
        ("Row exceeds the maximum of 65535 bytes", "size_limit", "data", Retry.NO),
        ("The result exceeds the limit of 100000 rows", "size_limit", "data", Retry.NO),
        ("The payload exceeds the limit", "length_limit", "data", Retry.NO),
        ("You have requested more vCPU capacity than your current vCPU limit of 32 allows; limit exceeded", "account_limit", "permanent", Retry.DEPENDS),
        ("Quota 'CPUS' exceeded. Limit: 24.0 in region us-central1.", "account_limit", "permanent", Retry.DEPENDS),
        ("The maximum number of instances has been reached", "account_limit", "permanent", Retry.DEPENDS),
        ("Memory limit (total) exceeded: would use 9.31 GiB", "memory_limit", "permanent", Retry.DEPENDS),
        ("The job exceeded its limit of 3600 seconds", "time_limit", "permanent", Retry.DEPENDS),
        ("Your organization's monthly budget limit has been reached", "spending_limit", "permanent", Retry.NO),
        ("Your project exceeded quota for free query bytes scanned", "quota_limit", "rate_limit", Retry.DEPENDS),
        ("Storage limit exceeded", "storage_limit", "permanent", Retry.DEPENDS),
        ("Monthly quota exceeded. Upgrade your plan.", "plan_limit", "permanent", Retry.NO),
    ],
)  # fmt: skip
def test_the_units_name_the_limit(message: str, code: str, category: str, retry: Retry) -> None:
    signal = read_message(message)[0]
    assert (signal.code, signal.category, signal.retry) == (f"text.{code}", category, retry)
    assert signal.is_conclusive


def test_a_limit_without_units_is_a_hint() -> None:
    (signal,) = read_message("limit exceeded")
    assert not signal.is_conclusive


@pytest.mark.parametrize(
    "message", ["maximum number of retries exceeded", "retry limit reached", "Max attempts exceeded"]
)
def test_a_wrappers_own_budget_of_retries_says_nothing(message: str) -> None:
    assert read_message(message) == []


def test_a_limit_that_was_not_reached_says_nothing() -> None:
    assert read_message("the limit of 5 requests per second was not reached") == []
    assert read_message("no limit exceeded") == []


def test_every_way_to_say_that_a_limit_was_hit_is_understood() -> None:
    for pattern in LIMIT.patterns:
        for saying in sayings(pattern.phrase):
            assert read_message(f"Failed: {saying} (20 requests per second)")[0].code == "text.rate_limit", saying
