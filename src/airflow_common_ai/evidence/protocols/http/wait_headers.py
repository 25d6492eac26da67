"""How long a response asks to be left alone: every header that carries a wait, in every unit seen.

Pure parsing. A value that is no wait (``soon``, ``nan``, 400 digits) is ignored and never raises; a time in
the past is a wait of 0 s. Nothing is clamped here: how much of a wait is believed is for policies to say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from airflow_common_ai.evidence.model import Fact

__all__ = ["has_no_budget_left", "is_wait_header", "parse_duration_s", "parse_wait_s", "retry_after_s", "window_s"]

_MAX_CHARS = 256
"""Longer values are no wait: three RateLimit items fit."""

_RETRY_AFTER = re.compile(r"(?:^|-)retry-after(?:-seconds|-secs)?$")
_RETRY_AFTER_MS = re.compile(r"(?:^|-)retry-after-(?:ms|milliseconds)$|^x-amz-retry-after$")
"""``x-amz-retry-after`` is in milliseconds although its name does not say so.
Source: botocore 1.44.8 ``retries/standard.py``; azure-core 1.41.0 ``get_retry_after``; openai 3.57.0."""

_BUDGET = re.compile(r"rate-?limit")
_RESET = re.compile(r"reset(?:-?after|-?time)?")
"""``…-reset…`` and its twin ``…-remaining…`` name one budget, whatever the vendor puts around them."""

_NUMBER = re.compile(r"[+-]?\d{1,20}(?:\.\d{0,9})?", re.ASCII)
_GO_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|m|s|us|µs|ns))+", re.ASCII)
"""Source: Go's ``time.Duration.String``; OpenAI's rate limit headers send ``6m0s``; ``google.rpc`` sends ``34s``."""
_GO_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)", re.ASCII)
_SECONDS_PER_UNIT = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}

_EPOCH_S_FROM = 1e9
_EPOCH_MS_FROM = 1e12
_ABSURD_FROM = 1e14
"""As a delta 10⁹ s are 31 years, so such a number is a point in time; 10¹⁴ ms lie in the year 5138."""

_ITEM = re.compile(r'(?:[^,"]|"[^"]*")+')
_PARAMETER = re.compile(r";\s*([a-z]+)\s*=\s*(\d{1,15})(?!\w)", re.ASCII)
_DRAFT_07_MEMBER = re.compile(r"\b(remaining|reset)\s*=\s*(\d{1,15})(?!\w)", re.ASCII)


def is_wait_header(name: str) -> bool:
    """
    Whether a header may say how long to wait or how much of a budget is left.

    :param name: The header's name in lower case.
    """
    return bool(_RETRY_AFTER.search(name) or _RETRY_AFTER_MS.search(name) or _BUDGET.search(name))


def retry_after_s(headers: Mapping[str, Fact], observed_at: datetime) -> float | None:
    """
    Return the wait of ``Retry-After`` or, if that is missing or unreadable, of one of its many cousins.

    :param headers: Values by lower-case name. A ``date`` among them is the server's clock, and dates are
        measured against it.
    :param observed_at: When the failure was seen; what dates are measured against otherwise.
    :return: Seconds, finite and at least 0, or ``None``. Source: RFC 9110 §10.2.3.
    """
    now = _server_time(headers) or observed_at
    if (seconds := _parse_list_s(headers.get("retry-after"), now)) is not None:
        return seconds
    waits = [
        seconds
        for name, value in headers.items()
        if name != "retry-after" and (seconds := _cousin_s(name, value, now)) is not None
    ]
    return max(waits, default=None)


def window_s(headers: Mapping[str, Fact], observed_at: datetime, *, is_rate_limited: bool) -> float | None:
    """
    Return when the last of the exhausted budgets resets, from ``RateLimit`` and ``…-reset`` headers.

    These headers come with successes too: only a budget with nothing remaining is a reason to wait.

    :param is_rate_limited: The response said that a limit was hit (429), so that a reset whose remaining
        budget is not told counts as well.
    :return: Seconds, finite and at least 0, or ``None``.
        Source: draft-ietf-httpapi-ratelimit-headers (00–11); GitHub, OpenAI, Anthropic, Discord docs.
    """
    now = _server_time(headers) or observed_at
    waits = [
        seconds
        for remaining, reset in _budgets(headers)
        if (remaining <= 0 if remaining is not None else is_rate_limited)
        and (seconds := parse_wait_s(reset, now)) is not None
    ]
    return max(waits, default=None)


def has_no_budget_left(headers: Mapping[str, Fact]) -> bool:
    """Whether a budget of requests or tokens is used up: what tells a throttled 403 from a forbidden one."""
    if any(remaining is not None and remaining <= 0 for remaining, _ in _budgets(headers)):
        return True
    return any(
        _BUDGET.search(name) and "remaining" in name and (left := _number(value)) is not None and left <= 0
        for name, value in headers.items()
    )


def parse_wait_s(value: Fact | None, now: datetime) -> float | None:
    """
    Return the seconds from ``now`` that a value of any known form means.

    :param value: A delta in seconds, an epoch in seconds (from 10⁹) or milliseconds (from 10¹²), a Go
        duration, an ISO 8601 / RFC 3339 time (UTC if it has no zone) or an HTTP-date.
    :return: Seconds, finite and at least 0, or ``None`` if it is none of these.
    """
    number = _number(value)
    if number is not None:
        if number >= _ABSURD_FROM:
            return None
        if number >= _EPOCH_S_FROM:
            number = number / (1000 if number >= _EPOCH_MS_FROM else 1) - now.timestamp()
        return max(0.0, number)
    if not isinstance(value, str) or len(value) > _MAX_CHARS:
        return None
    if (seconds := parse_duration_s(value)) is not None:
        return seconds
    moment = _iso_time(value) or _http_date(value)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def parse_duration_s(value: Fact | None) -> float | None:
    """
    Return the seconds of a number or of a Go duration such as ``2m59.56s``.

    :return: Seconds, finite and at least 0, or ``None``.
    """
    if (number := _number(value)) is not None:
        return max(0.0, number)
    if not isinstance(value, str) or len(value) > _MAX_CHARS:
        return None
    text = value.strip().lower()
    if not _GO_DURATION.fullmatch(text):
        return None
    return sum(float(amount) * _SECONDS_PER_UNIT[unit] for amount, unit in _GO_PART.findall(text))


def _parse_list_s(value: Fact | None, now: datetime) -> float | None:
    """A header that was sent twice arrives as ``60, 120``: the longer one is safe."""
    if isinstance(value, str) and len(value) <= _MAX_CHARS:
        parts = [_number(part) for part in value.split(",")]
        if len(parts) > 1 and all(part is not None for part in parts):
            return max(parse_wait_s(part, now) or 0.0 for part in parts)
    return parse_wait_s(value, now)


def _cousin_s(name: str, value: Fact, now: datetime) -> float | None:
    if _RETRY_AFTER_MS.search(name):
        milliseconds = _number(value)
        return None if milliseconds is None else max(0.0, milliseconds / 1000)
    return parse_wait_s(value, now) if _RETRY_AFTER.search(name) else None


def _budgets(headers: Mapping[str, Fact]) -> Iterator[tuple[float | None, Fact]]:
    """Remaining (``None`` if not told) and reset of every budget that the headers tell of."""
    for name, value in headers.items():
        if name == "ratelimit" and isinstance(value, str):
            yield from _structured_budgets(value[:_MAX_CHARS])
        elif _BUDGET.search(name) and _RESET.search(name):
            yield _number(headers.get(_RESET.sub("remaining", name, count=1))), value


def _structured_budgets(field: str) -> Iterator[tuple[float | None, Fact]]:
    """``"burst";r=0;t=30, "daily";r=900;t=8000`` since draft 08; ``limit=9, remaining=0, reset=30`` in 07."""
    members = dict(_DRAFT_07_MEMBER.findall(field))
    if "reset" in members:
        yield _number(members.get("remaining")), members["reset"]
        return
    for item in _ITEM.findall(field):
        parameters = dict(_PARAMETER.findall(item))
        if "t" in parameters:
            yield _number(parameters.get("r")), parameters["t"]


def _number(value: Fact | None) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return None
        value = float(text)
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _server_time(headers: Mapping[str, Fact]) -> datetime | None:
    date = headers.get("date")
    return _http_date(date) if isinstance(date, str) else None


def _http_date(value: str) -> datetime | None:
    try:
        return _in_utc(parsedate_to_datetime(value))
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _iso_time(value: str) -> datetime | None:
    try:
        return _in_utc(datetime.fromisoformat(value.strip()))
    except (ValueError, OverflowError):
        return None


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
