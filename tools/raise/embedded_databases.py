# /// script
# requires-python = "==3.11.*"
# dependencies = ["aiosqlite==0.22.1", "duckdb==2.0.0", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What SQLite, aiosqlite and DuckDB raise: databases that are a file, or a part of the process."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiosqlite
import duckdb
import tenacity
from harness import WRONG_READING, Family
from servers.port import refused_port

family = Family(__file__, "duckdb")


class CheckpointError(Exception):
    """A user's own exception."""


_SHOP = """
create table customers (id integer primary key, name text not null unique, age integer check (age > 0));
create table orders (id integer primary key, customer_id integer not null references customers (id), amount integer);
insert into customers values (1, 'Ada', 36);
insert into orders values (1, 1, 10);
"""


def lite(path: str = "shop.db", **options: Any) -> sqlite3.Connection:
    """Open a filled database in the case's folder."""
    connection = sqlite3.connect(path, timeout=0.1, **options)
    connection.execute("pragma foreign_keys = on")
    if path == ":memory:" or not Path(path).stat().st_size:
        connection.executescript(_SHOP)
    return connection


def lite_case(title: str, **options: Any) -> Any:
    return family.case(title, library="python", **{"raises": "Error", **options})


def duck(*statements: str, path: str = ":memory:", **options: Any) -> duckdb.DuckDBPyConnection:
    """Open a filled database, and run statements."""
    connection = duckdb.connect(path, **options)
    connection.execute(_SHOP)
    for statement in statements:
        connection.execute(statement).fetchall()
    return connection


for title, statement in {
    "SQLite: a duplicate key": "insert into customers values (1, 'Bo', 3)",
    "SQLite: a name that must be unique": "insert into customers values (2, 'Ada', 3)",
    "SQLite: null where none may be": "insert into customers values (2, null, 3)",
    "SQLite: a missing parent row": "insert into orders values (2, 99, 3)",
    "SQLite: a broken check": "insert into customers values (2, 'Bo', -3)",
    "SQLite: a text for a row number": "insert into customers values ('two', 'Bo', 3)",
    "SQLite: a missing table": "select * from invoices",
    "SQLite: a missing column": "select colour from customers",
    "SQLite: a missing function": "select total_of(1)",
    "SQLite: a table that exists": "create table customers (id int)",
    "SQLite: a typo": "selct * from customers",
    "SQLite: a statement that ends early": "select * from customers where (id = 1",
    "SQLite: a table named like a lock": "select * from database_is_locked",
    "SQLite: two statements at once": "select 1; select 2",
    "SQLite: a value too few": "insert into customers values (1)",
    "SQLite: an integer out of range": "select abs(-9223372036854775808)",
    "SQLite: a text that is no JSON": "select json('{\"id\": 1, }')",
    "SQLite: a text beyond a gigabyte": "select zeroblob(2000000000)",
    "SQLite: a trigger's own words": "select raise(abort, 'x')",
}.items():
    tags = [WRONG_READING] if title.endswith(("named like a lock", "two statements at once")) else []
    lite_case(title, tags=tags)(lambda statement=statement: lite(":memory:").execute(statement).fetchall())


@lite_case("SQLite: a database that somebody writes to", raises="OperationalError")
def _() -> None:
    one, other = lite(), lite()
    one.execute("insert into customers values (2, 'Bo', 3)")
    other.execute("insert into customers values (3, 'Cy', 3)")


@lite_case("SQLite: a write after a read that somebody overtook", raises="OperationalError", tags=[WRONG_READING])
def _() -> None:
    one, other = lite(), lite()
    one.execute("pragma journal_mode = wal")
    one.execute("begin")
    one.execute("select * from customers").fetchall()
    other.execute("insert into customers values (2, 'Bo', 3)")
    other.commit()
    one.execute("insert into customers values (3, 'Cy', 3)")


@lite_case("SQLite: a table that a reader of the same cache locks", raises="OperationalError")
def _() -> None:
    shared = "file:shop?mode=memory&cache=shared"
    one, other = sqlite3.connect(shared, uri=True), sqlite3.connect(shared, uri=True)
    one.executescript(_SHOP)
    one.execute("insert into customers values (2, 'Bo', 3)")
    other.execute("select * from customers").fetchall()


