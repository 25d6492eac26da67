"""What every test shares: an Airflow home of its own, set before anything imports Airflow, and gone afterwards."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from airflow_runner import DagRunner, airflow_environment
from real_airflow import RealAirflow, running_airflow

_home = Path(tempfile.mkdtemp(prefix="airflow-common-ai-tests-"))
atexit.register(shutil.rmtree, _home, ignore_errors=True)
for _name in [name for name in os.environ if name.startswith(("AIRFLOW__", "AIRFLOW_CONN_", "AIRFLOW_VAR_"))]:
    del os.environ[_name]
os.environ.update(airflow_environment(_home))


@pytest.fixture(scope="session")
def airflow_database() -> Path:
    """A migrated SQLite database that this process uses; about five seconds, once."""
    from airflow.utils.db import initdb

    initdb()
    return _home / "airflow.db"


@pytest.fixture
def run_dag(airflow_database: Path) -> DagRunner:
    """Run a Dag in this process: see :mod:`airflow_runner`."""
    return DagRunner(airflow_database)


@pytest.fixture(scope="module")
def real_airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAirflow]:
    """All processes of an Airflow, started once: see :mod:`real_airflow`."""
    with running_airflow(tmp_path_factory.mktemp("real-airflow")) as airflow:
        yield airflow
