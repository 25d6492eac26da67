# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "pymysql==1.2.4", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What PyMySQL raises against a real MariaDB."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pymysql
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs, port_that_says
from servers.mariadb import MariaDB, mariadb, mariadb_server
from servers.port import refused_port

family = Family(__file__, "pymysql", servers={"db": mariadb})


class TransferError(Exception):
    """A user's own exception."""


def connect(db: MariaDB, **options: Any) -> Any:
    words = {"user": "etl", "password": CANARY, "database": "shop", "connect_timeout": 3, **options}
    words.setdefault("ssl_disabled", "ssl" not in words)
    return pymysql.connect(host="127.0.0.1", port=db.port, **words)


def runs(*statements: str, **options: Any) -> Callable[[MariaDB], None]:
    """Return a case that runs statements, one after the other."""

    def case(db: MariaDB) -> None:
        with connect(db, **options) as connection:
            for statement in statements:
                connection.cursor().execute(statement)

    return case


@contextlib.contextmanager
def two(db: MariaDB) -> Iterator[tuple[Any, Any]]:
    with connect(db) as one, connect(db) as other:
        try:
            yield one.cursor(), other.cursor()
        finally:
            for connection in (one, other):
                with contextlib.suppress(pymysql.Error):
                    connection.rollback()


_LONG = "x" * 300

for title, statements in {
    # What the rows break, and what the values are not.
    "a duplicate key": ["insert into customers values (1, 'Ada', null)"],
    "null where none may be": ["insert into customers values (5, null, null)"],
    "a column without a default": ["insert into customers (id) values (5)"],
    "a missing parent row": ["insert into orders values (77, 99, 1, 'open', null)"],
    "children that are still there": ["delete from customers where id = 1"],
    "a broken check": ["insert into orders values (77, 1, -5, 'open', null)"],
    "a number out of range": ["insert into orders values (77, 1, 12345678.9, 'open', null)"],
    "a label that the enum lacks": ["insert into orders values (77, 1, 1, 'lost', null)"],
    "a day that does not exist": ["insert into orders values (77, 1, 1, 'open', '2026-02-30')"],
    "a text that is no number": ["insert into orders values ('n/a', 1, 1, 'open', null)"],
    "a text too long for its column": [f"insert into customers values (9, '{_LONG}', null)"],
    "a character that the column's encoding lacks": ["insert into latin values ('Łódź')"],
    "a division by zero": ["insert into orders values (77, 1, 1 / 0, 'open', null)"],
    "an integer out of range": ["select 9223372036854775807 + 1"],
    "a subquery with two rows": ["select (select id from customers)"],
    "a signal of a procedure": ["call check_balance(7)"],
    "a counter that is full": ["insert into tiny values (null)"],
    # What is not there.
    "a missing table": ["select * from invoices"],
    "a missing column": ["select colour from customers"],
    "a missing function": ["select total_of(1)"],
    "a missing procedure": ["call load_orders()"],
    "a missing key": ["alter table customers drop index by_colour"],
    "a missing prepared statement": ["execute load_orders"],
    "a missing savepoint": ["rollback to savepoint before_load"],
    "a missing engine": ["create table t (id int) engine=rocks"],
    "an encoding that does not exist": ["set names utf9"],
    "a zone that does not exist": ["set time_zone = 'Europe/Berlinn'"],
    "a table named like a timeout": ["select * from lock_wait_timeout_log"],
    # What is there already.
    "a table that exists": ["create table customers (id int)"],
    "a database that exists": ["create database shop"],
    "a column that exists": ["alter table customers add name int"],
    # What the statement is not.
    "a typo": ["selct * from customers"],
    "an empty statement": [""],
    "a value too few": ["insert into customers values (1)"],
    "an ambiguous column": ["select id from customers, orders"],
    "a column that is not grouped": ["select name, count(*) from customers"],
    "a setting that does not exist": ["set work_memory = 1"],
    "a setting that takes no such value": ["set tx_isolation = 'chaos'"],
    "a row that is too wide": ["create temporary table t (a varchar(16000), b varchar(16000))"],
    # What may not be.
    "a file of the server that may not be read": ["load data infile '/data/customers.csv' into table customers"],
    "a setting for which one must be root": ["set global max_connections = 100"],
    "a write in a read-only transaction": ["start transaction read only", "delete from orders where id = 99"],
    # What is too much.
    "a statement over its limit of time": ["set max_statement_time = 0.1", "select sleep(5)"],
    "a table in memory that is full": [
        "set max_heap_table_size = 16384",
        "create temporary table full_one (word char(200)) engine=memory",
        "insert into full_one select repeat('x', 200) from seq_1_to_10000",
    ],
    "a recursion without an end": ["set max_sp_recursion_depth = 3", "call deep(1)"],
    "a join that would read too many rows": [
        "set sql_big_selects = 0, max_join_size = 10",
        "select count(*) from seq_1_to_1000 a, seq_1_to_1000 b",
    ],
}.items():
    tags = [WRONG_READING] if title in {"a table named like a timeout"} else []
    family.case(title, raises="MySQLError", tags=tags)(runs(*statements))

