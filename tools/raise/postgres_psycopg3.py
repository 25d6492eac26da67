# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "psycopg[binary]==3.3.9", "psycopg-pool==3.3.3", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What psycopg 3 raises against a real PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from psycopg_pool import ConnectionPool
from servers.broken import port_that_closes, port_that_hangs, port_that_resets, port_that_says
from servers.port import refused_port
from servers.postgres import Postgres, postgres, postgres_cluster, postgres_replica
from servers.postgres_scenes import SCENES, file_of_a_table_that_is_gone, page_that_is_damaged, write_to_a_replica
from servers.postgres_statements import STATEMENTS

family = Family(__file__, "psycopg", servers={"pg": postgres})

MISLEADING = {
    "a table named like a timeout",
    "a table named like a deadlock",
    "a statement timeout while waiting for a lock",
    "a prepared statement whose result changed",
    "a transaction that failed before",
    "too many clients",
    "locks that fill shared memory",
}
"""Where the class or the first words say something else than what helps."""


class LoadError(Exception):
    """A user's own exception."""


def connect(pg: Postgres, **options: str) -> psycopg.Connection[Any]:
    return psycopg.connect(pg.dsn(**options))


def runs(statement: str) -> Callable[[Postgres], None]:
    """Return a case that runs one statement, or several with ``;`` between them."""

    def case(pg: Postgres) -> None:
        with connect(pg) as connection:
            connection.autocommit = statement.startswith(("begin", "create database"))
            for part in statement.split("; "):
                connection.execute(part)  # type: ignore[arg-type]

    return case


def fails_to_connect(port: int, **options: str) -> None:
    words = {"connect_timeout": "2", "sslmode": "disable", "gssencmode": "disable", **options}
    psycopg.connect(host="127.0.0.1", port=port, user="etl", password=CANARY, dbname="warehouse", **words)


_SAME_AS_A_REPLICA = "a write in a read-only transaction"

for title, statement in STATEMENTS.items():
    if title == _SAME_AS_A_REPLICA:
        continue  # word for word what a replica says, and that is among the cases
    family.case(title, raises="Error", tags=[WRONG_READING] if title in MISLEADING else [])(runs(statement))

for title, scene in SCENES.items():
    family.case(title, raises="Error", tags=[WRONG_READING] if title in MISLEADING else [])(
        lambda pg, scene=scene: scene(pg, connect)
    )


# Who may not in.
for title, options in {
    "a wrong password": {"password": "not-the-one"},
    "a role that does not exist": {"user": "visitor"},
    "a role that no rule lets in": {"user": "analyst"},
    "a role that may not log in": {"user": "no_login"},
    "a database that does not exist": {"database": "lake"},
    "a database that may not be connected to": {"database": "private"},
    "an address that is rejected": {"user": "not_from_here"},
    "a server that wants TLS": {"user": "only_tls"},
    "a certificate of an unknown authority": {"sslmode": "verify-full", "sslrootcert": "system"},
    "a file of authorities that is not there": {"sslmode": "verify-ca", "sslrootcert": "/etc/ssl/company.pem"},
    "an sslmode that does not exist": {"sslmode": "always"},
    "a startup option that the server does not know": {"options": "'-c work_memory=1GB'"},
    "a password file with no password": {"password": "''"},
    "a session that must be writable": {"target_session_attrs": "standby"},
    "a service that is not defined": {"service": "warehouse_prod"},
}.items():
    family.case(title, raises="Error")(lambda pg, options=options: psycopg.connect(pg.dsn(**options)))


@family.case("a certificate for another host", raises="OperationalError")
def _(pg: Postgres) -> None:
    options = {"sslmode": "verify-full", "sslrootcert": str(pg.tls_root)}
    psycopg.connect(pg.dsn(**options).replace("127.0.0.1", "db.internal.example hostaddr=127.0.0.1"))


@family.case("a connection string with an unknown word", raises="ProgrammingError")
def _() -> None:
    psycopg.connect("host=127.0.0.1 pasword=x dbname=warehouse")


