"""One judged try, as it stands in the record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.fingerprint import stored_fingerprint
from airflow_common_ai.evidence.model import NO_TEXT, RedactedText
from airflow_common_ai.policies.delay import seconds
from airflow_common_ai.policies.stored_texts import MAX_NAME_CHARS, StoredTexts

if TYPE_CHECKING:
    from airflow_common_ai.policies.settings import Mode

__all__ = ["MAX_PROMPT_CHARS", "Attempt", "Consultation", "Vote"]

MAX_ITEMS = 20
"""Of each list that is read back from a record that a stranger may have written."""

MAX_PROMPT_CHARS = 8000
"""Of one prompt that is kept: the usual 4,096 of the exceptions' texts, and what stands around them."""

MAX_PROMPT_LINES = 100


@dataclass(frozen=True, slots=True)
class Vote:
    """What one tier said about one attempt."""

    tier: RedactedText
    outcome: RedactedText
    """``retry``, ``fail``, ``default``, ``abstained`` or ``unsure``."""
    code: RedactedText | None = None
    category: RedactedText | None = None
    confidence: float | None = None

    def to_json(self) -> dict[str, Any]:
        return _without_none(
            {
                "tier": self.tier,
                "outcome": self.outcome,
                "code": self.code,
                "category": self.category,
                "confidence": self.confidence,
            }
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any], texts: StoredTexts) -> Vote:
        return cls(
            texts.name(data.get("tier")) or texts.unknown,
            texts.name(data.get("outcome")) or texts.unknown,
            texts.name(data.get("code")),
            texts.name(data.get("category")),
            _number(data.get("confidence"), 0, 1),
        )


