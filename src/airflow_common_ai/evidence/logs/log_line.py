"""What stands around a traceback in a log: colours, escaped line ends, and something in front of each line."""

from __future__ import annotations

import re

__all__ = ["LinePrefix", "is_log_record", "lines_of", "without_record_lead"]

_ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[@-Z\\-_])")
_TIME = re.compile(
    r"(?:\d{2,4}[-/]\d\d[-/]\d\d[T ,]{1,2})?\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?"
    r"(?: ?(?:Z|[A-Z]{3,4}\b|[+-]\d\d:?\d\d))?"
)
_DATE = re.compile(r"\W{0,2}\d{2,4}[-/]\d\d[-/]\d\d[T ,]{1,2}\d\d:\d\d")
_LEVEL = re.compile(r"\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b[\]:\s-]*", re.IGNORECASE)
_MAX_PREFIX_CHARS = 500


def lines_of(text: str) -> list[str]:
    """Return the lines without colours; of a text that was escaped (JSON, ``repr``) those that it had before."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\\n" in text and "\n" not in text.strip():
        text = text.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t")
        text = text.replace('\\"', '"').replace("\\'", "'")
    return text.splitlines()


def is_log_record(line: str) -> bool:
    """Whether a line starts with date and time, as the first line of a log record does."""
    return _DATE.match(line) is not None


def without_record_lead(line: str) -> str:
    """Return what a log record says, without its time, logger and level."""
    if not is_log_record(line):
        return line
    level = _LEVEL.search(line, 0, _MAX_PREFIX_CHARS)
    if level:
        return line[level.end() :]
    time = _TIME.search(line, 0, _MAX_PREFIX_CHARS)
    return line[time.end() :].lstrip("] :-") if time else line


class LinePrefix:
    """What stands in front of each line of one traceback; only the time in it changes from line to line."""

    def __init__(self, text: str = "") -> None:
        time = _TIME.search(text) if len(text) <= _MAX_PREFIX_CHARS else None
        self._before, self._after = (text[: time.start()], text[time.end() :]) if time else (text, "")
        self._has_time = time is not None

    def is_on(self, line: str) -> bool:
        """Whether the line carries the prefix."""
        return self._end_on(line) is not None

    def removed_from(self, line: str) -> str:
        """Return the line without the prefix; a line that does not carry it, as it is."""
        return line[self._end_on(line) :]

    def _end_on(self, line: str) -> int | None:
        if not line.startswith(self._before):
            return None
        at = len(self._before)
        if self._has_time:
            time = _TIME.match(line, at)
            if time is None:
                return None
            at = time.end()
        if line.startswith(self._after, at):
            return at + len(self._after)
        # A blank line loses the blank at its end.
        return len(line) if line[at:] == self._after.rstrip() else None