for title, options in {
    "a wrong password": {"password": "not-the-one"},
    "no password at all": {"password": ""},
    "a database that does not exist": {"user": "root", "database": "lake"},
    "a database that may not be opened": {"database": "private"},
    "a user that must use TLS": {"user": "only_tls"},
    "an account that is locked": {"user": "locked"},
    "an address that is not let in": {"bind_address": "127.0.0.2"},
    "a plugin for which a package is missing": {"user": "modern"},
    "a certificate of an unknown authority": {
        "ssl": {"check_hostname": False, "ca": "/etc/ssl/certs/ca-certificates.crt"}
    },
}.items():
    family.case(title, raises=("MySQLError", "OSError", "RuntimeError"))(
        lambda db, options=options: connect(db, **options)
    )

for title, user, statements in (
    ("a table without permission", "reader", ["select * from orders"]),
    ("a column without permission", "reader", ["select email from customers"]),
    ("a procedure without permission", "reader", ["call check_balance(1)"]),
    ("a password that must be changed first", "outdated", ["select 1"]),
    ("more queries than allowed in an hour", "frugal", ["select 1", "select 2", "select 3"]),
    ("more updates than allowed in an hour", "cautious", ["update customers set id = id", "update orders set id = id"]),
):
    family.case(title, raises="MySQLError")(runs(*statements, user=user))


