"""Tiers in order, cheapest first; the first that is sure decides, and every vote is kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from airflow.sdk.definitions.retry_policy import RetryAction

from airflow_common_ai.evidence.conclusion import Conclusion
from airflow_common_ai.evidence.model import NO_TEXT, RedactedEvidence, RedactedText, Signal, Wait
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies.attempt import Consultation, Vote
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES, FailureCategory
from airflow_common_ai.policies.history import History
from airflow_common_ai.policies.prediction import predict
from airflow_common_ai.policies.retry_round import RetryRound

if TYPE_CHECKING:
    from airflow_common_ai.classifier import Prediction

__all__ = ["Case", "Ruling", "Tier", "Verdict", "climb"]


@dataclass(frozen=True)
class Case:
    """Everything that a tier may look at."""

    exception: BaseException
    """The live exception, for user rules only."""
    evidence: RedactedEvidence
    signals: tuple[Signal, ...]
    conclusion: Conclusion
    fingerprint: RedactedText
    history: History
    """Earlier attempts of this round."""
    redactor: Redactor = field(default_factory=Redactor)
    """The wall that everything passes which is kept of this case."""
    retry_round: RetryRound = field(default_factory=RetryRound)
    """Where the task stands; :attr:`history` is its memory."""
    operator: RedactedText = NO_TEXT
    """The path of the operator's class."""
    is_supervisor_down: bool = False
    """A call to Airflow's supervisor has failed: another one would take as long."""
    classifier: bool | str = False
    """The embedded model to ask: the shipped one, none, or the path of another."""

    @cached_property
    def prediction(self) -> Prediction | None:
        """What the embedded model says; ``None`` if it abstains or there is none."""
        return predict(self.classifier, self.evidence, self.signals)


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
    is_sure: bool | None = None
    """Of a tier with bars of its own, which count unless the user set one in the category's row."""
    suggested_delay_s: float | None = None
    """A hint: the first backoff, within the bounds of the category's row."""
    withheld: str | None = None
    """Why the tier does not stand by it: it is recorded, and the next tier is asked."""
    consultation: Consultation | None = None
    """What a model had to do with it."""


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
    tier: RedactedText | None = None
    sentence: str = ""
    consultation: Consultation | None = None
    """What a model had to do with it, even if another tier decided."""


def climb(
    case: Case,
    tiers: Sequence[Tier],
    categories: Mapping[str, FailureCategory],
    *,
    always_asked: Collection[str] = (),
) -> Ruling:
    """
    Ask the tiers in order and return the first sure verdict as an action, with all votes.

    :param always_asked: Names of tiers whose vote is wanted even where a cheaper one has decided.
    """
    votes: list[Vote] = []
    consultation: Consultation | None = None
    sentence = "the evidence does not say whether another try helps"
    decided: Ruling | None = None
    for tier in tiers:
        if decided is not None and tier.name not in always_asked:
            continue
        verdict = tier.decide(case)
        if verdict is None:
            votes.append(Vote(case.redactor.name(tier.name), case.redactor.name("abstained")))
            continue
        row = categories.get(verdict.category) if verdict.category else None
        action = _action(verdict, row)
        is_sure = _is_sure(verdict, row)
        votes.append(_vote(case, tier, verdict, action.value if is_sure else None))
        if decided is not None:
            continue
        consultation = verdict.consultation or consultation
        if is_sure:
            tier_name = case.redactor.name(tier.name)
            decided = _cap(Ruling(action, (), verdict, tier_name, verdict.sentence, consultation), row, case)
        elif verdict.withheld:
            sentence = f"{sentence}; {verdict.withheld}"
    if decided is None:
        return Ruling(RetryAction.DEFAULT, tuple(votes), sentence=sentence, consultation=consultation)
    return replace(decided, votes=tuple(votes))


def _is_sure(verdict: Verdict, row: FailureCategory | None) -> bool:
    if verdict.withheld:
        return False
    if verdict.is_sure is not None and (row is None or row.min_confidence is None):
        return verdict.is_sure
    return verdict.confidence is None or (row is not None and verdict.confidence >= row.bar)


def _vote(case: Case, tier: Tier, verdict: Verdict, action: str | None) -> Vote:
    name = case.redactor.name
    return Vote(
        name(tier.name),
        name(action or ("unsure" if verdict.category else "abstained")),
        code=name(verdict.code),
        category=name(verdict.category) if verdict.category else None,
        confidence=verdict.confidence,
    )


def _action(verdict: Verdict, row: FailureCategory | None) -> RetryAction:
    if verdict.action is not None:
        return verdict.action
    default = DEFAULT_CATEGORIES.get(verdict.category or "")
    is_changed = row is not None and (default is None or row.retry != default.retry)
    retry = verdict.retry
    if row is not None and (retry is None or is_changed):
        retry = row.retry
    return RetryAction.FAIL if retry is False else RetryAction.RETRY


def _cap(ruling: Ruling, row: FailureCategory | None, case: Case) -> Ruling:
    """Turn a retry into a failure where its cap on attempts is reached."""
    verdict = ruling.verdict
    if verdict is None or ruling.action is not RetryAction.RETRY:
        return ruling
    same_code = 1
    if case.history.tries:
        # What was read back is redacted once more: a code that holds a registered password is no longer what it was.
        codes = (verdict.code, case.redactor.name(verdict.code), case.redactor.text(verdict.code))
        same_code += sum(attempt.code in codes for attempt in case.history.tries)
    same_category = 1 + sum(attempt.category == verdict.category for attempt in case.history.tries)
    for seen, cap in ((same_code, verdict.max_attempts), (same_category, row.max_attempts if row else None)):
        if cap is not None and seen >= cap:
            times = "once" if seen == 1 else f"{seen} times"
            sentence = f"{verdict.sentence}; seen {times}, and more tries are not worth it"
            return replace(ruling, action=RetryAction.FAIL, sentence=sentence)
    if verdict.max_attempts is None:
        return ruling
    more = verdict.max_attempts - same_code
    worth = "one more try" if more == 1 else f"{more} more tries"
    return replace(ruling, sentence=f"{verdict.sentence}; worth {worth}")
