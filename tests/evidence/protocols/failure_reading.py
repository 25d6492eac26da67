"""How tests look at a whole failure: collected, redacted, read and concluded as in production, or from its log."""

from __future__ import annotations

import traceback
from datetime import UTC, datetime

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.logs.traceback_text import parse_tracebacks
from airflow_common_ai.evidence.model import Evidence, RedactedEvidence, RedactedNode, Signal
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def alive(exception: BaseException) -> RedactedEvidence:
    """What the worker knows of a failure."""
    return Redactor().redact(collect(exception, observed_at=NOW))


def logged(exception: BaseException) -> RedactedEvidence:
    """What is left of it in a log: the text of its traceback."""
    text = "".join(traceback.format_exception(exception))
    return Redactor().redact(Evidence(tuple(parse_tracebacks(text)), NOW))


def printed(type_path: str, message: str) -> RedactedEvidence:
    """One line of a log."""
    return Redactor().redact(Evidence((RedactedNode(type_path=type_path, message=message, from_text=True),), NOW))


def conclusion(evidence: RedactedEvidence) -> Signal | None:
    """The signal that settles it, if any does."""
    return conclude(evidence, read_signals(evidence)).signal


def conclusion_code(evidence: RedactedEvidence) -> str | None:
    signal = conclusion(evidence)
    return signal.code if signal else None


def codes(evidence: RedactedEvidence, *prefixes: str) -> list[str]:
    """The codes of every signal of the given readers, hints in brackets."""
    return [
        signal.code if signal.is_conclusive else f"({signal.code})"
        for signal in read_signals(evidence)
        if signal.code.startswith(prefixes)
    ]
