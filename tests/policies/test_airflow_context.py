"""Private paths of Airflow's task context, pinned against Airflow's own classes."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.sdk import BaseOperator
from airflow.sdk.api.datamodels._generated import DagRun, TIRunContext
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

from airflow_common_ai.policies.airflow_context import (
    TaskKey,
    is_retry_left,
    retry_schedule,
    task_key,
    trigger_traceback,
    try_started_at,
)
from airflow_common_ai.policies.delay import RetrySchedule

NOW = datetime(2026, 1, 5, 6, 7, 8, tzinfo=UTC)


def context_of(ti: dict[str, Any] | None = None, task: dict[str, Any] | None = None, **from_server: Any) -> Any:
    """Return what the task runner hands to a policy, made of Airflow's own classes."""
    server = TIRunContext(
        dag_run=DagRun.model_construct(dag_id="d", run_id="r"),
        max_tries=3,
        **from_server,  # type: ignore[arg-type]
    )
    operator = BaseOperator(task_id="t", **(task or {}))
    instance = RuntimeTaskInstance.model_construct(
        id=uuid.uuid4(), task_id="t", dag_id="d", run_id="r", try_number=1, map_index=-1, start_date=NOW, task=operator,
        _ti_context_from_server=server, **(ti or {}),
    )  # fmt: skip
    return {"ti": instance, "task_instance": instance, "task": operator}


@pytest.mark.parametrize("should_retry", [True, False])
def test_whether_a_retry_is_left_is_the_servers_word_against_the_numbers(should_retry: bool) -> None:
    context = context_of(should_retry=should_retry)
    for try_number, max_tries in ((1, 3), (4, 3), (1, 0)):
        assert is_retry_left(context, try_number, max_tries) is should_retry


def test_a_server_that_says_nothing_leaves_it_to_the_numbers() -> None:
    context = context_of(should_retry=None)
    assert [is_retry_left(context, *numbers) for numbers in ((1, 3), (3, 3), (4, 3), (1, 0))] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("context", [None, {}, {"ti": None}, {"ti": object()}])
def test_without_a_task_instance_the_numbers_decide(context: Any) -> None:
    assert is_retry_left(context, 1, 1) is True
    assert is_retry_left(context, 2, 1) is False


@pytest.mark.parametrize(
    ("from_server", "expected"),
    [
        ({"next_method": "__fail__", "next_kwargs": {"traceback": ["Traceback\n", "  x\n"]}}, "Traceback\n  x\n"),
        ({"next_method": "__fail__", "next_kwargs": {"traceback": None}}, None),
        ({"next_method": "__fail__", "next_kwargs": {"error": "Trigger timeout"}}, None),
        ({"next_method": "__fail__", "next_kwargs": "a reference"}, None),
        ({"next_method": "__fail__", "next_kwargs": None}, None),
        ({"next_method": "resume", "next_kwargs": {"traceback": ["a kwarg of the user's own"]}}, None),
        ({}, None),
    ],
)
def test_the_traceback_of_a_trigger_is_read_only_from_a_failed_deferral(
    from_server: dict[str, Any], expected: str | None
) -> None:
    assert trigger_traceback(context_of(**from_server)) == expected


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({}, RetrySchedule(300)),
        ({"retry_delay": timedelta(seconds=7)}, RetrySchedule(7)),
        ({"retry_delay": 7}, RetrySchedule(7)),
        ({"retry_exponential_backoff": True}, RetrySchedule(300, 2)),
        ({"retry_exponential_backoff": 3}, RetrySchedule(300, 3)),
        ({"max_retry_delay": timedelta(hours=1)}, RetrySchedule(300, max_retry_delay_s=3600)),
    ],
)
def test_the_tasks_own_schedule_is_that_of_airflows_operator(task: dict[str, Any], expected: RetrySchedule) -> None:
    read = retry_schedule(context_of(task=task))
    assert (read.retry_delay_s, read.max_retry_delay_s) == (expected.retry_delay_s, expected.max_retry_delay_s)
    assert [read.delay_s(number) for number in (1, 2, 3)] == [expected.delay_s(number) for number in (1, 2, 3)]
    assert read.is_known


def test_without_a_task_the_schedule_is_airflows_default_and_not_known() -> None:
    assert retry_schedule(None) == RetrySchedule(is_known=False)


def test_the_key_and_the_start_of_a_try_are_those_of_the_task_instance() -> None:
    context = context_of()
    assert task_key(context) == TaskKey("d", "r", "t", -1)
    assert try_started_at(context) == NOW
