"""What failures are collected from: a log, whoever gives it, or why there is none."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, TypeAlias

__all__ = ["Log", "LogReader", "Skipped", "TaskTry", "task_try_in", "task_try_of"]

_TASK_INSTANCE_ID = re.compile(r'"ti_id": ?"([0-9a-f-]{36})"')
"""In most records of a task's log in JSON, another one for each try. Source: apache-airflow-task-sdk 1.3.2."""

LogReader: TypeAlias = Callable[[BinaryIO, str], str]
"""Returns the text of an open file, of bounded size; a ``ValueError`` says what is wrong with the file of that name."""


@dataclass(frozen=True, slots=True)
class TaskTry:
    """One try of a task instance."""

    dag_id: str
    run_id: str
    task_id: str
    map_index: int
    number: int

    @property
    def key(self) -> str:
        """The same for the same try, whether its log comes from a folder or from Airflow's API."""
        return _digest((self.dag_id, self.run_id, self.task_id, str(self.map_index), str(self.number)))

    def __str__(self) -> str:
        index = f"[{self.map_index}]" if self.map_index >= 0 else ""
        return f"{self.dag_id}, {self.run_id}, {self.task_id}{index}, try {self.number}"


@dataclass(frozen=True, slots=True)
class Log:
    """A text that may hold failures. Holds secrets."""

    name: str
    """What a person knows it by: a path, a try."""
    text: str
    seen_at: datetime
    """When it was written last: when a failure in it happened, where it does not say."""
    task_try: TaskTry | None = None
    """Whose log it is; ``None``: of any program."""

    @property
    def key(self) -> str:
        """What tells whether this was added before."""
        return self.task_try.key if self.task_try else _digest((self.name, self.text))


def task_try_in(text: str) -> TaskTry | None:
    """Return whose log a text is, by its records in JSON; ``None`` if they do not tell, or it is of several tries."""
    found = _TASK_INSTANCE_ID.search(text)
    if found is None or len(set(_TASK_INSTANCE_ID.findall(text))) > 1:
        return None
    start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
    try:
        record = json.loads(text[start : end if end >= 0 else None])
    except (ValueError, RecursionError):
        return None
    return task_try_of(record, run_id="run_id") if isinstance(record, Mapping) else None


def task_try_of(fields: Mapping[str, object], *, run_id: str) -> TaskTry | None:
    """
    Return the try that a JSON object names.

    :param run_id: What the id of the Dag run is called in it.
    """
    names = [value for name in ("dag_id", run_id, "task_id") if isinstance(value := fields.get(name), str)]
    numbers = [value for name in ("map_index", "try_number") if isinstance(value := fields.get(name), int)]
    if (len(names), len(numbers)) != (3, 2):
        return None
    return TaskTry(names[0], names[1], names[2], numbers[0], numbers[1])


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not read."""

    name: str
    reason: str


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