@family.case("more connections than allowed in an hour", raises="MySQLError", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    db.admin("flush user_resources")
    connect(db, user="seldom").close()
    connect(db, user="seldom")


@family.case("more connections of a user than allowed", raises="MySQLError")
def _(db: MariaDB) -> None:
    with connect(db, user="narrow"):
        connect(db, user="narrow")


@family.case("more connections of a user than the server allows", raises="MySQLError")
def _() -> None:
    with mariadb_server(max_user_connections="1") as db, connect(db):
        connect(db)


@family.case("too many connections", raises="MySQLError")
def _(db: MariaDB) -> None:
    with contextlib.ExitStack() as open_ones:
        for _ in range(20):
            open_ones.enter_context(connect(db))


# Locks.
@family.case("a deadlock", raises="OperationalError")
def _(db: MariaDB) -> None:
    with two(db) as (one, other):
        one.execute("update customers set name = 'A' where id = 1")
        other.execute("update customers set name = 'B' where id = 2")
        other.execute("update orders set amount = 1")  # has done more: the other one is chosen
        waiting = threading.Thread(target=_quiet, args=(other.execute, "update customers set name = 'C' where id = 1"))
        waiting.start()
        time.sleep(0.3)
        one.execute("update customers set name = 'D' where id = 2")


def _quiet(work: Callable[..., object], *arguments: object) -> None:
    with contextlib.suppress(pymysql.Error):
        work(*arguments)


@family.case("a wait for a lock that took too long", raises="OperationalError")
def _(db: MariaDB) -> None:
    with two(db) as (one, other):
        one.execute("update customers set name = 'A'")
        other.execute("set innodb_lock_wait_timeout = 1")
        other.execute("update customers set name = 'B'")


@family.case("a table lock that took too long", raises="OperationalError")
def _(db: MariaDB) -> None:
    with two(db) as (one, other):
        one.execute("lock tables customers write")
        other.execute("set lock_wait_timeout = 1")
        other.execute("alter table customers comment 'x'")


@family.case("a table that was not locked with the others", raises="MySQLError", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    runs("lock tables customers read", "select * from orders")(db)


@family.case("a row that somebody changed since it was read", raises="MySQLError")
def _(db: MariaDB) -> None:
    with two(db) as (one, other):
        one.execute("set innodb_snapshot_isolation = 1")
        one.execute("start transaction with consistent snapshot")
        one.execute("select * from customers")
        other.execute("update customers set name = concat(name, 'x') where id = 2")
        other.connection.commit()
        one.execute("update customers set name = 'B' where id = 2")


@family.case("a table whose definition changed since the snapshot", raises="MySQLError")
def _(db: MariaDB) -> None:
    db.admin("create or replace table shop.changing (id int) engine=innodb")
    with two(db) as (one, other):
        one.execute("start transaction with consistent snapshot")
        other.execute("alter table changing add a int, force, algorithm=copy")
        one.execute("select * from changing")


# Sessions that end.
@family.case("a query that somebody killed", raises="MySQLError")
def _(db: MariaDB) -> None:
    with connect(db) as connection:
        threading.Timer(0.4, db.kill_sessions, kwargs={"what": "query"}).start()
        connection.cursor().execute("select count(*) from seq_1_to_100000000 a, seq_1_to_100000 b")


@family.case("a connection that somebody killed in a query", raises="MySQLError")
def _(db: MariaDB) -> None:
    with connect(db) as connection:
        threading.Timer(0.4, db.kill_sessions).start()
        connection.cursor().execute("select count(*) from seq_1_to_100000000 a, seq_1_to_100000 b")


@family.case("a connection that was idle for too long", raises="MySQLError")
def _(db: MariaDB) -> None:
    connection = connect(db)
    connection.cursor().execute("set wait_timeout = 1")
    time.sleep(1.5)
    connection.cursor().execute("select 1")


@family.case("a statement larger than the server takes", raises="MySQLError", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    connect(db).cursor().execute(f"select '{'x' * 3_000_000}'")


@family.case("a server that is read-only", raises="MySQLError", tags=[WRONG_READING])
def _() -> None:
    with mariadb_server(read_only="ON") as db:
        runs("delete from orders")(db)


@family.case("a client that reads for too long", raises="OperationalError", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    connect(db, read_timeout=1).cursor().execute("select sleep(5)")


@family.case("a connection used after it was closed", raises="InterfaceError")
def _(db: MariaDB) -> None:
    connection = connect(db)
    connection.close()
    connection.cursor().execute("select 1")


# No way to the server.
def fails_to_connect(port: int, host: str = "127.0.0.1", **options: Any) -> None:
    pymysql.connect(host=host, port=port, user="etl", password=CANARY, connect_timeout=1, read_timeout=1, **options)


@family.case("the connection is refused", raises="OperationalError")
def _() -> None:
    with refused_port() as port:
        fails_to_connect(port)


@family.case("a host name that does not exist", raises="OperationalError")
def _() -> None:
    fails_to_connect(3306, "db.shop.invalid")


@family.case("a server that never answers", raises="OperationalError")
def _() -> None:
    with port_that_hangs() as port:
        fails_to_connect(port)


@family.case("a server that closes at once", raises="OperationalError")
def _() -> None:
    with port_that_closes() as port:
        fails_to_connect(port)


@family.case("a port that speaks something else", raises="MySQLError", tags=[WRONG_READING])
def _() -> None:
    with port_that_says(b"SSH-2.0-OpenSSH_9.6\r\n", first=True) as port:
        fails_to_connect(port)


@family.case("a server without TLS asked for TLS", raises="OperationalError")
def _() -> None:
    with mariadb_server(ssl="OFF") as db:
        connect(db, ssl={"ca": "/etc/ssl/certs/ca-certificates.crt"})


# The caller's.
@family.case("a parameter too few", raises="ProgrammingError")
def _(db: MariaDB) -> None:
    connect(db).cursor().execute("select %s, %s", [1])


@family.case("a file of the client that may not be sent", raises="MySQLError")
def _(db: MariaDB) -> None:
    runs("load data local infile 'customers.csv' into table customers", local_infile=True)(db)


# As tasks meet them.
@family.case("a lost connection in a transfer's own exception", raises="TransferError")
def _(db: MariaDB) -> None:
    connection = connect(db)
    db.kill_sessions()
    time.sleep(0.2)
    try:
        connection.cursor().execute("select 1")
    except pymysql.Error as error:
        raise TransferError("orders were not transferred") from error


@family.case("an unknown column in an exception that says unavailable", raises="TransferError", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    try:
        runs("select colour from customers")(db)
    except pymysql.Error as error:
        raise TransferError("MySQL is temporarily unavailable") from error


@family.case("a wrong password until tenacity gives up", raises="RetryError", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(partial(connect, db, password="not-the-one"))()


@family.case("a roll-back that fails after the connection was lost", raises="InterfaceError", tags=[WRONG_READING])
def _(db: MariaDB) -> None:
    connection = connect(db)
    db.kill_sessions()
    time.sleep(0.2)
    try:
        connection.cursor().execute("select 1")
    finally:
        connection.rollback()


def mariadb_client(db: MariaDB, statement: str, **options: str) -> None:
    """Run a statement with the client program as a BashOperator would, and tell what it wrote."""
    words = {"user": "etl", "database": "shop", "port": str(db.port), **options}
    command = ["mariadb", "--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "-e", statement]
    command += [f"--{name}={value}" for name, value in words.items()]
    environment = {**os.environ, "MYSQL_PWD": options.get("password", CANARY)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"Bash command failed. The command returned a non-zero exit code {done.returncode}. {done.stderr}"
        )


for title, statement, options in (
    ("the client program says that a table is missing", "select * from invoices", {}),
    ("the client program says that access is denied", "select 1", {"user": "analyst"}),
    ("the client program says that a statement took too long", "set max_statement_time=0.1; select sleep(5)", {}),
    ("the client program cannot connect", "select 1", {"port": "9"}),
    ("the client program says that a key is there already", "insert into customers values (1, 'Ada', null)", {}),
):
    family.case(title, raises="RuntimeError", tags=[FROM_TEXT], library="python")(
        lambda db, statement=statement, options=options: mariadb_client(db, statement, **options)
    )


if __name__ == "__main__":
    family.run()
