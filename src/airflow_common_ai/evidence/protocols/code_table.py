"""A vendor's table of codes: exact rows, then rules for the codes that nobody has listed, then their plain words.

A code is compared without case, punctuation and ending: ``AccessDenied`` and ``AccessDeniedException`` are one row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from airflow_common_ai.evidence.model import Retry, Wait
from airflow_common_ai.evidence.protocols.http.vendor_codes import squash
from airflow_common_ai.evidence.protocols.http.words import kind_of_code, kind_of_message
from airflow_common_ai.evidence.protocols.meaning import Meaning, yes

__all__ = ["CodeRow", "CodeRule", "CodeTable", "with_message", "words_of"]

_ENDING = re.compile(r"(?:exception|error|fault)+$")
_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_MAX_CODE_CHARS = 120
_MAX_MESSAGE_CHARS = 2048

_CLEARER_WORDS: dict[str, tuple[int, frozenset[str]]] = {
    "rate": (429, frozenset({"daily", "monthly", "too_large"})),
    "limit": (429, frozenset({"throttled", "daily", "monthly", "full"})),
    "conflict": (409, frozenset({"exists"})),
    "invalid": (400, frozenset({"throttled", "expired", "exists", "contended", "wrong_state"})),
    "refused": (403, frozenset({"expired"})),
}
"""By what is vague about a code: the status whose words its message may use, and which of them say more."""

_VAGUE_KINDS = {
    "throttled": "rate",
    "account_quota": "limit",
    "quota": "limit",
    "contended": "conflict",
    "invalid": "invalid",
    "refused": "refused",
}
_AT_A_TIME = re.compile(
    r"concurren|simultaneous|in parallel|at (?:the same|a) time|currently running|active (?:jobs|runs|steps|queries)"
)
_LIMIT_WORDS = re.compile(r"\b(?:exceed|limit|maximum|too many)")
_MANY_AT_A_TIME = yes(
    "rate_limit", Wait.MEDIUM, "too much at the same time; it frees when other work ends", "judgement"
)
_MAX_ATTEMPTS_OF_A_GUESS = 3


@dataclass(frozen=True, slots=True)
class CodeRow:
    """Codes separated by blanks, and what they mean."""

    codes: str
    meaning: Meaning
    vague: str = ""
    """``rate``, ``limit``, ``conflict``, ``invalid`` or ``refused``: the message beside it may say more."""


@dataclass(frozen=True, slots=True)
class CodeRule:
    """What a code means that is in no row, by its words in lower case between single spaces."""

    words: re.Pattern[str]
    meaning: Meaning
    vague: str = ""


class CodeTable:
    """The codes of one vendor."""

    def __init__(self, rows: Iterable[CodeRow], rules: Iterable[CodeRule] = ()) -> None:
        self._rows = {_key(code): row for row in rows for code in row.codes.split()}
        self._rules = tuple(rules)

    def find(self, code: str, *, message: str = "", status: int | None = None) -> Meaning | None:
        """
        Return what a code means, ``None`` if not even its words say anything.

        :param code: As the service spells it.
        :param message: What came with it. It decides where the code alone is vague: an ``InvalidRequest`` whose
            message says that the table is being updated is no invalid request.
        :param status: The HTTP status, if there was one. A server that answers 5xx blames itself, so no mere
            rule settles that the request was wrong.
        """
        code = code[:_MAX_CODE_CHARS]
        if row := self._rows.get(_key(code)):
            return with_message(row.meaning, row.vague, message)
        if (guess := self._guess(code)) is None:
            return None
        meaning = with_message(*guess, message)
        if meaning.is_final and status is not None and status >= 500:
            return replace(meaning, retry=Retry.DEPENDS, wait=Wait.SHORT, max_attempts=_MAX_ATTEMPTS_OF_A_GUESS)
        return meaning

    def lists(self, code: str) -> bool:
        """Whether a row names this code."""
        return _key(code) in self._rows

    def _guess(self, code: str) -> tuple[Meaning, str] | None:
        words = words_of(code)
        for rule in self._rules:
            if rule.words.search(words):
                return rule.meaning, rule.vague
        kind = kind_of_code(code)
        return None if kind is None else (kind.meaning, _VAGUE_KINDS.get(kind.name, ""))


def words_of(code: str) -> str:
    """Return the words of a code: ``invalid instance id not found`` for ``InvalidInstanceID.NotFound``."""
    return _WORD_BREAK.sub(" ", code[:_MAX_CODE_CHARS]).lower().strip()


def _key(code: str) -> str:
    squashed = squash(code)
    return _ENDING.sub("", squashed) or squashed


def with_message(meaning: Meaning, vague: str, message: str) -> Meaning:
    """Return what a vague code means beside ``message``; see :attr:`CodeRow.vague`."""
    if not vague or not message:
        return meaning
    message = message[:_MAX_MESSAGE_CHARS]
    lowered = message.lower()
    says_limit = vague == "limit" or (vague == "invalid" and _LIMIT_WORDS.search(lowered))
    if says_limit and _AT_A_TIME.search(lowered):
        return _MANY_AT_A_TIME
    status, names = _CLEARER_WORDS[vague]
    kind = kind_of_message(message, status)
    if kind is None or kind.name not in names:
        return meaning
    if meaning.is_final and kind.meaning.retry is Retry.YES:
        return replace(kind.meaning, retry=Retry.DEPENDS, max_attempts=_MAX_ATTEMPTS_OF_A_GUESS)
    return kind.meaning
