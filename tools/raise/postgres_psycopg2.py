# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "psycopg2-binary==2.9.13", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What psycopg2 raises against a real PostgreSQL."""

from __future__ import annotations

import asyncio
import io
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg2
import psycopg2.errors
import psycopg2.extras
import psycopg2.pool
import tenacity
from harness import CANARY, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs, port_that_says
from servers.port import refused_port
from servers.postgres import Postgres, postgres, postgres_cluster, postgres_replica
from servers.postgres_scenes import SCENES, write_to_a_replica
from servers.postgres_statements import STATEMENTS

family = Family(__file__, "psycopg2-binary", servers={"pg": postgres})

MISLEADING = {"a statement timeout while waiting for a lock", "too many clients", "locks that fill shared memory"}


class ExtractError(RuntimeError):
    """A user's own exception."""


def connect(pg: Postgres, **options: str) -> Any:
    return psycopg2.connect(pg.dsn(**options))


def runs(statement: str) -> Callable[[Postgres], None]:
    def case(pg: Postgres) -> None:
        connect(pg).cursor().execute(statement)

    return case


for title in (
    "a duplicate key",
    "a missing parent row",
    "null where none may be",
    "a broken check",
    "a text that is no number",
    "a division by zero",
    "a numeric overflow",
    "a text too long for its column",
    "bytes that are no UTF-8",
    "an exception of a function",
    "a missing table",
    "a missing column",
    "a missing function",
    "a missing schema",
    "a missing prepared statement",
    "a table that exists",
    "a typo",
    "a table without permission",
    "vacuum within a transaction",
    "a missing cursor",
):
    family.case(title, raises="Error")(runs(STATEMENTS[title]))

for title in (
    "a deadlock",
    "a row lock that is taken and nowait",
    "a lock timeout",
    "a statement timeout",
    "a statement timeout while waiting for a lock",
    "a concurrent update",
    "a serialization failure",
    "an idle transaction that was ended",
    "a session terminated between statements",
    "a statement cancelled by somebody",
    "a transaction that failed before",
    "a connection used after it was closed",
    "too many clients",
    "too many connections of a role",
    "temporary files over the limit",
    "locks that fill shared memory",
):
    family.case(title, raises="Error", tags=[WRONG_READING] if title in MISLEADING else [])(
        lambda pg, title=title: SCENES[title](pg, connect)
    )

for title, options in {
    "a wrong password": {"password": "not-the-one"},
    "a role that does not exist": {"user": "visitor"},
    "a role that no rule lets in": {"user": "analyst"},
    "a database that does not exist": {"database": "lake"},
    "a database that may not be connected to": {"database": "private"},
    "a server that wants TLS": {"user": "only_tls"},
    "no password at all": {"password": "''"},
}.items():
    family.case(title, raises="OperationalError")(lambda pg, options=options: connect(pg, **options))


@family.case("a URL of SQLAlchemy's given to the driver", raises="ProgrammingError")
def _(pg: Postgres) -> None:
    psycopg2.connect(pg.url("psycopg2"))


def fails_to_connect(port: int, **options: str) -> None:
    words = {"connect_timeout": "2", "sslmode": "disable", "gssencmode": "disable", **options}
    psycopg2.connect(host="127.0.0.1", port=port, user="etl", password=CANARY, dbname="warehouse", **words)


@family.case("the connection is refused", raises="OperationalError")
def _() -> None:
    with refused_port() as port:
        fails_to_connect(port)


@family.case("a host name that does not exist", raises="OperationalError")
def _() -> None:
    psycopg2.connect(f"host=pg.warehouse.invalid user=etl password={CANARY} connect_timeout=2")


@family.case("a server that never answers", raises="OperationalError")
def _() -> None:
    with port_that_hangs() as port:
        fails_to_connect(port)


@family.case("a server that closes at once", raises="OperationalError")
def _() -> None:
    with port_that_closes() as port:
        fails_to_connect(port)


@family.case("a server without TLS asked for TLS", raises="OperationalError")
def _() -> None:
    with port_that_says(b"N") as port:
        fails_to_connect(port, sslmode="require")


@family.case("a server that is starting up", raises="OperationalError")
def _() -> None:
    settings = {"restore_command": "sleep 20; false"}
    with postgres_cluster(settings=settings, ready_line="listening on") as pg:
        time.sleep(0.5)
        connect(pg)


@family.case("a server that is shutting down", raises="OperationalError")
def _() -> None:
    with postgres_cluster() as pg, connect(pg):
        pg.signal(signal.SIGTERM)
        time.sleep(0.3)
        connect(pg)


