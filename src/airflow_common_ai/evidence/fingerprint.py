"""A stable id of "the same failure"."""

from __future__ import annotations

from airflow_common_ai.evidence.model import RedactedEvidence


def fingerprint(evidence: RedactedEvidence) -> str:
    raise NotImplementedError
