# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-common-sql==2.4.0",
#     "apache-airflow-providers-duckdb==0.2.1",
#     "apache-airflow-providers-postgres==7.1.1",
#     "apache-airflow-providers-sqlite==4.3.4",
#     "apache-airflow-task-sdk==1.3.2",
#     "cryptography==46.0.3",
#     "tenacity==9.1.4",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""Databases that fail below Airflow's SQL hooks and operators, and checks of data that do not hold."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import threading
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import tenacity
from airflow.providers.common.sql.operators.sql import (
    BranchSQLOperator,
    SQLCheckOperator,
    SQLColumnCheckOperator,
    SQLExecuteQueryOperator,
    SQLInsertRowsOperator,
    SQLTableCheckOperator,
    SQLThresholdCheckOperator,
    SQLValueCheckOperator,
)
from airflow.providers.common.sql.sensors.sql import SqlSensor
from airflow.providers.duckdb.hooks.duckdb import DuckDBHook
from airflow.providers.postgres.hooks.postgres import PostgresHook
from airflow.providers.sqlite.hooks.sqlite import SqliteHook
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.port import refused_port
from servers.postgres import Postgres, postgres

family = Family(__file__, "apache-airflow-providers-common-sql", servers={"postgres": postgres})
postgres_case = partial(family.case, library="apache-airflow-providers-postgres", wrapped_by="PostgresHook")


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def connection(kind: str, **words: Any) -> None:
    os.environ["AIRFLOW_CONN_WAREHOUSE"] = json.dumps({"conn_type": kind, **words})


def connect(server: Postgres, user: str = "etl", database: str = "warehouse", **more: Any) -> None:
    extra = {"connect_timeout": 2, "sslmode": "disable", "gssencmode": "disable", **more}
    connection(
        "postgres", host="127.0.0.1", port=server.port, login=user, password=CANARY, schema=database, extra=extra
    )


def hook(server: Postgres, **words: Any) -> PostgresHook:
    connect(server, **words)
    return PostgresHook("warehouse")


def execute(operator: Any) -> Any:
    return operator.execute({"ti": SimpleNamespace(task_id="load", xcom_push=lambda **values: None)})


for title, words, tags in (
    ("PostgresHook does not find a table", {"sql": "select * from ordres"}, []),
    ("PostgresHook may not read a table", {"sql": "select * from secrets"}, []),
    ("PostgresHook meets a duplicate key", {"sql": "insert into customers values (1, 'Ada')"}, []),
    ("PostgresHook misses a parent row", {"sql": "insert into orders values (9, 99, 1)"}, []),
    ("PostgresHook runs into statement_timeout", {"sql": "select pg_sleep(3)", "options": "-c statement_timeout=100"}, [WRONG_READING]),
    ("PostgresHook is told that its query was cancelled", {"sql": "select pg_cancel_backend(pg_backend_pid()), pg_sleep(1)"}, []),
    ("PostgresHook divides by zero", {"sql": "select 1 / 0"}, []),
    ("PostgresHook has text for a number", {"sql": "insert into orders values (9, 1, 'n/a')"}, []),
    ("PostgresHook uses up a sequence", {"sql": "select nextval('run_ids'), nextval('run_ids'), nextval('run_ids')"}, []),
    ("PostgresHook meets a raised exception", {"sql": "select check_balance(7)"}, []),
    ("PostgresHook is read only", {"sql": "delete from orders", "options": "-c default_transaction_read_only=on"}, []),
):  # fmt: skip

    @postgres_case(title, tags=tags)
    def _(postgres: Postgres, words: dict[str, str] = words) -> None:
        words = dict(words)
        hook_of = hook(postgres, **({"options": words.pop("options")} if "options" in words else {}))
        hook_of.run(words["sql"])


for title, words in {
    "PostgresHook database is none": {"database": "warehuse"},
    "PostgresHook role may not log in": {"user": "no_login"},
    "PostgresHook may not connect to the database": {"database": "private"},
    "PostgresHook is refused by pg_hba": {"user": "not_from_here"},
}.items():

    @postgres_case(title, raises="OperationalError", tags=[FROM_TEXT])
    def _(postgres: Postgres, words: dict[str, str] = words) -> None:
        hook(postgres, **words).run("select 1")


@postgres_case("PostgresHook password is wrong", raises="OperationalError", tags=[FROM_TEXT])
def _(postgres: Postgres) -> None:
    connection(
        "postgres", host="127.0.0.1", port=postgres.port, login="etl", password=f"{CANARY}-old", schema="warehouse"
    )
    PostgresHook("warehouse").get_records("select 1")


