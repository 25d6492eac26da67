"""Processes that a task starts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from airflow_common_ai.evals.task_process import children_may_import_airflow

NAME = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
BLOCKED = "airflow-db-not-allowed:///"


def can_import_airflow() -> bool:
    return subprocess.run([sys.executable, "-c", "import airflow"], check=False, capture_output=True).returncode == 0


def test_a_child_of_a_task_can_import_airflow_and_the_task_still_has_no_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(NAME, BLOCKED)
    assert not can_import_airflow(), "else nothing needs to be done"
    with children_may_import_airflow():
        assert can_import_airflow()
    assert os.environ[NAME] == BLOCKED


def test_a_database_that_is_not_blocked_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "sqlite:////somewhere/airflow.db")
    with children_may_import_airflow():
        assert os.environ[NAME] == "sqlite:////somewhere/airflow.db"
