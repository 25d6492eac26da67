"""Stretches of a text that are to be masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

__all__ = ["MASK", "Finder", "Span", "mask_spans", "spans_of"]

MASK = "***"
"""What Airflow's own masker writes, so that readers know it and a second redaction changes nothing."""

Span = tuple[int, int]
"""Start and end of a secret in a text."""

Finder = Callable[[str, str], Iterable[Span]]
"""Finds secrets in a text, given also in lower case with every character in the same place."""


def spans_of(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """Return where ``pattern`` matches; only its named group if it has one."""
    return (match.span(match.lastgroup or 0) for match in pattern.finditer(text))


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
