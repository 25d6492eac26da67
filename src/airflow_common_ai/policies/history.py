"""The record: what was decided about each attempt of a task instance, kept in the task state store.

Airflow shows it in the *Task State Store* tab of a task instance, under the key :data:`KEY`. The store can be
written by the task itself and through the REST API, so what is read back is validated, clamped and redacted
before any of it is used; a value that is not ours is set aside.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.evidence.type_path import built_in_name
from airflow_common_ai.policies.airflow_context import TaskKey, mask_registered_secrets, task_key
from airflow_common_ai.policies.attempt import MAX_ITEMS, Attempt
from airflow_common_ai.policies.own_fault import INTERRUPTS, say
from airflow_common_ai.policies.stored_texts import StoredTexts

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context

__all__ = ["KEY", "History", "read"]

log = logging.getLogger(__name__)

KEY = "ai_retry"
"""The key of the record in ``context["task_state_store"]``."""

SCHEMA_VERSION = 1
MAX_RECORD_BYTES = 32 * 1024


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
        return History((*kept, attempt)[-MAX_ITEMS:])

    def to_json(self) -> dict[str, Any]:
        """
        Return the record as JSON of at most 32 KiB.

        Prompts give way first, since no decision rests on them, then the oldest attempts, then details of the newest.
        """
        attempts = [attempt.to_json() for attempt in self.attempts]
        if _size(attempts) > MAX_RECORD_BYTES:
            _shorten(attempts)
        return {"version": SCHEMA_VERSION, "attempts": attempts}

    @classmethod
    def from_json(cls, data: object, redactor: Redactor) -> History:
        """
        Read a record.

        :param redactor: What every string in it passes.
        :raises ValueError: It is not a record of a version that is known here.
        """
        if not isinstance(data, Mapping) or data.get("version") != SCHEMA_VERSION:
            raise ValueError("not a record of this version")
        entries = data.get("attempts")
        if not isinstance(entries, list):
            raise ValueError("no list of attempts")
        texts = StoredTexts(redactor)
        attempts = []
        for entry in entries[-MAX_ITEMS:]:
            try:
                attempts.append(Attempt.from_json(entry, texts))
            except (ValueError, TypeError, AttributeError, OverflowError) as error:
                say(
                    log,
                    logging.WARNING,
                    "An unreadable attempt in the record %r was left out: %s",
                    KEY,
                    built_in_name(error),
                )
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
        return load(context, Redactor(mask_registered_secrets))
    except INTERRUPTS:
        raise
    except BaseException as error:  # noqa: BLE001 - a callback must not fail because the store is down
        say(log, logging.WARNING, "The record %r could not be read: %s", KEY, built_in_name(error))
        return History()


def load(context: Context | Mapping[str, Any], redactor: Redactor) -> History:
    """
    Read the record from the task state store.

    :param redactor: What every string passes: the task itself and the REST API can write the store.
    :raises Exception: Whatever the store raises; a value that is not ours is set aside, not raised.
    """
    store = context.get("task_state_store")
    if store is None:
        return History()
    value = store.get(KEY)
    if value is None:
        return History()
    try:
        return History.from_json(value, redactor)
    except Exception as error:  # noqa: BLE001 - whatever a stranger's value provokes
        say(
            log,
            logging.WARNING,
            "The value under %r in the task state store is set aside: %s",
            KEY,
            built_in_name(error),
        )
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


def _shorten(attempts: list[dict[str, Any]]) -> None:
    for older in attempts:
        if _size(attempts) > MAX_RECORD_BYTES:
            older.get("consultation", {}).pop("prompt", None)
    while len(attempts) > 1 and _size(attempts) > MAX_RECORD_BYTES:
        attempts.pop(0)
    if attempts and _size(attempts) > MAX_RECORD_BYTES:
        for detail in ("consultation", "votes", "delay_steps", "types"):
            attempts[0].pop(detail, None)


def _size(attempts: Sequence[object]) -> int:
    return len(json.dumps(attempts).encode())
