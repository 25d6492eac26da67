"""What the evidence itself settles."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_common_ai.evidence.model import Retry
from airflow_common_ai.policies.ladder import Case, Verdict

__all__ = ["SignalsTier"]


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
            sentence=signal.sentence,
            category=signal.category,
            retry=signal.retry is not Retry.NO,
            wait=signal.wait,
            asked_delay_s=case.conclusion.asked_delay_s,
            max_attempts=signal.max_attempts if signal.retry is Retry.DEPENDS else None,
        )