@dataclass(frozen=True, slots=True)
class Consultation:
    """What a model was asked about one attempt, what it answered, and what became of that."""

    why: RedactedText
    """Why a model was wanted."""
    unused: RedactedText | None = None
    """Why no decision rests on it: not asked, no answer, or not trusted so far. ``None``: it was used."""
    model: RedactedText | None = None
    """As the server answered, not as it was asked for."""
    conn_id: RedactedText | None = None
    """The connection that answered."""
    conn_type: RedactedText | None = None
    form: RedactedText | None = None
    """How the answer was asked for: ``json_schema``, ``tool``, ``prompted`` or ``decision``."""
    category: RedactedText | None = None
    confidence: float | None = None
    confidence_source: RedactedText | None = None
    should_retry: bool | None = None
    """The model's own; the table decides, not this."""
    suggested_delay_s: float | None = None
    """The model's own; a hint within the bounds of the category."""
    reasoning: RedactedText | None = None
    trust: RedactedText | None = None
    """What its word weighs when it would fail the task."""
    tried: tuple[RedactedText, ...] = ()
    """The connections that did not answer, and why."""
    question: RedactedText | None = None
    """The hash of prompt, schema and categories: an answer is reused for the same question only."""
    prompt: tuple[RedactedText, ...] = ()
    """What was sent about the failure, line by line, where the policy keeps that; not the instructions before it."""
    reused_age_s: float | None = None
    """How old the answer is, where an earlier attempt's was used again; ``None``: it was asked for now."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    milliseconds: float | None = None
    """Time that the model took."""
    connection_milliseconds: float | None = None
    """Time that Airflow took to hand over the connections."""
    has_airflow_failed: bool = False
    """Airflow itself failed to hand over a connection, so the record was not written either."""

    def to_json(self) -> dict[str, Any]:
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return _without_none(
            {
                **data,
                "tried": list(self.tried) or None,
                "prompt": list(self.prompt) or None,
                "has_airflow_failed": self.has_airflow_failed or None,
            }
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any], texts: StoredTexts) -> Consultation:
        input_tokens = _number(data.get("input_tokens"), 0, 1e9)
        output_tokens = _number(data.get("output_tokens"), 0, 1e9)
        should_retry = data.get("should_retry")
        return cls(
            why=texts.text(data.get("why")) or texts.unknown,
            unused=texts.text(data.get("unused")),
            model=texts.name(data.get("model")),
            conn_id=texts.name(data.get("conn_id")),
            conn_type=texts.name(data.get("conn_type")),
            form=texts.name(data.get("form")),
            category=texts.name(data.get("category")),
            confidence=_number(data.get("confidence"), 0, 1),
            confidence_source=texts.name(data.get("confidence_source")),
            should_retry=should_retry if isinstance(should_retry, bool) else None,
            suggested_delay_s=_number(data.get("suggested_delay_s"), 0, 366 * 86400),
            reasoning=texts.text(data.get("reasoning")),
            trust=texts.text(data.get("trust")),
            tried=_texts(data.get("tried"), texts),
            question=stored_fingerprint(data.get("question")),
            prompt=_prompt(data.get("prompt"), texts),
            reused_age_s=_number(data.get("reused_age_s"), 0, 366 * 86400),
            input_tokens=None if input_tokens is None else int(input_tokens),
            output_tokens=None if output_tokens is None else int(output_tokens),
            cost_usd=_number(data.get("cost_usd"), 0, 1e6),
            milliseconds=_number(data.get("milliseconds"), 0, 1e9),
            connection_milliseconds=_number(data.get("connection_milliseconds"), 0, 1e9),
            has_airflow_failed=data.get("has_airflow_failed") is True,
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One failed try and what was decided about it; every text in it has passed the redaction wall."""

    at: datetime
    """When the failure was judged, UTC."""
    try_number: int
    max_tries: int
    """The task instance's ``max_tries`` at that time; a larger one later means that it was cleared."""
    policy: RedactedText
    """Which policy judged: a task may have a chain of them."""
    fingerprint: RedactedText
    types: tuple[RedactedText, ...]
    """Type paths of the failure's nodes, outermost first."""
    action: RedactedText
    """``retry``, ``fail`` or ``default``: what was decided, also in shadow mode."""
    code: RedactedText
    reason: RedactedText
    tier: RedactedText | None = None
    """The tier that decided; ``None`` if all abstained."""
    category: RedactedText | None = None
    delay_s: float | None = None
    """``None``: the task's own ``retry_delay``, or no retry."""
    delay_steps: tuple[RedactedText, ...] = ()
    votes: tuple[Vote, ...] = ()
    milliseconds: float = 0.0
    """Time that the decision took, without the store."""
    store_milliseconds: float = 0.0
    """Time that the read of the store took."""
    mode: Mode = "enforce"
    is_last_try: bool = False
    """No retry was left when this was decided."""
    started_at: datetime | None = None
    """When the try was started; the first one of a round starts the clock of ``max_elapsed``."""
    consultation: Consultation | None = None
    """What a model had to do with it; ``None``: no model was wanted."""

    @property
    def waits_own_delay(self) -> bool:
        """Whether the wait after this try was the task's own ``retry_delay``, not one of ours."""
        return self.delay_s is None or self.mode == "shadow"

    @property
    def headline(self) -> str:
        """What was done, when, and why, in one line for a log."""
        if self.action == "fail":
            what = "fail at once"
        elif self.action == "default":
            what = "left to the task's own retries"
        elif self.is_last_try:
            what = "worth a retry, but none is left"
        elif self.delay_s is None:
            what = "retry after the task's own retry_delay"
        else:
            what = f"retry in {seconds(self.delay_s)}"
        shadow = "shadow mode, not acted on: " if self.mode == "shadow" else ""
        return f"{shadow}{what} - {self.reason}"

    def to_json(self) -> dict[str, Any]:
        return _without_none(
            {
                "at": self.at.isoformat(timespec="milliseconds"),
                "try_number": self.try_number,
                "max_tries": self.max_tries,
                "policy": self.policy,
                "fingerprint": self.fingerprint,
                "types": list(self.types),
                "action": self.action,
                "code": self.code,
                "reason": self.reason,
                "tier": self.tier,
                "category": self.category,
                "delay_s": None if self.delay_s is None else round(self.delay_s, 3),
                "delay_steps": list(self.delay_steps),
                "votes": [vote.to_json() for vote in self.votes],
                "milliseconds": round(self.milliseconds, 3),
                "store_milliseconds": round(self.store_milliseconds, 3),
                "mode": self.mode,
                "is_last_try": self.is_last_try,
                "started_at": self.started_at and self.started_at.isoformat(timespec="milliseconds"),
                "consultation": self.consultation and self.consultation.to_json(),
            }
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any], texts: StoredTexts) -> Attempt:
        """
        Read one stored attempt.

        :param texts: What every string passes.
        :raises ValueError: A field that decisions rest on is missing or out of range.
        """
        at = data.get("at")
        action, code = texts.name(data.get("action")), texts.name(data.get("code"))
        if not isinstance(at, str) or not action or not code:
            raise ValueError("an attempt needs a time, an action and a code")
        try_number = _number(data.get("try_number"), 1, 1e6)
        max_tries = _number(data.get("max_tries"), 0, 1e6)
        if try_number is None or max_tries is None:
            raise ValueError("an attempt needs a try_number and max_tries")
        started_at = data.get("started_at")
        consultation = data.get("consultation")
        return cls(
            at=_moment(at),
            try_number=int(try_number),
            max_tries=int(max_tries),
            policy=texts.name(data.get("policy")) or texts.unknown,
            fingerprint=stored_fingerprint(data.get("fingerprint")) or NO_TEXT,
            types=_texts(data.get("types"), texts),
            action=action,
            code=code,
            reason=texts.text(data.get("reason")) or NO_TEXT,
            tier=texts.name(data.get("tier")),
            category=texts.name(data.get("category")),
            delay_s=_number(data.get("delay_s"), 0, 366 * 86400),
            delay_steps=_texts(data.get("delay_steps"), texts),
            votes=tuple(Vote.from_json(vote, texts) for vote in _items(data.get("votes")) if isinstance(vote, Mapping)),
            milliseconds=_number(data.get("milliseconds"), 0, 1e9) or 0.0,
            store_milliseconds=_number(data.get("store_milliseconds"), 0, 1e9) or 0.0,
            mode="shadow" if data.get("mode") == "shadow" else "enforce",
            is_last_try=data.get("is_last_try") is True,
            started_at=_moment(started_at) if isinstance(started_at, str) else None,
            consultation=Consultation.from_json(consultation, texts) if isinstance(consultation, Mapping) else None,
        )


def _without_none(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text[:MAX_NAME_CHARS])
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment.astimezone(UTC)


def _items(value: object) -> Sequence[Any]:
    return value[-MAX_ITEMS:] if isinstance(value, list) else ()


def _texts(value: object, texts: StoredTexts) -> tuple[RedactedText, ...]:
    shown = (texts.text(item) for item in _items(value))
    return tuple(text for text in shown if text is not None)


def _prompt(value: object, texts: StoredTexts) -> tuple[RedactedText, ...]:
    """Read back no more of a prompt than is ever kept."""
    lines: list[RedactedText] = []
    left = MAX_PROMPT_CHARS
    for item in value[:MAX_PROMPT_LINES] if isinstance(value, list) else ():
        line = texts.line(cut(item, left)) if isinstance(item, str) and left > 0 else None
        if line is not None:
            lines.append(line)
            left -= len(line)
    return tuple(lines)


def _number(value: object, low: float, high: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return min(max(value, low), high)
