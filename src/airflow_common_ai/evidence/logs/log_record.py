"""The records of a log in JSON, whoever wrote it: Airflow's task log and its API, a container runtime, a log store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from airflow_common_ai.evidence.logs.traceback_text import holds_traceback
from airflow_common_ai.evidence.logs.wrapped_lines import unwrapped

__all__ = ["LogRecord", "moment_of", "records_of"]

_WORDS = ("event", "message", "msg", "log", "textPayload")
"""Where a record says what happened: Airflow and structlog, most others, Docker, Google Cloud."""
_STACKS = ("error_detail", "exception")
"""Where Airflow and structlog put the stacks of an exception."""
_TIMES = ("timestamp", "time", "@timestamp", "asctime")
_LEVELS = ("level", "levelname", "log.level", "severity", "stream")
"""What makes a record of a log, and not of an answer that stands in one; a container runtime names the stream."""
_SHOWN_BY_API = "content"
_MAX_LEAD_CHARS = 200
"""What a container runtime writes in front of a record."""
_MAX_DEPTH = 4
_MAX_TRACEBACKS = 16


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record: what it says, and the exception it was made with. Anybody may have written it."""

    words: str
    """The event, followed by whatever else in the record holds a traceback."""
    stacks: object = None
    """The exception as structlog writes it, if it has one."""
    moment: datetime | None = None
    logger: str = ""
    exit_code: object = None


def records_of(text: str) -> Iterator[LogRecord | str]:
    """Yield the records of a log, and the lines that are none as they are."""
    text = unwrapped(text)
    document = _parsed(text)
    if isinstance(document, Mapping) and _SHOWN_BY_API in document:
        document = document[_SHOWN_BY_API]
    if isinstance(document, str):
        text = document  # Airflow 2
    if isinstance(document, list):
        yield from (_record(item) if isinstance(item, Mapping) else str(item) for item in document)
    else:
        yield from (_record_in(line.rstrip()) or line for line in text.splitlines())


def _parsed(text: str) -> object:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _record_in(line: str) -> LogRecord | None:
    start = line.find("{", 0, _MAX_LEAD_CHARS) if line.endswith("}") else -1
    fields = _parsed(line[start:]) if start >= 0 else None
    if not isinstance(fields, Mapping) or not (_is_record(fields) or (start == 0 and _is_shown_by_api(fields))):
        return None
    # A container runtime or a log store keeps the record of the program inside its own.
    inner = _parsed(_event_of(fields))
    return _record(inner if isinstance(inner, Mapping) and _is_record(inner) else fields)


def _is_record(fields: Mapping[str, Any]) -> bool:
    return not any(fields.keys().isdisjoint(names) for names in (_WORDS, _TIMES, _LEVELS))


def _is_shown_by_api(fields: Mapping[str, Any]) -> bool:
    return "event" in fields and "timestamp" in fields


def _record(fields: Mapping[str, Any]) -> LogRecord:
    event = _event_of(fields)
    others = (text for text in _texts_in(fields) if text != event and holds_traceback(text))
    return LogRecord(
        words="\n".join((event, *islice(others, _MAX_TRACEBACKS))),
        stacks=next((value for name in _STACKS if isinstance(value := fields.get(name), list)), None),
        moment=next((moment for name in _TIMES if (moment := moment_of(fields.get(name)))), None),
        logger=str(fields.get("logger")),
        exit_code=fields.get("exit_code"),
    )


def _event_of(fields: Mapping[str, Any]) -> str:
    return next((value for name in _WORDS if isinstance(value := fields.get(name), str)), "")


def _texts_in(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list) and depth < _MAX_DEPTH:
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(item, depth + 1)


def moment_of(text: object) -> datetime | None:
    """Return the time that a log names, UTC where it does not say."""
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
        return moment and (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
