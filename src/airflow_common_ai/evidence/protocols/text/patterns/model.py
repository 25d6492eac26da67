"""What a pattern is: a phrase, how surely its writer meant it, and what it says about retrying."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache

from airflow_common_ai.evidence.model import CategoryName, Retry, Wait

__all__ = ["Form", "Pattern", "Topic", "compile_phrase", "exact", "vague", "vendor"]


class Form(IntEnum):
    """How surely a phrase means what it says; where phrases disagree, the surer one is believed."""

    VAGUE = 1
    """Words that anybody may use, ``timeout``: a hint, never more."""
    EXACT = 2
    """A fixed expression that systems write, ``connection refused``."""
    VENDOR = 3
    """A sentence that one known product writes, ``password authentication failed for user "x"``."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """
    One phrase, over the tokens of :func:`~airflow_common_ai.evidence.protocols.text.prose.read_prose`.

    :param phrase: Words between single spaces. ``a|b`` is either word, ``a?`` a word that may be missing,
        ``*`` any one word or name, ``...`` up to six of them, ``#`` a number, ``,`` a break.
    :param form: How surely it means what it says.
    :param source: Which product writes it.
    """

    phrase: str
    form: Form
    source: str

    def required(self) -> list[frozenset[str]]:
        """Return sets of words: a message in which one set is not met does not hold the phrase."""
        return [frozenset(token.split("|")) for token in self.phrase.split() if token[-1] not in "*.,#?"]

    def words_of_art(self) -> set[str]:
        """Return the words that do not look like words."""
        words = {word for token in self.phrase.split() for word in token.rstrip("?").split("|")}
        return {word for word in words if word.upper().lower() != word or not _is_plain(word)} - _SIGNS


@dataclass(frozen=True, slots=True)
class Topic:
    """What several phrases come to."""

    name: str
    """The second half of the signal's code."""
    category: CategoryName
    retry: Retry
    wait: Wait
    sentence: str
    patterns: tuple[Pattern, ...] = field(repr=False)
    max_attempts: int | None = None


_SIGNS = {"*", "...", "#", ",", "."}


def vendor(phrase: str, source: str) -> Pattern:
    return Pattern(phrase, Form.VENDOR, source)


def exact(phrase: str, source: str) -> Pattern:
    return Pattern(phrase, Form.EXACT, source)


def vague(phrase: str, source: str = "common usage") -> Pattern:
    return Pattern(phrase, Form.VAGUE, source)


@cache
def compile_phrase(phrase: str) -> re.Pattern[str]:
    """Return the expression for a phrase; compiled when first needed, since few of them ever are."""
    return re.compile("".join(map(_token_expression, phrase.split())) + "(?= )")


def _token_expression(token: str) -> str:
    if token == "*":  # noqa: S105 - a sign of the phrase language
        return r" (?![.,] )\S+"
    if token == "...":  # noqa: S105
        return r"(?: (?![.,] )\S+){0,6}?"
    words = "|".join(map(re.escape, token.rstrip("?").split("|")))
    return f"(?: (?:{words}))" + ("?" if token.endswith("?") else "")


def _is_plain(word: str) -> bool:
    return word.replace("-", "").replace("'", "").isalpha()
