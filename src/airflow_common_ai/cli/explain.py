"""``airflow-common-ai explain``: what a policy would decide about a failure in a log, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from airflow_common_ai.evidence.model import Evidence, Signal
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies.airflow_context import is_retry_left
from airflow_common_ai.policies.delay import RetrySchedule
from airflow_common_ai.policies.evidence_policy import EvidenceRetryPolicy
from airflow_common_ai.policies.history import History
from airflow_common_ai.policies.judgement import Judgement, judge
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.policies.settings import read_settings

__all__ = ["JSON_VERSION", "TaskSettings", "decide", "to_json"]

JSON_VERSION = 1
"""Raised when a field of the JSON changes its meaning or goes; new fields may come any time."""

_MAX_TRIES = 20
"""The record holds no more."""
_MEAN_DRAW = 0.5


@dataclass(frozen=True)
class TaskSettings:
    """What the log does not say about the task."""

    try_number: int
    """The try that failed; those before it are taken to have failed in the same way, as far as there were any."""
    retries: int
    retry_delay_s: float


def decide(evidence: Evidence, task: TaskSettings) -> Judgement:
    """
    Return what ``EvidenceRetryPolicy()`` decides about a failure, with the configuration and the table of this machine.

    :param evidence: The failure.
    :param task: Where the task stands. If an earlier try would have ended the task, that one is returned.
    """
    policy, redactor, settings = EvidenceRetryPolicy(), Redactor(), read_settings()
    past = History()
    for number in range(max(1, task.try_number - _MAX_TRIES), task.try_number + 1):
        judged = judge(
            policy,
            Exception(),  # for a user's rules only, and there are none
            evidence,
            RetryRound(
                try_number=number,
                max_tries=task.retries,
                earlier=past,
                schedule=RetrySchedule(task.retry_delay_s),
                is_last_try=not is_retry_left(None, number, task.retries),
            ),
            redactor=redactor,
            settings=settings,
            uniform=lambda: _MEAN_DRAW,
        )
        if judged.attempt.action == "fail":
            break
        past = past.with_attempt(judged.attempt)
    return judged


def to_json(judged: Judgement) -> dict[str, Any]:
    """Return an explanation for programs; ``docs/explain.md`` says what each field means."""
    attempt = judged.attempt
    winner = judged.case.conclusion.signal
    return {
        "version": JSON_VERSION,
        "decision": {
            "action": attempt.action,
            "delay_s": None if attempt.delay_s is None else round(attempt.delay_s, 3),
            "code": attempt.code,
            "category": attempt.category,
            "reason": attempt.reason,
            "decided_by": attempt.tier,
            "try_number": attempt.try_number,
            "is_last_try": attempt.is_last_try,
            "mode": attempt.mode,
        },
        "delay_steps": list(attempt.delay_steps),
        "votes": [vote.to_json() for vote in attempt.votes],
        "signals": [_signal_as_json(signal, is_winner=signal is winner) for signal in judged.case.signals],
        "fingerprint": attempt.fingerprint,
        "failure": judged.case.evidence.to_json(),
    }


def _signal_as_json(signal: Signal, *, is_winner: bool) -> dict[str, Any]:
    return {
        "code": signal.code,
        "is_winner": is_winner,
        "category": signal.category,
        "retry": signal.retry.value,
        "wait": signal.wait.value,
        "asked_delay_s": signal.asked_delay_s,
        "max_attempts": signal.max_attempts,
        "strength": signal.strength.value,
        "rank": signal.rank.name.lower(),
        "sentence": signal.sentence,
        "source": signal.source,
        "node": signal.node,
    }
