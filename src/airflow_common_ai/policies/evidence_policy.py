"""The retry policy that decides from evidence, without a model, a key or a network."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from airflow.sdk.definitions.retry_policy import RetryAction, RetryDecision, RetryPolicy, RetryRule

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.fingerprint import fingerprint
from airflow_common_ai.evidence.model import Evidence, Wait
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor, TextFilter
from airflow_common_ai.policies import airflow_context, history, telemetry
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES, FailureCategory, check_categories
from airflow_common_ai.policies.delay import Backoff, DelayPlan, Limits, plan_delay
from airflow_common_ai.policies.history import History
from airflow_common_ai.policies.ladder import Case, Ruling, Tier, climb
from airflow_common_ai.policies.own_fault import log_own_fault
from airflow_common_ai.policies.policy_id import policy_id
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.policies.rules import FailureRule, check_rules
from airflow_common_ai.policies.settings import Mode, Settings, read_settings
from airflow_common_ai.policies.tiers.repeat import RepeatTier
from airflow_common_ai.policies.tiers.rules import RulesTier
from airflow_common_ai.policies.tiers.signals import SignalsTier
from airflow_common_ai.sanitizer import sanitize

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context

__all__ = ["EvidenceRetryPolicy", "Judgement"]

log = logging.getLogger(__name__)

MAX_REASON_CHARS = 499
"""Airflow cuts a reason at 500 characters."""


@dataclass(frozen=True)
class Judgement:
    """A decision with all that led to it."""

    case: Case
    ruling: Ruling
    attempt: Attempt
    """What goes into the record."""


class EvidenceRetryPolicy(RetryPolicy):
    """
    Decides whether a failed task is retried from what the failure itself says.

    .. code-block:: python

        @task(retries=5, retry_policy=EvidenceRetryPolicy())
        def load(): ...

    Reads the whole exception chain, redacts it, and asks in this order: ``rules``, the signals in the evidence,
    whether the same unsure failure came twice in a row, ``fallback_rules``. What nobody settles is left to
    Airflow's own retries. Every decision is kept in the task state store under the key ``ai_retry``.

    Not for failures that never reach a policy: ``AirflowFailException``, sensor timeouts, killed workers.

    :param rules: Airflow's ``RetryRule`` and our :class:`FailureRule`, asked before anything else.
    :param categories: What is done about each category; entries that are not given are the defaults.
    :param fallback_rules: Rules for what nothing else has settled.
    :param max_delay: The longest delay that is computed here. ``None``: the option ``max_delay`` of the
        section ``[common_ai_retry]`` (1 h).
    :param max_server_delay: The longest delay that a server may ask for; beyond it the task fails at once,
        since an early try is a wasted try. ``None``: the option ``max_server_delay`` (24 h).
    :param max_elapsed: Time for all tries of a round, from the start of its first. ``None``: no limit.
    :param mode: ``enforce``, or ``shadow`` to record every decision and leave the task to Airflow's own retries.
        ``None``: the option ``mode`` (``enforce``). The option ``force_shadow`` beats everything.
    :param redactor: A function from text to text that removes more than the built-in redaction does.
    :param history: Whether to read and write the record in the task state store.
    :raises TypeError: An argument has the wrong type; raised when the Dag is parsed.
    :raises ValueError: An argument is out of range; raised when the Dag is parsed.
    """

    def __init__(
        self,
        *,
        rules: Sequence[FailureRule | RetryRule] = (),
        categories: Mapping[str, FailureCategory] = DEFAULT_CATEGORIES,
        fallback_rules: Sequence[FailureRule | RetryRule] = (),
        max_delay: timedelta | None = None,
        max_server_delay: timedelta | None = None,
        max_elapsed: timedelta | None = None,
        mode: Mode | None = None,
        redactor: TextFilter | None = None,
        history: bool = True,
    ) -> None:
        name = type(self).__name__
        self.rules = check_rules(rules, f"{name}.rules")
        self.categories = check_categories(categories)
        self.fallback_rules = check_rules(fallback_rules, f"{name}.fallback_rules")
        self.max_delay = _check_time(max_delay, f"{name}.max_delay")
        self.max_server_delay = _check_time(max_server_delay, f"{name}.max_server_delay")
        self.max_elapsed = _check_time(max_elapsed, f"{name}.max_elapsed")
        if mode not in (None, "enforce", "shadow"):
            raise ValueError(f"{name}.mode must be 'enforce', 'shadow' or None, got {mode!r}.")
        self.mode = mode
        if redactor is not None and not callable(redactor):
            raise TypeError(f"{name}.redactor must be a function from text to text, got {redactor!r}.")
        self.redactor = redactor
        if not isinstance(history, bool):
            raise TypeError(f"{name}.history must be True or False, got {history!r}.")
        self.history = history

    def evaluate(
        self,
        exception: BaseException,
        try_number: int,
        max_tries: int,
        context: Context | None = None,
    ) -> RetryDecision:
        """
        Decide about one failed try. Never raises an ``Exception``: our own fault never fails a user's task.

        :param exception: The exception that failed the task.
        :param try_number: The try that has failed, from 1.
        :param max_tries: The task instance's ``max_tries``.
        :param context: The task's context; without it there is no memory and no record.
        :return: RETRY with a delay, FAIL, or DEFAULT where nothing is settled, in shadow mode and on our own fault.
        """
        try:
            return self._evaluate(exception, try_number, max_tries, context)
        except Exception as fault:  # noqa: BLE001 - see above
            log_own_fault(fault)
            return RetryDecision.default()

    def judge(
        self,
        exception: BaseException,
        evidence: Evidence,
        retry_round: RetryRound,
        *,
        redactor: Redactor,
        settings: Settings,
        uniform: Callable[[], float],
    ) -> Judgement:
        """
        Decide from facts alone: no clock, no store, no log. The same for a live failure and a replayed one.

        :param exception: The live exception, for user rules only.
        :param evidence: What was collected from it.
        :param retry_round: Where the task stands.
        :param redactor: The wall that the evidence passes first.
        :param settings: The section of the configuration.
        :param uniform: Draws a number from [0, 1), for jitter.
        """
        redacted = redactor.redact(evidence)
        signals = read_signals(redacted)
        conclusion = conclude(redacted, signals)
        case = Case(exception, redacted, signals, conclusion, fingerprint(redacted), retry_round.earlier)
        ruling = climb(case, self.tiers(), self.categories)
        plan = DelayPlan(None)
        if ruling.action is RetryAction.RETRY:
            plan = self._plan(ruling, retry_round, settings, redacted.observed_at, uniform)
            if plan.refusal:
                ruling = replace(ruling, action=RetryAction.FAIL, sentence=f"{ruling.sentence}; {plan.refusal}")
        code = ruling.verdict.code if ruling.verdict else "undecided"
        attempt = Attempt(
            at=redacted.observed_at,
            started_at=retry_round.started_at,
            try_number=retry_round.try_number,
            max_tries=retry_round.max_tries,
            policy=policy_id(self),
            fingerprint=case.fingerprint,
            types=tuple(node.type_path for node in redacted.nodes[:16]),
            action=ruling.action.value,
            code=code,
            reason=sanitize(redactor.text(f"{code}: {ruling.sentence}"))[:MAX_REASON_CHARS],
            tier=ruling.tier,
            category=ruling.verdict.category if ruling.verdict else None,
            delay_s=plan.seconds,
            delay_steps=plan.steps,
            votes=ruling.votes,
            mode=settings.effective_mode(self.mode),
            is_last_try=retry_round.is_last_try,
        )
        return Judgement(case, ruling, attempt)

    def tiers(self) -> list[Tier]:
        """Return the rungs of the ladder, cheapest first."""
        return [
            RulesTier(self.rules),
            SignalsTier(),
            RepeatTier(),
            RulesTier(self.fallback_rules, name="fallback_rules"),
        ]

    def _evaluate(
        self, exception: BaseException, try_number: int, max_tries: int, context: Context | None
    ) -> RetryDecision:
        started = time.perf_counter()
        settings = read_settings()
        redactor = Redactor(airflow_context.mask_registered_secrets, self.redactor)
        trigger = airflow_context.trigger_traceback(context)
        evidence = collect(exception, extra_tracebacks=[trigger] if trigger else (), observed_at=datetime.now(UTC))

        store_started = time.perf_counter()
        past = self._load(context, redactor)
        store_s = time.perf_counter() - store_started

        retry_round = RetryRound.from_context(context, try_number, max_tries, past or History())
        judged = self.judge(
            exception, evidence, retry_round, redactor=redactor, settings=settings, uniform=random.random
        )
        attempt = replace(
            judged.attempt,
            milliseconds=(time.perf_counter() - started - store_s) * 1000,
            store_milliseconds=store_s * 1000,
        )
        self._record(context, past, attempt, self._retention(settings, retry_round))
        telemetry.emit(attempt)
        log.log(logging.WARNING if attempt.action == "fail" else logging.INFO, "%s", attempt.headline)
        if attempt.mode == "shadow" or attempt.action == "default":
            return RetryDecision.default()
        if attempt.action == "fail":
            return RetryDecision.fail(attempt.reason)
        delay = None if attempt.delay_s is None else timedelta(seconds=attempt.delay_s)
        return RetryDecision.retry(delay, attempt.reason)

    def _plan(
        self,
        ruling: Ruling,
        retry_round: RetryRound,
        settings: Settings,
        now: datetime,
        uniform: Callable[[], float],
    ) -> DelayPlan:
        verdict = ruling.verdict
        if verdict is None:
            return DelayPlan(None)
        row = self.categories.get(verdict.category or "")
        first_s = row.delay.total_seconds() if row and row.delay is not None else None
        left = self.max_elapsed - retry_round.elapsed(now) if self.max_elapsed is not None else None
        return plan_delay(
            wait=verdict.wait or (row.wait if row else Wait.NONE),
            progress=retry_round.progress(),
            schedule=retry_round.schedule,
            limits=Limits(
                max_delay_s=(self.max_delay or settings.max_delay).total_seconds(),
                max_server_delay_s=(self.max_server_delay or settings.max_server_delay).total_seconds(),
                elapsed_left_s=left.total_seconds() if left is not None else None,
            ),
            uniform=uniform,
            asked_s=verdict.asked_delay_s,
            fixed_s=verdict.delay.total_seconds() if verdict.delay is not None else None,
            backoff=Backoff(first_s, first_s * 1.1, factor=2) if first_s is not None else None,
        )

    def _load(self, context: Context | None, redactor: Redactor) -> History | None:
        """Read the record once; ``None`` if there is no store or it is down, and then it is not asked again."""
        if not self.history or context is None:
            return None
        try:
            return history.load(context, redactor.text)
        except Exception as error:  # noqa: BLE001 - whatever the store raises
            log.warning("The record %r could not be read: %s", history.KEY, type(error).__name__)
            return None

    def _record(self, context: Context | None, past: History | None, attempt: Attempt, retention: timedelta) -> None:
        if not self.history or context is None:
            return
        record = (past or History()).with_attempt(attempt)
        history.remember(context, record)
        if past is None:
            return
        try:
            history.save(context, record, retention)
        except Exception as error:  # noqa: BLE001 - whatever the store raises
            log.warning("The record %r could not be written: %s", history.KEY, type(error).__name__)

    def _retention(self, settings: Settings, retry_round: RetryRound) -> timedelta:
        """The record must outlive the longest delay, or the next try has no memory."""
        longest = max(
            self.max_delay or settings.max_delay,
            self.max_server_delay or settings.max_server_delay,
            timedelta(seconds=retry_round.schedule.delay_s(retry_round.try_number)),
        )
        return max(settings.history_retention, longest + timedelta(days=1))


def _check_time(value: object, name: str) -> timedelta | None:
    if value is None:
        return None
    if not isinstance(value, timedelta):
        raise TypeError(f"{name} must be a timedelta or None, got {value!r}. Use e.g. timedelta(hours=1).")
    if value <= timedelta(0):
        raise ValueError(f"{name} must be longer than zero, got {value!r}. Use e.g. timedelta(hours=1).")
    return value
