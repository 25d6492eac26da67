"""What clients of databases raise, and SQLAlchemy on top of one."""

from __future__ import annotations

from typing import Any

import psycopg
import psycopg2
import pymongo
import pymysql
import sqlalchemy
from loopback import sockets

from real_failures import Failures, Try
from real_failures.database_servers import mongo, mysql, postgres

FAILURES = Failures()
row = FAILURES.row


def _serve(t: Try, conversation: sockets.Conversation) -> int:
    return t.closing.enter_context(sockets.serve(conversation))


# ---- PostgreSQL, with both drivers

_POSTGRES_ERRORS = {
    "deadlock": ("40P01", "deadlock detected", "Process {number} waits for ShareLock on transaction {number}."),
    "serialization": ("40001", "could not serialize access due to concurrent update", ""),
    "duplicate": ("23505", 'duplicate key value violates unique constraint "{name}"', "Key (k)=({id}) already exists."),
    "foreign key": ("23503", 'insert on "{name}" violates foreign key constraint', "Key (id)=({id}) is not present."),
    "table is missing": ("42P01", 'relation "{name}" does not exist', ""),
    "column is missing": ("42703", 'column "{name}" does not exist', ""),
    "no rights": ("42501", "permission denied for table t_{number}", ""),
    "syntax": ("42601", 'syntax error at or near "{name}"', ""),
    "number is bad": ("22P02", 'invalid input syntax for type integer: "{id}"', ""),
    "disk is full": ("53100", 'could not extend file "base/{number}/{number}": No space left on device', ""),
    "lock": ("55P03", "canceling statement due to lock timeout", ""),
    "time limit": ("57014", "canceling statement due to statement timeout", ""),
}  # fmt: skip
_POSTGRES_LOGIN_ERRORS = {
    "password is wrong": ("28P01", 'password authentication failed for user "{name}"'),
    "database is missing": ("3D000", 'database "{name}" does not exist'),
    "too many clients": ("53300", "sorry, too many clients already"),
    "starting up": ("57P03", "the database system is starting up"),
}


def _said(text: str, t: Try) -> str:
    return text.format(number=t.number, name=t.name, id=t.id)


def _run(driver: Any, port: int, t: Try) -> None:
    with driver.connect(host="127.0.0.1", port=port, user=t.name, password=t.id, dbname=t.name) as connection:
        connection.cursor().execute(f"SELECT {t.number} FROM {t.name}")


def _postgres(driver: Any, t: Try, code: str, message: str, detail: str) -> None:
    _run(driver, _serve(t, postgres(code, _said(message, t), _said(detail, t))), t)


def _postgres_login(driver: Any, t: Try, code: str, message: str) -> None:
    _run(driver, _serve(t, postgres(code, _said(message, t), at_login=True)), t)


for _driver in (psycopg, psycopg2):
    for _name, _error in _POSTGRES_ERRORS.items():
        row(_driver.__name__, _name, lambda t, driver=_driver, error=_error: _postgres(driver, t, *error))
    for _name, _login in _POSTGRES_LOGIN_ERRORS.items():
        row(_driver.__name__, _name, lambda t, driver=_driver, error=_login: _postgres_login(driver, t, *error))
    row(_driver.__name__, "connection refused", lambda t, driver=_driver: _run(driver, t.refused_port, t))
    row(_driver.__name__, "hung up", lambda t, driver=_driver: _run(driver, _serve(t, lambda connection: None), t))

# ---- MySQL

_MYSQL_ERRORS = {
    "deadlock": (1213, "40001", "Deadlock found when trying to get lock; try restarting transaction"),
    "lock": (1205, "HY000", "Lock wait timeout exceeded; try restarting transaction"),
    "duplicate": (1062, "23000", "Duplicate entry '{id}' for key '{name}.PRIMARY'"),
    "table is missing": (1146, "42S02", "Table 'shop.{name}' doesn't exist"),
    "column is missing": (1054, "42S22", "Unknown column '{name}' in 'field list'"),
    "syntax": (1064, "42000", "You have an error in your SQL syntax near '{id}' at line {number}"),
    "value is too long": (1406, "22001", "Data too long for column '{name}' at row {number}"),
    "killed": (1317, "70100", "Query execution was interrupted"),
}
_MYSQL_LOGIN_ERRORS = {
    "password is wrong": (1045, "28000", "Access denied for user '{name}'@'10.0.0.{number}' (using password: YES)"),
    "database is missing": (1049, "42000", "Unknown database '{name}'"),
    "no rights": (1044, "42000", "Access denied for user '{name}'@'%' to database '{name}'"),
    "too many clients": (1040, "08004", "Too many connections"),
    "host is blocked": (1129, "HY000", "Host '10.0.0.{number}' is blocked because of many connection errors"),
}


