"""How long the words of a message ask to be left alone: ``Please try again in 6m0s``, ``retry_after=20``."""

from __future__ import annotations

import re
from datetime import UTC, datetime

__all__ = ["read_asked_delay"]

_UNITS_S = {
    "ms": 0.001,
    "milli": 0.001,
    "s": 1.0,
    "sec": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "hr": 3600.0,
    "hour": 3600.0,
    "d": 86_400.0,
    "day": 86_400.0,
    "week": 604_800.0,
    "month": 2_629_800.0,
    "year": 31_557_600.0,
}
_UNIT = (
    r"(?:milliseconds?|millis|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|months?|years?)"
    r"(?![A-Za-z])"
)
_NUMBER = r"\d{1,15}(?:\.\d{1,15})?"

# A client that says what it does (`Retrying in 2 s`, `will retry in 5 s`) asks for nothing.
_ASK = re.compile(
    r"""(?ix)
    (?<!will\s)(?<!to\s)(?<!\w)
    (?:
        (?:try|retry)(?:\s+(?:your|the|this)\s+\w{1,20})?(?:\s+again)?\s+(?:in|after|within)
      | (?:re)?try\s+again
      | (?:please|must|should|need\ to|have\ to|and|then)\s+wait(?:\s+for)?
      | ^wait(?:\s+for)?
      | (?:resets?|available(?:\s+again)?)\s+(?:in|after)
      | (?P<header>retry[-_\ ]?after(?P<header_ms>[-_]ms)?|retryDelay)["']?\s*[:=]\s*["']?
    )
    \s*(?:at\s+least|about|approximately|approx\.?|around|another)?\s*
    (?P<rest>\d|an?\s|one\s)
    """,
    re.MULTILINE,
)
_AMOUNT = re.compile(rf"(?:({_NUMBER})|(an?|one)\b)\s*({_UNIT})", re.IGNORECASE)
_AND = re.compile(r"\s*(?:,|and)?\s*", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,3}):(\d{2}):(\d{2}(?:\.\d{1,9})?)(?!\d)")
_BARE = re.compile(rf"{_NUMBER}(?![\w.:-])")
_UNTIL = re.compile(
    r"(?i)\b(?:retry|try again|resets?|available again) (?:at|after|on|until)\s+"
    r"(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)\s*(Z|UTC|[+-]\d{2}:?\d{2})?"
)
_HINTS = ("try", "wait", "reset", "available")


def read_asked_delay(text: str, observed_at: datetime) -> float | None:
    """
    Return the longest wait that ``text`` asks for, in seconds from ``observed_at``, or ``None``.

    :param text: A message, at most some kilobytes.
    :param observed_at: When the failure was seen; points in time are measured against it.
    :return: Not clamped: ``retry in 10 years`` is 315,576,000.
    """
    lower = text.lower()
    if not any(map(lower.__contains__, _HINTS)):
        return None
    asked = [_seconds_at(text, match) for match in _ASK.finditer(text)]
    asked += [_seconds_until(match, observed_at) for match in _UNTIL.finditer(text)]
    return max((delay for delay in asked if delay is not None), default=None)


def _seconds_at(text: str, ask: re.Match[str]) -> float | None:
    at = ask.start("rest")
    if clock := _CLOCK.match(text, at):
        return int(clock[1]) * 3600 + int(clock[2]) * 60 + float(clock[3])
    total: float | None = None
    while amount := _AMOUNT.match(text, at):
        number = float(amount[1]) if amount[1] else 1.0
        total = (total or 0.0) + number * _unit_s(amount[3])
        at = amount.end()
        if (gap := _AND.match(text, at)) and _AMOUNT.match(text, gap.end()):
            at = gap.end()
    if (
        total is None
        and (bare := _BARE.match(text, at))
        and (ask["header"] or ask[0].lower().startswith("retry after"))
    ):
        # RFC 9110 10.2.3: Retry-After counts seconds.
        total = float(bare[0])
    if total is not None and ask["header_ms"]:
        total /= 1000
    return total


def _unit_s(unit: str) -> float:
    unit = unit.lower()
    name = unit if unit in _UNITS_S else unit.rstrip("s")
    return _UNITS_S.get(name) or next(
        seconds for prefix, seconds in reversed(_UNITS_S.items()) if len(prefix) > 1 and name.startswith(prefix)
    )


def _seconds_until(match: re.Match[str], observed_at: datetime) -> float | None:
    zone = (match[2] or "").upper().replace("UTC", "+00:00").replace("Z", "+00:00")
    try:
        moment = datetime.fromisoformat(match[1].replace(" ", "T") + zone)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - observed_at).total_seconds())
