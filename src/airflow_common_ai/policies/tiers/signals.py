"""What the evidence itself settles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from airflow_common_ai.evidence.model import Retry, Signal
from airflow_common_ai.policies.delay import seconds
from airflow_common_ai.policies.ladder import Case, Verdict

__all__ = ["SignalsTier"]

_SUSPICIOUS_TRIES = 3
_SUSPICIOUS_TIME = timedelta(minutes=10)
"""After so long a service that restarts should be back. Source: judgement."""


@dataclass(frozen=True)
class SignalsTier:
    """Answers with the conclusive signal that won; hints are left to later tiers."""

    name: str = "signals"

    def decide(self, case: Case) -> Verdict | None:
        signal = case.conclusion.signal
        if signal is None:
            return None
        return Verdict(
            code=signal.code,
            sentence=_sentence(case, signal),
            category=signal.category,
            retry=signal.retry is not Retry.NO,
            wait=signal.wait,
            asked_delay_s=case.conclusion.asked_delay_s,
            max_attempts=signal.max_attempts if signal.retry is Retry.DEPENDS else None,
        )


def _sentence(case: Case, signal: Signal) -> str:
    """
    Return what the signal says, and a suspicion where a network failure is the same at every try of the round.

    A wrong port and a service that is down look alike, so the suspicion fails nothing: see
    ``docs/decisions/0004-a-refused-connection-is-retried-to-the-end.md``.
    """
    tries = case.history.tries
    count = len(tries) + 1
    if signal.category != "network" or signal.retry is Retry.NO or count < _SUSPICIOUS_TRIES:
        return signal.sentence
    time = case.evidence.observed_at - tries[0].at
    if time < _SUSPICIOUS_TIME or any(one.fingerprint != case.fingerprint for one in tries):
        return signal.sentence
    lasted = seconds(time.total_seconds())
    return f"{signal.sentence}; the same at all {count} tries in {lasted}: check that the address is right"
