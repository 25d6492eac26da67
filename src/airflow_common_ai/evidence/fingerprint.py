"""A stable id of "the same failure"."""

from __future__ import annotations

import hashlib
import re

from airflow_common_ai.evidence.model import Edge, Fact, RedactedEvidence, RedactedNode, RedactedText
from airflow_common_ai.evidence.wording import MAX_PIECES, PLACEHOLDER, normalise

__all__ = ["fingerprint", "normalise", "stored_fingerprint"]

_HEX_DIGITS = 16
_FINGERPRINT = re.compile(rf"[0-9a-f]{{{_HEX_DIGITS}}}")
_MAX_PIECES_IN_ALL = 8 * MAX_PIECES
"""Of all messages of one failure: what bounds the time."""

_IDENTIFYING = (
    "code", "errno", "message", "output", "phase", "program", "reason", "signal", "sqlstate", "state", "status",
    "stderr", "stdout", ".type", "_type",
)  # fmt: skip
"""How the name of a fact ends that says *what* failed: ``http.status``, ``os.errno``, ``process.exit_code``."""
_TOLD_BY_CLASS_OR_MESSAGE = "sql."
"""Drivers of databases print their codes, if in another form (``ORA-00060`` for 60), or make a class of each."""
_MAX_CODE_CHARS = 64
_WITHHELD = "[withheld:"
"""How a message begins that the redactor could not let through: what it said, nobody knows."""

_RUN_TIME_NAME = re.compile(r"(?<![A-Za-z0-9])(?:0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{8,}|\d{6,})(?![A-Za-z0-9])")
"""A part of a type path that is made anew in each process: Airflow puts the hash of its path before a Dag's module."""
_WORD = re.compile(r"-?\w+")


def fingerprint(evidence: RedactedEvidence) -> RedactedText:
    """
    Return 16 hexadecimal digits: equal for the same failure, whatever ids, numbers, hosts, paths, times and
    quoted values it names this time, and different for another failure.

    What counts, of each exception: its type path, its message and notes as :func:`normalise` leaves them, and the
    facts that say *what* failed. Which those are, the last word of their names tells: ``code``, ``errno``,
    ``reason``, ``signal``, ``status`` and the like, and what a command printed, for its exit code says little. All
    others are measurements (a delay, a date, what is left of a quota) or excerpts of documents. A fact that the
    message states too adds nothing, so that an exception and its printed traceback come out equal where the
    message says it all.

    Exceptions count in the order of the chain, each once: how often a retry loop wrapped the same failure is
    chance. The members of a group are a set. An implicit ``__context__`` counts as well, since it often is the
    real cause, but not beside a ``__cause__``: there Python itself leaves it out.

    When in doubt the answer is "another failure": a repeat that goes unnoticed costs one more try, but two
    failures taken for one could cost a task all its tries. So a failure whose messages the redactor had to withhold
    equals no other.

    Not equal to its printed form is an exception that hides more than it prints: a status or a wrapped original
    that is not in the message, or a context behind ``raise … from None``.
    """
    nodes = evidence.nodes
    most_pieces = max(1, min(MAX_PIECES, _MAX_PIECES_IN_ALL // max(1, len(nodes))))
    with_cause = {node.parent for node in nodes if node.edge is Edge.CAUSE}
    chains = [[_identity(node, most_pieces)] for node in nodes]
    members: list[set[str]] = [set() for _ in nodes]
    for index in reversed(range(len(nodes))):  # children before their parents
        node = nodes[index]
        chains[index] += sorted(members[index])
        parent = node.parent
        if parent is None or not 0 <= parent < index:
            continue
        if node.edge is Edge.MEMBER:
            members[parent].add(_joined(chains[index]))
        elif node.edge is not Edge.CONTEXT or parent not in with_cause:
            chains[parent][1:1] = chains[index]  # before later siblings, which are there already
    lines = chains[0] if chains else []
    if any(node.message.startswith(_WITHHELD) for node in nodes):
        lines.append(evidence.observed_at.isoformat())
    digest = hashlib.sha256(_joined(lines).encode("utf-8", "replace")).hexdigest()
    return RedactedText(digest[:_HEX_DIGITS])


def stored_fingerprint(value: object) -> RedactedText | None:
    """Return a fingerprint that was read back, ``None`` if it is none; so few digits hold nothing to redact."""
    return RedactedText(value) if isinstance(value, str) and _FINGERPRINT.fullmatch(value) else None


def _joined(chain: list[str]) -> str:
    return "\n".join(dict.fromkeys(chain))


def _identity(node: RedactedNode, most_pieces: int) -> str:
    """Return one line that says which failure this exception is."""
    words = normalise("\n".join((node.message, *node.notes)), most_pieces)
    path = node.type_path.removeprefix("builtins.").replace("__mp_main__", "__main__").removeprefix("__main__.")
    path = " ".join(_RUN_TIME_NAME.sub(PLACEHOLDER, path).split())
    return " ".join((f"{path}:", words, *_unsaid_codes(node, words, most_pieces)))


def _unsaid_codes(node: RedactedNode, words: str, most_pieces: int) -> list[str]:
    """Return the facts that tell failures apart and are not in the message."""
    codes = [
        (name, _code(fact, most_pieces))
        for name, fact in node.facts.items()
        if name.endswith(_IDENTIFYING) and not name.startswith(_TOLD_BY_CLASS_OR_MESSAGE)
    ]
    said = set(_WORD.findall(words)) if any(code in words for _, code in codes) else ()
    return [
        f"{name}={code}" for name, code in sorted(codes) if code not in said and not (" " in code and code in words)
    ]


def _code(fact: Fact, most_pieces: int) -> str:
    text = str(fact)
    is_one_word = len(text) <= _MAX_CODE_CHARS and not any(character.isspace() for character in text)
    return text if is_one_word else normalise(text, most_pieces)