@family.case("a URL of SQLAlchemy's given to the driver", raises="ProgrammingError")
def _(pg: Postgres) -> None:
    psycopg.connect(pg.url("psycopg"))


# No way to the server.
@family.case("the connection is refused", raises="OperationalError")
def _() -> None:
    with refused_port() as port:
        fails_to_connect(port)


@family.case("two hosts that both refuse", raises="OperationalError")
def _() -> None:
    with refused_port() as port, refused_port() as other:
        psycopg.connect(f"host=127.0.0.1,127.0.0.1 port={port},{other} user=etl password={CANARY} connect_timeout=2")


@family.case("a host name that does not exist", raises="OperationalError")
def _() -> None:
    psycopg.connect(f"host=pg.warehouse.invalid user=etl password={CANARY} connect_timeout=2")


@family.case("a socket that is not there", raises="OperationalError")
def _() -> None:
    psycopg.connect(f"host=/var/run/pg user=etl password={CANARY}")


@family.case("a server that never answers", raises="ConnectionTimeout")
def _() -> None:
    with port_that_hangs() as port:
        fails_to_connect(port)


@family.case("a server that closes at once", raises="OperationalError")
def _() -> None:
    with port_that_closes() as port:
        fails_to_connect(port)


@family.case("a server that resets", raises="OperationalError")
def _() -> None:
    with port_that_resets() as port:
        fails_to_connect(port)


@family.case("a server that speaks HTTP", raises="OperationalError", tags=[WRONG_READING])
def _() -> None:
    with port_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        fails_to_connect(port)


@family.case("a server without TLS asked for TLS", raises="OperationalError")
def _() -> None:
    with port_that_says(b"N") as port:
        fails_to_connect(port, sslmode="require")


# Servers that come, go and break.
@family.case("a server that is starting up", raises="OperationalError")
def _() -> None:
    settings = {"restore_command": "sleep 20; false"}
    with postgres_cluster(settings=settings, ready_line="listening on") as pg:
        time.sleep(0.5)
        connect(pg)


@family.case("a replica that takes no connections", raises="OperationalError")
def _() -> None:
    with postgres_cluster() as primary, postgres_replica(primary, hot_standby="off") as pg:
        connect(pg)


@family.case("a server that is shutting down", raises="OperationalError")
def _() -> None:
    with postgres_cluster() as pg, connect(pg):
        pg.signal(signal.SIGTERM)
        time.sleep(0.3)
        connect(pg)


@family.case("a server that shuts down in a statement", raises="AdminShutdown")
def _() -> None:
    with postgres_cluster() as pg, connect(pg) as connection:
        connection.execute("select 1")
        pg.signal(signal.SIGINT)
        time.sleep(0.5)
        connection.execute("select 1")


@family.case("a server that recovers from a crash", raises="OperationalError")
def _() -> None:
    with postgres_cluster() as pg, connect(pg) as victim, connect(pg, user="reader") as stopped:
        victim.execute("select 1")
        stopped.execute("select 1")
        pg.kill_backend(signal.SIGSTOP, user="reader")  # the server waits for it before it recovers
        pg.kill_backend(signal.SIGKILL)
        time.sleep(0.5)
        connect(pg)


@family.case("a damaged page of a table", raises="DataCorrupted", tags=[WRONG_READING])
def _() -> None:
    with postgres_cluster() as pg:
        page_that_is_damaged(pg, connect)


@family.case("the session's process is killed", raises="OperationalError")
def _() -> None:
    with postgres_cluster() as pg, connect(pg) as connection:
        connection.execute("select 1")
        pg.kill_backend(signal.SIGKILL)
        time.sleep(0.3)
        connection.execute("select 1")


@family.case("a write to a replica", raises="ReadOnlySqlTransaction", tags=[WRONG_READING])
def _() -> None:
    with postgres_cluster() as primary, postgres_replica(primary) as pg:
        write_to_a_replica(pg, connect)


