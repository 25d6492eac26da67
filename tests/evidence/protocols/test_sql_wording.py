"""Codes of databases that are only printed: in the message of a wrapper, in a log, by a command."""

# ruff: noqa: E501 - messages stand as they were written

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from failure_reading import alive, conclusion, conclusion_code, printed

from airflow_common_ai.evidence.model import RedactedNode, Retry
from airflow_common_ai.evidence.protocols.sql import reader as sql

NOW = datetime(2026, 1, 1, tzinfo=UTC)
AIRFLOW_EXCEPTION = "airflow.sdk.exceptions.AirflowException"


def codes(message: str, type_path: str = AIRFLOW_EXCEPTION) -> list[str]:
    return [
        signal.code if signal.is_conclusive else f"({signal.code})"
        for signal in sql.read(RedactedNode(type_path, message=message), NOW)
    ]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("(pymysql.err.OperationalError) (1213, 'Deadlock found when trying to get lock; try restarting transaction')", "mysql.1213"),
        ("Load failed: pymysql.err.OperationalError: (1045, \"Access denied for user 'etl'@'10.0.0.1' (using password: YES)\")", "mysql.1045"),
        ("(MySQLdb.OperationalError) (2006, 'MySQL server has gone away')\n[SQL: INSERT INTO t VALUES (1)]", "mysql.2006"),
        ("(mysql.connector.errors.DatabaseError) 1205 (HY000): Lock wait timeout exceeded", "mysql.1205"),
        ("(psycopg2.errors.DeadlockDetected) deadlock detected\nDETAIL:  Process 1 waits", "sql.40P01"),
        ("psycopg.errors.UniqueViolation: duplicate key value violates unique constraint", "sql.23505"),
        ("query failed with psycopg2.errors.QueryCanceled", "sql.57014"),
        ("(sqlalchemy.dialects.postgresql.asyncpg.IntegrityError) <class 'asyncpg.exceptions.UniqueViolationError'>: duplicate key", "sql.23505"),
        ("(sqlite3.OperationalError) database is locked", "sqlite.SQLITE_BUSY"),
        ("(sqlite3.OperationalError) no such table: t", "sqlite.SQLITE_ERROR"),
        ("(oracledb.exceptions.DatabaseError) ORA-00060: deadlock detected while waiting for resource\nHelp: https://docs.oracle.com/", "oracle.ORA-00060"),
        ("cx_Oracle.DatabaseError: ORA-12541: TNS:no listener", "oracle.ORA-12541"),
        ("(pymssql.exceptions.OperationalError) (1205, b'Transaction (Process ID 56) was deadlocked')", "mssql.1205"),
        ("(pyodbc.ProgrammingError) ('42S02', \"[42S02] [Microsoft][ODBC Driver 17 for SQL Server][SQL Server]Invalid object name 'x'. (208) (SQLExecDirectW)\")", "mssql.208"),
        ("load: [40001] [Microsoft][ODBC Driver 17 for SQL Server][SQL Server]Transaction was deadlocked. (1205) (SQLExecDirectW)", "mssql.1205"),
        ("(snowflake.connector.errors.ProgrammingError) 000606 (57P03): No active warehouse selected in the current session.", "snowflake.000606"),
        ("Query failed: 002003 (42S02): SQL compilation error:\nObject 'X' does not exist or not authorized.", "snowflake.002003"),
        ("(trino.exceptions.TrinoQueryError) TrinoQueryError(type=INTERNAL_ERROR, name=REMOTE_HOST_GONE, message=\"x\", query_id=q)", "trino.REMOTE_HOST_GONE"),
        ("Failed: TrinoUserError(type=USER_ERROR, name=TABLE_NOT_FOUND, message=\"line 1:1\", query_id=q)", "trino.TABLE_NOT_FOUND"),
        ("Code: 60.\nDB::Exception: Table default.t doesn't exist.", "clickhouse.60"),
        ("clickhouse_driver.errors.ServerException: Code: 60.\nDB::Exception: Table default.t doesn't exist.", "clickhouse.60"),
        ("HTTPDriver for http://ch:8123 returned response code 404\n Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE)", "clickhouse.60"),
        ("(duckdb.duckdb.IOException) IO Error: Could not set lock on file", "duckdb.IOException"),
        ("could not load: OperationalError(1213, 'Deadlock found when trying to get lock')", "mysql.1213"),
        ("could not load: OperationalError((1205, b'Transaction was deadlocked'))", "mssql.1205"),
        ("mysql: ERROR 1045 (28000): Access denied for user 'etl'@'localhost'", "mysql.1045"),
        ("ERROR 1213 (40001) at line 7: Deadlock found", "mysql.1213"),
        ("Msg 1205, Level 13, State 51, Server db, Line 1\nTransaction was deadlocked", "mssql.1205"),
    ],
)  # fmt: skip
def test_a_code_in_the_form_in_which_a_driver_prints_it_is_read(message: str, code: str) -> None:
    assert codes(message) == [code]
    assert conclusion_code(alive(RuntimeError(message))) == code


@pytest.mark.parametrize(
    "message",
    [
        "",
        "(1213, 'apples')",
        "counted (1045, 'rows') in the sample",
        "order 000606 (57P03) is late",
        "sqlite3 and pymysql are installed",
        "see psycopg2.errors for the list of classes",
        "the table pymysql.err is not ours: (1213, 'x')",
        "my_pymysql.err.OperationalError: (1213, 'x')",
        "corp.psycopg2.errors.UniqueViolation: x",
        "OperationalError: no such table",
        "LoadError(1213, 'x')",
        "Msg 5701, Level 10, State 2: Changed database context",
        "Error Code: 60. Insert coin",
        "[42000] is the postal code of [Saint-Etienne]",
        "ERROR 404 (Not Found): the page",
        "psycopg2.OperationalError: something",
    ],
)
def test_what_only_looks_like_a_code_says_nothing(message: str) -> None:
    assert [code for code in codes(message) if not code.startswith("(")] == []


