"""What a policy decided about a corpus: ``run.jsonl``, a header and one row for each case and repeat.

It is all that scoring needs: neither the corpus nor the policy is asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from airflow_common_ai.recordings.corpus_file import json_lines
from airflow_common_ai.recordings.fields import Fields
from airflow_common_ai.recordings.label import Label
from airflow_common_ai.sanitizer import sanitize

__all__ = ["SCHEMA", "Action", "LaterTry", "Outcome", "Row", "Run", "RunHeader", "line_of", "read_run"]

SCHEMA = 1
"""Raised by one whenever a reader of older files would misread a newer one."""

_MAX_ITEMS = 64
_HASHES = ("prompt", "schema", "categories")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Outcome(StrEnum):
    """How asking the policy about one case ended. Everything is in the denominator."""

    DECIDED = "decided"
    """It answered: RETRY, FAIL, or DEFAULT, which is its way to abstain."""
    CRASHED = "crashed"
    """It raised. Airflow would have gone on as if it had answered DEFAULT."""
    TIMED_OUT = "timed_out"
    """It was stopped at the runner's limit."""
    STALE = "stale"
    """It asked a model something that the cassettes hold no answer to: nothing was measured."""


class Action(StrEnum):
    RETRY = "retry"
    FAIL = "fail"
    DEFAULT = "default"
    """Left to Airflow's own retries."""


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
            measured_at=_moment(fields.optional_text("measured_at")),
            versions=_versions(fields.take("versions")),
        )
        fields.nothing_else()
        return header


@dataclass(frozen=True, slots=True)
class LaterTry:
    """What was decided when the same failure came again."""

    action: Action
    delay_s: float | None = None
    """Of a retry; ``None``: the task's own ``retry_delay``."""
    calls: int = 0
    """Of a model."""

    def to_json(self) -> dict[str, Any]:
        return {"action": self.action.value, "delay_s": _rounded(self.delay_s), "calls": self.calls}

    @classmethod
    def from_json(cls, data: object) -> LaterTry:
        fields = Fields("a later try", data)
        later = cls(
            action=Action(fields.one_of("action", [action.value for action in Action])),
            delay_s=fields.optional_number("delay_s"),
            calls=fields.optional_count("calls") or 0,
        )
        fields.nothing_else()
        return later


@dataclass(frozen=True, slots=True)
class Row:
    """What the policy decided about one case. Every text in it is redacted."""

    id: str
    fingerprint: str
    """Rows with the same one are one failure: intervals are clustered by it."""
    split: str
    library: str
    repeat: int
    """From 1."""
    outcome: Outcome
    label: Label | None
    """What should have been decided; ``None``: nobody judged it, so it counts in no accuracy."""
    failure: tuple[str, ...]
    """What failed, a line for each exception, outermost first."""
    tags: tuple[str, ...] = ()
    count: int = 1
    """How often the failure was seen, where a corpus counts that."""
    action: Action = Action.DEFAULT
    delay_s: float | None = None
    """Of a retry; ``None``: the task's own ``retry_delay``."""
    asked_delay_s: float | None = None
    """What a server asked for, as far as the evidence says; an earlier retry undercuts it."""
    later: tuple[LaterTry, ...] = ()
    """Try by try, until the task was failed or no retry was left; empty where the run did not ask."""
    category: str | None = None
    """``None`` if the policy names none."""
    confidence: float | None = None
    """Of the category, where the policy reports one; ``None`` with a category: certain, or not reported."""
    source: str = "unknown"
    """Who decided: a tier of ours such as ``signals``; ``default``: none did; ``unknown``: the policy does not say."""
    code: str | None = None
    reason: str | None = None
    votes: tuple[Mapping[str, Any], ...] = ()
    """Of every tier: tier, outcome, and where it has them code, category, confidence."""
    calls: int = 0
    """Of a model."""
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    milliseconds: float = 0.0
    """Wall clock; of a replayed answer what was recorded is not in it."""
    error: str | None = None
    """What was raised, or what the cassettes lack."""

    @property
    def key(self) -> tuple[str, int]:
        return self.id, self.repeat

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "repeat": self.repeat,
            "fingerprint": self.fingerprint,
            "split": self.split,
            "library": self.library,
            "tags": list(self.tags),
            "count": self.count,
            "failure": list(self.failure),
            "label": None if self.label is None else self.label.to_json(),
            "outcome": self.outcome.value,
            "action": self.action.value,
            "delay_s": _rounded(self.delay_s),
            "asked_delay_s": _rounded(self.asked_delay_s),
            "later": [later.to_json() for later in self.later],
            "category": self.category,
            "confidence": None if self.confidence is None else round(self.confidence, 6),
            "source": self.source,
            "code": self.code,
            "reason": self.reason,
            "votes": [dict(vote) for vote in self.votes],
            "calls": self.calls,
            "model": self.model,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            "milliseconds": _rounded(self.milliseconds),
            "error": self.error,
        }

    @classmethod
    def from_json(cls, data: object) -> Row:
        """
        Return the row that :meth:`to_json` wrote.

        :raises ValueError: with the field, the rule and what was found instead.
        """
        fields = Fields("a row", data)
        label = fields.take("label")
        row = cls(
            id=sanitize(fields.text("id")),
            fingerprint=sanitize(fields.text("fingerprint")),
            split=sanitize(fields.text("split")),
            library=sanitize(fields.text("library")),
            repeat=fields.whole_number("repeat", default=1, most=1000),
            outcome=Outcome(fields.one_of("outcome", [outcome.value for outcome in Outcome])),
            label=None if label is None else Label.from_json(label),
            failure=_safe_texts(fields.any_texts("failure", limit=_MAX_ITEMS)),
            tags=_safe_texts(fields.any_texts("tags", limit=_MAX_ITEMS)),
            count=fields.whole_number("count", default=1, most=1_000_000_000),
            action=Action(fields.one_of("action", [action.value for action in Action])),
            delay_s=fields.optional_number("delay_s"),
            asked_delay_s=fields.optional_number("asked_delay_s"),
            later=_later(fields.take("later")),
            category=_safe(fields.optional_text("category")),
            confidence=fields.optional_number("confidence", most=1),
            source=sanitize(fields.text("source")),
            code=_safe(fields.optional_text("code")),
            reason=_safe(fields.optional_text("reason")),
            votes=_votes(fields.take("votes")),
            calls=fields.optional_count("calls") or 0,
            model=_safe(fields.optional_text("model")),
            input_tokens=fields.optional_count("input_tokens"),
            output_tokens=fields.optional_count("output_tokens"),
            cost_usd=fields.optional_number("cost_usd"),
            milliseconds=fields.optional_number("milliseconds") or 0.0,
            error=_safe(fields.optional_text("error")),
        )
        fields.nothing_else()
        return row