def _pymysql(t: Try, port: int) -> None:
    with pymysql.connect(host="127.0.0.1", port=port, user=t.name, password=t.id, connect_timeout=5) as connection:
        connection.cursor().execute(f"SELECT {t.number} FROM {t.name}")


def _mysql(t: Try, number: int, state: str, message: str, **options: bool) -> None:
    _pymysql(t, _serve(t, mysql(number, state, _said(message, t), **options)))


for _name, _mysql_error in _MYSQL_ERRORS.items():
    row("pymysql", _name, lambda t, error=_mysql_error: _mysql(t, *error))
for _name, _mysql_error in _MYSQL_LOGIN_ERRORS.items():
    row("pymysql", _name, lambda t, error=_mysql_error: _mysql(t, *error, at_login=True))
row("pymysql", "connection refused", lambda t: _pymysql(t, t.refused_port))
row("pymysql", "hung up", lambda t: _pymysql(t, _serve(t, lambda connection: None)))

# ---- MongoDB


def _mongo(t: Try, port: int) -> None:
    with pymongo.MongoClient(
        "127.0.0.1",
        port,
        directConnection=True,
        serverSelectionTimeoutMS=300,
        retryWrites=False,
        serverMonitoringMode="poll",
    ) as client:
        client.shop[t.name].insert_one({"_id": t.id})


def _mongo_error(t: Try, code: int, name: str, message: str) -> None:
    _mongo(t, _serve(t, mongo({"ok": 0, "code": code, "codeName": name, "errmsg": _said(message, t)})))


def _mongo_write_error(t: Try, code: int, message: str) -> None:
    _mongo(
        t, _serve(t, mongo({"ok": 1, "n": 0, "writeErrors": [{"index": 0, "code": code, "errmsg": _said(message, t)}]}))
    )


row(
    "pymongo",
    "no rights",
    lambda t: _mongo_error(t, 13, "Unauthorized", 'not authorized on shop to execute command {{ insert: "{name}" }}'),
)
row(
    "pymongo",
    "time limit",
    lambda t: _mongo_error(t, 50, "MaxTimeMSExpired", "operation exceeded time limit after {number} ms"),
)
row(
    "pymongo",
    "conflict",
    lambda t: _mongo_error(t, 112, "WriteConflict", "WriteConflict error in transaction {number}"),
)
row(
    "pymongo",
    "duplicate",
    lambda t: _mongo_write_error(
        t, 11000, 'E11000 duplicate key error collection: shop.{name} dup key: {{ _id: "{id}" }}'
    ),
)
row("pymongo", "document is invalid", lambda t: _mongo_write_error(t, 121, "Document failed validation in shop.{name}"))
row("pymongo", "connection refused", lambda t: _mongo(t, t.refused_port))

# ---- SQLAlchemy


def _sqlalchemy(url: str, statement: str, **values: Any) -> None:
    engine = sqlalchemy.create_engine(url)
    try:
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text(statement), values)
    finally:
        engine.dispose()


def _sqlalchemy_mysql(t: Try, *error: Any) -> None:
    port = _serve(t, mysql(*error[:2], _said(error[2], t)))
    _sqlalchemy(f"mysql+pymysql://u:{t.number}@127.0.0.1:{port}/shop", "SELECT :number", number=t.number)


row("sqlalchemy", "table is missing", lambda t: _sqlalchemy("sqlite://", f"SELECT :id FROM t_{t.number}", id=t.id))
row("sqlalchemy", "syntax", lambda t: _sqlalchemy("sqlite://", f"SELEKT '{t.name}'"))
row("sqlalchemy", "value is missing", lambda t: _sqlalchemy("sqlite://", f"SELECT :v_{t.number}"))
row("sqlalchemy", "no URL", lambda t: _sqlalchemy(t.name, ""))
row("sqlalchemy", "dialect is missing", lambda t: _sqlalchemy(f"absent{t.number}://h/d", ""))
row("sqlalchemy", "folder is missing", lambda t: _sqlalchemy(f"sqlite:///{t.folder}/{t.name}/x.db", "SELECT 1"))
row(
    "sqlalchemy",
    "connection refused",
    lambda t: _sqlalchemy(f"mysql+pymysql://u:p@127.0.0.1:{t.refused_port}/{t.name}", ""),
)
row("sqlalchemy", "deadlock", lambda t: _sqlalchemy_mysql(t, *_MYSQL_ERRORS["deadlock"]))
row("sqlalchemy", "lock", lambda t: _sqlalchemy_mysql(t, *_MYSQL_ERRORS["lock"]))