@family.case("a write to a replica", raises="ReadOnlySqlTransaction", tags=[WRONG_READING])
def _() -> None:
    with postgres_cluster() as primary, postgres_replica(primary) as pg:
        write_to_a_replica(pg, connect)


@family.case("the session's process is killed", raises="OperationalError")
def _() -> None:
    with postgres_cluster() as pg:
        connection = connect(pg)
        connection.cursor().execute("select 1")
        pg.kill_backend(signal.SIGKILL)
        time.sleep(0.3)
        connection.cursor().execute("select 1")


@family.case("a cursor used after it was closed", raises="InterfaceError")
def _(pg: Postgres) -> None:
    cursor = connect(pg).cursor()
    cursor.close()
    cursor.execute("select 1")


@family.case("fetching from a statement without rows", raises="ProgrammingError")
def _(pg: Postgres) -> None:
    cursor = connect(pg).cursor()
    cursor.execute("set work_mem = '4MB'")
    cursor.fetchall()


@family.case("fetching from a server-side cursor after a commit", raises="ProgrammingError")
def _(pg: Postgres) -> None:
    connection = connect(pg)
    cursor = connection.cursor("orders")
    cursor.itersize = 1
    cursor.execute("select generate_series(1, 10)")
    cursor.fetchone()
    connection.commit()
    cursor.fetchone()


@family.case("a text with a zero byte", raises="ValueError")
def _(pg: Postgres) -> None:
    connect(pg).cursor().execute("select %s", ["A\0B"])


@family.case("a dictionary without an adapter", raises="ProgrammingError")
def _(pg: Postgres) -> None:
    connect(pg).cursor().execute("insert into orders (id, customer_id, note) values (9, 1, %s)", [{"a": 1}])


@family.case("a parameter too few", raises="IndexError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    connect(pg).cursor().execute("select %s, %s", [1])


@family.case("an empty list of values", raises="SyntaxError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    rows: list[int] = []  # nothing was extracted
    connect(pg).cursor().execute(f"select * from orders where id in ({', '.join(map(str, rows))})")


@family.case("copy of a row with too many fields", raises="BadCopyFileFormat")
def _(pg: Postgres) -> None:
    connect(pg).cursor().copy_expert("copy customers from stdin", io.StringIO("5\tEd\tx\tx\n"))


@family.case("copy from a file that breaks off", raises=("QueryCanceled", "Error"), tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    class Broken(io.StringIO):
        def read(self, size: int | None = -1) -> str:
            raise TimeoutError("the object store did not answer")

    connect(pg).cursor().copy_expert("copy customers from stdin", Broken())


@family.case("a pool whose connections are all taken", raises="PoolError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    pool = psycopg2.pool.SimpleConnectionPool(1, 1, pg.dsn())
    pool.getconn()
    pool.getconn()


# As tasks meet them.
@family.case("refused connections in an extract's own exception", raises="ExtractError")
def _() -> None:
    try:
        with refused_port() as port:
            fails_to_connect(port)
    except psycopg2.OperationalError as error:
        raise ExtractError("could not extract orders") from error


@family.case("a wrong password in an exception that speaks of the network", raises="ExtractError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    try:
        connect(pg, password="not-the-one")
    except psycopg2.OperationalError as error:
        raise ExtractError("connection to the warehouse lost") from error


@family.case("a statement timeout until tenacity gives up", raises="RetryError")
def _(pg: Postgres) -> None:
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(partial(SCENES["a statement timeout"], pg, connect))()


@family.case("a roll-back that fails as well", raises="InterfaceError", tags=[WRONG_READING])
def _(pg: Postgres) -> None:
    connection = connect(pg)
    try:
        connection.cursor().execute("select 1")
        pg.admin("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'etl'")
        time.sleep(0.3)
        connection.cursor().execute("select 1")
    except psycopg2.Error:
        connection.rollback()
        raise


@family.case("a deadlock and a duplicate key in a group of threads", raises="ExceptionGroup", tags=[WRONG_READING])
async def _(pg: Postgres) -> None:
    ends = await asyncio.gather(
        asyncio.to_thread(SCENES["a deadlock"], pg, connect),
        asyncio.to_thread(runs(STATEMENTS["a duplicate key"]), pg),
        return_exceptions=True,
    )
    raise ExceptionGroup("two of the loads failed", [end for end in ends if isinstance(end, Exception)])


if __name__ == "__main__":
    family.run()
