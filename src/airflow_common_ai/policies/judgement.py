"""From the facts of a failure to a decision: no clock, no store, no log. The same live and in replay.

Only the tier of a model, where a policy has one, reaches out of the process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from airflow.sdk.definitions.retry_policy import RetryAction

from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.fingerprint import fingerprint
from airflow_common_ai.evidence.model import Evidence, Wait
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.policies.delay import BACKOFFS, Backoff, DelayPlan, Limits, plan_delay, seconds
from airflow_common_ai.policies.ladder import Case, Ruling, climb
from airflow_common_ai.policies.policy_id import policy_id
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.policies.settings import Settings
from airflow_common_ai.policies.stored_texts import MAX_NAME_CHARS
from airflow_common_ai.policies.tiers.classifier import ClassifierTier
from airflow_common_ai.sanitizer import sanitize

if TYPE_CHECKING:
    from airflow_common_ai.policies.evidence_policy import EvidenceRetryPolicy

__all__ = ["Judgement", "judge"]

MAX_REASON_CHARS = 499
"""Airflow cuts a reason at 500 characters."""


@dataclass(frozen=True)
class Judgement:
    """A decision with all that led to it."""

    case: Case
    ruling: Ruling
    attempt: Attempt
    """What goes into the record."""


def judge(
    policy: EvidenceRetryPolicy,
    exception: BaseException,
    evidence: Evidence,
    retry_round: RetryRound,
    *,
    redactor: Redactor,
    settings: Settings,
    uniform: Callable[[], float],
    operator: str = "",
    is_supervisor_down: bool = False,
) -> Judgement:
    """
    Decide about one failed try.

    :param policy: Whose rules, table and limits hold.
    :param exception: The live exception, for user rules only.
    :param evidence: What was collected from it.
    :param retry_round: Where the task stands.
    :param redactor: The wall that the evidence passes first.
    :param settings: The section of the configuration.
    :param uniform: Draws a number from [0, 1), for jitter.
    :param operator: The path of the operator's class, for a model.
    :param is_supervisor_down: Whether a call to Airflow's supervisor has failed, so that none is made for a model.
    """
    redacted = redactor.redact(evidence)
    signals = read_signals(redacted)
    conclusion = conclude(redacted, signals)
    case = Case(
        exception,
        redacted,
        signals,
        conclusion,
        fingerprint(redacted),
        retry_round.earlier,
        redactor,
        retry_round,
        redactor.name(operator),
        is_supervisor_down,
        policy.classifier,
    )
    always_asked = (ClassifierTier.name,) if policy.vote_always else ()
    ruling = climb(case, policy.tiers(), policy.categories, always_asked=always_asked)
    plan = DelayPlan(None)
    if ruling.action is RetryAction.RETRY:
        plan = _plan(policy, ruling, retry_round, settings, redacted.observed_at, uniform)
        if plan.refusal:
            ruling = replace(ruling, action=RetryAction.FAIL, sentence=f"{ruling.sentence}; {plan.refusal}")
        elif plan.note:
            ruling = replace(ruling, sentence=f"{ruling.sentence}; {plan.note}")
    code = sanitize(redactor.name(ruling.verdict.code if ruling.verdict else "undecided"), MAX_NAME_CHARS)
    reason, *steps = redactor.texts([f"{code}: {ruling.sentence}", *plan.steps])
    attempt = Attempt(
        at=redacted.observed_at,
        started_at=retry_round.started_at,
        try_number=retry_round.try_number,
        max_tries=retry_round.max_tries,
        policy=redactor.name(policy_id(policy)),
        fingerprint=case.fingerprint,
        types=tuple(sanitize(node.type_path) for node in redacted.nodes[:16]),
        action=redactor.name(ruling.action.value),
        code=code,
        reason=sanitize(reason, MAX_REASON_CHARS),
        tier=ruling.tier,
        category=redactor.name(ruling.verdict.category) if ruling.verdict and ruling.verdict.category else None,
        delay_s=plan.seconds,
        delay_steps=tuple(steps),
        votes=ruling.votes,
        mode=settings.effective_mode(policy.mode),
        is_last_try=retry_round.is_last_try,
        consultation=ruling.consultation,
    )
    return Judgement(case, ruling, attempt)


def _plan(
    policy: EvidenceRetryPolicy,
    ruling: Ruling,
    retry_round: RetryRound,
    settings: Settings,
    now: datetime,
    uniform: Callable[[], float],
) -> DelayPlan:
    verdict = ruling.verdict
    if verdict is None:
        return DelayPlan(None)
    row = policy.categories.get(verdict.category or "")
    first_s = row.delay.total_seconds() if row and row.delay is not None else None
    wait = verdict.wait
    if wait in (None, Wait.NONE):  # a failure that would not have been retried, but for a rule or a changed table
        wait = row.wait if row else Wait.NONE
    backoff = Backoff(first_s, first_s * 1.1, factor=2) if first_s is not None else None
    hint_s = verdict.suggested_delay_s if backoff is None and wait in BACKOFFS else None
    if hint_s is not None:
        backoff = BACKOFFS[wait].starting_at(hint_s)
    left = policy.max_elapsed - retry_round.elapsed(now) if policy.max_elapsed is not None else None
    plan = plan_delay(
        wait=wait or Wait.NONE,
        progress=retry_round.progress(),
        schedule=retry_round.schedule,
        limits=Limits(
            max_delay_s=(policy.max_delay or settings.max_delay).total_seconds(),
            max_server_delay_s=(policy.max_server_delay or settings.max_server_delay).total_seconds(),
            elapsed_left_s=left.total_seconds() if left is not None else None,
        ),
        uniform=uniform,
        asked_s=verdict.asked_delay_s,
        fixed_s=verdict.delay.total_seconds() if verdict.delay is not None else None,
        backoff=backoff,
    )
    if hint_s is None or verdict.asked_delay_s is not None:
        return plan
    return replace(plan, steps=(f"the model suggests {seconds(hint_s)}, a hint within the bounds", *plan.steps))
