# /// script
# requires-python = "==3.11.*"
# dependencies = ["asyncpg==0.32.0", "cryptography==46.0.3"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What asyncpg raises against a real PostgreSQL."""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
from harness import CANARY, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs, port_that_says
from servers.port import refused_port
from servers.postgres import Postgres, postgres, postgres_cluster
from servers.postgres_statements import STATEMENTS

family = Family(__file__, "asyncpg", servers={"pg": postgres})

_FIRST = "update customers set name = name where id = 1"
_SECOND = "update customers set name = name where id = 2"


class SyncFailed(Exception):
    """A user's own exception."""


async def connect(pg: Postgres, **options: Any) -> Any:
    words = {"user": "etl", "database": "warehouse", "password": CANARY, "ssl": False, "timeout": 3, **options}
    return await asyncpg.connect(host="127.0.0.1", port=pg.port, **words)


def runs(*statements: str, **options: Any) -> Callable[[Postgres], Awaitable[None]]:
    async def case(pg: Postgres) -> None:
        connection = await connect(pg, **options)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close(timeout=1)

    return case


for title in (
    "a duplicate key",
    "a missing parent row",
    "null where none may be",
    "a broken check",
    "a text that is no number",
    "a division by zero",
    "a text too long for its column",
    "an exception of a function",
    "a missing table",
    "a missing column",
    "a missing function",
    "a table that exists",
    "a typo",
    "a table without permission",
    "a write in a read-only transaction",
):
    family.case(title, raises="PostgresError")(runs(STATEMENTS[title]))

family.case("a statement timeout", raises="QueryCanceledError")(
    runs("set statement_timeout = '100ms'", "select pg_sleep(5)")
)

for title, options in {
    "a wrong password": {"password": "not-the-one"},
    "a role that no rule lets in": {"user": "analyst"},
    "a role that does not exist": {"user": "visitor"},
    "a database that does not exist": {"database": "lake"},
    "a database that may not be connected to": {"database": "private"},
    "a server that wants TLS": {"user": "only_tls"},
    "a startup option that the server does not know": {"server_settings": {"work_memory": "1GB"}},
    "a certificate of an unknown authority": {"ssl": ssl.create_default_context()},
}.items():
    family.case(title, raises=("PostgresError", "OSError"))(runs(**options))


@family.case("a deadlock", raises="DeadlockDetectedError")
async def _(pg: Postgres) -> None:
    one, other = await connect(pg), await connect(pg)
    await one.execute(f"begin; {_FIRST}")
    await other.execute(f"begin; {_SECOND}")
    waiting = asyncio.create_task(one.execute(_SECOND))
    await asyncio.sleep(0.4)
    try:
        await other.execute(_FIRST)
    finally:
        await other.close()
        await waiting
        await one.close()


@family.case("a lock timeout", raises="LockNotAvailableError")
async def _(pg: Postgres) -> None:
    one, other = await connect(pg), await connect(pg)
    await one.execute(f"begin; {_FIRST}")
    try:
        await other.execute(f"set lock_timeout = '100ms'; {_FIRST}")
    finally:
        await one.close()


@family.case("a concurrent update", raises="SerializationError")
async def _(pg: Postgres) -> None:
    one, other = await connect(pg), await connect(pg)
    async with one.transaction(isolation="repeatable_read"):
        await one.fetch("select * from customers")
        await other.execute(_FIRST)
        await one.execute(_FIRST)


@family.case("the client's own limit of time for a command", raises="TimeoutError", tags=[WRONG_READING])
async def _(pg: Postgres) -> None:
    connection = await connect(pg, command_timeout=0.2)
    await connection.fetch("select pg_sleep(5)")


@family.case("a session terminated in a statement", raises=("PostgresError", "OSError"))
async def _(pg: Postgres) -> None:
    connection = await connect(pg)
    query = asyncio.create_task(connection.fetch("select pg_sleep(5)"))
    await asyncio.sleep(0.3)
    await asyncio.to_thread(pg.admin, "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'etl'")
    await query


@family.case("the session's process is killed in a statement", raises=("PostgresError", "OSError"))
async def _() -> None:
    with postgres_cluster() as pg:
        connection = await connect(pg)
        query = asyncio.create_task(connection.fetch("select pg_sleep(5)"))
        await asyncio.sleep(0.3)
        pg.kill_backend(signal.SIGKILL)
        await query


