"""The first sure tier decides, bars are lopsided, caps turn retries into failures, and every vote is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from airflow.sdk.definitions.retry_policy import RetryAction

from airflow_common_ai.evidence.conclusion import Conclusion
from airflow_common_ai.evidence.model import Rank, RedactedEvidence, RedactedNode, Retry, Signal, Strength, Wait
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies.attempt import Attempt, Vote
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES, FailureCategory, check_categories
from airflow_common_ai.policies.history import History
from airflow_common_ai.policies.ladder import Case, Verdict, climb
from airflow_common_ai.policies.tiers.repeat import RepeatTier

NOW = datetime(2026, 1, 1, tzinfo=UTC)

CASE = Case(
    exception=ValueError("x"),
    evidence=RedactedEvidence((RedactedNode("ValueError"),), NOW),
    signals=(),
    conclusion=Conclusion(None),
    fingerprint="f1",
    history=History(),
)

ATTEMPT = Attempt(
    at=NOW,
    try_number=1,
    max_tries=3,
    policy="p",
    fingerprint="f1",
    types=("ValueError",),
    action="default",
    code="undecided",
    reason="",
)


@dataclass
class Fixed:
    """A tier that always says the same."""

    verdict: Verdict | None
    name: str = "fixed"

    def decide(self, case: Case) -> Verdict | None:
        return self.verdict


def said(category: str | None = "auth", **options: object) -> Verdict:
    return Verdict(code="x.y", sentence="s", category=category, **options)  # type: ignore[arg-type]


def test_nobody_sure_leaves_the_task_to_airflow() -> None:
    ruling = climb(CASE, [Fixed(None)], DEFAULT_CATEGORIES)
    assert ruling.action is RetryAction.DEFAULT
    assert ruling.votes == (Vote("fixed", "abstained"),)


def test_the_first_sure_tier_decides_and_later_ones_are_not_asked() -> None:
    tiers = [Fixed(None, "a"), Fixed(said("network"), "b"), Fixed(said("auth"), "c")]
    ruling = climb(CASE, tiers, DEFAULT_CATEGORIES)
    assert (ruling.action, ruling.tier) == (RetryAction.RETRY, "b")
    assert [vote.tier for vote in ruling.votes] == ["a", "b"]


@pytest.mark.parametrize(
    ("category", "confidence", "action"),
    [
        ("auth", 0.89, RetryAction.DEFAULT),
        ("auth", 0.9, RetryAction.FAIL),
        ("network", 0.59, RetryAction.DEFAULT),
        ("network", 0.6, RetryAction.RETRY),
        ("unknown_category", 1.0, RetryAction.DEFAULT),
    ],
)
def test_an_uncertain_verdict_needs_the_bar_of_its_category(
    category: str, confidence: float, action: RetryAction
) -> None:
    ruling = climb(CASE, [Fixed(said(category, confidence=confidence))], DEFAULT_CATEGORIES)
    assert ruling.action is action
    assert ruling.votes[0].confidence == confidence


def test_a_signal_may_know_better_than_the_default_table() -> None:
    assert climb(CASE, [Fixed(said("auth", retry=True))], DEFAULT_CATEGORIES).action is RetryAction.RETRY
    assert climb(CASE, [Fixed(said("network", retry=False))], DEFAULT_CATEGORIES).action is RetryAction.FAIL


def test_what_a_user_changed_in_the_table_wins_over_a_signal() -> None:
    table = check_categories({"auth": FailureCategory("x", retry=True)})
    assert climb(CASE, [Fixed(said("auth", retry=False))], table).action is RetryAction.RETRY


def test_a_rules_order_wins_over_the_table() -> None:
    table = check_categories({"auth": FailureCategory("x", retry=True)})
    assert climb(CASE, [Fixed(said("auth", action=RetryAction.FAIL))], table).action is RetryAction.FAIL


def seen(times: int, **changes: object) -> Case:
    attempts = tuple(replace(ATTEMPT, try_number=number + 1, **changes) for number in range(times))  # type: ignore[arg-type]
    return replace(CASE, history=History(attempts))


def test_a_cap_fails_the_attempt_that_reaches_it() -> None:
    tier = Fixed(said("network", max_attempts=2))
    ruling = climb(CASE, [tier], DEFAULT_CATEGORIES)
    assert ruling.action is RetryAction.RETRY
    assert ruling.sentence == "s; worth one more try"
    ruling = climb(seen(1, code="x.y", action="retry"), [tier], DEFAULT_CATEGORIES)
    assert ruling.action is RetryAction.FAIL
    assert "seen 2 times" in ruling.sentence
    assert climb(seen(1, code="other.code"), [tier], DEFAULT_CATEGORIES).action is RetryAction.RETRY


def test_a_cap_counts_codes_that_were_redacted_on_their_way_back_from_the_store() -> None:
    redactor = Redactor(lambda text: text.replace("timeout", "***"))
    tier = Fixed(replace(said("network", max_attempts=2), code="text.timeout"))
    earlier = replace(seen(1, code="text.***", action="retry"), redactor=redactor)
    ruling = climb(earlier, [tier], DEFAULT_CATEGORIES)
    assert ruling.action is RetryAction.FAIL
    assert ruling.votes[0].code == "text.timeout", "a name from source is no secret"


def test_a_cap_of_the_table_counts_the_category() -> None:
    table = check_categories({"network": FailureCategory("x", max_attempts=3)})
    tier = Fixed(said("network"))
    assert climb(seen(1, category="network", code="a"), [tier], table).action is RetryAction.RETRY
    assert climb(seen(2, category="network", code="a"), [tier], table).action is RetryAction.FAIL


def test_the_same_unsure_failure_twice_in_a_row_fails() -> None:
    verdict = RepeatTier().decide(seen(1))
    assert verdict is not None
    assert verdict.retry is False


@pytest.mark.parametrize(
    "case",
    [
        CASE,
        seen(1, fingerprint="another failure"),
        seen(1, tier="signals"),
        seen(1, fingerprint=""),
        replace(
            seen(1),
            conclusion=Conclusion(
                None,
                (Signal("text.busy", "transient", Retry.YES, Wait.SHORT, Rank.TEXT, "s", "t", Strength.HINT),),
            ),
        ),
    ],
    ids=["first", "another failure", "it was judged before", "no fingerprint", "hints at a retry"],
)
def test_the_repeat_tier_abstains(case: Case) -> None:
    assert RepeatTier().decide(case) is None
