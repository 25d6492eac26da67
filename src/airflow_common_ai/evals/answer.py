"""What asking a policy about one case came to: the part of a row that the policy has a hand in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from airflow_common_ai.recordings.fields import Fields

__all__ = ["Action", "Answer", "LaterTry", "Outcome", "rounded"]


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
class LaterTry:
    """What was decided when the same failure came again."""

    action: Action
    delay_s: float | None = None
    """Of a retry; ``None``: the task's own ``retry_delay``."""
    calls: int = 0
    """Of a model."""

    def to_json(self) -> dict[str, Any]:
        return {"action": self.action.value, "delay_s": rounded(self.delay_s), "calls": self.calls}

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
class Answer:
    """What the policy decided; every text is redacted and harmless on a screen."""

    outcome: Outcome = Outcome.DECIDED
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


def rounded(number: float | None) -> float | None:
    """Return a number as a run file keeps it."""
    return None if number is None else round(number, 3)
