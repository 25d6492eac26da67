"""What a kind of failure is that the codes and messages of HTTP services have words for."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from airflow_common_ai.evidence.protocols.meaning import Meaning

__all__ = ["ANY_ERROR", "OK", "SOURCE", "WRONG_REQUEST", "Kind", "any_of"]

SOURCE = "the words of the service's own error"

OK = frozenset({200})
"""An exception about a 200 means that only the body knows of the error."""
WRONG_REQUEST = frozenset({400, 409, 412, 422})
ANY_ERROR = frozenset(range(400, 600))


def any_of(*phrases: str) -> re.Pattern[str]:
    """Return the expression for one of several phrases, each at the beginning of a word."""
    return re.compile(rf"\b(?:{'|'.join(phrases)})")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of failure that codes and messages have words for."""

    name: str
    meaning: Meaning
    overrules: Set[int]
    """Where a code says this, the status says less."""
    code: re.Pattern[str] | None = None
    """Found in a code, split into lower-case words with single spaces."""
    message: re.Pattern[str] | None = None
    """Found in a message in lower case. Sentences ramble, so this asks for more than a code …"""
    message_overrules: Set[int] = frozenset()
    """… and may overrule less."""
