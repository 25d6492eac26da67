# /// script
# requires-python = "==3.11.*"
# dependencies = ["aiomysql==0.3.2", "cryptography==46.0.3", "mysql-connector-python==26.10.0"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What MySQL's own connector and aiomysql raise against a real MariaDB."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

import aiomysql
import mysql.connector
import mysql.connector.pooling
from harness import CANARY, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs
from servers.mariadb import MariaDB, mariadb, mariadb_server
from servers.port import refused_port

family = Family(__file__, "mysql-connector-python", servers={"db": mariadb})


class ImportFailed(Exception):
    """A user's own exception."""


def connect(db: MariaDB, **options: Any) -> Any:
    words = {"user": "etl", "password": CANARY, "database": "shop", "connection_timeout": 3, **options}
    return mysql.connector.connect(host="127.0.0.1", port=db.port, ssl_disabled=True, use_pure=True, **words)


def runs(*statements: str, **options: Any) -> Callable[[MariaDB], None]:
    def case(db: MariaDB) -> None:
        connection = connect(db, **options)
        for statement in statements:
            connection.cursor(buffered=True).execute(statement)

    return case


for title, statements in {
    "a duplicate key": ["insert into customers values (1, 'Ada', null)"],
    "a missing parent row": ["insert into orders values (77, 99, 1, 'open', null)"],
    "a broken check": ["insert into orders values (77, 1, -5, 'open', null)"],
    "a text too long for its column": [f"insert into customers values (9, '{'x' * 300}', null)"],
    "a text that is no number": ["insert into orders values ('n/a', 1, 1, 'open', null)"],
    "a missing table": ["select * from invoices"],
    "a missing column": ["select colour from customers"],
    "a missing procedure": ["call load_orders()"],
    "a table that exists": ["create table customers (id int)"],
    "a typo": ["selct * from customers"],
    "a statement over its limit of time": ["set max_statement_time = 0.1", "select sleep(5)"],
    "a signal of a procedure": ["call check_balance(7)"],
    "a setting for which one must be root": ["set global max_connections = 100"],
    "an encoding that does not exist": ["set names utf9"],
}.items():
    family.case(title, raises="Error")(runs(*statements))

for title, options in {
    "a wrong password": {"password": "not-the-one"},
    "a database that does not exist": {"user": "root", "database": "lake"},
    "a database that may not be opened": {"database": "private"},
    "an account that is locked": {"user": "locked"},
    "a plugin that the client lacks": {"user": "modern"},
    "a collation that MySQL has and MariaDB has not": {"collation": "utf8mb4_0900_ai_ci"},
    "an option that does not exist": {"pasword": "x"},
}.items():
    family.case(title, raises=("Error", "AttributeError"))(lambda db, options=options: connect(db, **options))


@family.case("too many connections", raises="Error")
def _(db: MariaDB) -> None:
    with contextlib.ExitStack() as open_ones:
        for _ in range(20):
            open_ones.callback(connect(db).close)


@family.case("more connections of a user than allowed", raises="Error")
def _(db: MariaDB) -> None:
    with contextlib.closing(connect(db, user="narrow")):
        connect(db, user="narrow")


@family.case("a wait for a lock that took too long", raises="Error")
def _(db: MariaDB) -> None:
    with contextlib.closing(connect(db)) as one:
        one.cursor().execute("update customers set name = 'A'")
        runs("set innodb_lock_wait_timeout = 1", "update customers set name = 'B'")(db)


@family.case("a connection that somebody killed", raises="Error")
def _(db: MariaDB) -> None:
    connection = connect(db)
    db.kill_sessions()
    time.sleep(0.2)
    connection.cursor().execute("select 1")