@pytest.mark.parametrize(
    ("name", "message", "code"),
    [
        ("OperationalError", "(1213, 'Deadlock found when trying to get lock')", "mysql.1213"),
        ("InterfaceError", "(0, '')", "mysql.0"),
        ("DatabaseError", "1205 (HY000): Lock wait timeout exceeded", "mysql.1205"),
        ("OperationalError", "(1205, b'Transaction was deadlocked')", "mssql.1205"),
        ("ProgrammingError", "002003 (42S02): SQL compilation error", "snowflake.002003"),
        ("ProgrammingError", "('42S02', \"[42S02] [Microsoft][ODBC Driver 17 for SQL Server][SQL Server]Invalid object name 'x'. (208) (SQLExecDirectW)\")", "mssql.208"),
        ("DatabaseError", "{'S': 'ERROR', 'V': 'ERROR', 'C': '40P01', 'M': 'deadlock detected'}", "sql.40P01"),
        ("OperationalError", "database is locked", "sqlite.SQLITE_BUSY"),
        ("OperationalError", "no such function: f", "sqlite.SQLITE_ERROR"),
        ("IntegrityError", "UNIQUE constraint failed: t.a", "sqlite.SQLITE_CONSTRAINT_UNIQUE"),
        ("ProgrammingError", "Incorrect number of bindings supplied. The current statement uses 1", "sql.sqlite3.ProgrammingError"),
        ("UniqueViolation", "duplicate key value violates unique constraint", "sql.23505"),
        ("SerializationFailure", "could not serialize access", "sql.40001"),
        ("CatalogException", "Catalog Error: Table with name t does not exist!", "duckdb.CatalogException"),
        ("OperationalError", "something", None),
        ("DataException", "something", None),
        ("CatalogException", "something", None),
        ("LoadError", "(1213, 'x')", None),
        ("DataError", "(12, 'x')", None),
    ],
)  # fmt: skip
def test_a_log_that_leaves_out_the_module_still_tells_the_code(name: str, message: str, code: str | None) -> None:
    assert codes(message, name) == ([code] if code else [])


def test_a_key_that_was_not_found_is_no_message() -> None:
    assert codes("pymysql.err.OperationalError: (1213, 'x')", "builtins.KeyError") == []


def test_statements_and_their_parameters_are_not_read() -> None:
    message = "(corp.Error) failed\n[SQL: INSERT INTO log VALUES (%s)]\n[parameters: (\"pymysql.err.OperationalError: (1213, 'x')\",)]"
    assert codes(message) == []


def test_errors_in_the_tail_of_a_log_are_hints() -> None:
    log = "\n".join(f"line {number}" for number in range(20)) + "\npymysql.err.OperationalError: (1213, 'Deadlock')"
    assert codes(log) == ["(mysql.1213)"]


def test_codes_that_disagree_about_retrying_are_hints() -> None:
    message = "first pymysql.err.OperationalError: (1213, 'x'); then pymysql.err.ProgrammingError: (1146, 'y')"
    assert codes(message) == ["(mysql.1213)", "(mysql.1146)"]


def test_facts_are_believed_over_the_message() -> None:
    node = RedactedNode(
        "pymysql.err.OperationalError", message="(1045, 'x')", facts={"sql.dialect": "mysql", "sql.errno": 1213}
    )
    assert [signal.code for signal in sql.read(node, NOW)] == ["mysql.1213"]


@pytest.mark.parametrize(
    "facts",
    [
        {"sql.errno": "1213", "sql.dialect": "mysql"},
        {"sql.errno": True, "sql.dialect": "mysql"},
        {"sql.errno": 10**30, "sql.dialect": "snowflake"},
        {"sql.errno": -1, "sql.dialect": "oracle"},
        {"sql.name": 5, "sql.dialect": "sqlite"},
        {"sql.name": "", "sql.dialect": "duckdb"},
        {"sql.errno": 1213, "sql.dialect": "dbase"},
        {"sql.errno": 1213},
        {"sql.sqlstate": 40001},
        {"sql.sqlstate": ""},
        {"sql.type": 1.5, "sql.dialect": "trino"},
    ],
)
def test_a_recording_may_hold_anything_under_these_names(facts: dict[str, str | int | float | bool]) -> None:
    assert list(sql.read(RedactedNode("corp.Error", facts=facts), NOW)) == []


@pytest.mark.parametrize(
    "hostile",
    [
        "pymysql.err.OperationalError: (" * 30_000,
        "[42000] [" * 100_000,
        "ORA-00060" * 100_000,
        "sqlite3." * 100_000,
        "000606 (57P03): " * 60_000,
        "Code: 60. DB::" * 70_000,
        "user role password database " * 30_000,
        "ERROR 1213 (" * 80_000,
    ],
)
def test_hostile_megabytes_are_read_without_an_error(hostile: str) -> None:
    for type_path in (AIRFLOW_EXCEPTION, "pyodbc.Error", "oracledb.DatabaseError", "snowflake.connector.errors.Error"):
        assert len(codes(hostile, type_path)) <= 8


def test_a_login_that_failed_is_found_in_a_line_of_a_log() -> None:
    signal = conclusion(
        printed(
            "snowflake.connector.errors.DatabaseError",
            "250001 (08001): Failed to connect to DB: x. Incorrect username or password was specified.",
        )
    )
    assert signal is not None
    assert (signal.code, signal.category, signal.retry) == ("snowflake.250001", "auth", Retry.NO)
