"""What ``airflow-common-ai doctor`` found, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from airflow_common_ai.policies.llm.answer import Answer
from airflow_common_ai.policies.llm.call import Reply
from airflow_common_ai.recordings.label import Label, ShouldRetry
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.sanitizer import sanitize

__all__ = ["JSON_VERSION", "Asked", "Diagnosis", "Finding", "State"]

JSON_VERSION = 1
"""Raised when a field of the JSON changes its meaning or goes; new fields may come any time."""


class State(StrEnum):
    OK = "ok"
    NOTE = "note"
    """Worth knowing; it works."""
    BAD = "bad"


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    check: str
    state: State
    found: str
    fix: str = ""


@dataclass(frozen=True)
class Asked:
    """One recorded failure and what the model made of it."""

    recording: Recording
    label: Label
    is_open: bool
    """Whether the evidence leaves it open, so that a policy would have asked."""
    reply: Reply | None = None
    answer: Answer | None = None
    problem: str = ""
    """Why there is no answer."""
    would_retry: bool | None = None
    """What the table does about the category; ``None`` without an answer."""

    @property
    def is_right(self) -> bool:
        """Whether the table would do the right thing about the category."""
        return self.would_retry is (self.label.should_retry is ShouldRetry.YES)


@dataclass(frozen=True)
class Diagnosis:
    """All that was found."""

    conn_id: str
    findings: tuple[Finding, ...]
    asked: tuple[Asked, ...] = ()

    @property
    def is_healthy(self) -> bool:
        return all(finding.state is not State.BAD for finding in self.findings)

    def show(self) -> str:
        """Return the findings as text; nothing in it that came from outside can act on a terminal."""
        lines = []
        for finding in self.findings:
            lines.append(f"{finding.state.value:<5} {finding.check}: {finding.found}")
            if finding.fix:
                lines.append(f"      fix: {finding.fix}")
        lines.append(
            f"{self.conn_id} is {'fit to judge failures' if self.is_healthy else 'not fit to judge failures'}."
        )
        return "\n".join(sanitize(line) for line in lines)

    def to_json(self) -> dict[str, Any]:
        """Return the findings for programs."""
        return {
            "version": JSON_VERSION,
            "conn_id": self.conn_id,
            "is_healthy": self.is_healthy,
            "findings": [
                {"check": one.check, "state": one.state.value, "found": one.found, "fix": one.fix or None}
                for one in self.findings
            ],
            "failures": [
                {
                    "id": one.recording.id,
                    "category": one.label.category,
                    "should_retry": one.label.should_retry is ShouldRetry.YES,
                    "is_open": one.is_open,
                    "answer": one.answer.category if one.answer else None,
                    "confidence": round(one.answer.confidence, 4) if one.answer else None,
                    "would_retry": one.would_retry,
                    "seconds": round(one.reply.seconds, 3) if one.reply else None,
                    "problem": one.problem or None,
                }
                for one in self.asked
            ],
        }
