"""What became of a Dag run, read from Airflow's own SQLite database without importing Airflow."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_NOT_BEGUN = frozenset({None, "scheduled", "queued", "removed", "upstream_failed"})


@dataclass(frozen=True)
class Try:
    """One try of a task instance, as Airflow stored it."""

    number: int
    state: str | None
    start: datetime | None
    end: datetime | None
    retry_delay: timedelta | None
    """What the policy asked for after this try; ``None``: the task's own delay, or no retry."""
    retry_reason: str | None
    max_tries: int
    """Retries plus the tries before a clear, as they stood at that time."""


@dataclass(frozen=True)
class TaskOutcome:
    """One task instance: all of its tries, and everything it left in the task state store."""

    task_id: str
    map_index: int
    state: str | None
    tries: tuple[Try, ...]
    """The finished and the running ones, oldest first."""
    store: dict[str, Any]

    @property
    def record(self) -> dict[str, Any]:
        """What the policies of this project stored; empty if they did not."""
        record = self.store.get("ai_retry")
        return record if isinstance(record, dict) else {}

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """What was decided about each failed try, oldest first."""
        return list(self.record.get("attempts", []))


@dataclass(frozen=True)
class RunOutcome:
    """One Dag run."""

    run_id: str
    state: str | None
    tasks: tuple[TaskOutcome, ...]

    @property
    def is_finished(self) -> bool:
        return self.state in ("success", "failed")

    def task(self, task_id: str, map_index: int = -1) -> TaskOutcome:
        """
        Return one task instance.

        :param map_index: its place among the mapped ones; -1 for a task that is not mapped.
        :raises LookupError: if the run has no such task instance.
        """
        for task in self.tasks:
            if (task.task_id, task.map_index) == (task_id, map_index):
                return task
        raise LookupError(f"no task instance {task_id!r} with map index {map_index} in this run")


def read_run(database: Path, dag_id: str, run_id: str) -> RunOutcome:
    """
    Read how a Dag run stands, in one consistent snapshot.

    :param database: Airflow's SQLite file; it is opened read-only, also while Airflow is writing.
    """
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("BEGIN")
        key = (dag_id, run_id)
        run = connection.execute("SELECT state FROM dag_run WHERE dag_id = ? AND run_id = ?", key).fetchone()
        tasks = connection.execute(f"{_TASKS} ORDER BY task_id, map_index", key).fetchall()
        past = connection.execute(f"{_PAST_TRIES} ORDER BY try_number", key).fetchall()
        stored = connection.execute(_STORE, key).fetchall()
    return RunOutcome(run_id, run["state"] if run else None, tuple(_outcome(task, past, stored) for task in tasks))


_TRY = "task_id, map_index, try_number, state, start_date, end_date, retry_delay_override, retry_reason, max_tries"
_OF_RUN = "WHERE dag_id = ? AND run_id = ?"
_TASKS = f"SELECT {_TRY} FROM task_instance {_OF_RUN}"
_PAST_TRIES = f"SELECT {_TRY} FROM task_instance_history {_OF_RUN}"
_STORE = f"SELECT task_id, map_index, key, value FROM task_state_store {_OF_RUN}"


def _outcome(task: sqlite3.Row, past: list[sqlite3.Row], stored: list[sqlite3.Row]) -> TaskOutcome:
    def belongs(row: sqlite3.Row) -> bool:
        return bool(row["task_id"] == task["task_id"] and row["map_index"] == task["map_index"])

    tries = {row["try_number"]: _try(row) for row in past if belongs(row)}
    # The row of the task instance is its newest try, unless that has not begun or is history already.
    if task["state"] not in _NOT_BEGUN and task["try_number"] not in tries:
        tries[task["try_number"]] = _try(task)
    return TaskOutcome(
        task_id=task["task_id"],
        map_index=task["map_index"],
        state=task["state"],
        tries=tuple(tries.values()),
        store={row["key"]: json.loads(row["value"]) for row in stored if belongs(row)},
    )


def _try(row: sqlite3.Row) -> Try:
    delay = row["retry_delay_override"]
    return Try(
        number=row["try_number"],
        state=row["state"],
        start=_moment(row["start_date"]),
        end=_moment(row["end_date"]),
        retry_delay=None if delay is None else timedelta(seconds=delay),
        retry_reason=row["retry_reason"],
        max_tries=row["max_tries"],
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
