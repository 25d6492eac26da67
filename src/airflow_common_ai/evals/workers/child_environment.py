"""The environment of the processes in which a policy is asked."""

from __future__ import annotations

import os

__all__ = ["child_environment"]

_DATABASE = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
_BLOCKED = "airflow-db-not-allowed:"
"""Source: ``block_orm_access`` in airflow/sdk/execution_time/supervisor.py."""
_EMPTY = "sqlite://"


def child_environment() -> dict[str, str]:
    """
    Return the same order of sets in every run, and connections in Airflow's database as its own commands find them.

    One of Airflow's task processes may not use the database, and has a URL in its environment that cannot even be
    parsed: a child that imports Airflow would end with that. It gets an empty database in memory.
    """
    environment = {"_AIRFLOW_PROCESS_CONTEXT": "server", **os.environ, "PYTHONHASHSEED": "0"}
    if environment.get(_DATABASE, "").startswith(_BLOCKED):
        environment[_DATABASE] = _EMPTY
    return environment
