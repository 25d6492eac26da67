"""Stretches of a text that are to be masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

__all__ = ["MASK", "Finder", "Span", "compiled", "mask_spans", "places_of", "spans_of"]

MASK = "***"
"""What Airflow's own masker writes, so that readers know it and a second redaction changes nothing."""

Span = tuple[int, int]
"""Start and end of a secret in a text."""

Finder = Callable[[str, str], Iterable[Span]]
"""Finds secrets in a text, given also in lower case with every character in the same place."""


@cache
def compiled(expression: str) -> re.Pattern[str]:
    """Compile on first use: all tables together take 40 ms, and most failures need few of their rows."""
    return re.compile(expression)


def spans_of(expression: str, text: str) -> Iterator[Span]:
    """Return where ``expression`` matches; only its named group if it has one."""
    return (match.span(match.lastgroup or 0) for match in compiled(expression).finditer(text))


def places_of(parts: Iterable[str], text: str) -> list[int]:
    """Return where one of ``parts`` stands, in order: many times faster than an expression that lists them."""
    places: set[int] = set()
    for part in parts:
        place = text.find(part)
        while place >= 0:
            places.add(place)
            place = text.find(part, place + len(part))
    return sorted(places)


def mask_spans(text: str, spans: Iterable[Span]) -> str:
    """Replace every span, and spans that overlap or touch together, by one :data:`MASK`."""
    pieces: list[str] = []
    position = 0
    is_open = False
    for start, end in sorted(spans):
        if start >= end:
            continue
        if not is_open or start > position:
            pieces += (text[position:start], MASK)
            is_open = True
        position = max(position, end)
    return "".join((*pieces, text[position:])) if is_open else text
