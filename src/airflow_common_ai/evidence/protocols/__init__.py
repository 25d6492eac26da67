"""What each protocol says about retrying and waiting. One protocol a file; no vendor library is imported.

A protocol module offers up to two functions:

``probe(exception) -> dict[str, Fact]``
    Runs once on the live exception. Copies *whitelisted* attributes out of it, by duck typing, as
    ``{"http.status": 429}``. Judges nothing, does no I/O, may raise: the collector then leaves it out.

``read(node, observed_at) -> Iterable[Signal]``
    A pure function over one redacted node, the same in production and in replay. It must also do its best
    with a node that was parsed from a traceback, which has a type path and a message but no facts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Protocol

from airflow_common_ai.evidence.model import Fact, RedactedEvidence, RedactedNode, Signal
from airflow_common_ai.evidence.protocols import airflow
from airflow_common_ai.evidence.protocols.aws import reader as aws
from airflow_common_ai.evidence.protocols.azure import reader as azure
from airflow_common_ai.evidence.protocols.clients import reader as client_codes
from airflow_common_ai.evidence.protocols.google import reader as google
from airflow_common_ai.evidence.protocols.grpc import reader as grpc
from airflow_common_ai.evidence.protocols.http import reader as http
from airflow_common_ai.evidence.protocols.jvm import reader as jvm
from airflow_common_ai.evidence.protocols.printed import reader as printed_codes
from airflow_common_ai.evidence.protocols.process import reader as process
from airflow_common_ai.evidence.protocols.python import reader as python
from airflow_common_ai.evidence.protocols.sql import reader as sql
from airflow_common_ai.evidence.protocols.system import reader as system
from airflow_common_ai.evidence.protocols.text import reader as words
from airflow_common_ai.evidence.type_path import built_in_name

__all__ = ["READERS", "probe", "read_signals"]

log = logging.getLogger(__name__)


class Reader(Protocol):
    """The shape of a protocol module."""

    __name__: str

    def probe(self, exception: BaseException) -> dict[str, Fact]: ...

    def read(self, node: RedactedNode, observed_at: datetime) -> Iterable[Signal]: ...


READERS: tuple[Reader, ...] = (
    airflow,
    aws,
    google,
    grpc,
    azure,
    http,
    client_codes,
    process,
    system,
    jvm,
    sql,
    printed_codes,
    python,
    words,
)
"""In the order in which equally ranked signals of one node are preferred."""


def probe(exception: BaseException) -> dict[str, Fact]:
    """Return the whitelisted attributes that the protocols find on a live exception; never raises."""
    facts: dict[str, Fact] = {}
    for reader in READERS:
        try:
            facts.update(reader.probe(exception))
        except Exception as error:  # noqa: BLE001 - a property of a stranger's class may raise anything
            log.debug("%s could not probe: %s", reader.__name__, built_in_name(error))
    return facts


def read_signals(evidence: RedactedEvidence) -> tuple[Signal, ...]:
    """Return every signal of every node, in the order of nodes and, within one, of rank."""
    signals: list[Signal] = []
    for index, node in enumerate(evidence.nodes):
        texts = (node, *process.outputs(node))
        found = [signal for text in texts for reader in READERS for signal in _read(reader, text, evidence.observed_at)]
        found.sort(key=attrgetter("rank"))
        signals.extend(replace(signal, node=index) if index else signal for signal in found)
    return tuple(signals)


def _read(reader: Reader, node: RedactedNode, observed_at: datetime) -> Iterable[Signal]:
    try:
        return list(reader.read(node, observed_at))
    except Exception as error:  # noqa: BLE001 - one reader's fault must not silence the others
        log.warning("%s could not read a failure: %s", reader.__name__, built_in_name(error))
        return ()
