"""Processes that an evaluation starts, perhaps in a task of Airflow's."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from airflow_common_ai.evals.workers.child_environment import child_environment

NAME = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
BLOCKED = "airflow-db-not-allowed:///"


def can_import_airflow(environment: dict[str, str]) -> bool:
    command = [sys.executable, "-c", "import airflow"]
    return subprocess.run(command, env=environment, check=False, capture_output=True).returncode == 0


def test_a_child_of_a_task_can_import_airflow_and_the_task_still_has_no_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(NAME, BLOCKED)
    assert not can_import_airflow(dict(os.environ)), "else nothing needs to be done"
    assert can_import_airflow(child_environment())
    assert os.environ[NAME] == BLOCKED


def test_a_database_that_is_not_blocked_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "sqlite:////somewhere/airflow.db")
    assert child_environment()[NAME] == "sqlite:////somewhere/airflow.db"
