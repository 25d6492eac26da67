"""The page on when a policy is not asked says of each row how it is known, and what it says is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "when-not-asked.md"

NOT_ASKED = "policies/test_when_not_asked.py"
IN_AIRFLOW = "policies/test_evidence_policy_in_airflow.py"
IN_REAL_AIRFLOW = "end_to_end/test_real_airflow.py"

SHOWN_BY = {
    "`AirflowFailException` and subclasses": (IN_AIRFLOW, "test_airflow_fail_exception_never_reaches_a_policy"),
    "a sensor's `timeout` (`AirflowSensorTimeout`)": (
        IN_AIRFLOW,
        "test_a_sensor_whose_poke_fails_is_judged_and_one_that_times_out_is_not",
    ),
    "`soft_fail=True` and the sensor's `timeout`": (
        IN_AIRFLOW,
        "test_a_sensor_whose_poke_fails_is_judged_and_one_that_times_out_is_not",
    ),
    "`AirflowSkipException`, deferral, reschedule": (NOT_ASKED, "test_what_is_no_failure_leaves_no_record"),
    "the worker process was killed (SIGKILL, out of memory)": (
        IN_REAL_AIRFLOW,
        "test_a_killed_task_is_retried_by_airflow_and_leaves_the_record_whole",
    ),
    "cleared by a person": (IN_REAL_AIRFLOW, "test_a_clear_begins_a_new_round_and_the_old_one_stays_visible"),
    "SIGTERM": (NOT_ASKED, "test_sigterm_raises_nothing_and_what_the_task_raises_then_is_judged"),
    "`TriggerDagRunOperator` finds the run there already": (
        NOT_ASKED,
        "test_a_run_that_is_there_already_is_decided_by_the_operator",
    ),
    "`dag.test()`, and a trigger fails": (
        NOT_ASKED,
        "test_dag_test_asks_no_policy_when_a_trigger_fails_and_a_triggerer_makes_it_be_asked",
    ),
}
"""Which test shows a row."""


def rows() -> dict[str, str]:
    """The first and the last cell of each row."""
    lines = re.findall(r"^\| (.*) \|$", PAGE.read_text(), re.MULTILINE)[2:]
    return {cells[0]: cells[-1] for cells in (line.split(" | ") for line in lines)}


def test_every_row_says_how_it_is_known() -> None:
    assert len(rows()) > 10
    assert set(rows().values()) == {"test", "real Airflow", "source"}


def test_what_a_row_calls_tested_is_tested_and_nothing_else_is_called_so() -> None:
    assert {row for row, known_from in rows().items() if known_from != "source"} == SHOWN_BY.keys()
    in_real_airflow = {row for row, known_from in rows().items() if known_from == "real Airflow"}
    assert in_real_airflow == {row for row, (file, _) in SHOWN_BY.items() if file == IN_REAL_AIRFLOW}


@pytest.mark.parametrize("row", SHOWN_BY)
def test_the_test_of_a_row_is_there(row: str) -> None:
    file, name = SHOWN_BY[row]
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