@family.case("a query on a replica in the way of recovery", raises="SerializationFailure", tags=[WRONG_READING])
def _() -> None:
    with postgres_cluster() as primary, postgres_replica(primary) as pg, connect(pg) as connection:
        connection.execute("begin isolation level repeatable read")
        connection.execute("select count(*) from orders")
        primary.admin("delete from orders", "vacuum orders")
        for _ in range(30):
            time.sleep(0.1)
            connection.execute("select count(*) from orders")


@family.case("a table's file that is gone", raises="UndefinedFile", tags=[WRONG_READING])
def _() -> None:
    with postgres_cluster() as pg:
        file_of_a_table_that_is_gone(pg, connect)


@family.case("a file that the server is to read and has not", raises="UndefinedFile")
def _(pg: Postgres) -> None:
    connect(pg, user="postgres").execute("copy customers from '/data/2026-01-31/customers.csv'")


# COPY and parameters.
for title, rows in {
    "copy of a row with too many fields": b"5\tEd\tx\tx\n",
    "copy of a row with too few fields": b"5\tEd\n",
    "copy of a text that is no number": b"five\tEd\t\\N\n",
    "copy of a row that is there already": b"1\tAda\t\\N\n",
    "copy of bytes that are no UTF-8": b"5\t\xff\xfe\t\\N\n",
    "copy of a text too long for its column": b"5\tA name that is longer than twenty\t\\N\n",
}.items():

    @family.case(title, raises="Error")
    def _(pg: Postgres, rows: bytes = rows) -> None:
        with connect(pg) as connection, connection.cursor().copy("copy customers from stdin") as copy:
            copy.write(rows)


for title, statement, values in (
    ("a text with a zero byte", "insert into customers values (5, %s, null)", ["A\0B"]),
    ("a parameter too few", "select %s, %s", [1]),
    ("a placeholder that does not exist", "select %x", [1]),
    ("a value that cannot be adapted", "select %s", [object()]),
    ("two statements with parameters", "select %s; select 2", [1]),
):

    @family.case(title, raises="Error")
    def _(pg: Postgres, statement: str = statement, values: list[Any] = values) -> None:
        connect(pg).execute(statement, values).fetchone()  # type: ignore[arg-type]


@family.case("fetching from a statement without rows", raises="ProgrammingError")
def _(pg: Postgres) -> None:
    connect(pg).execute("set work_mem = '4MB'").fetchall()