@family.case("too many clients", raises="PostgresError", tags=[WRONG_READING])
async def _(pg: Postgres) -> None:
    open_ones: list[Any] = []
    try:
        for _ in range(30):
            open_ones.append(await connect(pg))  # noqa: PERF401 - those before the failure have to be closed
    finally:
        for connection in open_ones:
            await connection.close()


@family.case("too many connections of a role", raises="TooManyConnectionsError")
async def _(pg: Postgres) -> None:
    one = await connect(pg, user="narrow")
    try:
        await connect(pg, user="narrow")
    finally:
        await one.close()


@family.case("a server that is starting up", raises="CannotConnectNowError")
async def _() -> None:
    settings = {"restore_command": "sleep 20; false"}
    with postgres_cluster(settings=settings, ready_line="listening on") as pg:
        await asyncio.sleep(0.5)
        await connect(pg)


async def fails_to_connect(port: int, **options: Any) -> None:
    words = {"timeout": 1, "ssl": False, **options}
    await asyncpg.connect(host="127.0.0.1", port=port, user="etl", password=CANARY, database="warehouse", **words)


@family.case("the connection is refused", raises="OSError")
async def _() -> None:
    with refused_port() as port:
        await fails_to_connect(port)


@family.case("a host name that does not exist", raises="OSError")
async def _() -> None:
    await asyncpg.connect(f"postgresql://etl:{CANARY}@pg.warehouse.invalid/warehouse", timeout=2)


@family.case("a server that never answers", raises="TimeoutError")
async def _() -> None:
    with port_that_hangs() as port:
        await fails_to_connect(port)


@family.case("a server that closes at once", raises=("OSError", "PostgresError"))
async def _() -> None:
    with port_that_closes() as port:
        await fails_to_connect(port)


@family.case("a server without TLS asked for TLS", raises="OSError", tags=[WRONG_READING])
async def _() -> None:
    with port_that_says(b"N") as port:
        await fails_to_connect(port, ssl="require")


@family.case("an argument of the wrong type", raises="DataError")
async def _(pg: Postgres) -> None:
    connection = await connect(pg)
    await connection.fetch("select * from customers where id = $1", "seven")


@family.case("an argument too few", raises="InterfaceError")
async def _(pg: Postgres) -> None:
    connection = await connect(pg)
    await connection.fetch("select $1::int, $2::int", 1)


@family.case("two queries on one connection at the same time", raises="InterfaceError", tags=[WRONG_READING])
async def _(pg: Postgres) -> None:
    connection = await connect(pg)
    await asyncio.gather(connection.fetch("select pg_sleep(0.5)"), connection.fetch("select 1"))


@family.case("a connection used after it was closed", raises="InterfaceError")
async def _(pg: Postgres) -> None:
    connection = await connect(pg)
    await connection.close()
    await connection.fetch("select 1")


@family.case("a plan that a change of the table made stale", raises="InvalidCachedStatementError", tags=[WRONG_READING])
async def _(pg: Postgres) -> None:
    connection = await connect(pg, user="postgres")
    await connection.execute("create temp table t (a int)")
    async with connection.transaction():
        await connection.fetch("select * from t")
        await connection.execute("alter table t alter a type text")
        await connection.fetch("select * from t")


@family.case("a broken copy of records", raises=("DataError", "Exception"))
async def _(pg: Postgres) -> None:
    connection = await connect(pg)
    await connection.copy_records_to_table("customers", records=[(9, 4.5, None)])


@family.case(
    "a missing table and refused connections in a group of tasks", raises="ExceptionGroup", tags=[WRONG_READING]
)
async def _(pg: Postgres) -> None:
    with refused_port() as port:
        ends = await asyncio.gather(
            fails_to_connect(port), runs(STATEMENTS["a missing table"])(pg), return_exceptions=True
        )
    raise ExceptionGroup("two of the tables were not read", [end for end in ends if isinstance(end, Exception)])


@family.case("refused connections in a synchronization's own exception", raises="SyncFailed")
async def _() -> None:
    try:
        with refused_port() as port:
            await fails_to_connect(port)
    except OSError as error:
        raise SyncFailed("customers are not in step") from error


if __name__ == "__main__":
    family.run()
