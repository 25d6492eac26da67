"""The record: what was decided about each attempt of a task instance, kept in the task state store.

Airflow shows it in the *Task State Store* tab of a task instance, under the key :data:`KEY`. The store can be
written by the task itself and through the REST API, so what is read back is validated, clamped and redacted
before any of it is used; a value that is not ours is set aside.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow_common_ai.evidence.redaction import Redactor, TextFilter
from airflow_common_ai.policies.airflow_context import TaskKey, mask_registered_secrets, task_key
from airflow_common_ai.policies.delay import seconds

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context

__all__ = ["KEY", "Attempt", "History", "Vote", "read"]

log = logging.getLogger(__name__)

KEY = "ai_retry"
"""The key of the record in ``context["task_state_store"]``."""

SCHEMA_VERSION = 1
MAX_ATTEMPTS = 20
MAX_RECORD_BYTES = 32 * 1024

_MAX_TEXT_CHARS = 500
_MAX_NAME_CHARS = 120
_MAX_FIELDS = 40


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


@dataclass(frozen=True, slots=True)
class History:
    """The attempts of one task instance, oldest first."""

    attempts: tuple[Attempt, ...] = field(default=())

    @property
    def last(self) -> Attempt | None:
        """The newest attempt."""
        return self.attempts[-1] if self.attempts else None

    @property
    def tries(self) -> tuple[Attempt, ...]:
        """One attempt a try, the one that decided it: several policies of a chain do not count twice."""
        by_try: dict[tuple[int, int], Attempt] = {}
        for attempt in self.attempts:
            key = (attempt.max_tries, attempt.try_number)
            if key not in by_try or by_try[key].action == "default":
                by_try[key] = attempt
        return tuple(by_try.values())

    def before(self, try_number: int, max_tries: int) -> History:
        """Return the earlier tries of this round; a clear raises ``max_tries`` and so begins a new one."""
        return History(tuple(a for a in self.attempts if a.max_tries == max_tries and a.try_number < try_number))

    def with_attempt(self, attempt: Attempt) -> History:
        """Return the history with this attempt, in place of an earlier judgement of the same try and policy."""
        key = (attempt.max_tries, attempt.try_number, attempt.policy)
        kept = [a for a in self.attempts if (a.max_tries, a.try_number, a.policy) != key]
        return History((*kept, attempt)[-MAX_ATTEMPTS:])

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON of at most 32 KiB: the oldest attempts give way, then details of the newest."""
        attempts = [attempt.to_json() for attempt in self.attempts]
        while len(attempts) > 1 and _size(attempts) > MAX_RECORD_BYTES:
            attempts.pop(0)
        if attempts and _size(attempts) > MAX_RECORD_BYTES:
            for detail in ("votes", "delay_steps", "types"):
                attempts[0].pop(detail, None)
        return {"version": SCHEMA_VERSION, "attempts": attempts}

    @classmethod
    def from_json(cls, data: object) -> History:
        """
        Read a record.

        :raises ValueError: It is not a record of a version that is known here.
        """
        if not isinstance(data, Mapping) or data.get("version") != SCHEMA_VERSION:
            raise ValueError("not a record of this version")
        attempts = []
        for entry in _items(data.get("attempts")):
            try:
                attempts.append(Attempt.from_json(entry))
            except (ValueError, TypeError, AttributeError, OverflowError) as error:
                log.warning("An unreadable attempt in the record %r was left out: %s", KEY, type(error).__name__)
        return cls(tuple(attempts))


_in_process: dict[TaskKey, History] = {}
"""The newest record of the task instance that this process runs. After a RETRY the task instance has a new id, so
callbacks and listeners of the failed try can no longer ask the store."""


def read(context: Context) -> History:
    """
    Return the record of a task instance, for callbacks, listeners and the task itself.

    Works in ``on_retry_callback`` too, where the store itself no longer answers. Costs one call to the API server
    unless this process has just judged the task.

    :param context: The task's context.
    :return: The attempts, oldest first; empty if there are none or the store cannot be read.
    """
    key = task_key(context)
    if key is not None and key in _in_process:
        return _in_process[key]
    try:
        return load(context, Redactor(mask_registered_secrets).text)
    except Exception as error:  # noqa: BLE001 - a callback must not fail because the store is down
        log.warning("The record %r could not be read: %s", KEY, type(error).__name__)
        return History()


def load(context: Context | Mapping[str, Any], redact: TextFilter) -> History:
    """
    Read the record from the task state store.

    :param redact: Applied to every string: the task itself and the REST API can write the store.
    :raises Exception: Whatever the store raises; a value that is not ours is set aside, not raised.
    """
    store = context.get("task_state_store")
    if store is None:
        return History()
    value = store.get(KEY)
    if value is None:
        return History()
    try:
        return History.from_json(_cleaned(value, redact))
    except ValueError as error:
        log.warning("The value under %r in the task state store is set aside: %s", KEY, error)
        return History()


def save(context: Context | Mapping[str, Any], history: History, retention: timedelta) -> None:
    """
    Write the record to the task state store.

    :raises Exception: Whatever the store raises.
    """
    store = context.get("task_state_store")
    if store is not None:
        store.set(KEY, history.to_json(), retention=retention)


def remember(context: Context | Mapping[str, Any], history: History) -> None:
    """Keep the record for the callbacks of this process; one task instance at a time."""
    key = task_key(context)
    if key is not None:
        _in_process.clear()
        _in_process[key] = history


def _size(attempts: Sequence[object]) -> int:
    return len(json.dumps(attempts).encode())


def _without_none(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def _cleaned(value: object, redact: TextFilter, depth: int = 6) -> Any:
    """Bound and redact JSON that a stranger may have written; what is no JSON or too deep becomes ``None``."""
    if isinstance(value, str):
        return redact(value[:_MAX_TEXT_CHARS])
    if depth and isinstance(value, Mapping):
        items = list(value.items())[:_MAX_FIELDS]
        return {str(key)[:_MAX_NAME_CHARS]: _cleaned(item, redact, depth - 1) for key, item in items}
    if depth and isinstance(value, list):
        return [_cleaned(item, redact, depth - 1) for item in value[-MAX_ATTEMPTS:]]
    if isinstance(value, int | float) and math.isfinite(value):
        return value
    return None


def _required(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"an attempt needs {key!r}")
    return value[:_MAX_NAME_CHARS]


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment.astimezone(UTC)


def _name(value: object) -> str | None:
    return value[:_MAX_NAME_CHARS] if isinstance(value, str) else None


def _text(value: object) -> str:
    return value[:_MAX_TEXT_CHARS] if isinstance(value, str) else ""


def _items(value: object) -> Sequence[Any]:
    return value[-MAX_ATTEMPTS:] if isinstance(value, list) else ()


def _texts(value: object) -> list[str]:
    return [_text(item) for item in _items(value) if isinstance(item, str)]


def _number(value: object, low: float, high: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return min(max(value, low), high)