@postgres_case("PostgresHook has too many connections", raises="OperationalError", tags=[FROM_TEXT])
def _(postgres: Postgres) -> None:
    one = hook(postgres, user="narrow")
    with contextlib.closing(one.get_conn()):
        one.get_records("select 1")


@postgres_case("PostgresHook is refused", raises="OperationalError", tags=[FROM_TEXT])
def _() -> None:
    with refused_port() as port:
        connection("postgres", host="127.0.0.1", port=port, login="etl", password=CANARY)
        PostgresHook("warehouse").run("select 1")


@postgres_case("PostgresHook does not find its host", raises="OperationalError", tags=[FROM_TEXT])
def _() -> None:
    connection("postgres", host="warehouse.invalid", login="etl", password=CANARY)
    PostgresHook("warehouse").run("select 1")


@postgres_case("PostgresHook loses its session", raises="OperationalError", tags=[FROM_TEXT])
def _(postgres: Postgres) -> None:
    one = hook(postgres)
    threading.Timer(0.5, postgres.kill_backend, (signal.SIGTERM,)).start()
    one.run("select pg_sleep(3)")


@postgres_case("PostgresHook deadlocks", raises="OperationalError")
def _(postgres: Postgres) -> None:
    one = hook(postgres)
    with contextlib.closing(one.get_conn()) as other:
        cursor = other.cursor()
        cursor.execute("update customers set name = 'A' where id = 2")

        met: list[Exception] = []

        def cross() -> None:
            time.sleep(0.3)
            try:
                cursor.execute("update customers set name = 'B' where id = 1")
            except Exception as error:  # noqa: BLE001 - one of the two loses, whichever waits longer
                met.append(error)

        second = threading.Thread(target=cross)
        second.start()
        steps = [
            "update customers set name = 'C' where id = 1",
            "select pg_sleep(0.6)",
            "update customers set name = 'C' where id = 2",
        ]
        try:
            one.run(steps, autocommit=False)
        finally:
            second.join()
        raise met[0]


@postgres_case("PostgresHook waits too long for a lock", raises="LockNotAvailable", tags=[WRONG_READING])
def _(postgres: Postgres) -> None:
    with contextlib.closing(hook(postgres).get_conn()) as other:
        other.cursor().execute("lock table orders")
        hook(postgres, options="-c lock_timeout=100").run("select * from orders")


@postgres_case("PostgresHook cannot serialize", raises="SerializationFailure")
def _(postgres: Postgres) -> None:
    one = hook(postgres)
    with contextlib.closing(one.get_conn()) as other:
        cursor = other.cursor()
        cursor.execute("set transaction isolation level repeatable read")
        cursor.execute("select * from customers")
        one.run("update customers set name = 'D' where id = 1")
        cursor.execute("update customers set name = 'E' where id = 1")


@postgres_case("PostgresHook copies a file with a bad row", raises="DataError")
def _(postgres: Postgres) -> None:
    Path("orders.csv").write_text("8\t1\tabc\n")
    hook(postgres).bulk_load("orders", "orders.csv")


@postgres_case("PostgresHook copies a file that is none", tags=[WRONG_READING])
def _(postgres: Postgres) -> None:
    hook(postgres).copy_expert("copy orders from stdin", "/data/orders.csv")


@postgres_case("PostgresHook inserts too few values", raises=("SyntaxError", "ProgrammingError"))
def _(postgres: Postgres) -> None:
    hook(postgres).insert_rows("orders", [(8, 1)], target_fields=["id", "customer_id", "amount"])


@postgres_case("PostgresHook meets a syntax error in a load", raises="LoadError")
def _(postgres: Postgres) -> None:
    try:
        hook(postgres).run("selct 1")
    except Exception as error:
        raise LoadError("load of 2026-01-31 failed") from error


@postgres_case(
    "PostgresHook cleans up in a transaction that has failed", raises="InFailedSqlTransaction", tags=[WRONG_READING]
)
def _(postgres: Postgres) -> None:
    with contextlib.closing(hook(postgres).get_conn()) as one:
        cursor = one.cursor()
        try:
            cursor.execute("insert into customers values (1, 'Ada')")
        finally:
            cursor.execute("drop table if exists staging")


@postgres_case("PostgresHook tries twice and gives up", raises="RetryError", tags=[WRONG_READING])
def _(postgres: Postgres) -> None:
    one = hook(postgres)
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(one.run)("select * from ordres")


@postgres_case("PostgresHook reads into a data frame without pandas", wrapped_by="PostgresHook")
def _(postgres: Postgres) -> None:
    hook(postgres).get_df("select 1", df_type="polars")


