# /// script
# requires-python = "==3.11.*"
# dependencies = ["clickhouse-connect==1.12.0", "requests==2.34.2", "trino==0.340.0"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What the clients of ClickHouse and Trino raise when a loopback server answers like them."""

from __future__ import annotations

from typing import Any

import clickhouse_connect
import requests
import trino
from harness import CANARY, WRONG_READING, Family
from servers.broken import port_that_hangs
from servers.http import Answer, HttpServer, Request, http_server, json_answer
from servers.port import refused_port

family = Family(__file__, "clickhouse-connect", servers={"http": http_server}, is_wire_form=True)


class ReportError(Exception):
    """A user's own exception."""


# ClickHouse: https://clickhouse.com/docs/interfaces/http#http-response-codes-caveats
_FIRST = (b"version()", b"system.settings", b"AS check")
"""What the client asks before it lets anyone ask."""


def clickhouse(http: HttpServer | int, answer: Answer | None = None) -> None:
    port = http if isinstance(http, int) else http.port

    def route(request: Request) -> Answer:
        if answer and not any(words in request.body for words in _FIRST):
            return answer
        return Answer(200, "25.8.1.1\tUTC\n" if _FIRST[0] in request.body else b"")

    if not isinstance(http, int):
        http.routes(route)
    client = clickhouse_connect.get_client(
        host="127.0.0.1", port=port, username="etl", password=CANARY, connect_timeout=2, send_receive_timeout=2,
        query_retries=0,
    )  # fmt: skip
    client.query("select * from invoices")


def exception_of(status: int, code: int, name: str, message: str) -> Answer:
    text = f"Code: {code}. DB::Exception: {message} ({name}) (version 25.8.1.1 (official build))\n"
    return Answer(status, text, {"X-ClickHouse-Exception-Code": str(code), "Content-Type": "text/plain; charset=UTF-8"})


