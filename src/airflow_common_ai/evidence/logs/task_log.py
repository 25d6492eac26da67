"""Find the failure of a task in its log: in JSON, as the UI shows it, as a console prints it, or a bare traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import dropwhile, takewhile

from airflow_common_ai.evidence.collect import collect, complete
from airflow_common_ai.evidence.exception_tree import pruned
from airflow_common_ai.evidence.logs.log_line import is_log_record, lines_of
from airflow_common_ai.evidence.logs.log_record import LogRecord, moment_of, records_of
from airflow_common_ai.evidence.logs.logged_stacks import nodes_of
from airflow_common_ai.evidence.logs.traceback_text import holds_traceback, parse_tracebacks
from airflow_common_ai.evidence.logs.ui_trace import stacks_of_ui
from airflow_common_ai.evidence.model import Evidence, ExceptionNode

__all__ = ["begins_try", "failure_in", "is_own_decision", "names_failure", "read_failure"]

_FAILED = "Task failed with exception"
_EXITED = "Task exited"
"""What Airflow says about the exception of a task, and about its ``sys.exit``. Source: task-sdk 1.3.2."""
_TRIGGER_FAILED = "Trigger failed:"
_TRIGGER_FAILURE = "TaskDeferralError"
"""What Airflow says, with the trigger's traceback, before the failure of a task whose trigger failed."""

_TRY_BEGINS = re.compile(r"::group::Pre Execute|Starting attempt \d+ of \d+")
"""What Airflow 3 and 2 say first in every try; Airflow 3 says it again when a deferred task goes on."""
_OWN = re.compile(r"Retry policy decision|(?:source=|\[)airflow_common_ai\.")
"""An earlier decision, as Airflow and as we log it: it speaks of the failure and is none."""
_OWN_LOGGER = "airflow_common_ai."

_FIELDS = re.compile(r"(?: +\w+=\S*+)++ *")
"""What the UI puts behind the words of a record."""
_EXIT_CODE = re.compile(r"\bexit_code=(\S{1,100})")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?")
_MAX_LEAD_CHARS = 100
_MAX_MENTIONS = 8
"""Of a failure in a plain log that are followed up: a callback may repeat Airflow's words."""


def read_failure(text: str, seen_at: datetime) -> Evidence | None:
    """
    Return the failure of the last try in a log.

    What Airflow itself calls the failure of the task comes first, then the last exception that was logged. The
    exceptions of a JSON log have no modules and no attributes; those that Airflow's UI shows have no notes either,
    and nobody knows which one was the cause of which.

    :param text: A task log, a part of one, or a printed traceback.
    :param seen_at: When it failed, if the log does not say.
    :return: The failure, unredacted; ``None`` if there is none.
    """
    return failure_in(_last_try(records_of(text)), seen_at)


def failure_in(entries: Sequence[LogRecord | str], seen_at: datetime) -> Evidence | None:
    """Return the failure of one try, of which these are the records and lines."""
    for is_sought in (_is_failure, _has_exception):
        for index in range(len(entries) - 1, -1, -1):
            entry = entries[index]
            if isinstance(entry, LogRecord) and is_sought(entry) and (nodes := _nodes_of(entry)):
                return _evidence(nodes, entry.moment or seen_at, _lines_of(entries[:index]))
    return _read_lines(_lines_of(entries), seen_at)


def _last_try(entries: Iterable[LogRecord | str]) -> list[LogRecord | str]:
    kept: list[LogRecord | str] = []
    for entry in entries:
        if begins_try(entry):
            kept.clear()
        elif not is_own_decision(entry):
            kept.append(entry)
    return kept


def begins_try(entry: LogRecord | str) -> bool:
    """Whether a try begins here, or a deferred task goes on."""
    found = _TRY_BEGINS.match(entry.words) if isinstance(entry, LogRecord) else _TRY_BEGINS.search(entry)
    return found is not None


def is_own_decision(entry: LogRecord | str) -> bool:
    """Whether this is what a policy of ours said about a failure."""
    is_own = isinstance(entry, LogRecord) and entry.logger.startswith(_OWN_LOGGER)
    return is_own or _OWN.search(_words_of(entry)) is not None


def names_failure(entry: LogRecord | str) -> bool:
    """Whether Airflow itself says here that the task failed."""
    if isinstance(entry, LogRecord):
        return _is_failure(entry)
    return any(entry.find(words, 0, _MAX_LEAD_CHARS + len(words)) >= 0 for words in (_FAILED, _EXITED))


def _words_of(entry: LogRecord | str) -> str:
    return entry.words if isinstance(entry, LogRecord) else entry


def _lines_of(entries: Iterable[LogRecord | str]) -> list[str]:
    return lines_of("\n".join(map(_words_of, entries)))


def _is_failure(record: LogRecord) -> bool:
    return record.words.startswith((_FAILED, _EXITED))


def _has_exception(record: LogRecord) -> bool:
    return record.stacks is not None or holds_traceback(record.words)


def _nodes_of(record: LogRecord) -> list[ExceptionNode]:
    if record.words.startswith(_EXITED):
        return _exit(record.exit_code)
    return nodes_of(record.stacks) or parse_tracebacks(record.words)


def _read_lines(lines: Sequence[str], seen_at: datetime) -> Evidence | None:
    starts = [index for index, line in enumerate(lines) if _FAILED in line or _EXITED in line]
    for start in reversed(starts[-_MAX_MENTIONS:]):
        record = _record_at(start, lines)
        if nodes := _nodes_in(record):
            time = _TIME.search(record[0], 0, _MAX_LEAD_CHARS)
            return _evidence(nodes, moment_of(time and time[0]) or seen_at, lines[:start])
    nodes = _nodes_in(lines)
    return _evidence(nodes, seen_at) if nodes else None


def _nodes_in(record: Sequence[str]) -> list[ExceptionNode]:
    first = record[0] if record else ""
    if code := _EXIT_CODE.search(first.partition(_EXITED)[2]):
        return _exit(int(code[1]) if code[1].isdecimal() else code[1])
    _, is_failure, rest = first.partition(_FAILED)
    fields = _FIELDS.match(rest)
    shown = [rest[fields.end() if fields else 0 :], *record[1:]] if is_failure else record
    return nodes_of(stacks_of_ui(dropwhile(_is_blank, shown))) or parse_tracebacks("\n".join(record))


def _record_at(start: int, lines: Sequence[str]) -> list[str]:
    """Return the lines of one record; up to the end of the log if every line has a time in front of it."""
    rest = list(takewhile(lambda line: not is_log_record(line), lines[start + 1 :]))
    return [lines[start], *(rest or lines[start + 1 :])]


def _evidence(nodes: Sequence[ExceptionNode], seen_at: datetime, lines_before: Sequence[str] = ()) -> Evidence:
    triggers = []
    if nodes[0].class_name == _TRIGGER_FAILURE:
        starts = [index for index, line in enumerate(lines_before) if _TRIGGER_FAILED in line]
        for start in starts[-1:]:
            record = _record_at(start, lines_before)
            triggers.append("\n".join(line for line in record if not _FIELDS.fullmatch(line)))
    kept = pruned(nodes)
    return complete(kept, seen_at, extra_tracebacks=triggers, is_truncated=len(kept) < len(nodes))


def _exit(code: object) -> list[ExceptionNode]:
    return list(collect(SystemExit(code)).nodes)


def _is_blank(line: str) -> bool:
    return not line.strip()