@family.case("a date that Python does not know", raises="DataError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    connect(pg).execute("select 'infinity'::date").fetchone()


@family.case("a character that the database's encoding lacks", raises="UntranslatableCharacter")
def _(pg: Postgres) -> None:
    connect(pg, database="latin", client_encoding="utf8").execute("select %s::text", ["Łódź"])


@family.case("a character that the client's encoding lacks", raises="UnicodeEncodeError")
def _(pg: Postgres) -> None:
    connect(pg, client_encoding="latin1").execute("select %s::text", ["Łódź"])


# The pool's own.
def _quiet(work: Callable[..., object]) -> Callable[..., None]:
    def quiet(*arguments: object) -> None:
        with contextlib.suppress(psycopg.Error):
            work(*arguments)

    return quiet


@family.case("a pool whose connections are all taken", raises="PoolTimeout", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    with ConnectionPool(pg.dsn(), min_size=1, max_size=1) as pool, pool.connection():
        pool.getconn(timeout=0.2)


@family.case("a pool that cannot connect", raises="PoolTimeout", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    with ConnectionPool(pg.dsn(password="not-the-one"), min_size=1, open=False, timeout=1) as pool:
        pool.wait(timeout=0.5)


@family.case("a pool that too many wait for", raises="TooManyRequests")
def _(pg: Postgres) -> None:
    with ConnectionPool(pg.dsn(), min_size=1, max_size=1, max_waiting=1) as pool, pool.connection():
        threading.Thread(target=_quiet(pool.getconn), args=(1,), daemon=True).start()
        time.sleep(0.2)
        pool.getconn(timeout=1)


@family.case("a pool that was closed", raises="PoolClosed")
def _(pg: Postgres) -> None:
    pool = ConnectionPool(pg.dsn(), min_size=1, open=True)
    pool.close()
    pool.getconn()


# As tasks meet them.
@family.case("a deadlock in a load's own exception", raises="LoadError")
def _(pg: Postgres) -> None:
    try:
        SCENES["a deadlock"](pg, connect)
    except psycopg.Error as error:
        raise LoadError("orders of 2026-01-31 were not loaded") from error


@family.case("a duplicate key in an exception that says retry", raises="LoadError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    try:
        runs(STATEMENTS["a duplicate key"])(pg)
    except psycopg.Error as error:
        raise LoadError("temporary failure while loading, please retry") from error


@family.case("refused connections until tenacity gives up", raises="RetryError")
def _() -> None:
    with refused_port() as port:
        tenacity.retry(stop=tenacity.stop_after_attempt(2))(partial(fails_to_connect, port))()


@family.case("a missing table until tenacity gives up", raises="RetryError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(partial(runs(STATEMENTS["a missing table"]), pg))()


@family.case("a lock timeout in a group of tasks", raises="ExceptionGroup")
async def _(pg: Postgres) -> None:
    async def one(statement: str) -> None:
        async with await psycopg.AsyncConnection.connect(pg.dsn()) as connection:
            await connection.execute("set lock_timeout = '100ms'")
            await connection.execute(statement)  # type: ignore[arg-type]

    with connect(pg) as blocking:
        blocking.execute("select * from customers for update")
        async with asyncio.TaskGroup() as group:
            group.create_task(one("update customers set name = name"))
            group.create_task(one("delete from orders where id = -1"))


@family.case("a failed roll-back hides a terminated session", raises="OperationalError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    connection = connect(pg)
    try:
        connection.execute("select 1")
        pg.admin("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'etl'")
        time.sleep(0.3)
        connection.execute("select 1")
    except psycopg.Error:
        connection.rollback()
        raise


@family.case("a missing column whose clean-up fails as well", raises="InFailedSqlTransaction", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    connection = connect(pg)
    try:
        connection.execute("select colour from customers")
    finally:
        connection.execute("delete from customers where id = -1")


def words_of(run: Callable[[], object]) -> str:
    """Return the traceback of what is raised as a log has it."""
    try:
        run()
    except Exception:  # noqa: BLE001 - whatever it is
        return traceback.format_exc()
    return ""


@family.case("a serialization failure as a log's traceback", raises="RuntimeError", tags=[FROM_TEXT])
def _(pg: Postgres) -> None:
    log = words_of(lambda: SCENES["a serialization failure"](pg, connect))
    raise RuntimeError(f"job load_orders failed with exit code 1\n{log}")


@family.case("a wrong password as a log's traceback", raises="RuntimeError", tags=[FROM_TEXT])
def _(pg: Postgres) -> None:
    log = words_of(lambda: psycopg.connect(pg.dsn(password="not-the-one")))
    raise RuntimeError(f"job load_orders failed with exit code 1\n{log}")


def psql(pg: Postgres, statement: str, **options: str) -> None:
    """Run a statement with psql as a BashOperator would, and tell what it wrote."""
    command = [str(pg.binaries / "psql"), "-Xq", "-v", "ON_ERROR_STOP=1", "-c", statement]
    environment = {**os.environ, "PGPASSWORD": CANARY, "PGOPTIONS": options.pop("pgoptions", "")}
    done = subprocess.run([*command, pg.dsn(**options)], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"psql ended with {done.returncode}: {done.stderr}")


for title, statement, options in (
    ("psql says that a table is missing", "select * from invoices", {}),
    ("psql says that a statement took too long", "select pg_sleep(3)", {"pgoptions": "-c statement_timeout=100"}),
    ("psql says that a database is missing", "select 1", {"database": "lake"}),
    ("psql says that a key is there already", STATEMENTS["a duplicate key"], {}),
    ("psql says that a role may not", "select * from secrets", {}),
):
    family.case(title, raises="RuntimeError", tags=[FROM_TEXT], library="python")(
        lambda pg, statement=statement, options=options: psql(pg, statement, **options)
    )


if __name__ == "__main__":
    family.run()