@lite_case("SQLite: a folder that is not there", raises="OperationalError")
def _() -> None:
    sqlite3.connect("missing/shop.db")


@lite_case("SQLite: a file that is no database", raises="DatabaseError")
def _() -> None:
    Path("shop.db").write_text("id,name\n1,Ada\n" * 100)
    sqlite3.connect("shop.db").execute("select * from customers")


@lite_case("SQLite: a file that is cut off", raises="DatabaseError")
def _() -> None:
    lite().execute("create table t as select zeroblob(100000) as b").connection.commit()
    Path("shop.db").write_bytes(Path("shop.db").read_bytes()[:30_000])
    sqlite3.connect("shop.db").execute("select length(b) from t").fetchall()


@lite_case("SQLite: a write to what was opened to be read", raises="OperationalError", tags=[WRONG_READING])
def _() -> None:
    lite().close()
    sqlite3.connect("file:shop.db?mode=ro", uri=True).execute("delete from orders")


@lite_case("SQLite: a file that must exist and does not", raises="OperationalError")
def _() -> None:
    sqlite3.connect("file:shop.db?mode=rw", uri=True)


@lite_case("SQLite: a database that may not grow", raises="OperationalError", tags=[WRONG_READING])
def _() -> None:
    connection = lite()
    connection.execute("pragma max_page_count = 10")
    connection.execute("create table t as select zeroblob(1000000) as b")


@lite_case("SQLite: a file beyond the process's limit", raises="OperationalError", tags=[WRONG_READING])
def _() -> None:
    connection = lite()
    with limit_of(resource.RLIMIT_FSIZE, 100_000):
        connection.execute("create table t as select zeroblob(1000000) as b")
        connection.commit()


@lite_case("SQLite: a query that was interrupted", raises="OperationalError")
def _() -> None:
    connection = lite(check_same_thread=False)
    threading.Timer(0.2, connection.interrupt).start()
    connection.execute(
        "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
    ).fetchall()


@lite_case("SQLite: a connection used in another thread", raises="ProgrammingError")
def _() -> None:
    connection = lite()
    errors: list[Exception] = []

    def use() -> None:
        try:
            connection.execute("select 1")
        except sqlite3.Error as error:
            errors.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    raise errors[0]


@lite_case("SQLite: a connection used after it was closed", raises="ProgrammingError")
def _() -> None:
    connection = lite()
    connection.close()
    connection.execute("select 1")


@lite_case("SQLite: a parameter too few", raises="ProgrammingError")
def _() -> None:
    lite().execute("select ?, ?", [1])


@lite_case("SQLite: a value that cannot be bound", raises="ProgrammingError")
def _() -> None:
    lite().execute("insert into orders values (2, 1, ?)", [{"amount": 1}])


@lite_case("SQLite: an integer that is too large to be bound", raises="OverflowError")
def _() -> None:
    lite().execute("select ?", [2**70])


@lite_case("SQLite: an extension that may not be loaded", raises="OperationalError")
def _() -> None:
    lite().execute("select load_extension('spatial')")


@lite_case("SQLite: a lock until tenacity gives up", raises="RetryError")
def _() -> None:
    one, other = lite(), lite()
    one.execute("insert into customers values (2, 'Bo', 3)")
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(other.execute)("insert into customers values (3, 'Cy', 3)")


@lite_case("SQLite: a corrupt file in an exception that says busy", raises="CheckpointError", tags=[WRONG_READING])
def _() -> None:
    Path("state.db").write_bytes(b"\0" * 4096 + b"garbage")
    try:
        sqlite3.connect("state.db").execute("select * from offsets")
    except sqlite3.Error as error:
        raise CheckpointError("state store is busy, will be retried") from error


# aiosqlite.
@family.case("aiosqlite does not find a table", raises="Error", library="aiosqlite")
async def _() -> None:
    async with aiosqlite.connect(":memory:") as connection:
        await connection.execute("select * from invoices")


@family.case("aiosqlite is used after it was closed", raises=("Error", "ValueError"), library="aiosqlite")
async def _() -> None:
    async with aiosqlite.connect(":memory:") as connection:
        pass
    await connection.execute("select 1")


