from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_common_ai.evidence.model import Fact
from airflow_common_ai.evidence.protocols.http.wait_headers import (
    has_no_budget_left,
    is_wait_header,
    parse_duration_s,
    parse_wait_s,
    retry_after_s,
    window_s,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EPOCH_S = int(NOW.timestamp())


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        # A delta in seconds.
        ("0", 0),
        ("120", 120),
        (120, 120),
        ("2.0", 2),
        (2.5, 2.5),
        (" 7 ", 7),
        ("-5", 0),
        (-5, 0),
        # A point in time in seconds or milliseconds since 1970.
        (str(EPOCH_S + 90), 90),
        (float(EPOCH_S + 90), 90),
        (f"{EPOCH_S + 90}.25", 90.25),
        (str((EPOCH_S + 90) * 1000), 90),
        (str(EPOCH_S - 90), 0),
        # A Go duration.
        ("1s", 1),
        ("6m0s", 360),
        ("120ms", 0.12),
        ("2m59.56s", 179.56),
        ("1h2m", 3720),
        ("34s", 34),
        ("500us", 0.0005),
        # ISO 8601, RFC 3339.
        ("2026-01-01T00:05Z", 300),
        ("2026-01-01T00:05:00+00:00", 300),
        ("2026-01-01T01:05:00+01:00", 300),
        ("2026-01-01T00:05:00.5Z", 300.5),
        ("2026-01-01 00:05:00", 300),
        ("2025-01-01T00:00:00Z", 0),
        # HTTP-date in its three forms, RFC 9110 §5.6.7.
        ("Thu, 01 Jan 2026 00:02:00 GMT", 120),
        ("Thursday, 01-Jan-26 00:02:00 GMT", 120),
        ("Thu Jan  1 00:02:00 2026", 120),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0),
    ],
)
def test_a_wait_is_read_in_every_unit(value: Fact, seconds: float) -> None:
    assert parse_wait_s(value, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "value",
    ["", " ", "soon", "nan", "inf", "-inf", "1e5", "0x10", "9" * 400, "1" * 20, True, None, float("nan"), float("inf"),
     10**400, "Thu, 99 Foo 2026", "2026-13-01T00:00Z", "5 minutes or so", "1h2", "x" * 10_000],
)  # fmt: skip
def test_what_is_no_wait_is_ignored(value: Fact | None) -> None:
    assert parse_wait_s(value, NOW) is None
    assert retry_after_s({} if value is None else {"retry-after": value}, NOW) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "120"}, 120),
        ({"retry-after": "60, 120"}, 120),
        ({"retry-after": "Thu, 01 Jan 2026 00:02:00 GMT"}, 120),
        ({"retry-after-ms": "1500.5"}, 1.5005),
        ({"x-ms-retry-after-ms": 250.0}, 0.25),
        ({"x-amz-retry-after": "3000"}, 3),
        ({"x-retry-after": "9"}, 9),
        ({"retry-after-ms": "-1"}, 0),
        ({"retry-after": "2", "retry-after-ms": "1500"}, 2),
        ({"retry-after": "soon", "retry-after-ms": "1500"}, 1.5),
        ({"x-ratelimit-reset": "30", "x-ratelimit-remaining": "0"}, None),
        ({}, None),
    ],
)
def test_retry_after_and_its_cousins(headers: dict[str, Fact], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == (None if seconds is None else pytest.approx(seconds))


def test_a_date_is_measured_against_the_clock_of_the_server() -> None:
    an_hour_ahead = NOW + timedelta(hours=1)
    headers: dict[str, Fact] = {
        "date": format_datetime(an_hour_ahead, usegmt=True),
        "retry-after": format_datetime(an_hour_ahead + timedelta(seconds=20), usegmt=True),
    }
    assert retry_after_s(headers, NOW) == 20
    reset: dict[str, Fact] = {**headers, "x-ratelimit-reset": an_hour_ahead.timestamp() + 30}
    assert window_s(reset, NOW, is_rate_limited=True) == 30


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        # RateLimit since draft 08: the last of the exhausted windows.
        ({"ratelimit": '"default";r=0;t=30'}, 30),
        ({"ratelimit": '"default";r=0;t=1e9'}, None),
        ({"ratelimit": '"burst";r=0;t=5, "hour, or so";r=0;t=900, "daily";r=7;t=50000'}, 900),
        ({"ratelimit": '"daily";r=7;t=50000'}, None),
        # Draft 07 and what came before.
        ({"ratelimit": "limit=100, remaining=0, reset=50"}, 50),
        ({"ratelimit": "limit=100, remaining=9, reset=50"}, None),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "40"}, 40),
        ({"ratelimit-remaining": 0.0, "ratelimit-reset": float(EPOCH_S + 41)}, 41),
        ({"ratelimit-remaining": "0", "ratelimit-resettime": "Thu, 01 Jan 2026 00:00:42 GMT"}, 42),
        # GitHub, Smartsheet: epoch; Jira: minutes in ISO 8601; Discord: a float beside the epoch.
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(EPOCH_S + 43)}, 43),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str((EPOCH_S + 44) * 1000)}, 44),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2026-01-01T00:01Z"}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "1.337"}, 1.337),
        # X, with one more hyphen.
        ({"x-rate-limit-remaining": "0", "x-rate-limit-reset": str(EPOCH_S + 45)}, 45),
        # OpenAI and Anthropic: of several budgets the exhausted ones.
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "12",
                "x-ratelimit-reset-tokens": "1h2m",
            },
            360,
        ),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:10Z",
                "anthropic-ratelimit-output-tokens-remaining": "0",
                "anthropic-ratelimit-output-tokens-reset": "2026-01-01T00:00:20Z",
                "anthropic-ratelimit-input-tokens-remaining": "50000",
                "anthropic-ratelimit-input-tokens-reset": "2026-01-01T00:30:00Z",
            },
            20,
        ),
        # A vendor that nobody has seen.
        ({"acme-ratelimit-hourly-remaining": "0", "acme-ratelimit-hourly-reset": "46"}, 46),
    ],
)
def test_the_window_is_that_of_the_exhausted_budgets(headers: dict[str, Fact], seconds: float | None) -> None:
    expected = None if seconds is None else pytest.approx(seconds)
    assert window_s(headers, NOW, is_rate_limited=False) == expected
    assert has_no_budget_left(headers) is (seconds is not None)
    assert all(is_wait_header(name) for name in headers)