# Operators.
operator_case = partial(family.case, wrapped_by="SQLExecuteQueryOperator")


@operator_case("SQLExecuteQueryOperator fails in its second statement")
def _(postgres: Postgres) -> None:
    connect(postgres)
    sql = "create table if not exists staging (id int); insert into staging values ('x')"
    execute(SQLExecuteQueryOperator(task_id="load", conn_id="warehouse", sql=sql, split_statements=True))


@operator_case("SQLExecuteQueryOperator has no connection", raises="AirflowNotFoundException")
def _() -> None:
    execute(SQLExecuteQueryOperator(task_id="load", conn_id="warehuose", sql="select 1"))


@operator_case("SQLExecuteQueryOperator has a connection that is not SQL", raises="AttributeError")
def _() -> None:
    connection("generic", host="127.0.0.1")
    execute(SQLExecuteQueryOperator(task_id="load", conn_id="warehouse", sql="select 1"))


@operator_case("SQLExecuteQueryOperator has a connection of a type that is none", raises="AirflowException")
def _() -> None:
    connection("postgress", host="127.0.0.1")
    execute(SQLExecuteQueryOperator(task_id="load", conn_id="warehouse", sql="select 1"))


@operator_case("SQLExecuteQueryOperator has no statement", raises="ValueError")
def _(postgres: Postgres) -> None:
    connect(postgres)
    execute(SQLExecuteQueryOperator(task_id="load", conn_id="warehouse", sql=[]))


@operator_case("SQLExecuteQueryOperator misses a parameter")
def _(postgres: Postgres) -> None:
    connect(postgres)
    execute(
        SQLExecuteQueryOperator(
            task_id="load", conn_id="warehouse", sql="select %(day)s, %(hour)s", parameters={"day": "2026-01-31"}
        )
    )


@family.case("SQLInsertRowsOperator meets a null", wrapped_by="SQLInsertRowsOperator")
def _(postgres: Postgres) -> None:
    connect(postgres)
    execute(
        SQLInsertRowsOperator(
            task_id="load", conn_id="warehouse", table_name="customers", rows=[(7, None)], columns=["id", "name"]
        )
    )


# Checks of data.
SHOP = "create table orders (id int, amount int, note text); insert into orders values (1, 10, null), (2, null, null), (2, -5, 'x')"


def shop() -> None:
    with contextlib.closing(sqlite3.connect("shop.db")) as database:
        database.executescript(SHOP)
    connection("sqlite", host=str(Path("shop.db").resolve()))


for title, make, tags in (
    ("SQLCheckOperator finds a zero", lambda: SQLCheckOperator(task_id="check", conn_id="warehouse", sql="select count(*) from orders where id = 9"), []),
    ("SQLCheckOperator finds no rows", lambda: SQLCheckOperator(task_id="check", conn_id="warehouse", sql="select 1 from orders where id = 9"), [WRONG_READING]),
    ("SQLCheckOperator has a table that is none", lambda: SQLCheckOperator(task_id="check", conn_id="warehouse", sql="select 1 from ordres"), []),
    ("SQLColumnCheckOperator finds nulls", lambda: SQLColumnCheckOperator(task_id="check", conn_id="warehouse", table="orders", column_mapping={"amount": {"null_check": {"equal_to": 0}}}), []),
    ("SQLColumnCheckOperator finds twins", lambda: SQLColumnCheckOperator(task_id="check", conn_id="warehouse", table="orders", column_mapping={"id": {"unique_check": {"equal_to": 0}}}), []),
    ("SQLColumnCheckOperator finds a minimum", lambda: SQLColumnCheckOperator(task_id="check", conn_id="warehouse", table="orders", column_mapping={"amount": {"min": {"geq_to": 0}}}), []),
    ("SQLColumnCheckOperator has a column that is none", lambda: SQLColumnCheckOperator(task_id="check", conn_id="warehouse", table="orders", column_mapping={"amuont": {"min": {"geq_to": 0}}}), []),
    ("SQLColumnCheckOperator has a check that is none", lambda: SQLColumnCheckOperator(task_id="check", conn_id="warehouse", table="orders", column_mapping={"amount": {"minimum": {"geq_to": 0}}}), []),
    ("SQLTableCheckOperator finds too few rows", lambda: SQLTableCheckOperator(task_id="check", conn_id="warehouse", table="orders", checks={"row_count_check": {"check_statement": "COUNT(*) >= 1000"}}), []),
    ("SQLTableCheckOperator is not to try again", lambda: SQLTableCheckOperator(task_id="check", conn_id="warehouse", table="orders", checks={"rows": {"check_statement": "COUNT(*) > 5"}}, retry_on_failure=False), []),
    ("SQLValueCheckOperator finds another value", lambda: SQLValueCheckOperator(task_id="check", conn_id="warehouse", sql="select sum(amount) from orders", pass_value=100, tolerance=0.1), []),
    ("SQLThresholdCheckOperator finds a value outside", lambda: SQLThresholdCheckOperator(task_id="check", conn_id="warehouse", sql="select count(*) from orders", min_threshold=100, max_threshold=200), []),
    ("BranchSQLOperator reads no decision", lambda: BranchSQLOperator(task_id="branch", conn_id="warehouse", sql="select 'maybe'", follow_task_ids_if_true="a", follow_task_ids_if_false="b"), []),
    ("SqlSensor finds its failure", lambda: SqlSensor(task_id="wait", conn_id="warehouse", sql="select 'FAILED'", failure=lambda cell: cell == "FAILED", poke_interval=0.1, timeout=1), []),
    ("SqlSensor waits for rows that do not come", lambda: SqlSensor(task_id="wait", conn_id="warehouse", sql="select 1 from orders where id = 9", poke_interval=0.1, timeout=0.3), [WRONG_READING]),
    ("SqlSensor waits in vain and fails on no rows", lambda: SqlSensor(task_id="wait", conn_id="warehouse", sql="select 1 from orders where id = 9", fail_on_empty=True, poke_interval=0.1, timeout=0.3), []),
):  # fmt: skip

    @family.case(title, tags=tags, wrapped_by=title.partition(" ")[0])
    def _(make: Any = make) -> None:
        shop()
        execute(make())


