"""Where a value ends: at its closing quote, its line, or where the text around it goes on."""

from __future__ import annotations

import re
from functools import lru_cache

from airflow_common_ai.evidence.cut import CUT_MARK
from airflow_common_ai.evidence.secret_patterns.spans import Span

__all__ = ["ValueEnds"]

_CUT = re.escape(CUT_MARK)
_NEWLINE = r"[\r\n]|\\[rn]"
"""Also as it is written in a string that is shown: passwords with a backslash before just these letters are rare."""
_CLOSING_QUOTE = r"\\{0,7}[\"'`](?=[\s,;:)\]}>\\]|$)"

_END_OF_BARE = re.compile(
    r"(?=[\s\\\"'`,;&|)\]}><…])"  # one look tells of most characters that they end nothing
    rf"(?:\s|{_NEWLINE}|\\t(?![A-Za-z0-9])"
    rf"|{_CLOSING_QUOTE}"
    r"|[,;&|](?=\s|$|(?:amp;)?[\w.\-%]{1,64}\\{0,7}[\"']?\s?[=:])"
    r"|[)\]}>](?=[\s,;.)\]}>\"'`\\]|$)"
    rf"|<|{_CUT})"
)
"""A password may hold any of these characters, so most end a value only where something else follows that reads
like the text around it."""
_END_OF_LINE = re.compile(rf"{_NEWLINE}|{_CUT}")
_END_OF_HEADER = re.compile(rf"{_NEWLINE}|{_CLOSING_QUOTE}|{_CUT}")

_OPENING = re.compile(r"(?P<list>[\[(]{0,2})(?:[bBuUrRfF]{1,2}(?=[\"']))?(?P<quote>\\{0,7}(?:\"\"\"|[\"'`]))")
_BEFORE_OPENING = frozenset("[(bBuUrRfF\\\"'`")
"""How what it matches begins."""


class ValueEnds:
    """
    Finds ends in one text.

    It remembers the last of each kind: to look again from inside of a long value that turned out to be no secret
    would take a square of its length.
    """

    __slots__ = ("_last", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._last: dict[re.Pattern[str], Span] = {}

    def of_bare(self, start: int) -> int:
        """Return where a value without quotes ends."""
        return self._first(_END_OF_BARE, start)

    def of_line(self, start: int) -> int:
        """Return where the line ends, or the text was cut."""
        return self._first(_END_OF_LINE, start)

    def of_header(self, start: int) -> int:
        """Return where the value of a header ends: with the line or the string that it stands in."""
        return self._first(_END_OF_HEADER, start)

    def of_quoted(self, start: int, quote: str) -> int:
        """Return where the string that ``quote`` opened ends; if not on its line, then with it."""
        match = _closer(quote).search(self.text, start)
        return self.of_line(start) if match is None or not match["quote"] else match.start("quote")

    def of_braces(self, start: int) -> int:
        """Return where ODBC's ``{…}`` ends, in which ``}}`` is a brace."""
        end = self.text.find("}", start)
        while end >= 0 and self.text.startswith("}}", end):
            end = self.text.find("}", end + 2)
        return self.of_line(start) if end < 0 else end + 1

    def opening(self, start: int) -> re.Match[str] | None:
        """Return the quote that opens a value, and the bracket of a list before it, if there is one."""
        if self.text[start : start + 1] not in _BEFORE_OPENING:
            return None
        return _OPENING.match(self.text, start)

    def value(self, start: int) -> tuple[Span, bool]:
        """Return where a value stands, without its quotes, and whether it has some."""
        opening = self.opening(start)
        if opening is None:
            return (start, self.of_bare(start)), False
        return (opening.end(), self.of_quoted(opening.end(), opening["quote"])), True

    def _first(self, pattern: re.Pattern[str], start: int) -> int:
        last = self._last.get(pattern)
        if last is not None and last[0] <= start <= last[1]:
            return last[1]
        match = pattern.search(self.text, start)
        end = len(self.text) if match is None else match.start()
        self._last[pattern] = (start, end)
        return end


@lru_cache(maxsize=64)
def _closer(quote: str) -> re.Pattern[str]:
    escapes = "" if quote.startswith("\\") else r"(?:\\\\)*"
    return re.compile(rf"(?<!\\){escapes}(?P<quote>{re.escape(quote)})|[\r\n]")
