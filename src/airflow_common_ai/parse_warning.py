"""A warning while Dags are parsed, through Airflow's own hook for cluster policies."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from airflow.policies import hookimpl

__all__ = ["task_policy"]

_MAX_DEPTH = 8
"""Of chains in chains: one may refer to itself."""


@hookimpl
def task_policy(task: Any) -> None:
    """Warn about a task that has one of our policies and no retries: there is nothing for the policy to save."""
    if task.retries:
        return
    for name in _our_policies(getattr(task, "retry_policy", None)):
        warnings.warn(
            f"Task {task.task_id!r} has retry_policy={name} but retries=0: the policy can only fail the task, as "
            "Airflow does anyway. Use e.g. retries=3.",
            stacklevel=2,
        )
        return


def _our_policies(policy: object, depth: int = 0) -> Iterator[str]:
    """Name every policy of ours, subclasses and members of a ``ChainRetryPolicy`` too."""
    if any(base.__module__.startswith("airflow_common_ai.") for base in type(policy).__mro__):
        yield type(policy).__name__
    members = getattr(policy, "policies", None)
    if depth < _MAX_DEPTH and isinstance(members, list | tuple):
        for member in members:
            yield from _our_policies(member, depth + 1)
