# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "impyla==0.24.0", "oracledb==26.1.0", "pure-sasl==0.6.2", "pyhive==0.7.0", "pymssql==2.4.6", "redshift-connector==2.2.0",
#     "thrift==0.25.0", "thrift-sasl==0.4.3", "vertica-python==1.4.0",
# ]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What drivers of databases that cannot run here raise: SQL Server, Oracle, Redshift, Vertica, Hive and Impala."""

from __future__ import annotations

from typing import Any

import impala.dbapi
import oracledb
import pymssql
import redshift_connector
import vertica_python
from harness import CANARY, WRONG_READING, Family
from pyhive import hive
from servers.broken import port_that_closes, port_that_hangs, port_that_resets, port_that_says
from servers.database_wire import oracle_listener_that_refuses, pgwire_that_fails, sql_server_that_fails
from servers.port import refused_port

family = Family(__file__, "pymssql", is_wire_form=True)


class StagingError(Exception):
    """A user's own exception."""


def unreachable(title: str, connect: Any, library: str) -> None:
    """Add the ways in which a server cannot be reached, for one driver."""

    @family.case(f"{title}: the connection is refused", raises="Exception", library=library, is_wire_form=False)
    def _() -> None:
        with refused_port() as port:
            connect(port)

    @family.case(
        f"{title}: a server that closes when it was spoken to", raises="Exception", library=library, is_wire_form=False
    )
    def _() -> None:
        with port_that_closes(after_reads=1) as port:
            connect(port)

    @family.case(f"{title}: a server that resets", raises="Exception", library=library, is_wire_form=False)
    def _() -> None:
        with port_that_resets() as port:
            connect(port)

    @family.case(f"{title}: a host name that does not exist", raises="Exception", library=library, is_wire_form=False)
    def _() -> None:
        connect(1433, host="db.warehouse.invalid")


def times_out(title: str, connect: Any, library: str) -> None:
    @family.case(f"{title}: a server that never answers", raises="Exception", library=library, is_wire_form=False)
    def _() -> None:
        with port_that_hangs() as port:
            connect(port)


# SQL Server.
def mssql(port: int, host: str = "127.0.0.1") -> None:
    with pymssql.connect(
        server=host, port=str(port), user="etl", password=CANARY, database="shop", login_timeout=2, timeout=2
    ) as connection:
        connection.cursor().execute("select * from invoices")


# In this order: pymssql keeps the number of a failed login's message for all connections of the process that fail later.
unreachable("SQL Server", mssql, "pymssql")
times_out("SQL Server", mssql, "pymssql")


@family.case("SQL Server: a wrong password", raises="Error")
def _() -> None:
    with sql_server_that_fails(18456, 14, "Login failed for user 'etl'.", at_login=True) as port:
        mssql(port)


_STATEMENT_FAILURES = (
    ("a deadlock", (1205, 13, "Transaction (Process ID 51) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction."), []),
    ("a lock request that timed out", (1222, 16, "Lock request time out period exceeded."), []),
    ("a snapshot that conflicts", (3960, 16, "Snapshot isolation transaction aborted due to update conflict. You cannot use snapshot isolation to access table 'dbo.orders'."), []),
    ("a service that is busy", (40501, 20, "The service is currently busy. Retry the request after 10 seconds. Incident ID: 7f2c. Code: 2."), []),
    ("a service that met an error", (40197, 17, "The service has encountered an error processing your request. Please try again. Error code 4221."), []),
    ("a duplicate key", (2627, 14, "Violation of PRIMARY KEY constraint 'PK_orders'. Cannot insert duplicate key in object 'dbo.orders'. The duplicate key value is (1)."), []),
    ("a missing parent row", (547, 16, 'The INSERT statement conflicted with the FOREIGN KEY constraint "FK_customer".'), []),
    ("null where none may be", (515, 16, "Cannot insert the value NULL into column 'name', table 'shop.dbo.customers'; column does not allow nulls. INSERT fails."), []),
    ("a text too long for its column", (2628, 16, "String or binary data would be truncated in table 'shop.dbo.customers', column 'name'."), []),
    ("a text that is no number", (245, 16, "Conversion failed when converting the varchar value 'n/a' to data type int."), []),
    ("a missing table", (208, 16, "Invalid object name 'invoices'."), []),
    ("a missing column", (207, 16, "Invalid column name 'colour'."), []),
    ("a missing procedure", (2812, 16, "Could not find stored procedure 'load_orders'."), []),
    ("a typo", (102, 15, "Incorrect syntax near 'selct'."), []),
    ("a table without permission", (229, 14, "The SELECT permission was denied on the object 'secrets', database 'shop', schema 'dbo'."), []),
    ("a log that is full", (9002, 17, "The transaction log for database 'shop' is full due to 'LOG_BACKUP'."), []),
    ("a file group that is full", (1105, 17, "Could not allocate space for object 'dbo.orders' in database 'shop' because the 'PRIMARY' filegroup is full."), []),
    ("memory that is short", (701, 17, "There is insufficient system memory in resource pool 'default' to run this query."), []),
    ("a read-only database", (3906, 16, "Failed to update database \"shop\" because the database is read-only."), [WRONG_READING]),
    ("a quota of size", (40544, 20, "The database 'shop' has reached its size quota. Partition or delete data, drop indexes, or consult the documentation for possible resolutions."), []),
)  # fmt: skip

