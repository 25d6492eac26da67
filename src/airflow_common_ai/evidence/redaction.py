"""The wall: nothing unredacted reaches a model, the store, a log or a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_common_ai.evidence.model import Evidence, RedactedEvidence

TextFilter = Callable[[str], str]


class Redactor:
    def __init__(self, mask_registered: TextFilter | None = None, extra: TextFilter | None = None) -> None: ...

    def text(self, value: str) -> str:
        raise NotImplementedError

    def redact(self, evidence: Evidence) -> RedactedEvidence:
        raise NotImplementedError


def from_json(data: Any, redactor: Redactor) -> RedactedEvidence:
    raise NotImplementedError
