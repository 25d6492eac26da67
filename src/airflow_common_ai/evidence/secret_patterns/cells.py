"""Secrets in a column or a row of a table: as databases print them, in CSV, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.names import Name, kind_of_name
from airflow_common_ai.evidence.secret_patterns.shapes import is_made_up, is_placeholder
from airflow_common_ai.evidence.secret_patterns.spans import Span
from airflow_common_ai.evidence.secret_patterns.values import is_verdict, telling_places

__all__ = ["find_table_secrets"]

_DELIMITERS = "|\t,;"
_CELL_NAME = re.compile(r"[A-Za-z][\w.\-/]{0,60}(?: [\w.\-]{1,30}){0,3}")
_HEADER = re.compile(r"[\w \-./]*[|,;\t\"'][\w \-./|,;\t\"'\r]*")
_NAME_AND_VALUE = re.compile(
    r"[| ]{0,40}(?P<name>[\w.\-]{2,60})[ ]{0,60}[|\t][ ]{0,60}(?P<value>[^\s|]{3,200})[| \r]{0,200}"
)
_RULE = re.compile(r"[\s|+\-=:]+")
_TYPE = re.compile(
    r"(?:text|string|str|uuid|json|bytea|blob|clob|bool|date|secret|password|object|any|null|optional|required)(?:\[\])?"
    r"|[a-z_ ]{2,20}\([\d, ]+\)",
    re.IGNORECASE,
)
_MAX_LINE_CHARS = 2000
_MAX_ROWS = 200


def find_table_secrets(text: str, lowered: str) -> Iterator[Span]:
    """Find values by the name above them, or in the cell before them."""
    done = 0
    for place in telling_places(lowered):
        if place < done:
            continue
        start, end = _line_at(text, place)
        done = end
        if end - start > _MAX_LINE_CHARS:
            continue
        if _HEADER.fullmatch(text, start, end):
            for span in _values_below_header(text, start, end):
                yield span
                done = max(done, span[1])
        row = _NAME_AND_VALUE.fullmatch(text, start, end)
        if row is not None and _is_telling(row["name"]) and is_made_up(row["value"]):
            yield row.span("value")


def _values_below_header(text: str, start: int, end: int) -> Iterator[Span]:
    delimiter = next((sign for sign in _DELIMITERS if text.find(sign, start, end) >= 0), None)
    if delimiter is None:
        return
    cells = _cells(text, start, end, delimiter)
    secret = {index for index, cell in enumerate(cells) if _is_telling(text[slice(*cell)])}
    if secret and _is_header(text, start, cells, delimiter):
        # Behind commas with spaces it may be a sentence that goes on in the next line.
        is_sure = delimiter in "|\t" or text.find(f"{delimiter} ", start, end) < 0
        for span in _values_below(text, end, delimiter, len(cells), secret):
            if is_sure or is_made_up(text[slice(*span)]):
                yield span


def _line_at(text: str, place: int) -> Span:
    end = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, len(text) if end < 0 else end


def _cells(text: str, start: int, end: int, delimiter: str) -> list[Span]:
    """Return where the cells of a line are, without the space around them and without quotes."""
    cells: list[Span] = []
    while start <= end:
        stop = text.find(delimiter, start, end)
        stop = end if stop < 0 else stop
        left, right = start, stop
        while left < right and text[left] in " \t\r\"'":
            left += 1
        while right > left and text[right - 1] in " \t\r\"'":
            right -= 1
        cells.append((left, right))
        start = stop + 1
    if delimiter == "|" and len(cells) > 2:  # a frame
        cells = cells[1:] if cells[0][0] == cells[0][1] else cells
        cells = cells[:-1] if cells[-1][0] == cells[-1][1] else cells
    return cells


def _is_telling(cell: str) -> bool:
    return _CELL_NAME.fullmatch(cell) is not None and kind_of_name(cell) in (Name.SECRET, Name.TOKEN, Name.SESSION)


def _is_header(text: str, start: int, cells: list[Span], delimiter: str) -> bool:
    """Whether a line holds nothing but names, and no line of the same table is above it."""
    names = [text[slice(*cell)] for cell in cells]
    if len(names) < 2 or not all(not name or _CELL_NAME.fullmatch(name) for name in names):
        return False
    for _ in range(2):  # the upper edge of a frame may be between
        if not start:
            return True
        above, end = _line_at(text, start - 1)
        line = text[above:end]
        if not (line.strip() and _RULE.fullmatch(line)):
            return len(_cells(text, above, end, delimiter)) != len(cells)
        start = above
    return False


def _values_below(text: str, end: int, delimiter: str, width: int, secret: set[int]) -> Iterator[Span]:
    for _ in range(_MAX_ROWS):
        if end >= len(text):
            return
        start, end = end + 1, _line_at(text, end + 1)[1]
        line = text[start : min(end, start + _MAX_LINE_CHARS)]
        if _RULE.fullmatch(line) and line.strip():
            continue
        cells = _cells(text, start, start + len(line), delimiter)
        if len(cells) != width:
            return
        for index in secret:
            value = text[slice(*cells[index])]
            if value and not (is_placeholder(value) or is_verdict(value) or _TYPE.fullmatch(value)):
                yield cells[index]
