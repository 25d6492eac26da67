"""
What the catalogues of vendors say about their own errors: a sentence or a name for each code.

The readers of ``evidence`` are the teacher: they are shown the code as a client would keep it, and what they conclude
is the label. The example itself holds the words alone, so the model learns from them what the code means.
Kept in ``catalogues.jsonl``, so that training does not depend on which versions are installed.
"""

from __future__ import annotations

import errno
import html
import http
import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Evidence, ExceptionNode, Fact, Retry
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.corpus_file import json_lines, write_json_lines

__all__ = ["CATALOGUES", "Entry", "collect_entries", "read_entries", "write_entries"]

CATALOGUES = Path(__file__).parent / "catalogues.jsonl"

_MOST_OF_A_CATEGORY = 300
"""Of one catalogue: AWS alone documents thousands of codes."""
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_TAG = re.compile(r"<[^>]+>")
_SENTENCE_END = re.compile(r"(?<=[a-z)])\.\s")
_SHOULD_RETRY = {Retry.YES: "yes", Retry.NO: "no", Retry.DEPENDS: "either"}

_RAISED_BY = {"Kafka": "kafka.errors.KafkaError"}
"""The class that a reader must see to take a number for a code."""

_GRPC = {
    "CANCELLED": "The operation was cancelled, typically by the caller.",
    "INVALID_ARGUMENT": "The client specified an invalid argument.",
    "DEADLINE_EXCEEDED": "The deadline expired before the operation could complete.",
    "NOT_FOUND": "Some requested entity was not found.",
    "ALREADY_EXISTS": "The entity that a client attempted to create already exists.",
    "PERMISSION_DENIED": "The caller does not have permission to execute the specified operation.",
    "UNAUTHENTICATED": "The request does not have valid authentication credentials for the operation.",
    "RESOURCE_EXHAUSTED": "Some resource has been exhausted, perhaps a per-user quota.",
    "FAILED_PRECONDITION": "The system is not in a state required for the operation's execution.",
    "ABORTED": "The operation was aborted, typically due to a concurrency issue such as a sequencer check failure.",
    "OUT_OF_RANGE": "The operation was attempted past the valid range.",
    "UNIMPLEMENTED": "The operation is not implemented or is not supported in this service.",
    "INTERNAL": "Some invariants expected by the underlying system have been broken.",
    "UNAVAILABLE": "The service is currently unavailable, most likely a transient condition.",
    "DATA_LOSS": "Unrecoverable data loss or corruption.",
}
"""Source: gRPC, status codes and their use."""

_KAFKA = {
    1: "The requested offset is out of range", 2: "Message contents does not match its CRC",
    3: "This server does not host this topic-partition", 5: "There is no leader for this topic-partition",
    6: "This server is not the leader for that topic-partition", 7: "The request timed out",
    8: "The broker is not available", 10: "The request included a message larger than the max message size",
    13: "The server disconnected before a response was received", 14: "The coordinator is loading",
    15: "The coordinator is not available", 16: "This is not the correct coordinator for this group",
    17: "The request attempted to perform an operation on an invalid topic",
    19: "Messages are rejected since there are fewer in-sync replicas than required",
    22: "Specified group generation id is not valid", 25: "The coordinator is not aware of this member",
    27: "The group is rebalancing, so a rejoin is needed", 29: "Not authorized to access topics",
    30: "Not authorized to access group", 31: "Cluster authorization failed",
    35: "The version of API is not supported", 36: "Topic with this name already exists",
    37: "Number of partitions is invalid", 38: "Replication factor is larger than available brokers",
    41: "This is not the correct controller for this cluster", 58: "SASL authentication failed",
    87: "Record has failed the validation on broker and hence was rejected",
}  # fmt: skip
"""Source: Apache Kafka, protocol guide, error codes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One code's words with what it means."""

    text: str
    category: str
    should_retry: str
    source: str


def collect_entries() -> list[Entry]:
    """Return what the installed catalogues say, each text once, at most some hundred of a category from one."""
    redactor = Redactor()
    kept: dict[str, Entry] = {}
    counts: Counter[tuple[str, str]] = Counter()
    found = list(_found())
    random.Random(0).shuffle(found)
    for catalogue, code, text, facts in found:
        node = ExceptionNode(_RAISED_BY.get(catalogue, "vendor.Error"), facts=facts)
        evidence = redactor.redact(Evidence((node,), _NOW))
        signal = conclude(evidence, read_signals(evidence)).signal
        if signal is None or text.lower() in kept or counts[catalogue, signal.category] >= _MOST_OF_A_CATEGORY:
            continue
        counts[catalogue, signal.category] += 1
        kept[text.lower()] = Entry(text, signal.category, _SHOULD_RETRY[signal.retry], f"{catalogue}, {code}")
    return sorted(kept.values(), key=lambda entry: (entry.source, entry.text))


def read_entries(path: Path = CATALOGUES) -> list[Entry]:
    return [Entry(**data) for _, data in json_lines(path) if isinstance(data, dict)]


def write_entries(entries: list[Entry], path: Path = CATALOGUES) -> None:
    write_json_lines(path, [asdict(entry) for entry in entries])


def _found() -> Iterator[tuple[str, str, str, dict[str, Fact]]]:
    """Yield the catalogue, the code, its words and the facts that a client would keep."""
    yield from _aws()
    import psycopg.errors as states
    from pymysql.constants import ER  # type: ignore[import-untyped]  # ships no types

    for state, name in ((error.sqlstate, name) for name, error in vars(states).items() if hasattr(error, "sqlstate")):
        if state:
            yield "psycopg", state, _spaced(name), {"sql.sqlstate": state, "sql.dialect": "postgres"}
    for name, number in vars(ER).items():
        if isinstance(number, int):
            words = name.removeprefix("ER_").replace("_", " ").lower()
            yield "PyMySQL", str(number), words, {"sql.errno": number, "sql.dialect": "mysql"}
    for number, name in errno.errorcode.items():
        yield "errno", name, os.strerror(number), {"os.errno": number, "os.error": name}
    for status in http.HTTPStatus:
        if status.description:
            yield "http.HTTPStatus", str(status.value), status.description, {"http.status": status.value}
    for code, text in _GRPC.items():
        yield "gRPC", code, text, {"grpc.code": code}
    for number, text in _KAFKA.items():
        yield "Kafka", str(number), text, {"kafka.code": number}


def _aws() -> Iterator[tuple[str, str, str, dict[str, Fact]]]:
    from botocore.session import get_session  # type: ignore[import-untyped]  # ships no types

    loader = get_session().get_component("data_loader")
    for service in loader.list_available_services("service-2"):
        shapes: dict[str, Any] = loader.load_service_model(service, "service-2")["shapes"]
        for name, shape in sorted(shapes.items()):
            text = " ".join(html.unescape(_TAG.sub(" ", shape.get("documentation", ""))).split())
            if not shape.get("exception") or not text:
                continue
            error = shape.get("error", {})
            facts: dict[str, Fact] = {"aws.code": error.get("code") or name}
            if status := error.get("httpStatusCode"):
                facts["http.status"] = status
            yield "botocore", f"{service} {name}", _SENTENCE_END.split(text)[0][:300], facts


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


if __name__ == "__main__":
    write_entries(collect_entries())
    print(Counter(json.dumps([entry.source.split(",")[0], entry.category]) for entry in read_entries()))
