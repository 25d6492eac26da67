"""Where Python's database drivers keep the database's code: told by the driver's name, without importing it.

``.code`` of a SQLAlchemy error is the number of a page of its documentation, and ``args[0]`` of many classes is a
message: nothing is taken that is not of the type and form that the driver uses for codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from airflow_common_ai.evidence.model import Fact, root_of
from airflow_common_ai.evidence.protocols.sql.dialects import Dialect, dialect_of
from airflow_common_ai.evidence.type_path import base_paths, type_path

__all__ = ["driver_facts"]

_SQLSTATE = re.compile(r"[0-9A-Z]{5}")
_NAME = re.compile(r"[A-Z][A-Z0-9_-]{2,79}")
_TERADATA_CODE = re.compile(r"\[Teradata Database\] \[Error (\d{1,5})\]")
_MAX_CHARS = 1024
_Facts = dict[str, Fact | None]


def driver_facts(exception: BaseException) -> dict[str, Fact]:
    """Return ``sql.…`` facts: the dialect and its codes; empty if the exception carries none."""
    cls = type(exception)
    paths = (type_path(cls), *base_paths(cls))
    dialect = dialect_of(paths)
    state = _text(exception, "sqlstate", _SQLSTATE) or _text(exception, "pgcode", _SQLSTATE)
    found: _Facts = {"sql.sqlstate": state}
    if dialect in _READERS:
        found |= {name: fact for name, fact in _READERS[dialect](exception).items() if fact is not None}
    if any(root_of(path) == "sqlalchemy" for path in paths):
        found["sql.connection_invalidated"] = getattr(exception, "connection_invalidated", None) is True or None
    facts = {name: fact for name, fact in found.items() if fact is not None}
    return {"sql.dialect": dialect.value, **facts} if facts and dialect else facts


def _mysql(exception: BaseException) -> _Facts:
    number = _number(exception, "errno")  # mysql.connector, mariadb; -1 if there is none
    return {"sql.errno": _first_number(exception) if number is None else number if number > 0 else None}


def _sql_server(exception: BaseException) -> _Facts:
    number = _number(exception, "number")
    return {"sql.errno": _first_number(exception) if number is None else number}


def _oracle(exception: BaseException) -> _Facts:
    error = exception.args[0] if exception.args else None
    return {
        "sql.errno": _number(error, "code") or None,
        "sql.name": _text(error, "full_code", _NAME),
        "sql.recoverable": getattr(error, "isrecoverable", None) is True or None,
    }


def _snowflake(exception: BaseException) -> _Facts:
    status = _number(exception, "http_status")
    if status is not None:
        return {"sql.errno": 290000 + status}  # as version 3 of the connector says it
    number = _number(exception, "errno")
    number = _number(exception, "sql_error_code") if number is None else number  # snowpark
    return {"sql.errno": None if number is None or number <= 0 else number}


def _sqlite(exception: BaseException) -> _Facts:
    return {"sql.name": _text(exception, "sqlite_errorname", _NAME)}


def _trino(exception: BaseException) -> _Facts:
    return {
        "sql.name": _text(exception, "error_name", _NAME),
        "sql.type": _text(exception, "error_type", _NAME),
    }


def _clickhouse(exception: BaseException) -> _Facts:
    return {"sql.errno": _number(exception, "code")}


def _teradata(exception: BaseException) -> _Facts:
    match = _TERADATA_CODE.search(str(exception.args[0])[:_MAX_CHARS]) if exception.args else None
    return {"sql.errno": int(match[1]) if match else None}


def _hana(exception: BaseException) -> _Facts:
    number = _number(exception, "errorcode")
    return {"sql.errno": _first_number(exception) if number is None else number}


def _odbc(exception: BaseException) -> _Facts:
    state = exception.args[0] if exception.args else None
    return {"sql.sqlstate": state if type(state) is str and _SQLSTATE.fullmatch(state) else None}


def _postgres(exception: BaseException) -> _Facts:
    fields = exception.args[0] if exception.args else None  # pg8000, redshift_connector
    state = fields.get("C") if type(fields) is dict else None
    return {"sql.sqlstate": state if type(state) is str and _SQLSTATE.fullmatch(state) else None}


_READERS: Mapping[Dialect | None, Callable[[BaseException], _Facts]] = {
    Dialect.MYSQL: _mysql,
    Dialect.SQL_SERVER: _sql_server,
    Dialect.ORACLE: _oracle,
    Dialect.SNOWFLAKE: _snowflake,
    Dialect.SQLITE: _sqlite,
    Dialect.TRINO: _trino,
    Dialect.CLICKHOUSE: _clickhouse,
    Dialect.TERADATA: _teradata,
    Dialect.HANA: _hana,
    Dialect.ODBC: _odbc,
    Dialect.POSTGRES: _postgres,
}


def _text(value: object, attribute: str, form: re.Pattern[str]) -> str | None:
    text = getattr(value, attribute, None)
    return text if type(text) is str and form.fullmatch(text) else None


def _number(value: object, attribute: str) -> int | None:
    number = getattr(value, attribute, None)
    return number if type(number) is int else None


def _first_number(exception: BaseException) -> int | None:
    """Return ``1205`` of ``Error(1205, "…")``, and of ``Error((1205, b"…"))`` as pymssql has it."""
    first = exception.args[0] if exception.args else None
    if type(first) is tuple and first:
        first = first[0]
    return first if type(first) is int else None
