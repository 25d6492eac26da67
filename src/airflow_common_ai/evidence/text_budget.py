"""Share out how much text one failure may hold.

One exception with a huge message keeps most of it; 64 of them must not keep redaction and the readers busy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from airflow_common_ai.evidence.cut import CUT_MARK, cut
from airflow_common_ai.evidence.exception_tree import distances_from_an_end
from airflow_common_ai.evidence.model import ExceptionNode

__all__ = ["fit"]

MAX_MESSAGE_CHARS = 16 * 1024 + 512
"""Of one message; the 512 are for the words beside a cut, which redaction drops."""
MAX_MESSAGES_CHARS = 40 * 1024
"""Of all messages together: the root and one innermost exception in full, and some hundred characters for each of
62 others. Redaction and the readers take time for each character; none of them looks at more of one message."""
MAX_NOTES = 16
"""Of one exception."""
MAX_NOTE_CHARS = 2 * 1024
MAX_NOTES_CHARS = 16 * 1024
"""Of all exceptions together."""
MAX_FACT_CHARS = 2 * 1024
MAX_FACTS_CHARS = 32 * 1024
"""Of all exceptions together, names not counted."""


def fit(nodes: Sequence[ExceptionNode]) -> tuple[list[ExceptionNode], bool]:
    """Return the nodes with their texts shortened to the bounds, and whether any was."""
    if _is_small(nodes):
        return list(nodes), False
    parents = [node.parent for node in nodes]
    limits = _message_limits([len(node.message) for node in nodes], parents)
    notes = _Purse(MAX_NOTES_CHARS, MAX_NOTE_CHARS)
    facts = _Purse(MAX_FACTS_CHARS, MAX_FACT_CHARS)
    is_cut = False
    fitted = list(nodes)
    distances = distances_from_an_end(parents)
    for index in sorted(range(len(nodes)), key=lambda index: distances[index]):
        node = nodes[index]
        is_cut |= len(node.message) > limits[index] or len(node.notes) > MAX_NOTES
        kept_notes = [notes.spend(note) for note in node.notes[:MAX_NOTES]]
        kept_facts = {name: facts.spend(fact) if isinstance(fact, str) else fact for name, fact in node.facts.items()}
        fitted[index] = replace(
            node,
            message=cut(node.message, limits[index]),
            notes=tuple(note for note in kept_notes if note is not None),
            facts={name: fact for name, fact in kept_facts.items() if fact is not None},
        )
    return fitted, is_cut or notes.is_exceeded or facts.is_exceeded


def _is_small(nodes: Sequence[ExceptionNode]) -> bool:
    """Whether all texts together are shorter than any bound, as in most failures, and can be kept as they are."""
    chars = 0
    for node in nodes:
        facts = [fact for fact in node.facts.values() if isinstance(fact, str)]
        texts = (node.message, *node.notes, *facts)
        chars += sum(map(len, texts))
        if chars > MAX_NOTE_CHARS or len(node.notes) > MAX_NOTES or not all(map(str.isascii, texts)):
            return False
    return True


class _Purse:
    """So many characters for texts that come one after the other."""

    def __init__(self, chars: int, text_chars: int) -> None:
        self._left = chars
        self._text_chars = text_chars
        self.is_exceeded = False

    def spend(self, text: str) -> str | None:
        """Return the text, cut if it must be; ``None`` if nothing is left for it."""
        limit = min(self._text_chars, self._left)
        if len(text) > limit:
            self.is_exceeded = True
            if limit <= len(CUT_MARK):
                return None
        text = cut(text, limit)
        self._left -= len(text)
        return text


def _message_limits(lengths: Sequence[int], parents: Sequence[int | None]) -> list[int]:
    """Return the characters that each message may keep: the root is served first, then the innermost ones."""
    limits = [0] * len(lengths)
    leaves = set(range(1, len(lengths))).difference(parent for parent in parents if parent is not None)
    between = set(range(1, len(lengths))) - leaves
    left = MAX_MESSAGES_CHARS
    for indexes, share in (({0}, 1.0), (leaves, 0.75), (between, 1.0)):
        limit = min(MAX_MESSAGE_CHARS, _fair_limit([lengths[index] for index in indexes], int(left * share)))
        for index in indexes:
            limits[index] = limit
            left -= min(lengths[index], limit)
    return limits


def _fair_limit(lengths: Sequence[int], chars: int) -> int:
    """Return the limit at which all fit together: what the short ones do not need goes to the long ones."""
    left = chars
    for position, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - position)
        if length > share:
            return share
        left -= length
    return chars
