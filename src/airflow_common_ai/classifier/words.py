"""The words of a text: lower case, without their endings, names of code split where their parts meet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from airflow_common_ai.evidence.wording import normalise

__all__ = ["words_of_name", "words_of_text"]

_MAX_WORDS = 400
"""Of one text: what :func:`~airflow_common_ai.evidence.wording.normalise` keeps has hardly more."""
_MAX_WORD_CHARS = 24
"""Longer than any word of English that errors use: what is longer is an id, or a line in a script without
blanks. Cut, it is a word that nobody knows."""

_WORD = re.compile(r"[a-zA-Z]{0,24}[^\W\d_a-zA-Z][^\W\d_]*|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""``HTTPError`` is ``http error``, ``RESOURCE_EXHAUSTED`` ``resource exhausted``; other letters keep a word whole."""
_SHORT_NOT = re.compile(
    r"\b(ca|could|did|does|do|has|have|is|was|were|wo|would|should|must|are)n['’]t\b", re.IGNORECASE
)
_ENDINGS = ("ies", "ing", "ed", "es", "s", "e")
_MIN_STEM_CHARS = 4


def words_of_text(text: str) -> list[tuple[str, str]]:
    """Return each word of a message with its stem first, without what changes from run to run."""
    return list(_words(_SHORT_NOT.sub(r"\1 not", normalise(text))))


def words_of_name(name: str) -> list[tuple[str, str]]:
    """Return each word of the name of a class or a code with its stem first: ``no such key`` of ``NoSuchKey``."""
    return list(_words(name))


def _words(text: str) -> Iterator[tuple[str, str]]:
    for match in islice(_WORD.finditer(text), _MAX_WORDS):
        word = match[0].lower()[:_MAX_WORD_CHARS]
        yield _stem(word), word


def _stem(word: str) -> str:
    """Return what ``refused``, ``refuses`` and ``refusing`` share; crude, but the same in training and prediction."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_CHARS:
            return word.removesuffix(ending).rstrip("e")
    return word
