"""What a model's word weighs: enough to retry a task, rarely enough to fail it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.sdk.definitions.retry_policy import RetryAction

from airflow_common_ai.evidence.model import Rank, Retry

if TYPE_CHECKING:
    from airflow_common_ai.policies.categories import FailureCategory
    from airflow_common_ai.policies.ladder import Case, Tier
    from airflow_common_ai.policies.llm.answer import Answer
    from airflow_common_ai.policies.llm.question import Hashes
    from airflow_common_ai.policies.llm.trust import TrustTable

__all__ = ["doubt_about", "measured_trust"]

_HARDLY_WORTH_A_TRY = 0.25
"""Of the classifier: not sure enough to fail a task alone. Source: judgement."""

UNMEASURED = "the model is unmeasured: without a trust table its word alone fails no task"


def doubt_about(
    answer: Answer, row: FailureCategory, case: Case, *, fallback: Tier, missing_trust: str | None
) -> str | None:
    """
    Return why nothing may rest on an answer; ``None`` if the table may be followed.

    :param answer: What the model said.
    :param row: What the table does about its category.
    :param case: The failure.
    :param fallback: The author's rules for what nothing settles.
    :param missing_trust: Why the model's word alone may not fail a task; ``None`` if it was measured well enough.
    """
    if case.conclusion.signal is not None:
        return "the model was asked, but the evidence is conclusive"
    if answer.confidence < row.bar:
        return (
            f"the model calls it {answer.category} with a confidence of {answer.confidence:.2f}, "
            f"under the bar of {row.bar:.2f}"
        )
    if row.retry:
        return None
    if answer.contradicts(row):
        return f"the model calls it {answer.category}, which fails, and would retry it all the same"
    rule = fallback.decide(case)
    if rule is not None and rule.action is RetryAction.RETRY:
        return f"the model calls it {answer.category}, but the task's own fallback rule retries it"
    if missing_trust is None or _is_agreed(case):
        return None
    return f"the model calls it {answer.category}, but {missing_trust}"


def measured_trust(
    table: TrustTable | None, answer: Answer, row: FailureCategory, *, model: str, conn_type: str, hashes: Hashes
) -> tuple[bool, str]:
    """Return whether this answer may be followed as far as trust goes, and what was measured, in words."""
    if table is not None and (void := table.voids(model, conn_type, hashes)):
        return row.retry, f"its trust table is void: {void}"
    if row.retry:
        return True, ""  # a retry needs none
    if table is None:
        return False, UNMEASURED
    precision = table.categories.get(answer.category)
    if precision is None:
        return False, f"its trust table has no {answer.category}"
    measured = f"right in at least {precision.lower:.1%} of {precision.cases} cases of {answer.category}"
    if precision.lower < row.bar:
        return False, f"it was measured to be {measured}, under the bar of {row.bar:.0%}"
    return True, f"measured to be {measured}"


def _is_agreed(case: Case) -> bool:
    """
    Whether something else says that another try will not help, and nothing says that it may.

    That is a hint in the evidence, or the classifier if it is as good as sure. Not a hint in the words of a message:
    the model has read the same words, and whoever wrote them would need nobody's agreement.
    """
    others = case.conclusion.others
    if any(other.retry is not Retry.NO for other in others):
        return False
    if case.prediction is not None and case.prediction.retry_probability <= _HARDLY_WORTH_A_TRY:
        return True
    return any(not other.is_conclusive and other.rank is not Rank.TEXT for other in others)
