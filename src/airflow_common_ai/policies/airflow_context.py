"""The only place that reads Airflow's task context, private paths included. Every accessor is None-safe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from airflow_common_ai.evidence.type_path import type_path
from airflow_common_ai.policies.delay import RetrySchedule

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context

__all__ = [
    "TaskKey",
    "is_retry_left",
    "mask_registered_secrets",
    "operator_path",
    "retry_schedule",
    "task_key",
    "trigger_traceback",
    "try_started_at",
]


class TaskKey(NamedTuple):
    """One task instance, whatever its try."""

    dag_id: str
    run_id: str
    task_id: str
    map_index: int


def task_key(context: Context | Mapping[str, Any] | None) -> TaskKey | None:
    """Return which task instance a context belongs to; ``None`` without one."""
    ti = _task_instance(context)
    if not all(isinstance(getattr(ti, name, None), str) for name in ("dag_id", "run_id", "task_id")):
        return None
    map_index = getattr(ti, "map_index", None)
    return TaskKey(ti.dag_id, ti.run_id, ti.task_id, map_index if isinstance(map_index, int) else -1)


def is_retry_left(context: Context | Mapping[str, Any] | None, try_number: int, max_tries: int) -> bool:
    """Return whether Airflow would run another try: the server's word where there is one, else the numbers."""
    from_server = getattr(_task_instance(context), "_ti_context_from_server", None)
    should_retry = getattr(from_server, "should_retry", None)
    if isinstance(should_retry, bool):
        return should_retry
    return max_tries != 0 and try_number <= max_tries


def trigger_traceback(context: Context | Mapping[str, Any] | None) -> str | None:
    """
    Return the traceback of the trigger behind a failed deferral.

    The task only sees ``TaskDeferralError("Trigger failure")``; the trigger's own traceback travels in the task
    instance's ``next_kwargs`` (Airflow 3.3, a private path).
    """
    from_server = getattr(_task_instance(context), "_ti_context_from_server", None)
    if getattr(from_server, "next_method", None) != "__fail__":
        return None
    kwargs = getattr(from_server, "next_kwargs", None)
    lines = kwargs.get("traceback") if isinstance(kwargs, Mapping) else None
    if isinstance(lines, str):
        return lines
    if isinstance(lines, list | tuple):
        return "".join(line for line in lines if isinstance(line, str)) or None
    return None


def mask_registered_secrets(text: str) -> str:
    """Mask the values that Airflow knows as secrets: connection passwords, extras, ``mask_secret()``."""
    return str(_airflow_redact()(text))


@cache
def _airflow_redact() -> Callable[[str], object]:
    # Not at the top: parsing a Dag masks nothing. Kept: the compatibility layer looks its names up at each import.
    from airflow.providers.common.compat.sdk import redact

    function: Callable[[str], object] = redact
    return function


def try_started_at(context: Context | Mapping[str, Any] | None) -> datetime | None:
    """Return when the try that has just failed was started."""
    started = getattr(_task_instance(context), "start_date", None)
    return started if isinstance(started, datetime) and started.tzinfo else None


def operator_path(context: Context | Mapping[str, Any] | None) -> str:
    """Return where the operator's class lives, which names its provider too; empty where there is no task."""
    task = _get(context, "task") or getattr(_task_instance(context), "task", None)
    return "" if task is None else type_path(type(task))


def retry_schedule(context: Context | Mapping[str, Any] | None) -> RetrySchedule:
    """Return the task's own retry settings; Airflow's defaults where there is no task."""
    task = _get(context, "task") or getattr(_task_instance(context), "task", None)
    own = RetrySchedule()
    delay = getattr(task, "retry_delay", None)
    multiplier = getattr(task, "retry_exponential_backoff", None)
    maximum = getattr(task, "max_retry_delay", None)
    return RetrySchedule(
        delay.total_seconds() if isinstance(delay, timedelta) else own.retry_delay_s,
        # Before 3.2 this was a flag, and on meant doubling.
        2.0 if multiplier is True else _bounded(multiplier, own.multiplier),
        maximum.total_seconds() if isinstance(maximum, timedelta) else None,
        is_known=isinstance(delay, timedelta),
    )


def _bounded(multiplier: object, default: float) -> float:
    return float(min(max(multiplier, 0), 1e6)) if isinstance(multiplier, int | float) else default


def _task_instance(context: Context | Mapping[str, Any] | None) -> Any:
    return _get(context, "ti") or _get(context, "task_instance")


def _get(context: Context | Mapping[str, Any] | None, key: str) -> Any:
    return context.get(key) if isinstance(context, Mapping) else None
