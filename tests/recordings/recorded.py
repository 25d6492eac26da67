"""Recordings for tests, of exceptions that are raised or made on the spot."""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.recording import Provenance, Recording

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def seen(exception: BaseException, at: datetime = NOON) -> RedactedEvidence:
    return Redactor().redact(collect(exception, observed_at=at))


def provenance(library: str = "python", version: str | None = "3.11.7", **more: object) -> Provenance:
    return Provenance("tools/raise/tests.py", library, version, "make record ARGS=tests", **more)  # type: ignore[arg-type]


def recorded(
    case: str,
    exception: BaseException,
    *,
    at: datetime = NOON,
    origin: Provenance | None = None,
    tags: tuple[str, ...] = (),
) -> Recording:
    return Recording.of(f"tests/{case}", seen(exception, at), origin or provenance(), tags)
