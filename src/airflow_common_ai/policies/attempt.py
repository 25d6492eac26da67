"""One judged try, as it stands in the record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from airflow_common_ai.policies.delay import seconds

__all__ = ["Attempt", "Vote"]

MAX_TEXT_CHARS = 500
MAX_NAME_CHARS = 120
MAX_ITEMS = 20
"""Bounds on what is read back from a record that a stranger may have written."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one tier said about one attempt."""

    tier: str
    outcome: str
    """``retry``, ``fail``, ``default``, ``abstained`` or ``unsure``."""
    code: str | None = None
    category: str | None = None
    confidence: float | None = None

    def to_json(self) -> dict[str, Any]:
        return _without_none(
            {
                "tier": self.tier,
                "outcome": self.outcome,
                "code": self.code,
                "category": self.category,
                "confidence": self.confidence,
            }
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Vote:
        confidence = _number(data.get("confidence"), 0, 1)
        return cls(
            _name(data.get("tier")) or "unknown",
            _name(data.get("outcome")) or "unknown",
            _name(data.get("code")),
            _name(data.get("category")),
            confidence,
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One failed try and what was decided about it."""

    at: datetime
    """When the failure was judged, UTC."""
    try_number: int
    max_tries: int
    """The task instance's ``max_tries`` at that time; a larger one later means that it was cleared."""
    policy: str
    """Which policy judged: a task may have a chain of them."""
    fingerprint: str
    types: tuple[str, ...]
    """Type paths of the failure's nodes, outermost first."""
    action: str
    """``retry``, ``fail`` or ``default``: what was decided, also in shadow mode."""
    code: str
    reason: str
    tier: str | None = None
    """The tier that decided; ``None`` if all abstained."""
    category: str | None = None
    delay_s: float | None = None
    """``None``: the task's own ``retry_delay``, or no retry."""
    delay_steps: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()
    milliseconds: float = 0.0
    """Time that the decision took, without the store."""
    store_milliseconds: float = 0.0
    """Time that the read of the store took."""
    mode: str = "enforce"
    is_last_try: bool = False
    """No retry was left when this was decided."""
    started_at: datetime | None = None
    """When the try was started; the first one of a round starts the clock of ``max_elapsed``."""

    @property
    def waits_own_delay(self) -> bool:
        """Whether the wait after this try was the task's own ``retry_delay``, not one of ours."""
        return self.delay_s is None or self.mode == "shadow"

    @property
    def headline(self) -> str:
        """What was done, when, and why, in one line for a log."""
        if self.action == "fail":
            what = "fail, no more tries"
        elif self.action == "default":
            what = "left to the task's own retries"
        elif self.is_last_try:
            what = "worth a retry, but none is left"
        elif self.delay_s is None:
            what = "retry after the task's own retry_delay"
        else:
            what = f"retry in {seconds(self.delay_s)}"
        shadow = "shadow mode, not acted on: " if self.mode == "shadow" else ""
        return f"{shadow}{what} - {self.reason}"

    def to_json(self) -> dict[str, Any]:
        return _without_none(
            {
                "at": self.at.isoformat(timespec="milliseconds"),
                "try_number": self.try_number,
                "max_tries": self.max_tries,
                "policy": self.policy,
                "fingerprint": self.fingerprint,
                "types": list(self.types),
                "action": self.action,
                "code": self.code,
                "reason": self.reason,
                "tier": self.tier,
                "category": self.category,
                "delay_s": None if self.delay_s is None else round(self.delay_s, 3),
                "delay_steps": list(self.delay_steps),
                "votes": [vote.to_json() for vote in self.votes],
                "milliseconds": round(self.milliseconds, 3),
                "store_milliseconds": round(self.store_milliseconds, 3),
                "mode": self.mode,
                "is_last_try": self.is_last_try,
                "started_at": self.started_at and self.started_at.isoformat(timespec="milliseconds"),
            }
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Attempt:
        """
        Read one stored attempt.

        :raises ValueError: A field that decisions rest on is missing or out of range.
        """
        at = _moment(_required(data, "at"))
        try_number = _number(data.get("try_number"), 1, 1e6)
        max_tries = _number(data.get("max_tries"), 0, 1e6)
        if try_number is None or max_tries is None:
            raise ValueError("an attempt needs a try_number and max_tries")
        started_at = data.get("started_at")
        return cls(
            at=at,
            try_number=int(try_number),
            max_tries=int(max_tries),
            policy=_name(data.get("policy")) or "unknown",
            fingerprint=_name(data.get("fingerprint")) or "",
            types=tuple(_texts(data.get("types"))),
            action=_required(data, "action"),
            code=_required(data, "code"),
            reason=_text(data.get("reason")),
            tier=_name(data.get("tier")),
            category=_name(data.get("category")),
            delay_s=_number(data.get("delay_s"), 0, 366 * 86400),
            delay_steps=tuple(_texts(data.get("delay_steps"))),
            votes=tuple(Vote.from_json(vote) for vote in _items(data.get("votes")) if isinstance(vote, Mapping)),
            milliseconds=_number(data.get("milliseconds"), 0, 1e9) or 0.0,
            store_milliseconds=_number(data.get("store_milliseconds"), 0, 1e9) or 0.0,
            mode=_name(data.get("mode")) or "enforce",
            is_last_try=data.get("is_last_try") is True,
            started_at=_moment(started_at) if isinstance(started_at, str) else None,
        )


def _without_none(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def _required(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"an attempt needs {key!r}")
    return value[:MAX_NAME_CHARS]


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment.astimezone(UTC)


def _name(value: object) -> str | None:
    return value[:MAX_NAME_CHARS] if isinstance(value, str) else None


def _text(value: object) -> str:
    return value[:MAX_TEXT_CHARS] if isinstance(value, str) else ""


def _items(value: object) -> Sequence[Any]:
    return value[-MAX_ITEMS:] if isinstance(value, list) else ()


def _texts(value: object) -> list[str]:
    return [_text(item) for item in _items(value) if isinstance(item, str)]


def _number(value: object, low: float, high: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return min(max(value, low), high)