for title, failure, tags in _STATEMENT_FAILURES:

    @family.case(f"SQL Server: {title}", raises="Error", tags=tags)
    def _(failure: tuple[int, int, str] = failure) -> None:
        with sql_server_that_fails(*failure) as port:
            mssql(port)


@family.case("SQL Server: a session that an administrator killed", raises="Error")
def _() -> None:
    words = "Cannot continue the execution because the session is in the kill state."
    with sql_server_that_fails(596, 21, words, closes=True) as port:
        mssql(port)


@family.case("SQL Server: a deadlock in a staging's own exception", raises="StagingError")
def _() -> None:
    try:
        with sql_server_that_fails(*_STATEMENT_FAILURES[0][1]) as port:
            mssql(port)
    except pymssql.Error as error:
        raise StagingError("staging failed") from error


# Oracle, in thin mode.
def oracle(port: int, host: str = "127.0.0.1") -> None:
    parameters = oracledb.ConnectParams(host=host, port=port, service_name="SHOP", tcp_connect_timeout=2)
    oracledb.connect(user="etl", password=CANARY, params=parameters)


for code, what, tags in (
    (12514, "a service that the listener does not know", [WRONG_READING]),
    (12505, "a SID that the listener does not know", []),
    (12516, "no handler that fits", []),
    (12519, "no handler that is free", []),
    (12520, "no handler of the type asked for", []),
    (12526, "instances that are restricted", []),
    (12528, "instances that block new connections", []),
    (12541, "no listener behind the gateway", []),
):

    @family.case(f"Oracle: {what}", raises="Error", library="oracledb", tags=tags)
    def _(code: int = code) -> None:
        with oracle_listener_that_refuses(code) as port:
            oracle(port)


unreachable("Oracle", oracle, "oracledb")


@family.case("Oracle: a name that no file has", raises="Error", library="oracledb", is_wire_form=False)
def _() -> None:
    oracledb.connect(user="etl", password=CANARY, dsn="SHOP_PROD", config_dir=".")


@family.case("Oracle: no password", raises="Error", library="oracledb", is_wire_form=False)
def _() -> None:
    with oracle_listener_that_refuses(12514) as port:
        oracledb.connect(user="etl", dsn=f"127.0.0.1:{port}/SHOP")


@family.case("Oracle: thick mode without its libraries", raises="Error", library="oracledb", is_wire_form=False)
def _() -> None:
    oracledb.init_oracle_client(lib_dir="/opt/oracle/instantclient")


# Redshift.
def redshift(port: int, host: str = "127.0.0.1") -> None:
    with redshift_connector.connect(
        host=host, port=port, database="shop", user="etl", password=CANARY, ssl=False, timeout=2
    ) as connection:
        connection.cursor().execute("select * from invoices")


