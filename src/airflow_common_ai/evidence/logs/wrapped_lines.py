"""Take a log out of what a container runtime, the journal or a log shipper puts around each of its lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["unwrapped"]

_CRI = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([FP])(?::\S*)?(?: |$)"
)
"""What Kubernetes puts before each line; P for a part of one. Source: Kubernetes' CRI log format."""
_WORDS = ("log", "MESSAGE", "message")
"""Where Docker's json-file driver, the journal, and Fluentd, Fluent Bit and Vector keep the line."""
_MARKS = tuple(f'"{name}"' for name in _WORDS)
_SHIPPER_KEYS = frozenset(
    {
        "stream",  # Docker, and what reads its files
        "logtag",
        "kubernetes",
        "docker",
        "container_id",
        "container_name",
        "logGroup",
        "logStreamName",
        "ingestionTime",
        "eventId",  # CloudWatch
        "SYSLOG_IDENTIFIER",  # the journal; Source: systemd.journal-fields(7)
        "_PID",
        "_SYSTEMD_UNIT",
        "__REALTIME_TIMESTAMP",
    }
)
_OWN_KEYS = frozenset({"event", "error_detail", "exception", "exc_info", "exc_text", "level", "levelname", "severity"})
"""What makes it a record of the program itself, which says more than its words."""
_EVENTS = "events"
"""Where ``aws logs get-log-events`` and ``filter-log-events`` list the lines."""
_PIECE_BYTES = 16 * 1024
_MAX_LEAD_CHARS = 200
"""A time and a tag, as Fluentd writes them to a file."""
_MAX_LAYERS = 3
"""A shipper reads the files of a runtime, which holds the lines of a program."""


class _Line(NamedTuple):
    text: str
    stream: object = None
    is_part: bool = False
    """The rest of the line follows in the next piece of the same stream."""


def unwrapped(text: str) -> str:
    """Return the log inside; a text that nobody wrapped, as it is. Takes time in proportion to the text."""
    for _ in range(_MAX_LAYERS):
        lines = _lines_of(text)
        if lines is None:
            break
        text = "\n".join(_whole(lines))
    return text


def _lines_of(text: str) -> list[_Line] | None:
    """Return the lines without one layer; ``None`` if there is none."""
    if document := _document(text):
        return [_inside(entry) or _Line(json.dumps(entry)) for entry in document]
    raw = text.splitlines()
    found = [_unwrap(line) for line in raw]
    if not any(found):
        return None
    return [line or _Line(raw[index]) for index, line in enumerate(found)]


def _document(text: str) -> list[object] | None:
    """Return the entries of a list of wrapped lines."""
    document = _parsed(text) if text.lstrip()[:1] in ("{", "[") else None
    if isinstance(document, Mapping):
        document = document.get(_EVENTS)
    if not isinstance(document, list) or not any(_inside(entry) for entry in document):
        return None
    return document


def _unwrap(line: str) -> _Line | None:
    if match := _CRI.match(line):
        return _Line(line[match.end() :], match[1], match[2] == "P")
    line = line.rstrip()
    if not line.endswith("}") or not any(mark in line for mark in _MARKS):
        return None
    start = line.find("{", 0, _MAX_LEAD_CHARS)
    return _inside(_parsed(line[start:])) if start >= 0 else None


def _inside(fields: object) -> _Line | None:
    if not isinstance(fields, Mapping) or fields.keys().isdisjoint(_SHIPPER_KEYS) or not _OWN_KEYS.isdisjoint(fields):
        return None
    for name in _WORDS:
        words = fields.get(name)
        if isinstance(words, list):
            words = _decoded(words)
        if isinstance(words, str):
            return _Line(words.removesuffix("\n"), fields.get("stream"), _is_part(fields, words))
    return None


def _is_part(fields: Mapping[str, object], words: str) -> bool:
    """Whether the line goes on: Docker keeps the end of a line with it, and cuts at 16 KiB."""
    if "logtag" in fields:
        return fields["logtag"] == "P"
    return (
        not words.endswith("\n")
        and len(words) * 4 >= _PIECE_BYTES
        and len(words.encode(errors="replace")) >= _PIECE_BYTES
    )


def _decoded(numbers: list[object]) -> str | None:
    """Return the text that the journal shows as numbers of bytes: one with colours or other control characters."""
    try:
        return bytes(numbers).decode("utf-8", "replace")  # type: ignore[arg-type]  # what are no bytes raises
    except (TypeError, ValueError):
        return None


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _whole(lines: list[_Line]) -> Iterator[str]:
    """Yield whole lines; pieces of one are put together, those of the other stream may come between."""
    pieces: dict[str, list[str]] = {}
    for line in lines:
        begun = pieces.setdefault(str(line.stream), [])
        begun.append(line.text)
        if not line.is_part:
            yield "".join(begun)
            begun.clear()
    yield from ("".join(begun) for begun in pieces.values() if begun)
