"""Failures for the tests of the classifier, made as the collector and the redactor make them."""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_common_ai.classifier.training import Example
from airflow_common_ai.evidence.model import Edge, Evidence, ExceptionNode, RedactedEvidence
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor

AT = datetime(2026, 1, 1, tzinfo=UTC)
BASES = ("builtins.Exception", "builtins.BaseException")


def redacted(*nodes: ExceptionNode) -> RedactedEvidence:
    return Redactor().redact(Evidence(nodes, AT))


def failure(message: str, type_path: str = "__main__.LoadError") -> RedactedEvidence:
    return redacted(ExceptionNode(type_path, BASES, message))


def wrapped(outer: str, inner: str, edge: Edge = Edge.CAUSE) -> RedactedEvidence:
    return redacted(
        ExceptionNode("__main__.LoadError", BASES, outer),
        ExceptionNode("vendor.errors.Failure", BASES, inner, edge=edge, parent=0),
    )


_WORDS = {
    ("transient", "yes"): ("replica lags behind", "leader moved away", "queue drains slowly", "worker went missing"),
    ("network", "yes"): ("peer hung up", "line went dead", "host stays silent", "stream broke off"),
    ("data", "no"): ("column holds letters", "row lacks fields", "amount below zero", "header row absent"),
    ("permanent", "no"): ("option mistyped", "callable wanted here", "setting left blank", "version too old"),
}
_PLACES = ("orders", "sales", "stock", "staff")


def small_corpus() -> list[Example]:
    """Return 64 examples of four libraries."""
    return [
        Example(evidence := failure(f"{words} in {place}"), read_signals(evidence), category, should_retry, group=place)  # type: ignore[arg-type]
        for (category, should_retry), texts in _WORDS.items()
        for words in texts
        for place in _PLACES
    ]
