"""Was the action right? RETRY and FAIL settle a failure; DEFAULT leaves it to Airflow's own retries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.statistics.estimate import Share
from airflow_common_ai.evals.statistics.sample import Sample
from airflow_common_ai.recordings.label import ShouldRetry

__all__ = ["ActionScore", "score_actions"]

_COLUMNS = (*(action.value for action in Action), *(one.value for one in Outcome if one is not Outcome.DECIDED))


@dataclass(frozen=True, slots=True)
class ActionScore:
    """
    Shares of the failures that somebody judged.

    DEFAULT is an abstention: not right, but harmless. So is what crashed or was stopped, since Airflow goes on with
    its own retries then. Where a failure is truly arguable, RETRY and FAIL are both right.
    """

    right: Share
    """Of all: settled, and rightly."""
    right_of_settled: Share | None
    """Of those that were settled; ``None``: none was."""
    settled: Share
    false_fails: Share
    """Of all: failed, though worth a retry. The worst error; its interval is exact, since a bound may be promised."""
    false_fails_of_worth: Share | None
    """The same, of those that are worth a retry."""
    wasted_retries: Share
    """Of all: retried, though no retry can help."""
    wasted_retries_of_hopeless: Share | None
    """The same, of those that no retry can help."""
    unanswered: Share
    """Crashed, timed out or stale; the interval is exact."""
    matrix: Mapping[str, Mapping[str, float]]
    """Distinct failures by what is right (``yes``, ``no``, ``either``: worth a retry) and what was decided (``retry``,
    ``fail``, ``default``, ``crashed``, ``timed_out``, ``stale``); one whose copies were decided differently is split
    between the cells."""


def score_actions(judged: Sequence[Judged], sample: Sample) -> ActionScore:
    is_right, is_settled = [one.is_right for one in judged], [one.is_settled for one in judged]
    is_false_fail, is_wasted = [one.is_false_fail for one in judged], [one.is_wasted_retry for one in judged]
    return ActionScore(
        right=sample.share(is_right),
        right_of_settled=sample.share_within(is_right, is_settled),
        settled=sample.share(is_settled),
        false_fails=sample.exact_share(is_false_fail),
        false_fails_of_worth=sample.exact_share_within(is_false_fail, [one.is_worth_a_retry for one in judged]),
        wasted_retries=sample.share(is_wasted),
        wasted_retries_of_hopeless=sample.share_within(is_wasted, [one.is_hopeless for one in judged]),
        unanswered=sample.exact_share([one.row.outcome is not Outcome.DECIDED for one in judged]),
        matrix={
            answer.value: {
                column: sample.total([one.label.should_retry is answer and one.decided == column for one in judged])
                for column in _COLUMNS
            }
            for answer in ShouldRetry
        },
    )
