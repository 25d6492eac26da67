"""What a deployment sees of each decision: a line in the task's log, Airflow's metrics, an OpenTelemetry span."""

from __future__ import annotations

import logging
import time

from airflow_common_ai.evidence.type_path import built_in_name
from airflow_common_ai.policies.attempt import Attempt, Consultation
from airflow_common_ai.policies.own_fault import INTERRUPTS, say

__all__ = ["announce", "emit"]

log = logging.getLogger(__name__)


def announce(attempt: Attempt) -> None:
    """Write the one line into the task's log."""
    say(log, logging.WARNING if attempt.action == "fail" else logging.INFO, "%s", attempt.headline)


def emit(attempt: Attempt) -> None:
    """Count the decision and its time; costs nothing but a log line when that fails."""
    tags = {
        "action": attempt.action,
        "category": attempt.category or "none",
        "tier": attempt.tier or "none",
        "mode": attempt.mode,
    }
    try:
        from airflow.providers.common.compat.sdk import Stats
        from opentelemetry import trace

        Stats.incr("common_ai_retry.decisions", tags=tags)
        Stats.timing("common_ai_retry.decision_time", attempt.milliseconds, tags=tags)
        said = attempt.consultation
        if said and said.connection_milliseconds is not None:
            Stats.incr("common_ai_retry.model_calls", tags={**tags, "used": "no" if said.unused else "yes"})
            if said.milliseconds is not None:
                Stats.timing("common_ai_retry.model_time", said.milliseconds, tags=tags)
        end_ns = time.time_ns()
        span = trace.get_tracer("airflow_common_ai").start_span(
            "common_ai_retry.decision",
            attributes={
                **tags,
                "code": attempt.code,
                "reason": attempt.reason,
                "try_number": attempt.try_number,
                **(_of_model(said) if said else {}),
            },
            start_time=end_ns - int(attempt.milliseconds * 1e6),
        )
        span.end(end_ns)
    except INTERRUPTS:
        raise
    except BaseException as error:  # noqa: BLE001 - a metrics backend that is down must not cost a retry
        say(log, logging.DEBUG, "No metrics about this decision: %s", built_in_name(error))


def _of_model(said: Consultation) -> dict[str, str | int]:
    """Name what OpenTelemetry's conventions for generative models name; no prompt, no answer."""
    attributes = {
        "gen_ai.response.model": said.model,
        "gen_ai.usage.input_tokens": said.input_tokens,
        "gen_ai.usage.output_tokens": said.output_tokens,
        "model.unused": said.unused,
    }
    return {name: value for name, value in attributes.items() if value is not None}
