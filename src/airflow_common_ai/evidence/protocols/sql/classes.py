"""What database errors say that carry no code: SQLAlchemy's own, the classes of PEP 249, and some of drivers.

The classes of PEP 249 say little: ``OperationalError`` covers refused logins, full disks and lost connections, and
Snowflake raises ``ProgrammingError`` for a time limit. Only a broken constraint and a bad value settle anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_common_ai.evidence.model import RedactedNode, Wait, kind_of, root_of
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.sql.dialects import ROOTS

__all__ = ["STANDARD_CLASSES", "class_meaning"]

_NOW, _SHORT, _MEDIUM = Wait.NOW, Wait.SHORT, Wait.MEDIUM

_SQLALCHEMY = "SQLAlchemy 2.1.9"
_PEP = "PEP 249"
_DRIVERS = "snowflake-connector-python 3.18.1 and 5.2.0, trino 0.340.0, clickhouse-driver 0.2.11, vertica-python 1.4.0"

_GONE = "the connection to the database was lost or could not be made"
_ECHO = "the transaction had failed before; that error is the reason"
_WRONG_CODE = "the code uses SQLAlchemy wrongly"
_MISSING = "a database object does not exist"

_ROWS: tuple[tuple[str, Meaning], ...] = (
    ("sqlalchemy.PendingRollbackError", hint(depends("transient", _SHORT, _ECHO, _SQLALCHEMY))),
    ("sqlalchemy.DisconnectionError sqlalchemy.InvalidatePoolError", yes("network", _SHORT, _GONE, _SQLALCHEMY)),
    (
        "sqlalchemy.StaleDataError",
        depends("transient", _NOW, "somebody else changed or deleted the row", _SQLALCHEMY, 3),
    ),
    (
        "sqlalchemy.NoSuchTableError sqlalchemy.NoSuchColumnError sqlalchemy.NoReferenceError"
        " sqlalchemy.NoReferencedTableError sqlalchemy.NoReferencedColumnError",
        no("resource", _MISSING, _SQLALCHEMY),
    ),
    (
        "sqlalchemy.NoResultFound sqlalchemy.MultipleResultsFound",
        no("data", "the query returned not exactly one row", _SQLALCHEMY),
    ),
    (
        "sqlalchemy.ArgumentError sqlalchemy.CompileError sqlalchemy.UnsupportedCompilationError"
        " sqlalchemy.NoSuchModuleError sqlalchemy.NoInspectionAvailable sqlalchemy.UnboundExecutionError"
        " sqlalchemy.ObjectNotExecutableError sqlalchemy.AmbiguousForeignKeysError sqlalchemy.NoForeignKeysError"
        " sqlalchemy.IdentifierError sqlalchemy.DuplicateColumnError sqlalchemy.CircularDependencyError"
        " sqlalchemy.UnmappedError sqlalchemy.FlushError sqlalchemy.DetachedInstanceError sqlalchemy.MissingGreenlet"
        " sqlalchemy.AwaitRequired",
        no("permanent", _WRONG_CODE, _SQLALCHEMY),
    ),
    ("sqlalchemy.InvalidRequestError", hint(no("permanent", _WRONG_CODE, _SQLALCHEMY))),
    (
        "snowflake.ReauthenticationRequest snowflake.TokenExpiredError snowflake.RefreshTokenError",
        depends("auth", _SHORT, "the session or its token has expired; the next process opens a new one", _DRIVERS),
    ),
    ("snowflake.RevocationCheckError", depends("network", _SHORT, "a certificate could not be checked", _DRIVERS, 3)),
    ("trino.TrinoAuthError prestodb.PrestoAuthError", no("auth", "the login was refused", _DRIVERS)),
    (
        "trino.TrinoConnectionError trino.Http502Error trino.Http503Error trino.Http504Error"
        " prestodb.PrestoConnectionError prestodb.Http503Error clickhouse_driver.NetworkError"
        " clickhouse_driver.SocketTimeoutError vertica_python.ConnectionError vertica_python.ConnectionFailure",
        yes("network", _SHORT, _GONE, _DRIVERS),
    ),
    ("vertica_python.TimedOutError", depends("network", _SHORT, "the database did not answer in time", _DRIVERS, 3)),
)
_CLASSES: Mapping[str, Meaning] = {kind: meaning for kinds, meaning in _ROWS for kind in kinds.split()}

_STANDARD: Mapping[str, Meaning] = {
    "IntegrityError": no("data", "the data breaks a rule of the schema", _PEP),
    "DataError": no("data", "the data does not fit its type", _PEP),
    "NotSupportedError": hint(no("permanent", "the database or its driver cannot do this", _PEP)),
    "ProgrammingError": hint(no("permanent", "the statement or its use is wrong", _PEP)),
    "OperationalError": hint(depends("network", _SHORT, "something went wrong in running the database", _PEP, 3)),
    "InterfaceError": hint(depends("network", _SHORT, "something went wrong between task and database", _PEP, 3)),
    "InternalError": hint(depends("transient", _SHORT, "the database had an internal error", _PEP, 3)),
}
_INVALIDATED = yes("network", _SHORT, _GONE, "SQLAlchemy 2.1.9 connection_invalidated")

_CONNECTION_LOST = yes("network", _SHORT, _GONE, "mysql-connector 26.10.0, pymssql 2.4.6, asyncpg 0.32.0")
_LOST = re.compile(
    r"^(?:cannot perform operation: )?(?:the |MySQL )?connection (?:not available|is closed|is lost)"
    r"|^not connected to any",
    re.IGNORECASE,
)

STANDARD_CLASSES = frozenset({*_STANDARD, "Error", "DatabaseError"})
"""The names of PEP 249's classes."""

# What Python's own module raises before SQLite is asked.
_SQLITE_MISUSE = no("permanent", "the code uses sqlite3 wrongly", "CPython 3.11 sqlite3")
_SQLITE_MISUSE_WORDS = re.compile(
    "Incorrect number of bindings supplied|You can only execute one statement at a time"
    "|You did not supply a value for binding|Cannot operate on a closed (?:database|cursor)"
    "|SQLite objects created in a thread|Error binding parameter"
)


def class_meaning(node: RedactedNode) -> tuple[str, Meaning] | None:
    """Return the name of the class that says something, and what it says."""
    if node.facts.get("sql.connection_invalidated") is True:
        return "connection_invalidated", _INVALIDATED
    if node.type_path == "sqlite3.ProgrammingError" or (
        node.type_path in STANDARD_CLASSES and _SQLITE_MISUSE_WORDS.match(node.message)
    ):
        return "sqlite3.ProgrammingError", _SQLITE_MISUSE
    if _LOST.search(node.message) and node.class_name in _STANDARD and _is_database_error(node.type_path, node):
        return "connection_lost", _CONNECTION_LOST
    for path in (node.type_path, *node.base_paths):
        if (kind := kind_of(path)) in _CLASSES:
            return kind, _CLASSES[kind]
        name = path.rpartition(".")[2]
        if name in _STANDARD and _is_database_error(path, node):
            return kind, _STANDARD[name]
    return None


def _is_database_error(type_path: str, node: RedactedNode) -> bool:
    """Whether a class is one of PEP 249's and not just called so: Redis has a ``DataError`` of its own."""
    root = root_of(type_path)
    return root in ROOTS or root == "sqlalchemy" or node.is_a(f"{root}.DatabaseError")
