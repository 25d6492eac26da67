"""What a fact or the words of a message are worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from airflow_common_ai.evidence.model import RedactedNode, Retry, Signal, Strength
from airflow_common_ai.evidence.protocols.meaning import Meaning

__all__ = ["hint", "number_in", "settle"]

_MAX_SENTENCE_CHARS = 2000
_MAX_SENTENCE_LINES = 8


def hint(meaning: Meaning) -> Meaning:
    """Return a row that points somewhere, but settles nothing."""
    return replace(meaning, strength=Strength.HINT)


def number_in(node: RedactedNode, fact: str) -> int | None:
    """Return a whole number among the facts; a recording may hold anything under its name."""
    value = node.facts.get(fact)
    return value if type(value) is int else None


def settle(found: Iterable[Signal], message: str) -> tuple[Signal, ...]:
    """
    Return the distinct findings of one message, in the order in which they were found.

    They stay conclusive only where the message is about them: the tail of a log also shows errors that
    somebody handled, and findings that contradict each other settle nothing.
    """
    distinct: list[Signal] = []
    for signal in found:
        if signal not in distinct:  # most are rows of a table, the same object: no need to hash all of their fields
            distinct.append(signal)
    signals = tuple(distinct)
    answers = {signal.retry is Retry.NO for signal in signals}
    if _is_log(message) or len(answers) > 1:
        return tuple(replace(signal, strength=Strength.HINT) for signal in signals)
    return signals


def _is_log(message: str) -> bool:
    return len(message) > _MAX_SENTENCE_CHARS or message.count("\n") > _MAX_SENTENCE_LINES
