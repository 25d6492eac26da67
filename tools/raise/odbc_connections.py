# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "pyodbc==5.5.0"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What pyodbc raises through the ODBC drivers of PostgreSQL, MariaDB and FreeTDS."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import pyodbc
from harness import CANARY, WRONG_READING, Family, ServerUnavailable
from servers.database_wire import sql_server_that_fails
from servers.mariadb import MariaDB, mariadb
from servers.port import refused_port
from servers.postgres import Postgres, postgres
from servers.postgres_scenes import SCENES
from servers.postgres_statements import STATEMENTS

family = Family(__file__, "pyodbc", servers={"pg": postgres, "db": mariadb})
pyodbc.pooling = False


class ArchiveError(Exception):
    """A user's own exception."""


def driver(name: str, package: str) -> str:
    """Return a driver's name if unixODBC knows it."""
    if name not in pyodbc.drivers():
        raise ServerUnavailable(f"The ODBC driver {name} is not installed. Get it with: apt-get install {package}")
    return name


def connect(pg: Postgres, **options: str) -> Any:
    words = {
        "Driver": driver("PostgreSQL Unicode", "odbc-postgresql"), "Server": "127.0.0.1", "Port": str(pg.port),
        "Uid": options.pop("user", "etl"), "Database": "warehouse", "Pwd": CANARY, "SSLMode": "disable", **options,
    }  # fmt: skip
    return pyodbc.connect(";".join(f"{name}={value}" for name, value in words.items()), timeout=3)


def maria(db: MariaDB, **options: str) -> Any:
    words = {
        "Driver": driver("MariaDB Unicode", "odbc-mariadb"), "Server": "127.0.0.1", "Port": str(db.port),
        "Uid": "etl", "Database": "shop", "Pwd": CANARY, **options,
    }  # fmt: skip
    return pyodbc.connect(";".join(f"{name}={value}" for name, value in words.items()), timeout=3)


def mssql(port: int) -> None:
    words = f"Driver=FreeTDS;Server=127.0.0.1;Port={port};Uid=etl;Pwd={CANARY};Database=shop;TDS_Version=7.4"
    driver("FreeTDS", "tdsodbc")
    with contextlib.closing(pyodbc.connect(words, timeout=2)) as connection:
        connection.cursor().execute("select * from invoices")


for title in (
    "a duplicate key",
    "a missing parent row",
    "a text that is no number",
    "a missing table",
    "a missing column",
    "a typo",
    "a table without permission",
    "a division by zero",
):
    family.case(f"PostgreSQL: {title}", raises="Error")(
        lambda pg, title=title: connect(pg).cursor().execute(STATEMENTS[title])
    )

# No deadlock: unixODBC lets one thread at a time into this driver, and both would wait for ever.
for title in (
    "a lock timeout",
    "a statement timeout",
    "a serialization failure",
    "a session terminated between statements",
    "too many clients",
):
    family.case(f"PostgreSQL: {title}", raises="Error", tags=[WRONG_READING] if title == "too many clients" else [])(
        lambda pg, title=title: SCENES[title](pg, connect)
    )

for title, options in {
    "a wrong password": {"Pwd": "not-the-one"},
    "a database that does not exist": {"Database": "lake"},
    "a server that wants TLS": {"user": "only_tls"},
}.items():
    family.case(f"PostgreSQL: {title}", raises="Error")(lambda pg, options=options: connect(pg, **options))

for title, statement in {
    "a duplicate key": "insert into customers values (1, 'Ada', null)",
    "a missing table": "select * from invoices",
    "a typo": "selct * from customers",
    "a text too long for its column": f"insert into customers values (9, '{'x' * 300}', null)",
}.items():
    family.case(f"MariaDB: {title}", raises="Error")(
        lambda db, statement=statement: maria(db).cursor().execute(statement)
    )


@family.case("MariaDB: a wrong password", raises="Error")
def _(db: MariaDB) -> None:
    maria(db, Pwd="not-the-one")


@family.case("MariaDB: a connection that somebody killed", raises="Error")
def _(db: MariaDB) -> None:
    connection = maria(db)
    db.kill_sessions()
    time.sleep(0.2)
    connection.cursor().execute("select 1")