# SQLite and DuckDB.
sqlite_case = partial(family.case, library="apache-airflow-providers-sqlite", wrapped_by="SqliteHook")
duckdb_case = partial(family.case, library="apache-airflow-providers-duckdb", wrapped_by="DuckDBHook")


@sqlite_case("SqliteHook meets a locked database", raises="OperationalError")
def _() -> None:
    shop()
    connection("sqlite", host=str(Path("shop.db").resolve()), extra={"timeout": 0.2})
    with contextlib.closing(sqlite3.connect("shop.db", isolation_level=None)) as other:
        other.execute("begin exclusive")
        SqliteHook("warehouse").run("insert into orders values (3, 1, '')")


@sqlite_case("SqliteHook does not find a column", raises="OperationalError")
def _() -> None:
    shop()
    SqliteHook("warehouse").get_records("select amuont from orders")


@sqlite_case("SqliteHook folder is none", raises="OperationalError")
def _() -> None:
    connection("sqlite", host="/data/shops/shop.db")
    SqliteHook("warehouse").get_records("select 1")


@sqlite_case("SqliteHook file is no database", raises="DatabaseError")
def _() -> None:
    Path("shop.db").write_text("id,amount\n1,10\n" * 100)
    connection("sqlite", host=str(Path("shop.db").resolve()))
    SqliteHook("warehouse").get_records("select * from orders")


@sqlite_case("SqliteHook file is read only", raises="OperationalError")
def _() -> None:
    shop()
    connection("sqlite", host=str(Path("shop.db").resolve()), extra={"mode": "ro"})
    SqliteHook("warehouse").run("delete from orders")


def duckdb(**extra: Any) -> DuckDBHook:
    connection("duckdb", host=str(Path("shop.duckdb").resolve()), extra=extra)
    return DuckDBHook("warehouse")


for title, sql in {
    "DuckDBHook does not find a table": "select * from ordres",
    "DuckDBHook does not find a file": "select * from read_parquet('2026-01-31.parquet')",
    "DuckDBHook cannot convert": "select cast('n/a' as integer)",
    "DuckDBHook has a syntax error": "selct 1",
    "DuckDBHook file is no Parquet": "copy (select 1) to 'a.csv'; select * from read_parquet('a.csv')",
    "DuckDBHook has a duplicate key": "create table o (id int primary key); insert into o values (1), (1)",
}.items():
    duckdb_case(title)(lambda sql=sql: duckdb().run(sql, split_statements=True))


@duckdb_case("DuckDBHook runs out of memory")
def _() -> None:
    duckdb().run(
        [
            "set threads = 1",
            "set memory_limit = '20MB'",
            "set temp_directory = ''",
            "create table t as select range i, repeat('x', 200) s from range(2000000)",
        ]
    )


@duckdb_case("DuckDBHook has no connection", raises="AirflowNotFoundException")
def _() -> None:
    DuckDBHook("warehuose").get_records("select 1")


if __name__ == "__main__":
    family.run()
