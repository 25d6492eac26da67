"""One kind of secret: how it is found, and how to tell quickly that a text holds none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import AnyStr

from airflow_common_ai.evidence.secret_patterns.spans import Finder, compiled, spans_of

__all__ = ["Clues", "SecretPattern", "exact_pattern", "lower_pattern"]

Clues = tuple[tuple[str, ...], ...]
"""Pieces of text in lower case. Of each group a text must hold one, or the pattern cannot match in it. The first
group is looked for in each word only, and the cheapest: one character, or what other patterns ask for as well."""


@dataclass(frozen=True, slots=True, eq=False)
class SecretPattern:
    """One kind of secret."""

    name: str
    source: str
    """Where its form is documented, or why it is a secret."""
    find: Finder
    clues: Clues = ()
    screen: str | None = None
    """An expression: a text that it does not match cannot match either. For what has no clue."""
    prefixes: tuple[str, ...] = ()
    """One of these is in a long word, written like this."""
    shapes: tuple[bytes, ...] = ()
    """One of these is in the text, with ``A`` for each capital and ``0`` for each digit."""

    def may_match(self, text: str, lowered: str, shape: bytes) -> bool:
        """Whether it is worth a try, as far as its first clues and its prefixes do not tell."""
        if self.screen is not None and compiled(self.screen).search(text) is None:
            return False
        if self.shapes and not _holds_one(shape, self.shapes):
            return False
        for group in self.clues[1:]:  # noqa: SIM110 - no generator: this is asked of each pattern and each text
            if not _holds_one(lowered, group):
                return False
        return True


def _holds_one(text: AnyStr, parts: Iterable[AnyStr]) -> bool:
    for part in parts:  # noqa: SIM110 - as above
        if part in text:
            return True
    return False


def lower_pattern(name: str, source: str, clues: Clues, expression: str) -> SecretPattern:
    """Return a pattern whose expression is matched against the text in lower case."""
    return SecretPattern(name, source, lambda _, lowered: spans_of(expression, lowered), clues)


def exact_pattern(name: str, source: str, clues: Clues, expression: str) -> SecretPattern:
    """Return a pattern whose expression is matched against the text as it is written."""
    return SecretPattern(name, source, lambda text, _: spans_of(expression, text), clues)
