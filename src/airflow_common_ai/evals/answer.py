"""What asking a policy about one case came to: the part of a row that the policy has a hand in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from airflow_common_ai.evals.cases import Case
from airflow_common_ai.evals.run_file import Action, LaterTry, Outcome, Row
from airflow_common_ai.evidence.model import RedactedEvidence
from airflow_common_ai.sanitizer import sanitize

__all__ = ["Answer", "row_of"]

_MAX_LINES = 64
_MAX_LINE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Answer:
    """As in :class:`~airflow_common_ai.evals.run_file.Row`; every text is redacted and harmless on a screen."""

    outcome: Outcome = Outcome.DECIDED
    action: Action = Action.DEFAULT
    delay_s: float | None = None
    asked_delay_s: float | None = None
    later: tuple[LaterTry, ...] = ()
    category: str | None = None
    confidence: float | None = None
    source: str = "unknown"
    code: str | None = None
    reason: str | None = None
    votes: tuple[Mapping[str, Any], ...] = ()
    calls: int = 0
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    milliseconds: float = 0.0
    error: str | None = None


def row_of(case: Case, repeat: int, answer: Answer) -> Row:
    """Return the row for one case and repeat."""
    recording = case.recording
    return Row(
        id=recording.id,
        fingerprint=recording.fingerprint,
        split=recording.split.value,
        library=sanitize(recording.provenance.library),
        repeat=repeat,
        label=case.label,
        failure=_lines(recording.evidence),
        tags=recording.tags,
        count=recording.count,
        **{field.name: getattr(answer, field.name) for field in fields(answer)},
    )


def _lines(evidence: RedactedEvidence) -> tuple[str, ...]:
    """Return a line for each exception, outermost first."""
    nodes = evidence.nodes[:_MAX_LINES]
    texts = (f"{node.type_path.removeprefix('builtins.')}: {' '.join(node.message.split())}" for node in nodes)
    return tuple(sanitize(text.removesuffix(": "), _MAX_LINE_CHARS) for text in texts)