for title, (status, code, name, message), tags in (
    ("a missing table", (404, 60, "UNKNOWN_TABLE", "Unknown table expression identifier 'invoices' in scope SELECT * FROM invoices."), []),
    ("a missing database", (404, 81, "UNKNOWN_DATABASE", "Database lake does not exist."), []),
    ("a missing column", (404, 47, "UNKNOWN_IDENTIFIER", "Unknown expression identifier `colour` in scope SELECT colour FROM customers."), []),
    ("a missing function", (404, 46, "UNKNOWN_FUNCTION", "Function with name `total_of` does not exist."), []),
    ("a typo", (400, 62, "SYNTAX_ERROR", "Syntax error: failed at position 1 (selct): selct. Expected one of: SELECT, INSERT."), []),
    ("a table without permission", (403, 497, "ACCESS_DENIED", "etl: Not enough privileges. To execute this query, it's necessary to have the grant SELECT(id) ON shop.secrets."), []),
    ("a text that is no number", (400, 6, "CANNOT_PARSE_TEXT", "Cannot parse string 'n/a' as UInt32: syntax error at begin of string."), []),
    ("a table that exists", (500, 57, "TABLE_ALREADY_EXISTS", "Table shop.orders already exists."), [WRONG_READING]),
    ("memory of one query over its limit", (500, 241, "MEMORY_LIMIT_EXCEEDED", "(for query) memory limit exceeded: would use 9.32 GiB (attempt to allocate chunk of 4.00 MiB), maximum: 9.31 GiB: While executing AggregatingTransform."), [WRONG_READING]),
    ("memory of the server over its limit", (500, 241, "MEMORY_LIMIT_EXCEEDED", "(total) memory limit exceeded: would use 28.01 GiB (attempt to allocate chunk of 4.00 MiB), maximum: 28.00 GiB."), []),
    ("too many queries at the same time", (500, 202, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many simultaneous queries. Maximum: 100."), [WRONG_READING]),
    ("a quota that is used up", (500, 201, "QUOTA_EXCEEDED", "Quota for user `etl` for 3600s has been exceeded: queries = 101/100. Interval will end at 2026-01-31 10:00:00."), [WRONG_READING]),
    ("a query over its limit of time", (408, 159, "TIMEOUT_EXCEEDED", "Timeout exceeded: elapsed 60.01 seconds, maximum: 60."), [WRONG_READING]),
    ("too many parts", (500, 252, "TOO_MANY_PARTS", "Too many parts (3001 with average size of 12.00 KiB) in table 'shop.events'. Merges are processing significantly slower than inserts."), [WRONG_READING]),
    ("a table that is read-only", (500, 242, "TABLE_IS_READ_ONLY", "Table is in readonly mode since table metadata was not found in zookeeper: replica_path=/clickhouse/tables/1."), [WRONG_READING]),
    ("a setting that readonly forbids", (500, 164, "READONLY", "Cannot modify 'max_memory_usage' setting in readonly mode."), [WRONG_READING]),
    ("a keeper that cannot be reached", (500, 999, "KEEPER_EXCEPTION", "Coordination::Exception: Session expired."), []),
    ("a replica that cannot be reached", (500, 279, "ALL_CONNECTION_TRIES_FAILED", "All connection tries failed. Log: Code: 210. DB::NetException: Connection refused (replica-2:9000)."), []),
    ("a disk that is full", (500, 243, "NOT_ENOUGH_SPACE", "Cannot reserve 1.00 MiB, not enough space."), []),
    ("a query that somebody killed", (500, 394, "QUERY_WAS_CANCELLED", "Query was cancelled."), []),
    ("a bucket that denies access", (500, 499, "S3_ERROR", "Access Denied: while reading key: orders.parquet, from bucket: shop-raw."), [WRONG_READING]),
):  # fmt: skip
    said = exception_of(status, code, name, message)
    family.case(f"ClickHouse: {title}", raises="Error", tags=tags)(lambda http, said=said: clickhouse(http, said))


@family.case("ClickHouse: a wrong password", raises="Error")
def _(http: HttpServer) -> None:
    words = "etl: Authentication failed: password is incorrect, or there is no user with such name."
    http.answers(exception_of(403, 516, "AUTHENTICATION_FAILED", words))
    clickhouse_connect.get_client(host="127.0.0.1", port=http.port, username="etl", password=CANARY)


@family.case("ClickHouse: the connection is refused", raises="Error")
def _() -> None:
    with refused_port() as port:
        clickhouse(port)


@family.case("ClickHouse: a server that never answers", raises="Error")
def _() -> None:
    with port_that_hangs() as port:
        clickhouse(port)


@family.case("ClickHouse: a balancer without a server", raises="Error")
def _(http: HttpServer) -> None:
    clickhouse(http, Answer(502, "<html><h1>502 Bad Gateway</h1></html>"))


@family.case("ClickHouse: too many parts in a report's own exception", raises="ReportError")
def _(http: HttpServer) -> None:
    said = exception_of(
        500, 252, "TOO_MANY_PARTS", "Too many parts (3001). Merges are processing significantly slower."
    )
    try:
        clickhouse(http, said)
    except clickhouse_connect.driver.exceptions.Error as error:
        raise ReportError("events of 2026-01-31 were not inserted") from error


# Trino: https://trino.io/docs/current/develop/client-protocol.html
def trino_query(port: int, **options: Any) -> None:
    words = {"user": "etl", "catalog": "hive", "schema": "shop", "max_attempts": 1, "request_timeout": 1.0, **options}
    connection = trino.dbapi.connect(host="127.0.0.1", port=port, http_scheme="http", **words)
    connection.cursor().execute("select * from invoices").fetchall()


def trino_failure(name: str, kind: str, code: int, message: str) -> Answer:
    error = {
        "message": message, "errorCode": code, "errorName": name, "errorType": kind,
        "failureInfo": {"type": "io.trino.spi.TrinoException", "message": message, "stack": [], "suppressed": []},
    }  # fmt: skip
    state = {"state": "FAILED", "queued": False, "scheduled": False, "nodes": 0}
    return json_answer(200, {"id": "20260131_101500_00042_abcde", "infoUri": "", "stats": state, "error": error})


for title, (name, kind, code, message), tags in (
    ("a typo", ("SYNTAX_ERROR", "USER_ERROR", 1, "line 1:1: mismatched input 'selct'. Expecting: 'SELECT'"), []),
    ("a missing table", ("TABLE_NOT_FOUND", "USER_ERROR", 46, "line 1:15: Table 'hive.shop.invoices' does not exist"), []),
    ("a missing column", ("COLUMN_NOT_FOUND", "USER_ERROR", 47, "line 1:8: Column 'colour' cannot be resolved"), []),
    ("a missing catalog", ("CATALOG_NOT_FOUND", "USER_ERROR", 44, "line 1:15: Catalog 'lake' not found"), []),
    ("a table without permission", ("PERMISSION_DENIED", "USER_ERROR", 4, "Access Denied: Cannot select from table shop.secrets"), []),
    ("a division by zero", ("DIVISION_BY_ZERO", "USER_ERROR", 8, "Division by zero"), []),
    ("a value that cannot be cast", ("INVALID_CAST_ARGUMENT", "USER_ERROR", 9, "Cannot cast 'n/a' to INT"), []),
    ("a table that exists", ("TABLE_ALREADY_EXISTS", "USER_ERROR", 34, "line 1:1: Table 'hive.shop.orders' already exists"), []),
    ("a transaction that conflicts", ("TRANSACTION_CONFLICT", "USER_ERROR", 20, "Failed to commit the transaction during write: conflict detected"), [WRONG_READING]),
    ("a query that was preempted", ("ADMINISTRATIVELY_PREEMPTED", "INSUFFICIENT_RESOURCES", 131086, "Query preempted"), []),
    ("a query that an operator killed", ("ADMINISTRATIVELY_KILLED", "USER_ERROR", 21, "Query killed. Message: too large"), []),
    ("a query over its limit of time", ("EXCEEDED_TIME_LIMIT", "INSUFFICIENT_RESOURCES", 131075, "Query exceeded maximum time limit of 30.00m"), [WRONG_READING]),
    ("a query over its memory on a node", ("EXCEEDED_LOCAL_MEMORY_LIMIT", "INSUFFICIENT_RESOURCES", 131079, "Query exceeded per-node memory limit of 4GB [Allocated: 3.9GB, Delta: 128MB]"), [WRONG_READING]),
    ("a cluster without memory", ("CLUSTER_OUT_OF_MEMORY", "INSUFFICIENT_RESOURCES", 131081, "Query killed because the cluster is out of memory. Please try again in a few minutes."), []),
    ("a queue that is full", ("QUERY_QUEUE_FULL", "INSUFFICIENT_RESOURCES", 131074, "Too many queued queries for \"global.etl\""), []),
    ("a cluster without workers", ("NO_NODES_AVAILABLE", "INSUFFICIENT_RESOURCES", 131077, "No nodes available to run query"), []),
    ("a server that is starting", ("SERVER_STARTING_UP", "INTERNAL_ERROR", 65545, "Trino server is still initializing"), []),
    ("a worker that went away", ("REMOTE_TASK_ERROR", "INTERNAL_ERROR", 65542, "Expected response code from http://10.0.0.7:8080/v1/task to be 200, but was 500"), []),
    ("pages that timed out", ("PAGE_TRANSPORT_TIMEOUT", "INTERNAL_ERROR", 65544, "Encountered too many errors talking to a worker node. The node may have crashed or be under too much load."), []),
    ("a metastore that does not answer", ("HIVE_METASTORE_ERROR", "EXTERNAL", 16777216, "Failed connecting to Hive metastore: [metastore:9083]"), []),
    ("a file that is broken", ("HIVE_BAD_DATA", "EXTERNAL", 16777217, "Not valid Parquet file: s3://shop-raw/orders.parquet expected magic number: PAR1 got: <htm"), [WRONG_READING]),
):  # fmt: skip
    said = trino_failure(name, kind, code, message)

    @family.case(f"Trino: {title}", raises="Error", library="trino", tags=tags)
    def _(http: HttpServer, said: Answer = said) -> None:
        http.answers(said)
        trino_query(http.port)


for title, answer, tags in (
    ("status 401", Answer(401, "Unauthorized", {"WWW-Authenticate": "Basic"}), []),
    ("status 403", Answer(403, "Forbidden"), []),
    ("status 404", Answer(404, "not found"), []),
    ("status 429", Answer(429, "", {"Retry-After": "5"}), []),
    ("status 503", Answer(503, "Service Unavailable"), []),
    ("the connection is reset", Answer(is_reset=True), []),
    ("a page instead of JSON", Answer(200, "<html>Sign in</html>"), [WRONG_READING]),
):

    @family.case(f"Trino: {title}", raises=("Error", "Exception"), library="trino", tags=tags)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        http.answers(answer)
        trino_query(http.port)


@family.case("Trino: the connection is refused", raises=("Error", "Exception"), library="trino")
def _() -> None:
    with refused_port() as port:
        trino_query(port)


@family.case("Trino: a coordinator that never answers", raises=("Error", "Exception"), library="trino")
def _() -> None:
    with port_that_hangs() as port:
        trino_query(port)


@family.case("Trino: a password over a plain connection", raises="Error", library="trino")
def _(http: HttpServer) -> None:
    trino_query(http.port, auth=trino.auth.BasicAuthentication("etl", CANARY))


@family.case("Trino: a full queue in a report's own exception", raises="ReportError", library="trino")
def _(http: HttpServer) -> None:
    http.answers(
        trino_failure("QUERY_QUEUE_FULL", "INSUFFICIENT_RESOURCES", 131074, 'Too many queued queries for "etl"')
    )
    try:
        trino_query(http.port)
    except (trino.exceptions.Error, requests.RequestException) as error:
        raise ReportError("the report was not made") from error


if __name__ == "__main__":
    family.run()
