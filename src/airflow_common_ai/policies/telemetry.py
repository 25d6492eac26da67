"""Airflow's metrics and an OpenTelemetry span about each decision, where the deployment has them on."""

from __future__ import annotations

import logging
import time

from airflow_common_ai.evidence.type_path import built_in_name
from airflow_common_ai.policies.attempt import Attempt

__all__ = ["emit"]

log = logging.getLogger(__name__)


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
        end_ns = time.time_ns()
        span = trace.get_tracer("airflow_common_ai").start_span(
            "common_ai_retry.decision",
            attributes={
                **tags,
                "code": attempt.code,
                "reason": attempt.reason,
                "try_number": attempt.try_number,
            },
            start_time=end_ns - int(attempt.milliseconds * 1e6),
        )
        span.end(end_ns)
    except Exception as error:  # noqa: BLE001 - a metrics backend that is down must not cost a retry
        log.debug("No metrics about this decision: %s", built_in_name(error))