@family.case("a statement larger than the server takes", raises="Error", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    connection = connect(db)
    connection.cursor().execute(f"select '{'x' * 3_000_000}'")


@family.case("a server that is read-only", raises="Error", tags=[WRONG_READING])
def _() -> None:
    with mariadb_server(read_only="ON") as db:
        runs("delete from orders")(db)


@family.case("rows that were not read before the next statement", raises="InternalError", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    connection = connect(db)
    connection.cursor().execute("select * from customers")
    connection.cursor().execute("select 1")


@family.case("a parameter too few", raises="ProgrammingError")
def _(db: MariaDB) -> None:
    connection = connect(db)
    connection.cursor().execute("select %s, %s", [1])


@family.case("a value without a conversion", raises="Error")
def _(db: MariaDB) -> None:
    connection = connect(db)
    connection.cursor().execute("insert into customers values (%s, 'x', null)", [{"id": 1}])


@family.case("a pool whose connections are all taken", raises="PoolError", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    pool = mysql.connector.pooling.MySQLConnectionPool(
        pool_size=1, host="127.0.0.1", port=db.port, user="etl", password=CANARY, ssl_disabled=True, use_pure=True
    )
    held = pool.get_connection()
    pool.get_connection()
    held.close()


def fails_to_connect(port: int, host: str = "127.0.0.1") -> None:
    mysql.connector.connect(
        host=host, port=port, user="etl", password=CANARY, connection_timeout=1, ssl_disabled=True, use_pure=True
    )


@family.case("the connection is refused", raises="Error")
def _() -> None:
    with refused_port() as port:
        fails_to_connect(port)


@family.case("a host name that does not exist", raises="Error")
def _() -> None:
    fails_to_connect(3306, "db.shop.invalid")


@family.case("a server that never answers", raises="Error")
def _() -> None:
    with port_that_hangs() as port:
        fails_to_connect(port)


@family.case("a server that closes at once", raises="Error")
def _() -> None:
    with port_that_closes() as port:
        fails_to_connect(port)


@family.case("a deadlock victim's import", raises="ImportFailed")
def _(db: MariaDB) -> None:
    try:
        with contextlib.closing(connect(db)) as one:
            one.cursor().execute("update customers set name = 'A'")
            runs("set innodb_lock_wait_timeout = 1", "update customers set name = 'B'")(db)
    except mysql.connector.Error as error:
        raise ImportFailed(f"import of orders.csv failed: {error.msg}") from None


# aiomysql.
async def aio_connect(db: MariaDB, **options: Any) -> Any:
    words = {"user": "etl", "password": CANARY, "db": "shop", "connect_timeout": 3, **options}
    return await aiomysql.connect(host="127.0.0.1", port=db.port, **words)


async def aio_run(db: MariaDB, *statements: str, **options: Any) -> None:
    connection = await aio_connect(db, **options)
    cursor = await connection.cursor()
    try:
        for statement in statements:
            await cursor.execute(statement)
    finally:
        connection.close()


for title, statement in {
    "aiomysql meets a duplicate key": "insert into customers values (1, 'Ada', null)",
    "aiomysql does not find a table": "select * from invoices",
    "aiomysql runs a typo": "selct * from customers",
}.items():
    family.case(title, raises="MySQLError", library="aiomysql")(lambda db, statement=statement: aio_run(db, statement))


@family.case("aiomysql has a wrong password", raises="OperationalError", library="aiomysql")
async def _(db: MariaDB) -> None:
    await aio_connect(db, password="not-the-one")


@family.case("aiomysql is refused", raises="OperationalError", library="aiomysql")
async def _() -> None:
    with refused_port() as port:
        await aiomysql.connect(host="127.0.0.1", port=port, user="etl", password=CANARY, connect_timeout=1)


@family.case("aiomysql loses a connection in a query", raises="MySQLError", library="aiomysql")
async def _(db: MariaDB) -> None:
    query = asyncio.create_task(aio_run(db, "select sleep(3)"))
    await asyncio.sleep(0.4)
    await asyncio.to_thread(db.kill_sessions)
    await query


@family.case(
    "aiomysql reads while another coroutine does", raises=("RuntimeError",), library="aiomysql", tags=[WRONG_READING]
)
async def _(db: MariaDB) -> None:
    connection = await aio_connect(db)
    one, other = await connection.cursor(), await connection.cursor()
    await asyncio.gather(one.execute("select sleep(0.5)"), other.execute("select 1"))


@family.case("aiomysql fails two tables in a group of tasks", raises="ExceptionGroup", library="aiomysql")
async def _(db: MariaDB) -> None:
    ends = await asyncio.gather(
        aio_run(db, "select colour from customers"), aio_run(db, "select * from orders", user="reader"),
        return_exceptions=True,
    )  # fmt: skip
    raise ExceptionGroup("2 of 2 tables failed", [end for end in ends if isinstance(end, Exception)])


if __name__ == "__main__":
    family.run()
