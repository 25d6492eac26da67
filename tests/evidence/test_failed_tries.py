"""Of a log that holds several failures each one is found, and nothing that a task handled."""

from __future__ import annotations

import json
import traceback
from datetime import UTC, datetime

import pytest
from airflow_log import TaskLog, printed

from airflow_common_ai.evidence.logs.failed_tries import read_failures

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def raised(exception: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise exception from cause
    except BaseException as error:
        return error


def traced(exception: BaseException) -> str:
    return "".join(traceback.format_exception(exception))


def found(text: str, *, is_task_log: bool = False) -> list[str]:
    """Return what each failure says."""
    return [failure.nodes[0].message for failure in read_failures(text, NOW, is_task_log=is_task_log)]


ONE, TWO = raised(ValueError("one")), raised(OSError("two"), raised(KeyError("why")))
HANDLED = raised(LookupError("handled"))
GROUP = raised(ExceptionGroup("many", [ONE, ExceptionGroup("inner", [TWO])]))
LEAD = "[2026-01-31T12:00:00.000+0000] {taskinstance.py:2890}"


def test_each_try_of_a_log_counts() -> None:
    log = TaskLog().begins().failed(ONE).begins().failed(TWO).begins().failed(ONE)

    assert found(log.stored) == ["one", "two", "one"]
    assert found(json.dumps({"content": log.records})) == ["one", "two", "one"]


def test_each_try_of_airflow_2_counts() -> None:
    log = "".join(
        f"{LEAD} INFO - Starting attempt {number} of 2\n{LEAD} ERROR - Task failed with exception\n{traced(error)}"
        for number, error in enumerate((ONE, TWO), 1)
    )

    assert found(log) == ["one", "two"]


def test_many_tasks_in_one_log_each_count_by_what_airflow_says_about_them() -> None:
    log = TaskLog().failed(ONE).info("in between").failed(TWO)

    assert found(log.stored) == ["one", "two"]
    assert found(printed(ONE) + printed(TWO)) == ["one", "two"]


def test_an_exception_that_a_task_handled_is_no_failure() -> None:
    log = TaskLog().begins().error("will try again", exc_info=HANDLED)

    assert found(log.stored) == []
    assert found(log.failed(ONE).stored) == ["one"]
    assert found(log.error("callback broke", exc_info=HANDLED).stored) == ["one"]


def test_without_the_beginning_of_a_try_it_is_known_from_outside_that_a_log_is_a_tasks() -> None:
    log = TaskLog().error("will try again", exc_info=HANDLED).stored

    assert found(log) == ["handled"]
    assert found(log, is_task_log=True) == []


def test_a_task_that_exited_has_failed() -> None:
    log = TaskLog().begins().error("Task exited", exit_code=137)

    assert [failure.nodes[0].class_name for failure in read_failures(log.stored, NOW)] == ["SystemExit"]


@pytest.mark.parametrize("between", ["", "\n\n", "2026-01-31 12:00:00 INFO going on\n"])
def test_every_traceback_of_its_own_counts_in_any_other_text(between: str) -> None:
    text = between.join(map(traced, (TWO, GROUP, ONE, TWO)))

    assert found(text) == ["two", "many (2 sub-exceptions)", "one", "two"]


@pytest.mark.parametrize("error", [TWO, GROUP], ids=["a chain", "a group"])
@pytest.mark.parametrize("lead", ["", "2026-01-31T12:00:00.123456789Z stdout F "])
def test_what_belongs_to_one_traceback_stays_together(error: BaseException, lead: str) -> None:
    text = "".join(f"{lead}{line}\n" for line in traced(error).splitlines())

    assert len(found(text)) == 1
    assert len(found(text * 3)) == 3


def test_the_traceback_of_a_pools_worker_is_the_cause_of_what_its_caller_raised() -> None:
    remote = f'multiprocessing.pool.RemoteTraceback: \n"""\n{traced(ONE)}"""\n'
    link = "\nThe above exception was the direct cause of the following exception:\n\n"

    assert found(f"{remote}{link}{traced(raised(ValueError('outer')))}") == ["outer"]


def test_decisions_of_a_policy_are_no_failures() -> None:
    log = TaskLog().begins().failed(ONE).error("Retry policy decision: Task failed with exception", exc_info=HANDLED)

    assert found(log.stored) == ["one"]


@pytest.mark.parametrize("text", ["", "all is well\n" * 3, "{" * 100, '{"content": []}'])
def test_where_nothing_failed_nothing_is_found(text: str) -> None:
    assert found(text) == []
