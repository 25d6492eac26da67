"""What the processes of an evaluation say to each other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from airflow_common_ai.evals.answer import Answer
from airflow_common_ai.recordings.recording import Recording

__all__ = ["Done", "Job", "Mode", "PolicyFacts", "Preparation", "Setup"]

Mode = Literal["live", "record", "replay", "offline"]
"""As in :class:`~airflow_common_ai.evals.runs.run_file.RunHeader`."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a policy is loaded from, and how it is asked."""

    policy: str
    folder: str
    """Where a relative name begins."""
    mode: Mode
    tries: int = 1
    allow_import: tuple[str, ...] = ()
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """How the connections looked when answers were recorded; Airflow's own win."""


@dataclass(frozen=True, slots=True)
class PolicyFacts:
    """What is known about a loaded policy before it is asked anything."""

    policy_id: str
    question: Mapping[str, str]
    """The hashes of prompt, schema and categories of our model tier; empty if it has none."""
    model: str | None
    conn_type: str | None
    has_model: bool
    looks_at_exceptions: bool
    connections: Mapping[str, Mapping[str, Any]]
    """Of the models that it asks, without secrets; for the header of a recording."""
    missing_connections: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def prompt(self) -> str | None:
        """One hash of prompt, schema and categories."""
        if not self.question:
            return None
        return hashlib.sha256(json.dumps(dict(sorted(self.question.items()))).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Preparation:
    """What is imported before the first case, so that no case finds other classes because of those before it."""

    type_paths: tuple[str, ...]
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Job:
    """One case, once."""

    index: int
    """Its place in the file."""
    recording: Recording
    repeat: int
    interactions: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a job."""

    index: int
    answer: Answer
    interactions: tuple[dict[str, Any], ...] = ()
    """What a model was asked and answered, where that is to be kept."""
