"""How the HTTP tests look at a failure: alive, and as the line that a log keeps of it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.logs.traceback_text import parse_tracebacks
from airflow_common_ai.evidence.model import Evidence, Fact, RedactedNode, Signal
from airflow_common_ai.evidence.protocols.http import reader as http
from airflow_common_ai.evidence.redaction import Redactor

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def raised_by(call: Callable[[], object]) -> BaseException:
    """Return what ``call`` raises."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - whatever it is, it is what the test is about
        call()
    return caught.value


def live_node(exception: BaseException) -> RedactedNode:
    """The outermost node of a live exception, as every reader gets it: collected and redacted."""
    return _redacted(collect(exception, observed_at=NOW))


def printed_node(exception: BaseException) -> RedactedNode:
    """The outermost node of the traceback that a log keeps."""
    text = "".join(traceback.format_exception(exception))
    return _redacted(Evidence(tuple(parse_tracebacks(text)), NOW))


def _redacted(evidence: Evidence) -> RedactedNode:
    return Redactor().redact(evidence).nodes[0]


def log_line(type_path: str, message: str) -> RedactedNode:
    return RedactedNode(type_path=type_path, message=message, from_text=True)


def answer_node(facts: dict[str, Fact], message: str = "") -> RedactedNode:
    """A node with the given ``http.…`` facts, their prefix left out."""
    return RedactedNode(
        "client.HttpError", message=message, facts={f"http.{name}": fact for name, fact in facts.items()}
    )


def signals_of(subject: BaseException | RedactedNode) -> list[Signal]:
    node = subject if isinstance(subject, RedactedNode) else live_node(subject)
    return sorted(http.read(node, NOW), key=lambda signal: signal.rank)


def signal_of(subject: BaseException | RedactedNode) -> Signal:
    """The strongest signal."""
    return signals_of(subject)[0]