# DuckDB.
for title, statement in {
    "a duplicate key": "insert into customers values (1, 'Bo', 3)",
    "null where none may be": "insert into customers values (2, null, 3)",
    "a missing parent row": "insert into orders values (2, 99, 3)",
    "children that are still there": "delete from customers",
    "a broken check": "insert into customers values (2, 'Bo', -3)",
    "a text that is no number": "select 'n/a'::int",
    "a day that does not exist": "select '2026-02-30'::date",
    "an integer out of range": "select 2147483647::int + 1::int",
    "a numeric overflow": "select 1234567::decimal(4, 2)",
    "a subquery with two rows": "select (select * from range(2))",
    "a missing table": "select * from invoices",
    "a missing column": "select colour from customers",
    "a missing function": "select total_of(1)",
    "a missing schema": "create table staging.orders (id int)",
    "a missing database": "use lake",
    "a table that exists": "create table customers (id int)",
    "a typo": "selct * from customers",
    "an ambiguous column": "select id from customers, orders",
    "a column that is not grouped": "select name, count(*) from customers",
    "types that do not match": "select 1 + [1]",
    "a value too few": "insert into customers values (1)",
    "a CSV file that is not there": "select * from 'data/2026-01-31/orders.csv'",
    "a pattern that no file fits": "select * from read_parquet('data/*.parquet')",
    "an extension that is not there": "load spatial_of_ours",
    "an unknown setting": "set memory_limits = '1GB'",
    "a setting that takes no such value": "set memory_limit = 'lots'",
    "a setting that is locked": "set lock_configuration = true; set threads = 1",
    "access to files that is switched off": "set enable_external_access = false; select * from 'orders.csv'",
    "an error that the query raises": "select error('balance is negative')",
    "a nested commit": "commit",
    "a struct without that key": "select {'a': 1}.b",
    "a macro that calls itself": "create macro f(x) as f(x + 1); select f(1)",
    "a prepared statement that is not there": "execute load_orders",
    "a table named like memory": "select * from out_of_memory_events",
}.items():
    tags = [WRONG_READING] if title in {"a table named like memory"} else []
    family.case(f"DuckDB: {title}", raises="Error", tags=tags)(lambda statement=statement: duck(statement))


@contextlib.contextmanager
def other_process(statement: str) -> Iterator[None]:
    """Another process that has the database open."""
    code = f"import duckdb, sys; c = duckdb.connect('shop.duckdb'); c.execute({statement!r}); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


@contextlib.contextmanager
def limit_of(what: int, size: int) -> Iterator[None]:
    """Let this process have no more of something."""
    before, hard = resource.getrlimit(what)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(what, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (before, hard))
        signal.signal(signal.SIGXFSZ, ignored)


