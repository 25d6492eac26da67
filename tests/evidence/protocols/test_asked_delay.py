"""How long the words of a message ask to be left alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from word_reading import read_message

from airflow_common_ai.evidence.model import Retry
from airflow_common_ai.evidence.protocols.text.asked_delay import read_asked_delay

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 20s.", 20),
        ("Please try again in 1.5s", 1.5),
        ("Please try again in 6m0s. Visit the console", 360),
        ("try again in 1h2m", 3720),
        ("Please try again in 2m59.56s", 179.56),
        ("try again in 120ms", 0.12),
        ("Please retry in 32.5s.", 32.5),
        ("Please retry your request in 12 seconds", 12),
        ("Please try again after 35 seconds.", 35),
        ("retry after 30 seconds", 30),
        ("Please retry after 1 minute and 30 seconds", 90),
        ("Please wait 5 minutes before trying again", 300),
        ("you must wait for 2 hours", 7200),
        ("Wait 10 sec and come back", 10),
        ("Please wait at least 60 seconds", 60),
        ("try again in about 3 hours", 10_800),
        ("try again in a minute", 60),
        ("try again in an hour", 3600),
        ("The limit resets in 12 min", 720),
        ("available again in 2 days", 172_800),
        ("retry after 00:00:30", 30),
        ("Retry-After: 30", 30),
        ("retry-after-ms: 1500", 1.5),
        ("{'retry_after': 20.5}", 20.5),
        ('{"retryDelay": "34s"}', 34),
        ("retry_after=7", 7),
        ("retry after 30", 30),
        ("retry in 10 years", 315_576_000),
        ("try again in 5s, or better try again in 9s", 9),
        ("try again at 2026-01-01T12:05:00Z", 300),
        ("Limit resets at 2026-01-01 13:00:00 UTC", 3600),
        ("try again after 2026-01-01T12:00:30+00:00", 30),
        ("try again at 2020-01-01T00:00:00Z", 0),
    ],
)
def test_a_wait_that_is_asked_for_is_counted_in_seconds(message: str, seconds: float) -> None:
    assert read_asked_delay(message, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "message",
    [
        "Retrying in 5 seconds",
        "will retry in 5 seconds",
        "retried after 3 s",
        "waited 5 minutes for the job",
        "timed out after 30 seconds",
        "try again in 5 apples",
        "try again later",
        "Please wait a few minutes before you try again.",
        "retry_delay=300",
        "try again in the 5th week",
        "entry in 5 s",
        "reset in_30_s",
        "try again at noon",
        "try again at 2026-99-99T00:00:00Z",
        "try again in 1234567890123456789 s",
        "",
    ],
)
def test_what_asks_for_no_wait_gives_none(message: str) -> None:
    assert read_asked_delay(message, NOW) is None


def test_the_wait_is_told_with_the_signal_that_it_came_with() -> None:
    signals = read_message("Rate limit reached for gpt-4 on tokens per min (TPM). Please try again in 20s.")
    assert (signals[0].code, signals[0].asked_delay_s) == ("text.rate_limited", 20)
    assert signals[0].sentence == "the message says: too many requests"


def test_a_wait_alone_is_reason_enough_to_try_again() -> None:
    (signal,) = read_message("The job was not accepted; retry in 30 s")
    assert (signal.code, signal.retry, signal.asked_delay_s) == ("text.asked_to_wait", Retry.YES, 30)
    assert signal.is_conclusive


def test_a_wait_contradicts_words_that_would_fail_the_task() -> None:
    signals = read_message("no such table: orders; retry in 30 s")
    assert {signal.code: signal.asked_delay_s for signal in signals} == {
        "text.asked_to_wait": 30,
        "text.no_such_object": None,
    }
    assert not any(signal.is_conclusive for signal in signals)
