"""A row that somebody judged, and whether what was decided about it is right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.recordings.label import Label, ShouldRetry

__all__ = ["DelayVerdict", "Judged", "judged_delay"]

_ROUNDING_S = 0.001
"""Of the delays in a run file."""


class DelayVerdict(StrEnum):
    UNDERCUT = "undercut"
    TOO_EARLY = "too early"
    WITHIN = "within"
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Judged:
    """What was decided beside what is right."""

    row: Row
    label: Label

    @property
    def action(self) -> Action:
        """What became of the task: what crashed is left to Airflow."""
        return self.row.action if self.row.outcome is Outcome.DECIDED else Action.DEFAULT

    @property
    def decided(self) -> str:
        """``retry``, ``fail``, ``default``, or how the asking ended otherwise."""
        return self.row.action.value if self.row.outcome is Outcome.DECIDED else self.row.outcome.value

    @property
    def category(self) -> str | None:
        return self.row.category if self.row.outcome is Outcome.DECIDED else None

    @property
    def is_settled(self) -> bool:
        return self.action is not Action.DEFAULT

    @property
    def is_worth_a_retry(self) -> bool:
        return self.label.should_retry is ShouldRetry.YES

    @property
    def is_hopeless(self) -> bool:
        return self.label.should_retry is ShouldRetry.NO

    @property
    def is_false_fail(self) -> bool:
        return self.action is Action.FAIL and self.is_worth_a_retry

    @property
    def is_wasted_retry(self) -> bool:
        return self.action is Action.RETRY and self.is_hopeless

    @property
    def is_right(self) -> bool:
        return self.is_settled and not self.is_false_fail and not self.is_wasted_retry

    def delay_verdict(self, retry_delay_s: float) -> DelayVerdict | None:
        """Return whether the delay is right; ``None`` where nothing was rightly retried."""
        if self.action is not Action.RETRY or self.label.delay_s is None:
            return None
        delay_s = retry_delay_s if self.row.delay_s is None else self.row.delay_s
        return judged_delay(delay_s, self.label.delay_s, self.row.asked_delay_s)


def judged_delay(delay_s: float, sensible_s: tuple[float, float], asked_s: float | None) -> DelayVerdict:
    """
    Return whether a wait is right.

    :param sensible_s: The shortest and the longest wait that make sense to those who judged the failure.
    :param asked_s: What a server asked for. Longer than makes sense, it is no ask but a mistake.
    """
    shortest, longest = sensible_s
    if asked_s is not None and asked_s <= longest and delay_s < asked_s - _ROUNDING_S:
        return DelayVerdict.UNDERCUT
    if delay_s < shortest - _ROUNDING_S:
        return DelayVerdict.TOO_EARLY
    return DelayVerdict.WITHIN if delay_s <= longest + _ROUNDING_S else DelayVerdict.TOO_LONG
