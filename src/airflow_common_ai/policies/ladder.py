"""Tiers in order, cheapest first; the first that is sure decides, and every vote is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from airflow.sdk.definitions.retry_policy import RetryAction

from airflow_common_ai.evidence.conclusion import Conclusion
from airflow_common_ai.evidence.model import RedactedEvidence, Signal, Wait
from airflow_common_ai.policies.attempt import Vote
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES, FailureCategory
from airflow_common_ai.policies.history import History

__all__ = ["Case", "Ruling", "Tier", "Verdict", "climb"]


@dataclass(frozen=True)
class Case:
    """Everything that a tier may look at."""

    exception: BaseException
    """The live exception, for user rules only."""
    evidence: RedactedEvidence
    signals: tuple[Signal, ...]
    conclusion: Conclusion
    fingerprint: str
    history: History
    """Earlier attempts of this round."""


@dataclass(frozen=True)
class Verdict:
    """What one tier says about a case."""

    code: str
    """Stable name of the finding, e.g. ``http.429``."""
    sentence: str
    """For people, without the code."""
    category: str | None = None
    action: RetryAction | None = None
    """What a user's rule orders; wins over the table."""
    retry: bool | None = None
    """What the finding suggests; wins over the default table, not over what a user changed in it."""
    wait: Wait | None = None
    asked_delay_s: float | None = None
    delay: timedelta | None = None
    """A fixed delay; only a user's rule sets one."""
    max_attempts: int | None = None
    """How many attempts of the round may end with this code, this one included."""
    confidence: float | None = None
    """``None``: certain. Else it must reach the bar of the category's row."""


class Tier(Protocol):
    """One rung: looks at a case and answers, or abstains."""

    @property
    def name(self) -> str: ...

    def decide(self, case: Case) -> Verdict | None: ...


@dataclass(frozen=True)
class Ruling:
    """What the ladder came to."""

    action: RetryAction
    votes: tuple[Vote, ...]
    verdict: Verdict | None = None
    """The verdict that decided; ``None`` if every tier abstained or was unsure."""
    tier: str | None = None
    sentence: str = ""


def climb(case: Case, tiers: Sequence[Tier], categories: Mapping[str, FailureCategory]) -> Ruling:
    """Ask the tiers in order and return the first sure verdict as an action, with all votes."""
    votes: list[Vote] = []
    for tier in tiers:
        verdict = tier.decide(case)
        if verdict is None:
            votes.append(Vote(tier.name, "abstained"))
            continue
        row = categories.get(verdict.category) if verdict.category else None
        action = _action(verdict, row)
        is_sure = verdict.confidence is None or (row is not None and verdict.confidence >= row.bar)
        votes.append(
            Vote(
                tier.name,
                action.value if is_sure else "unsure",
                code=verdict.code,
                category=verdict.category,
                confidence=verdict.confidence,
            )
        )
        if is_sure:
            return _cap(Ruling(action, tuple(votes), verdict, tier.name, verdict.sentence), row, case.history)
    return Ruling(RetryAction.DEFAULT, tuple(votes), sentence="the evidence does not say whether another try helps")


def _action(verdict: Verdict, row: FailureCategory | None) -> RetryAction:
    if verdict.action is not None:
        return verdict.action
    default = DEFAULT_CATEGORIES.get(verdict.category or "")
    is_changed = row is not None and (default is None or row.retry != default.retry)
    retry = verdict.retry
    if row is not None and (retry is None or is_changed):
        retry = row.retry
    return RetryAction.FAIL if retry is False else RetryAction.RETRY


def _cap(ruling: Ruling, row: FailureCategory | None, history: History) -> Ruling:
    """Turn a retry into a failure where its cap on attempts is reached."""
    verdict = ruling.verdict
    if verdict is None or ruling.action is not RetryAction.RETRY:
        return ruling
    same_code = 1 + sum(attempt.code == verdict.code for attempt in history.tries)
    same_category = 1 + sum(attempt.category == verdict.category for attempt in history.tries)
    for seen, cap in ((same_code, verdict.max_attempts), (same_category, row.max_attempts if row else None)):
        if cap is not None and seen >= cap:
            times = "once" if seen == 1 else f"{seen} times"
            sentence = f"{verdict.sentence}; seen {times}, and more tries are not worth it"
            return Ruling(RetryAction.FAIL, ruling.votes, verdict, ruling.tier, sentence)
    return ruling