def test_a_reset_without_its_remaining_counts_only_on_a_rate_limit() -> None:
    headers: dict[str, Fact] = {"x-ratelimit-reset": "30"}
    assert window_s(headers, NOW, is_rate_limited=True) == 30
    assert window_s(headers, NOW, is_rate_limited=False) is None
    assert not has_no_budget_left(headers)


def test_a_budget_that_is_left_is_no_reason_to_wait_even_on_a_rate_limit() -> None:
    headers: dict[str, Fact] = {"x-ratelimit-remaining": "41", "x-ratelimit-reset": "30"}
    assert window_s(headers, NOW, is_rate_limited=True) is None


def test_a_budget_without_a_reset_is_seen_to_be_empty() -> None:
    assert has_no_budget_left({"x-ms-ratelimit-remaining-subscription-reads": "0"})
    assert not has_no_budget_left({"x-ms-ratelimit-remaining-subscription-reads": "11999"})


@pytest.mark.parametrize("name", ["date", "retry", "after", "x-request-id", "set-cookie", "authorization", "ratings"])
def test_other_headers_carry_no_wait(name: str) -> None:
    assert not is_wait_header(name)


WAIT_NAMES = st.sampled_from([
    "retry-after", "retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after", "ratelimit", "ratelimit-reset",
    "ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-remaining", "x-ratelimit-reset-tokens", "date",
    "anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining", "ratelimit-resettime",
])  # fmt: skip
WAIT_LIKE_TEXT = st.text(alphabet='0123456789 -+.,:;=TZeinfas"rtmhµGMThu', max_size=60)
VALUES = st.one_of(st.text(), WAIT_LIKE_TEXT, st.integers(), st.floats(), st.booleans(), st.datetimes().map(str))


@given(headers=st.dictionaries(WAIT_NAMES, VALUES), is_rate_limited=st.booleans())
def test_no_header_raises_or_gives_a_wait_that_is_no_number(headers: dict[str, Fact], is_rate_limited: bool) -> None:
    for seconds in (retry_after_s(headers, NOW), window_s(headers, NOW, is_rate_limited=is_rate_limited)):
        assert seconds is None or (math.isfinite(seconds) and seconds >= 0)
    assert has_no_budget_left(headers) in (True, False)


@given(value=VALUES)
def test_no_duration_raises_or_is_no_number(value: Fact) -> None:
    seconds = parse_duration_s(value)
    assert seconds is None or (math.isfinite(seconds) and seconds >= 0)


@given(seconds=st.integers(min_value=0, max_value=10**8))
def test_the_same_wait_reads_the_same_in_every_form(seconds: int) -> None:
    at = NOW + timedelta(seconds=seconds)
    forms = [str(seconds), f"{seconds}s", format_datetime(at, usegmt=True), at.isoformat(), str(int(at.timestamp()))]
    assert {parse_wait_s(form, NOW) for form in forms} == {float(seconds)}
