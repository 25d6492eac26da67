"""What the operating system, the resolver and the TLS library said about a connection, a file or a resource."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from airflow_common_ai.evidence.model import Fact, RedactedNode, Retry, Signal, Strength
from airflow_common_ai.evidence.protocols.system import dns, os_error, tls
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["probe", "read", "read_words"]

_READERS = (tls, dns, os_error)
"""In words the first that finds something speaks: a resolver's number looks like one of the system's own."""
_SHOW_A_COMMAND = ("subprocess.CalledProcessError", "subprocess.TimeoutExpired")
"""Their messages are the command line: ``grep ECONNREFUSED log``."""
_WINDOW_CHARS = 2048
_CODES = ("tls.", "dns.", "os.")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy error numbers, resolver codes and TLS reasons."""
    facts: dict[str, Fact] = {}
    for reader in _READERS:
        facts |= reader.probe(exception)
    return facts


def read(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield what the codes on a node say, or the ones printed in its message if there are none on it."""
    for signal in _read(node):
        yield replace(signal, strength=Strength.HINT) if _may_be_a_question(signal, node) else signal


def _read(node: RedactedNode) -> Iterator[Signal]:
    if any(name.startswith(_CODES) for name in node.facts):
        for reader in _READERS:
            yield from reader.read(node)
    elif not node.is_a(*_SHOW_A_COMMAND):
        yield from read_words(node.message)


def _may_be_a_question(signal: Signal, node: RedactedNode) -> bool:
    """Whether it may have been handled: ``except FileExistsError:`` is how programs ask for what they do next."""
    is_final = signal.category == "permanent" and signal.retry is Retry.NO
    return not node.edge.is_explicit and is_final and signal.protocol == "os"


def read_words(message: str) -> tuple[Signal, ...]:
    """Return what the codes that are printed at either end of a message say."""
    message = both_ends(message, _WINDOW_CHARS)
    return next(filter(None, (reader.read_words(message) for reader in _READERS)), ())
