"""What is different where an evaluation runs inside of one of Airflow's task processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["children_may_import_airflow"]

_NAME = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
_BLOCKED = "airflow-db-not-allowed:"
"""Source: ``block_orm_access`` in airflow/sdk/execution_time/supervisor.py."""
_EMPTY = "sqlite://"


@contextmanager
def children_may_import_airflow() -> Iterator[None]:
    """
    Let the processes that are started meanwhile import Airflow.

    A task process may not use the database, and has a URL in its environment that cannot even be parsed: a child that
    imports Airflow ends with that. A child started here has an empty database in memory.
    """
    before = os.environ.get(_NAME, "")
    if not before.startswith(_BLOCKED):
        yield
        return
    os.environ[_NAME] = _EMPTY
    try:
        yield
    finally:
        os.environ[_NAME] = before