@dataclass(frozen=True, slots=True)
class Run:
    """A whole file."""

    header: RunHeader
    rows: tuple[Row, ...]
    """In the order of the corpus, repeats of a case beside each other."""

    @property
    def missing(self) -> int:
        """How many rows a run that was killed still lacks."""
        return max(self.header.cases * self.header.repeats - len(self.rows), 0)

    @property
    def labelled(self) -> Iterator[Row]:
        """Yield what somebody judged: all that accuracy can be measured on."""
        return (row for row in self.rows if row.label is not None)


def read_run(path: Path) -> Run:
    """
    Return a run that was written before, also one that was killed.

    :raises ValueError: with the file, the line, the rule that it breaks and what to do.
    """
    header: RunHeader | None = None
    rows: dict[tuple[str, int], Row] = {}
    for number, data in json_lines(path):
        try:
            if header is None:
                header = RunHeader.from_json(data)
                continue
            row = Row.from_json(data)
            if row.key in rows:
                raise ValueError(f"{row.id!r}, repeat {row.repeat}, is there twice. Remove one of the lines.")
            rows[row.key] = row
        except ValueError as fault:
            raise ValueError(f"{path}:{number}: {fault}") from None
    if header is None:
        raise ValueError(f"{path}: the file is empty. Write it with `airflow-common-ai run`.")
    return Run(header, tuple(rows.values()))


def line_of(entry: RunHeader | Row) -> str:
    """Return the line that an entry is in a file."""
    return json.dumps(entry.to_json()) + "\n"


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 3)


def _safe(text: str | None) -> str | None:
    return None if text is None else sanitize(text)


def _safe_texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(sanitize, texts))


def _versions(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > _MAX_ITEMS:
        raise ValueError(f"versions must be an object of at most {_MAX_ITEMS} texts.")
    return {sanitize(str(name)): sanitize(str(version), 80) for name, version in value.items()}


def _question(value: object) -> dict[str, str]:
    if value is None or value == {}:
        return {}
    if isinstance(value, Mapping) and set(value) == set(_HASHES):
        hashes = {name: value[name] for name in _HASHES}
        if all(isinstance(one, str) and _SHA256.fullmatch(one) for one in hashes.values()):
            return hashes
    raise ValueError(f"question must give {', '.join(_HASHES)} as 64 hexadecimal digits each, or be {{}}.")


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("measured_at must be a time with its zone, e.g. 2026-11-30T12:00:00+00:00.")
    return moment


def _later(value: object) -> tuple[LaterTry, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > _MAX_ITEMS:
        raise ValueError(f"later must be a list of at most {_MAX_ITEMS} objects.")
    return tuple(map(LaterTry.from_json, value))


def _votes(value: object) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list) or len(value) > _MAX_ITEMS:
        raise ValueError(f"votes must be a list of at most {_MAX_ITEMS} objects.")
    return tuple(map(_vote, value))


def _vote(value: object) -> Mapping[str, Any]:
    fields = Fields("a vote", value)
    vote = {
        "tier": sanitize(fields.text("tier")),
        "outcome": sanitize(fields.text("outcome")),
        "code": _safe(fields.optional_text("code")),
        "category": _safe(fields.optional_text("category")),
        "confidence": fields.optional_number("confidence", most=1),
    }
    fields.nothing_else()
    return {name: item for name, item in vote.items() if item is not None}


def _shard(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int) for part in value):
        index, shards = value
        if 1 <= index <= shards <= 10_000:
            return index, shards
    raise ValueError("shard must be [i, n] with i from 1 to n, or null.")
