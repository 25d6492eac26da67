"""What the model looks at: the words of a failure, and what its signals hint at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from airflow_common_ai.classifier.words import words_of_name, words_of_text
from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Edge, RedactedEvidence, RedactedNode, RedactedText, Signal

__all__ = ["SAYS_NOTHING", "Features", "features_of"]

_CLASS, _BASE, _HINT = "class:", "base:", "hint:"
"""How a feature begins that is no word of a text. A text holds no such feature: its words are letters or digits."""

_MAX_NODES = 8
"""Deeper chains repeat themselves, and the time is bounded."""
_INNERMOST, _WRAPPER, _HANDLED = 1.0, 0.5, 0.7
"""Weights of an exception that names no cause, of one that does, and of what was only being handled."""
_CLASS_WORD, _BASE_WORD, _NAME_AS_TEXT = 0.7, 0.4, 0.5

_SAYING = ("code", "description", "detail", "details", "message", "reason", "stderr", "type")
"""How the name of a fact ends that says what failed in words."""
SAYS_NOTHING = frozenset({"base", "error", "exception", "fail", "failur", "fault", "object", "os", "runtim"})
"""Stems in the names of classes that tell no failure from another."""


@dataclass(frozen=True, slots=True)
class Features:
    """A failure as the model sees it."""

    weights: dict[str, float]
    """Of length 1 together, so that words that the model does not know take from the weight of those it knows."""
    words: dict[str, RedactedText]
    """The stems of the words in texts and names of classes, with the word as it stood there first."""
    text_words: frozenset[str]
    """Those of them that are in texts."""


def features_of(evidence: RedactedEvidence, signals: Sequence[Signal]) -> Features:
    """
    Return what the model looks at.

    Conclusive signals are left out unless the evidence was left open in spite of them: where they decide, the
    model's vote is worth something only if it does not repeat theirs.
    """
    weights: dict[str, float] = {}
    words: dict[str, RedactedText] = {}
    text_words: set[str] = set()
    with_reason = {node.parent for node in evidence.nodes if node.edge.is_explicit}
    for index, node in enumerate(evidence.nodes[:_MAX_NODES]):
        share = (_WRAPPER if index in with_reason else _INNERMOST) * (_HANDLED if node.edge is Edge.CONTEXT else 1.0)
        for name, weight in _of_node(node, words, text_words):
            weights[name] = max(weights.get(name, 0.0), share * weight)
    is_open = conclude(evidence, signals).signal is None
    for signal in signals:
        if is_open or not signal.is_conclusive:
            for hint in (signal.code, signal.category, signal.retry.value):
                weights[_HINT + hint] = 1.0
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return Features({name: weight / length for name, weight in weights.items()}, words, frozenset(text_words))


def _of_node(node: RedactedNode, words: dict[str, RedactedText], text_words: set[str]) -> Iterator[tuple[str, float]]:
    """Yield features, and keep the words that they are made of. The top package is none: it says whose error it is."""
    for text in _texts(node):
        stems = _stems(words_of_text(text), words)
        text_words.update(stems)
        yield from ((stem, 1.0) for stem in stems)
        yield from ((f"{one} {other}", 1.0) for one, other in pairwise(stems))
    name = _stems(words_of_name(node.class_name), words)
    for feature in (*name, *(f"{one} {other}" for one, other in pairwise(name))):
        yield feature, _NAME_AS_TEXT
        yield _CLASS + feature, _CLASS_WORD
    for path in node.base_paths:
        for stem, _ in words_of_name(path.rpartition(".")[2]):
            if stem not in SAYS_NOTHING:
                yield _BASE + stem, _BASE_WORD


def _texts(node: RedactedNode) -> Iterator[str]:
    yield node.message
    yield from node.notes
    for name, fact in node.facts.items():
        if isinstance(fact, str) and name.endswith(_SAYING) and fact not in node.message:
            yield fact


def _stems(found: list[tuple[str, str]], words: dict[str, RedactedText]) -> list[str]:
    for stem, word in found:
        words.setdefault(stem, RedactedText(word))
    return [stem for stem, _ in found]
