"""A warning while Dags are parsed, through Airflow's own hook for cluster policies."""

from __future__ import annotations

import warnings
from typing import Any

from airflow.policies import hookimpl

__all__ = ["task_policy"]


@hookimpl
def task_policy(task: Any) -> None:
    """Warn about a task that has one of our policies and no retries: there is nothing for the policy to save."""
    policy = getattr(task, "retry_policy", None)
    if type(policy).__module__.startswith("airflow_common_ai.") and not task.retries:
        warnings.warn(
            f"Task {task.task_id!r} has retry_policy={type(policy).__name__} but retries=0: the policy can only fail "
            "the task, as Airflow does anyway. Use e.g. retries=3.",
            stacklevel=2,
        )