for title, (sqlstate, words), tags in (
    ("a missing table", ("42P01", 'relation "invoices" does not exist'), []),
    ("a table without permission", ("42501", "permission denied for relation secrets"), []),
    ("an isolation violation", ("XX000", "1023 DETAIL: Serializable isolation violation on table - 107896, transactions forming the cycle are: 4212, 4213 (pid:12345)"), [WRONG_READING]),
    ("a load that met errors", ("XX000", "Load into table 'orders' failed.  Check 'stl_load_errors' system table for details."), [WRONG_READING]),
    ("a bucket that denies access to a load", ("XX000", "S3ServiceException:Access Denied,Status 403,Error AccessDenied"), [WRONG_READING]),
    ("a query that a rule aborted", ("57014", "Query (42) cancelled by WLM abort action of Query Monitoring Rule \"long\"."), []),
    ("a disk that is full", ("53100", "Disk Full"), []),
    ("a spectrum scan that failed", ("XX000", "Spectrum Scan Error: S3 returned SlowDown: Please reduce your request rate"), [WRONG_READING]),
):  # fmt: skip

    @family.case(f"Redshift: {title}", raises="Error", library="redshift-connector", tags=tags)
    def _(sqlstate: str = sqlstate, words: str = words) -> None:
        with pgwire_that_fails(sqlstate, words) as port:
            redshift(port)


for title, (sqlstate, words) in {
    "a wrong password": ("28000", 'password authentication failed for user "etl"'),
    "too many connections": ("53300", "connection limit 500 exceeded for non-bootstrap users"),
    "a cluster that is paused": ("57P03", "the cluster is paused or being resized"),
    "a database that does not exist": ("3D000", 'database "shop" does not exist'),
}.items():

    @family.case(f"Redshift, login: {title}", raises="Error", library="redshift-connector")
    def _(sqlstate: str = sqlstate, words: str = words) -> None:
        with pgwire_that_fails(sqlstate, words, severity="FATAL", at_login=True) as port:
            redshift(port)


unreachable("Redshift", redshift, "redshift-connector")


# Vertica.
def vertica(port: int, host: str = "127.0.0.1") -> None:
    with vertica_python.connect(
        host=host, port=port, user="etl", password=CANARY, database="shop", connection_timeout=2, tlsmode="disable"
    ) as connection:
        connection.cursor().execute("select * from invoices")


for title, (sqlstate, words) in {
    "a missing table": ("42V01", 'Relation "invoices" does not exist'),
    "a lock that took too long": ("55V03", "Unavailable: initiator locks for query - Locking failure: Timed out X locking Table:public.orders"),
    "a resource pool that is exhausted": ("53000", "Insufficient resources to execute plan on pool general [Timedout waiting for resource request]"),
    "a duplicate key": ("23505", "Duplicate key values: 'id=1' -- violates constraint 'public.orders.pk'"),
    "a typo": ("42601", 'Syntax error at or near "selct"'),
}.items():  # fmt: skip

    @family.case(f"Vertica: {title}", raises="Error", library="vertica-python")
    def _(sqlstate: str = sqlstate, words: str = words) -> None:
        with pgwire_that_fails(sqlstate, words) as port:
            vertica(port)


@family.case("Vertica, login: a wrong password", raises="Error", library="vertica-python")
def _() -> None:
    with pgwire_that_fails("28000", "Invalid username or password", severity="FATAL", at_login=True) as port:
        vertica(port)


@family.case("Vertica, login: too many sessions", raises="Error", library="vertica-python")
def _() -> None:
    words = "New session rejected due to limit, already 50 sessions active"
    with pgwire_that_fails("53300", words, severity="FATAL", at_login=True) as port:
        vertica(port)


unreachable("Vertica", vertica, "vertica-python")


# Hive and Impala.
def hive_server(port: int, host: str = "127.0.0.1") -> None:
    hive.connect(host=host, port=port, username="etl", auth="NOSASL").cursor().execute("select 1")


def impala_server(port: int, host: str = "127.0.0.1") -> None:
    impala.dbapi.connect(host=host, port=port, timeout=2, retries=1).cursor().execute("select 1")


unreachable("Hive", hive_server, "pyhive")
times_out("Impala", impala_server, "impyla")


@family.case(
    "Hive: an authentication that does not exist", raises="NotImplementedError", library="pyhive", is_wire_form=False
)
def _() -> None:
    hive.connect(host="127.0.0.1", port=1, username="etl", auth="OAUTH")


@family.case(
    "Hive: a password that the authentication does not take", raises="ValueError", library="pyhive", is_wire_form=False
)
def _() -> None:
    hive.connect(host="127.0.0.1", port=1, username="etl", password=CANARY, auth="NONE")


@family.case(
    "Impala: a server that speaks HTTP", raises="Exception", library="impyla", is_wire_form=False, tags=[WRONG_READING]
)
def _() -> None:
    with port_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        impala_server(port)


if __name__ == "__main__":
    family.run()
