"""What a tier or a policy said with a confidence, whether or not it was followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES

__all__ = ["Answer", "answers_by_voice"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to one failure."""

    judged: Judged
    category: str
    confidence: float
    action: Action
    """What the category leads to, once the confidence suffices."""
    is_followed: bool
    """Whether the decision rests on it."""

    @property
    def is_right(self) -> bool:
        """Whether the category is."""
        return self.judged.label.accepts(self.category)

    @property
    def counts(self) -> bool:
        """Whether it could decide: nobody else did."""
        return self.is_followed or not self.judged.is_settled

    @property
    def is_false_fail(self) -> bool:
        return self.action is Action.FAIL and self.judged.is_worth_a_retry

    @property
    def is_harmful(self) -> bool:
        return self.is_false_fail or (self.action is Action.RETRY and self.judged.is_hopeless)


def answers_by_voice(judged: Sequence[Judged]) -> dict[str, list[Answer]]:
    """
    Return all answers that came with a confidence, by who gave them.

    Policies that keep no votes are one voice, named as the source of their decisions.
    """
    found: dict[str, list[tuple[Judged, str, float]]] = {}
    for one in judged:
        for voice, category, confidence in _answers(one):
            found.setdefault(voice, []).append((one, category, confidence))
    return {voice: _with_actions(voice, found[voice]) for voice in sorted(found)}


def _answers(one: Judged) -> Iterator[tuple[str, str, float]]:
    row = one.row
    if row.outcome is not Outcome.DECIDED:
        return
    for vote in row.votes:
        if vote.get("category") is not None and vote.get("confidence") is not None:
            yield vote["tier"], vote["category"], vote["confidence"]
    if not row.votes and row.category is not None and row.confidence is not None:
        yield row.source, row.category, row.confidence


def _with_actions(voice: str, found: list[tuple[Judged, str, float]]) -> list[Answer]:
    # The policy's own table is not in the run: what it did about a category shows it, else the default table does.
    actions = {name: Action.RETRY if row.retry else Action.FAIL for name, row in DEFAULT_CATEGORIES.items()}
    actions |= {category: one.action for one, category, _ in found if one.row.source == voice and one.is_settled}
    return [
        Answer(
            judged=one,
            category=category,
            confidence=confidence,
            action=one.action if one.row.source == voice and one.is_settled else actions.get(category, Action.RETRY),
            is_followed=one.row.source == voice and one.is_settled,
        )
        for one, category, confidence in found
    ]
