"""Every failure in a log, where the log holds several: tries behind each other, many tasks, tracebacks of a week."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from airflow_common_ai.evidence.logs.log_record import LogRecord, records_of
from airflow_common_ai.evidence.logs.task_log import begins_try, failure_in, is_own_decision, names_failure
from airflow_common_ai.evidence.logs.traceback_text import holds_traceback, opens_traceback
from airflow_common_ai.evidence.model import Evidence

__all__ = ["read_failures"]

_Entries = Sequence[LogRecord | str]


def read_failures(text: str, seen_at: datetime, *, is_task_log: bool = False) -> Iterator[Evidence]:
    """
    Yield the failure of each try that failed, in the order of the log.

    In a task log only that counts which Airflow itself calls the failure of the task: other exceptions in it were
    handled. In any other text every traceback of its own counts.

    :param text: As for :func:`~airflow_common_ai.evidence.logs.task_log.read_failure`.
    :param seen_at: When it failed, where the log does not say.
    :param is_task_log: Whether it is known to be a task's log. It shows by itself where it holds the beginning of a
        try, or Airflow's words about a failure.
    """
    for entries, has_begun in _tries(records_of(text)):
        of_airflow = has_begun or is_task_log or any(map(names_failure, entries))
        for part in _parts(entries, names_failure if of_airflow else None):
            if (not of_airflow or any(map(names_failure, part))) and (failure := failure_in(part, seen_at)):
                yield failure


def _tries(entries: Iterable[LogRecord | str]) -> Iterator[tuple[_Entries, bool]]:
    """Yield what was logged in each try, and whether its beginning is there."""
    kept: list[LogRecord | str] = []
    has_begun = False
    for entry in entries:
        if begins_try(entry):
            yield kept, has_begun
            kept, has_begun = [], True
        elif not is_own_decision(entry):
            kept.append(entry)
    yield kept, has_begun


def _parts(entries: _Entries, is_start: Callable[[LogRecord | str], bool] | None) -> Iterator[_Entries]:
    """Yield pieces of a log with one failure each; what was logged before a failure stays with it."""
    starts = [
        index
        for index, entry in enumerate(entries)
        if (_is_of_its_own(entries, index) if is_start is None else is_start(entry))
    ]
    for start, end in pairwise([0, *starts[1:], len(entries)]):
        yield entries[start:end]


def _is_of_its_own(entries: _Entries, index: int) -> bool:
    """Whether an exception is printed from here on that belongs to none before it."""
    entry = entries[index]
    if isinstance(entry, LogRecord):
        return entry.stacks is not None or holds_traceback(entry.words)
    return opens_traceback(entry, [line for line in entries[max(0, index - 2) : index] if isinstance(line, str)])
