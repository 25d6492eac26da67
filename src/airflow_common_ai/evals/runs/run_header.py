"""The first line of a run file: what was run on what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from airflow_common_ai.recordings.fields import Fields
from airflow_common_ai.sanitizer import sanitize

__all__ = ["SCHEMA", "RunHeader"]

SCHEMA = 1
"""Raised by one whenever a reader of older files would misread a newer one."""

_MAX_ITEMS = 64
_MAX_VERSION_CHARS = 80
_HASHES = ("prompt", "schema", "categories")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What was run on what; two runs compare only where the corpus is the same."""

    corpus: str
    """SHA-256 over the ids, the evidence and the labels of all its cases, before a shard is taken."""
    cases: int
    """In this file once it is complete, without repeats."""
    policy: str
    """As it was named, e.g. ``my_dags.policies:careful``."""
    policy_id: str
    """Changes with the policy's options."""
    mode: str
    """``live``, ``record``, ``replay``, or ``offline``: no model was asked."""
    repeats: int = 1
    shard: tuple[int, int] | None = None
    """``(i, n)``: the i-th of n shards, from 1."""
    level: str = "policy"
    """``model``: a batch asked the model alone, so no rule, limit or fallback took part."""
    model: str | None = None
    prompt: str | None = None
    """The hash of prompt, schema and categories."""
    question: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of ``prompt``, ``schema`` and ``categories`` of our model tier: what a trust table holds for."""
    conn_type: str | None = None
    """Of the connection that the model answered through."""
    measured_at: datetime | None = None
    """When the run began, or when the answers that it replays were recorded."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of Python, Airflow, this package and what else took part."""

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "corpus": self.corpus,
            "cases": self.cases,
            "policy": self.policy,
            "policy_id": self.policy_id,
            "mode": self.mode,
            "repeats": self.repeats,
            "shard": None if self.shard is None else list(self.shard),
            "level": self.level,
            "model": self.model,
            "prompt": self.prompt,
            "question": dict(sorted(self.question.items())),
            "conn_type": self.conn_type,
            "measured_at": None if self.measured_at is None else self.measured_at.isoformat(),
            "versions": dict(sorted(self.versions.items())),
        }

    @classmethod
    def from_json(cls, data: object) -> RunHeader:
        """
        Return the header that :meth:`to_json` wrote.

        :raises ValueError: with the field, the rule and what was found instead.
        """
        fields = Fields("a run's header", data)
        schema = fields.take("schema")
        if schema != SCHEMA:
            raise ValueError(f"schema must be {SCHEMA}, got {schema!r}. Run it again, or use a newer version.")
        header = cls(
            corpus=fields.text("corpus"),
            cases=fields.optional_count("cases") or 0,
            policy=sanitize(fields.text("policy")),
            policy_id=sanitize(fields.text("policy_id")),
            mode=fields.one_of("mode", ("live", "record", "replay", "offline")),
            repeats=fields.whole_number("repeats", default=1, most=1000),
            shard=_shard(fields.take("shard")),
            level=fields.one_of("level", ("policy", "model")),
            model=_safe(fields.optional_text("model")),
            prompt=_safe(fields.optional_text("prompt")),
            question=_question(fields.take("question")),
            conn_type=_safe(fields.optional_text("conn_type")),
            measured_at=fields.optional_moment("measured_at"),
            versions={
                sanitize(name): sanitize(version, _MAX_VERSION_CHARS)
                for name, version in fields.texts_by_name("versions", limit=_MAX_ITEMS).items()
            },
        )
        fields.nothing_else()
        return header


def _safe(text: str | None) -> str | None:
    return None if text is None else sanitize(text)


def _question(value: object) -> dict[str, str]:
    if value is None or value == {}:
        return {}
    if isinstance(value, Mapping) and set(value) == set(_HASHES):
        hashes = {name: value[name] for name in _HASHES}
        if all(isinstance(one, str) and _SHA256.fullmatch(one) for one in hashes.values()):
            return hashes
    raise ValueError(f"question must give {', '.join(_HASHES)} as 64 hexadecimal digits each, or be {{}}.")


def _shard(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int) for part in value):
        index, shards = value
        if 1 <= index <= shards <= 10_000:
            return index, shards
    raise ValueError("shard must be [i, n] with i from 1 to n, or null.")