@family.case("MariaDB: too many connections", raises="Error")
def _(db: MariaDB) -> None:
    with contextlib.ExitStack() as open_ones:
        for _ in range(20):
            open_ones.callback(maria(db).close)


def refused(words: str) -> Callable[[], None]:
    def case() -> None:
        with refused_port() as port:
            pyodbc.connect(f"{words};Server=127.0.0.1;Port={port};Uid=etl;Pwd={CANARY};Database=shop", timeout=2)

    return case


for name in ("PostgreSQL Unicode", "MariaDB Unicode", "FreeTDS"):
    family.case(f"{name}: the connection is refused", raises="Error")(refused(f"Driver={name}"))


@family.case("a driver that is not installed", raises="Error")
def _() -> None:
    pyodbc.connect(f"Driver=ODBC Driver 18 for SQL Server;Server=127.0.0.1;Uid=etl;Pwd={CANARY}")


@family.case("a data source that nobody defined", raises="InterfaceError")
def _() -> None:
    pyodbc.connect(f"DSN=warehouse;Uid=etl;Pwd={CANARY}")


@family.case("a parameter too few", raises="ProgrammingError")
def _(pg: Postgres) -> None:
    connect(pg).cursor().execute("select ?, ?", 1)


@family.case("a cursor used after its connection was closed", raises="ProgrammingError")
def _(pg: Postgres) -> None:
    connection = connect(pg)
    cursor = connection.cursor()
    connection.close()
    cursor.execute("select 1")


# SQL Server, through FreeTDS: https://learn.microsoft.com/en-us/sql/relational-databases/errors-events
for title, failure, tags in (
    ("a wrong password", (18456, 14, "Login failed for user 'etl'."), []),
    ("a database that cannot be opened", (4060, 11, 'Cannot open database "shop" requested by the login. The login failed.'), []),
    ("a firewall that lacks the address", (40615, 14, "Cannot open server 'sqlprod' requested by the login. Client with IP address '203.0.113.7' is not allowed to access the server."), []),
    ("a database that moves", (40613, 17, "Database 'shop' on server 'sqlprod' is not currently available. Please retry the connection later."), []),
    ("an account that is locked", (18486, 14, "Login failed for user 'etl' because the account is currently locked out. The system administrator can unlock it."), []),
    ("a password that has expired", (18487, 14, "Login failed for user 'etl'.  Reason: The password of the account has expired."), []),
    ("a limit of requests", (10928, 20, "Resource ID : 1. The request limit for the database is 30 and has been reached."), [WRONG_READING]),
    ("a pool that is paused", (42108, 20, "Can not connect to the SQL pool since it is paused. Please resume the SQL pool and try again."), [WRONG_READING]),
):  # fmt: skip

    @family.case(f"SQL Server, login: {title}", raises="Error", tags=tags, is_wire_form=True)
    def _(failure: tuple[int, int, str] = failure) -> None:
        with sql_server_that_fails(*failure, at_login=True) as port:
            mssql(port)


for title, failure, tags in (
    ("a deadlock", (1205, 13, "Transaction (Process ID 51) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction."), []),
    ("a service that is busy", (40501, 20, "The service is currently busy. Retry the request after 10 seconds. Incident ID: 7f2c. Code: 2."), [WRONG_READING]),
    ("a duplicate key", (2627, 14, "Violation of PRIMARY KEY constraint 'PK_orders'. Cannot insert duplicate key in object 'dbo.orders'."), []),
    ("a missing table", (208, 16, "Invalid object name 'invoices'."), []),
    ("a log that is full", (9002, 17, "The transaction log for database 'shop' is full due to 'LOG_BACKUP'."), [WRONG_READING]),
):  # fmt: skip

    @family.case(f"SQL Server: {title}", raises="Error", tags=tags, is_wire_form=True)
    def _(failure: tuple[int, int, str] = failure) -> None:
        with sql_server_that_fails(*failure) as port:
            mssql(port)


@family.case("a lock timeout in an archive's own exception", raises="ArchiveError")
def _(pg: Postgres) -> None:
    try:
        SCENES["a lock timeout"](pg, connect)
    except pyodbc.Error as error:
        raise ArchiveError("orders were not archived") from error


if __name__ == "__main__":
    family.run()
