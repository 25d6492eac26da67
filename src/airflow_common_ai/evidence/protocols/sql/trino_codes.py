"""Trino's and Presto's error names, and what their types say of the rest."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, code_table

__all__ = ["TABLE", "UNMISTAKABLE", "find_meaning"]

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM

_TRINO = "trinodb/trino StandardErrorCode; trino 0.340.0"

_STATEMENT = "the statement itself is wrong"
_MISSING = "a database object does not exist"
_PART_LOST = "the cluster lost a part of the query"
_NO_ROOM = "the cluster has no room or is starting"
_LIMIT = "the query needs more than it may have"

_ROWS: tuple[Row, ...] = (
    (
        "TRANSACTION_CONFLICT ADMINISTRATIVELY_PREEMPTED REMOTE_TASK_ERROR REMOTE_HOST_GONE PAGE_TRANSPORT_ERROR"
        " PAGE_TRANSPORT_TIMEOUT REMOTE_TASK_MISMATCH ABANDONED_TASK GENERIC_INTERNAL_ERROR",
        yes("transient", _SHORT, _PART_LOST, _TRINO),
    ),
    (
        "NO_NODES_AVAILABLE SERVER_STARTING_UP SERVER_SHUTTING_DOWN CLUSTER_OUT_OF_MEMORY EXCEEDED_GLOBAL_MEMORY_LIMIT",
        yes("transient", _MEDIUM, _NO_ROOM, _TRINO),
    ),
    (
        "QUERY_QUEUE_FULL TOO_MANY_REQUESTS_FAILED",
        yes("rate_limit", _MEDIUM, "too many queries at the same time", _TRINO),
    ),
    (
        "EXCEEDED_LOCAL_MEMORY_LIMIT EXCEEDED_TIME_LIMIT EXCEEDED_CPU_LIMIT EXCEEDED_SCAN_LIMIT EXCEEDED_SPILL_LIMIT"
        " OUT_OF_SPILL_SPACE EXCEEDED_FUNCTION_MEMORY_LIMIT",
        depends("permanent", _MEDIUM, _LIMIT, _TRINO),
    ),
    ("ABANDONED_QUERY", depends("network", _SHORT, "the client did not fetch the result in time", _TRINO, 3)),
    ("USER_CANCELED ADMINISTRATIVELY_KILLED", depends("permanent", _SHORT, "somebody cancelled the query", _TRINO)),
    ("PERMISSION_DENIED", no("auth", "a permission is missing", _TRINO)),
    (
        "TABLE_NOT_FOUND COLUMN_NOT_FOUND CATALOG_NOT_FOUND SCHEMA_NOT_FOUND NOT_FOUND ROLE_NOT_FOUND"
        " TABLE_HAS_NO_COLUMNS",
        no("resource", _MISSING, _TRINO),
    ),
    (
        "ALREADY_EXISTS TABLE_ALREADY_EXISTS COLUMN_ALREADY_EXISTS SCHEMA_ALREADY_EXISTS",
        no("data", "it already exists; an earlier attempt may have made it", _TRINO),
    ),
    (
        "DIVISION_BY_ZERO INVALID_CAST_ARGUMENT NUMERIC_VALUE_OUT_OF_RANGE INVALID_FUNCTION_ARGUMENT"
        " CONSTRAINT_VIOLATION SUBQUERY_MULTIPLE_ROWS INVALID_LITERAL",
        no("data", "a value cannot be computed with", _TRINO),
    ),
    ("SYNTAX_ERROR TYPE_MISMATCH FUNCTION_NOT_FOUND", no("permanent", _STATEMENT, _TRINO)),
)

TABLE = code_table("trino", _ROWS)

_SHARED = frozenset({"ALREADY_EXISTS", "NOT_FOUND", "PERMISSION_DENIED", "USER_CANCELED", "CONSTRAINT_VIOLATION"})

UNMISTAKABLE: Mapping[str, Meaning] = {name: row for name, row in TABLE.codes.items() if name not in _SHARED}
"""Names that no other service uses: what they mean where they are only printed."""

_TYPES: Mapping[str, Meaning] = {
    "USER_ERROR": no("permanent", _STATEMENT, _TRINO),
    "INTERNAL_ERROR": depends("transient", _SHORT, "the cluster had an internal error", _TRINO, 3),
    "INSUFFICIENT_RESOURCES": depends("transient", _MEDIUM, _NO_ROOM, _TRINO),
    "EXTERNAL": depends("transient", _SHORT, "something behind the cluster failed", _TRINO, 3),
}


def find_meaning(name: str | None, kind: str | None) -> Meaning | None:
    """Return what an error means by its name, or else by its type."""
    return TABLE.codes.get(name or "") or _TYPES.get(kind or "")
