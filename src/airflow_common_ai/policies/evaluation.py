"""One failure as it happens: collect, remember, judge, record, and answer Airflow."""

from __future__ import annotations

import logging
import random
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from airflow.sdk.definitions.retry_policy import RetryDecision

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.evidence.type_path import built_in_name
from airflow_common_ai.policies import airflow_context, history, telemetry
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.policies.history import History
from airflow_common_ai.policies.judgement import judge
from airflow_common_ai.policies.own_fault import INTERRUPTS, say
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.policies.settings import Settings, read_settings

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context

    from airflow_common_ai.policies.evidence_policy import EvidenceRetryPolicy

__all__ = ["evaluate"]

log = logging.getLogger(__name__)

_LONGEST_WAIT_S = 366 * 86400.0


def evaluate(
    policy: EvidenceRetryPolicy,
    exception: BaseException,
    try_number: int,
    max_tries: int,
    context: Context | None,
) -> RetryDecision:
    """Decide about a failed try, keep the decision, and return it in Airflow's terms."""
    started = time.perf_counter()
    settings = read_settings()
    redactor = Redactor(airflow_context.mask_registered_secrets, policy.redactor)
    trigger = airflow_context.trigger_traceback(context)
    evidence = collect(exception, extra_tracebacks=[trigger] if trigger else (), observed_at=datetime.now(UTC))

    store_started = time.perf_counter()
    past = _load(context, redactor) if policy.history and context is not None else None
    store_s = time.perf_counter() - store_started

    is_store_down = policy.history and context is not None and past is None
    retry_round = RetryRound.from_context(context, try_number, max_tries, past or History())
    judged = judge(
        policy,
        exception,
        evidence,
        retry_round,
        redactor=redactor,
        settings=settings,
        uniform=random.random,
        operator=airflow_context.operator_path(context),
        is_supervisor_down=is_store_down,
    )
    attempt = replace(
        judged.attempt,
        milliseconds=(time.perf_counter() - started - store_s) * 1000,
        store_milliseconds=store_s * 1000,
    )
    if policy.history and context is not None:
        _record(context, past, attempt, _retention(policy, settings, retry_round, attempt.delay_s or 0.0))
    telemetry.emit(attempt)
    telemetry.announce(attempt)
    if attempt.mode == "shadow" or attempt.action == "default":
        return RetryDecision.default()
    if attempt.action == "fail":
        return RetryDecision.fail(attempt.reason)
    delay = None if attempt.delay_s is None else timedelta(seconds=attempt.delay_s)
    return RetryDecision.retry(delay, attempt.reason)


def _load(context: Context, redactor: Redactor) -> History | None:
    """Read the record once; ``None`` if the store is down, and then it is not asked again."""
    try:
        return history.load(context, redactor)
    except INTERRUPTS:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the store raises
        say(log, logging.WARNING, "The record %r could not be read: %s", history.KEY, built_in_name(error))
        return None


def _record(context: Context, past: History | None, attempt: Attempt, retention: timedelta) -> None:
    record = (past or History()).with_attempt(attempt)
    try:
        history.remember(context, record)
        if past is None or (attempt.consultation and attempt.consultation.has_airflow_failed):
            return  # a call to Airflow has failed: another one would take as long
        history.save(context, record, retention)
    except INTERRUPTS:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the store raises
        say(log, logging.WARNING, "The record %r could not be written: %s", history.KEY, built_in_name(error))


def _retention(policy: EvidenceRetryPolicy, settings: Settings, retry_round: RetryRound, delay_s: float) -> timedelta:
    """The record must outlive the longest delay, or the next try has no memory."""
    longest = max(
        timedelta(seconds=delay_s),
        policy.max_delay or settings.max_delay,
        policy.max_server_delay or settings.max_server_delay,
        timedelta(seconds=min(retry_round.schedule.delay_s(retry_round.try_number), _LONGEST_WAIT_S)),
    )
    return max(settings.history_retention, longest + timedelta(days=1))