def duck_case(title: str, raises: str, *tags: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    return family.case(f"DuckDB: {title}", raises=raises, tags=tags)


@duck_case("a file that another process has open", "IOException", WRONG_READING)
def _() -> None:
    with other_process("select 1"):
        duckdb.connect("shop.duckdb")


@duck_case("a file that is not there to be read", "IOException")
def _() -> None:
    duckdb.connect("shop.duckdb", read_only=True)


@duck_case("a folder that is not there", "IOException")
def _() -> None:
    duckdb.connect("missing/shop.duckdb")


@duck_case("a file that is no database", "IOException", WRONG_READING)
def _() -> None:
    Path("shop.duckdb").write_bytes(b"PAR1" * 5000)
    duckdb.connect("shop.duckdb")


@duck_case("a file whose checksum is wrong", "Error")
def _() -> None:
    duck(path="shop.duckdb").close()
    content = bytearray(Path("shop.duckdb").read_bytes())
    content[4096:8192] = os.urandom(4096)
    content[8192:12000] = bytes(3808)
    Path("shop.duckdb").write_bytes(content)
    duckdb.connect("shop.duckdb").execute("select * from customers").fetchall()


@duck_case("a write to what was opened to be read", "InvalidInputException", WRONG_READING)
def _() -> None:
    duck(path="shop.duckdb").close()
    duckdb.connect("shop.duckdb", read_only=True).execute("delete from orders")


@duck_case("two writers of the same row", "TransactionException", WRONG_READING)
def _() -> None:
    one = duck("create table runs as select 1 as id", path="shop.duckdb")
    other = one.cursor()
    one.execute("begin; update runs set id = 2")
    other.execute("begin; update runs set id = 3")


@duck_case("two connections with different settings", "ConnectionException")
def _() -> None:
    one = duckdb.connect("shop.duckdb", config={"threads": 1})
    duckdb.connect("shop.duckdb", config={"threads": 2})
    one.close()


@duck_case("a transaction that failed before", "TransactionException", WRONG_READING)
def _() -> None:
    connection = duck()
    connection.execute("begin")
    with contextlib.suppress(duckdb.Error):
        connection.execute("insert into customers values (1, 'Bo', 3)")
    connection.execute("select 1")


@duck_case("memory beyond the limit", "OutOfMemoryException", WRONG_READING)
def _() -> None:
    settings = {"memory_limit": "20MB", "max_temp_directory_size": "0MB", "threads": 1}
    duck("select list(x) from range(20000000) t(x)", config=settings)


@duck_case("spilled rows beyond the limit", "OutOfMemoryException", WRONG_READING)
def _() -> None:
    settings = {"memory_limit": "20MB", "max_temp_directory_size": "1MB", "threads": 1, "temp_directory": "spill"}
    duck("create temp table t as select range r, hash(range) h from range(20000000) order by h", config=settings)


@duck_case("a file beyond the process's limit", "Error")
def _() -> None:
    connection = duck(path="shop.duckdb")
    with limit_of(resource.RLIMIT_FSIZE, 1_000_000):
        connection.execute("create table t as select range r, hash(range) h from range(1000000)")


@duck_case("a query that was interrupted", "InterruptException")
def _() -> None:
    connection = duck()
    threading.Timer(0.2, connection.interrupt).start()
    connection.execute("select count(*) from range(100000000) a, range(100000) b").fetchall()


@duck_case("a connection used after it was closed", "ConnectionException")
def _() -> None:
    connection = duck()
    connection.close()
    connection.execute("select 1")


for title, rows in {
    "a CSV row with too many fields": "id,name\n1,Ada\n2,Bo,x,y\n",
    "a CSV field that is no number": "id,name\n" + "1,Ada\n" * 3000 + "n/a,Bo\n",
    "a CSV file that is not UTF-8": "id,name\n1,\udce9t\udce9\n",
}.items():

    @duck_case(title, "Error")
    def _(rows: str = rows) -> None:
        Path("orders.csv").write_bytes(rows.encode("utf-8", "surrogateescape"))
        options = "sample_size=100, columns={'id': 'INT', 'name': 'VARCHAR'}, strict_mode=true"
        duckdb.sql(f"select * from read_csv('orders.csv', {options})").fetchall()


@duck_case("a Parquet file that is cut off", "Error")
def _() -> None:
    duckdb.sql("copy (select range from range(100000)) to 'orders.parquet'")
    Path("orders.parquet").write_bytes(Path("orders.parquet").read_bytes()[:2000])
    duckdb.sql("select sum(range) from 'orders.parquet'").fetchall()


@duck_case("a JSON file that is broken", "Error")
def _() -> None:
    Path("orders.json").write_text('{"id": 1}\n{"id": \n')
    duckdb.sql("select * from 'orders.json'").fetchall()


@duck_case("Parquet files of different columns", "Error")
def _() -> None:
    duckdb.sql("copy (select 1 as id) to 'a.parquet'")
    duckdb.sql("copy (select 'x' as name) to 'b.parquet'")
    duckdb.sql("select id from read_parquet(['b.parquet', 'a.parquet'])").fetchall()


@duck_case("an extension that cannot be fetched", "Error", WRONG_READING)
def _() -> None:
    with refused_port() as port:
        settings = {"extension_directory": "extensions", "custom_extension_repository": f"http://127.0.0.1:{port}"}
        duck("install postgres", config=settings)


@duck_case("a parameter too few", "InvalidInputException")
def _() -> None:
    duck().execute("select ?, ?", [1])


@duck_case("a frame that is not in reach", "CatalogException")
def _() -> None:
    duck("select * from frame_of_orders")


if __name__ == "__main__":
    family.run()
