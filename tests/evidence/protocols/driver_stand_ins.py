"""Exceptions in the shape of drivers that the test environment does not have; checked by hand against the drivers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def _pep_249(module: str, *names: str) -> SimpleNamespace:
    """Make the classes of PEP 249 as a driver's module has them."""
    error = type("Error", (Exception,), {"__module__": module})
    database_error = type("DatabaseError", (error,), {"__module__": module})
    kinds = {name: type(name, (database_error,), {"__module__": module}) for name in names}
    return SimpleNamespace(Error=error, DatabaseError=database_error, **kinds)


_KINDS = ("OperationalError", "ProgrammingError", "IntegrityError", "DataError", "InternalError", "NotSupportedError")

oracledb = _pep_249("oracledb.exceptions", *_KINDS)
pymssql = _pep_249("pymssql.exceptions", *_KINDS)
pyodbc = _pep_249("pyodbc", *_KINDS)
snowflake = _pep_249("snowflake.connector.errors", *_KINDS)
trino = _pep_249("trino.exceptions", *_KINDS)
clickhouse = _pep_249("clickhouse_driver.errors")
duckdb = _pep_249("_duckdb", *_KINDS)


def oracle_error(full_code: str, message: str, code: int = 0, *, recoverable: bool = False) -> Exception:
    """python-oracledb 26.1.0 and cx_Oracle: one argument, an object that prints as its message."""

    class _Error:
        def __init__(self) -> None:
            self.code, self.full_code, self.message = code, full_code, message
            self.isrecoverable, self.is_session_dead = recoverable, False

        def __str__(self) -> str:
            return message

    error: Exception = oracledb.DatabaseError(_Error())
    return error


def sql_server_error(number: int, message: str) -> Exception:
    """pymssql 2.4.6: a tuple as the only argument, the message in bytes."""
    error: Exception = pymssql.OperationalError(
        (number, message.encode() + b"DB-Lib error message 20018, severity 16:\n")
    )
    return error


def odbc_error(state: str, message: str) -> Exception:
    """pyodbc 5.5.0."""
    error: Exception = pyodbc.ProgrammingError(state, f"[{state}] {message}")
    return error


def snowflake_error(number: int, state: str | None, message: str) -> Exception:
    """snowflake-connector-python 3.18.1 and 5.2.0: the message begins with the number, or is printed with it."""
    printed = f"{number:06}" + (f" ({state})" if state else "") + f": {message}"
    error: Any = snowflake.ProgrammingError(printed)
    error.errno, error.sqlstate, error.sfqid, error.raw_msg = number, state or "n/a", "01b", message
    return error  # type: ignore[no-any-return]


def trino_error(name: str, kind: str) -> Exception:
    """trino 0.340.0."""

    class TrinoQueryError(trino.ProgrammingError):  # type: ignore[name-defined, misc]
        error_name, error_type = name, kind

        def __str__(self) -> str:
            return (
                f'TrinoUserError(type={kind}, name={name}, message="line 1:1: x", query_id=20260101_000000_00000_abcde)'
            )

    TrinoQueryError.__module__ = "trino.exceptions"
    return TrinoQueryError({"errorName": name}, "20260101_000000_00000_abcde")


def clickhouse_error(code: int, message: str) -> Exception:
    """clickhouse-driver 0.2.11."""
    error: Any = clickhouse.Error(f"Code: {code}.\nDB::Exception: {message}")
    error.code = code
    return error  # type: ignore[no-any-return]


def duckdb_error(name: str, message: str) -> Exception:
    """duckdb 2.0.1: a class for each kind, and nothing else."""
    error: Exception = type(name, (duckdb.OperationalError,), {"__module__": "_duckdb"})(message)
    return error
