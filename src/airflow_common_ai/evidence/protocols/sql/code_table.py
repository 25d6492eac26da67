"""The shape of a table of a database's error codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from airflow_common_ai.evidence.protocols.meaning import Meaning

__all__ = ["CodeTable", "Row", "WordsRow", "code_table"]

Row: TypeAlias = tuple[str, Meaning]
"""Codes separated by blanks, and what they mean."""
WordsRow: TypeAlias = tuple[str, str, Meaning]
"""Codes that mean several things, a regular expression over the message, and what the code means with these words."""


@dataclass(frozen=True, slots=True)
class CodeTable:
    """What one database means by its codes; made by :func:`code_table`."""

    name: str
    """The first half of a signal's code: ``mysql`` in ``mysql.1213``."""
    codes: Mapping[str, Meaning]
    words: Mapping[str, Sequence[tuple[str, Meaning]]]

    def find(self, code: str, message: str = "") -> Meaning | None:
        """Return what ``code`` means, and where it means several things, what it means with these words."""
        for words, meaning in self.words.get(code, ()):
            if re.search(words, message, re.IGNORECASE):
                return meaning
        return self.codes.get(code)


def code_table(name: str, rows: Iterable[Row], words: Iterable[WordsRow] = ()) -> CodeTable:
    """Return a table; of two rows of words for one code, the first that matches counts."""
    by_words: dict[str, list[tuple[str, Meaning]]] = {}
    for codes, pattern, meaning in words:
        for code in codes.split():
            by_words.setdefault(code, []).append((pattern, meaning))
    return CodeTable(name, {code: meaning for codes, meaning in rows for code in codes.split()}, by_words)
