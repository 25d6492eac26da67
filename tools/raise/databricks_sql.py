# /// script
# requires-python = "==3.11.*"
# dependencies = ["databricks-sql-connector==4.9.0"]
# [tool.uv]
# exclude-newer = "2026-11-30T00:00:00Z"
# ///
"""What Databricks' SQL connector raises when a loopback server answers like a SQL warehouse.

The bodies are Thrift, written with the connector's own generated types. What a warehouse says:
https://docs.databricks.com/aws/en/error-messages/error-classes
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from databricks import sql
from databricks.sql.thrift_api.TCLIService import TCLIService, ttypes
from harness import CANARY, WRONG_READING, Family
from servers.broken import port_that_hangs
from servers.http import Answer, HttpServer, Request, http_server
from servers.port import refused_port
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TTransport import TMemoryBuffer

family = Family(__file__, "databricks-sql-connector", servers={"http": http_server}, is_wire_form=True)

_GOOD = ttypes.TStatus(statusCode=ttypes.TStatusCode.SUCCESS_STATUS)
_ID = ttypes.THandleIdentifier(guid=b"\x01" * 16, secret=b"\x02" * 16)


class RefreshError(Exception):
    """A user's own exception."""


class Warehouse:
    """Lets everybody in, and fails every statement with one status."""

    def __init__(self, sqlstate: str, message: str, is_refused: bool) -> None:
        self._sqlstate = sqlstate
        self._message = message
        self._is_refused = is_refused

    def OpenSession(self, request: Any) -> Any:
        handle = ttypes.TSessionHandle(sessionId=_ID)
        version = ttypes.TProtocolVersion.SPARK_CLI_SERVICE_PROTOCOL_V7
        return ttypes.TOpenSessionResp(status=_GOOD, serverProtocolVersion=version, sessionHandle=handle)

    def ExecuteStatement(self, request: Any) -> Any:
        if self._is_refused:
            status = ttypes.TStatus(
                statusCode=ttypes.TStatusCode.ERROR_STATUS, sqlState=self._sqlstate, errorMessage=self._message
            )
            return ttypes.TExecuteStatementResp(status=status)
        kind = ttypes.TOperationType.EXECUTE_STATEMENT
        handle = ttypes.TOperationHandle(operationId=_ID, operationType=kind, hasResultSet=True)
        state = ttypes.TGetOperationStatusResp(
            status=_GOOD, operationState=ttypes.TOperationState.ERROR_STATE, sqlState=self._sqlstate,
            errorMessage=self._message, displayMessage=self._message, diagnosticInfo="org.apache.spark.sql.AnalysisException",
        )  # fmt: skip
        results = ttypes.TSparkDirectResults(operationStatus=state)
        return ttypes.TExecuteStatementResp(status=_GOOD, operationHandle=handle, directResults=results)

    def CloseOperation(self, request: Any) -> Any:
        return ttypes.TCloseOperationResp(status=_GOOD)

    def CloseSession(self, request: Any) -> Any:
        return ttypes.TCloseSessionResp(status=_GOOD)


def serve(http: HttpServer, sqlstate: str, message: str, *, is_refused: bool = False) -> None:
    processor = TCLIService.Processor(Warehouse(sqlstate, message, is_refused))

    def route(request: Request) -> Answer:
        answer = TMemoryBuffer()
        processor.process(TBinaryProtocol(TMemoryBuffer(request.body)), TBinaryProtocol(answer))
        return Answer(200, answer.getvalue(), {"Content-Type": "application/x-thrift"})

    http.routes(route)


def query(port: int) -> None:
    with sql.connect(
        server_hostname="127.0.0.1", http_path="/sql/1.0/warehouses/1234", access_token=CANARY, enable_telemetry=False,
        _connection_uri=f"http://127.0.0.1:{port}/sql/1.0/warehouses/1234", _socket_timeout=2, _retry_delay_min=0.1,
        _retry_stop_after_attempts_count=2, _retry_stop_after_attempts_duration=20.0, _retry_delay_default=1.0,
    ) as connection:  # fmt: skip
        connection.cursor().execute("select 1")


for title, (sqlstate, message), tags in (
    ("a missing table", ("42P01", "[TABLE_OR_VIEW_NOT_FOUND] The table or view `shop`.`invoices` cannot be found."), []),
    ("a missing column", ("42703", "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `colour` cannot be resolved."), []),
    ("a missing schema", ("42704", "[SCHEMA_NOT_FOUND] The schema `lake` cannot be found."), []),
    ("a typo", ("42601", "[PARSE_SYNTAX_ERROR] Syntax error at or near 'selct'."), []),
    ("a table that exists", ("42P07", "[TABLE_OR_VIEW_ALREADY_EXISTS] Cannot create table `orders` because it already exists."), []),
    ("a table without permission", ("42501", "[INSUFFICIENT_PERMISSIONS] Insufficient privileges: User does not have SELECT on table 'secrets'."), []),
    ("a division by zero", ("22012", "[DIVIDE_BY_ZERO] Division by zero."), []),
    ("a text that is no number", ("22018", "[CAST_INVALID_INPUT] The value 'n/a' of the type \"STRING\" cannot be cast to \"INT\"."), []),
    ("a broken constraint", ("23001", "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint positive (amount >= 0) violated by row."), []),
    ("a schema that does not fit", ("42KDG", "[_LEGACY_ERROR_TEMP_DELTA_0007] A schema mismatch detected when writing to the Delta table."), []),
    ("an append that somebody overtook", ("2D521", "[DELTA_CONCURRENT_APPEND] ConcurrentAppendException: Files were added to the root of the table by a concurrent update."), [WRONG_READING]),
    ("metadata that somebody changed", ("2D521", "[DELTA_METADATA_CHANGED] MetadataChangedException: The metadata of the Delta table has been changed by a concurrent update."), [WRONG_READING]),
    ("a row merged twice", ("21506", "[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE] Cannot perform Merge as multiple source rows matched."), []),
    ("a file that is gone", ("KD001", "[FAILED_READ_FILE.DBR_FILE_NOT_EXIST] Error while reading file s3://shop-raw/orders/part-0.parquet. File does not exist."), [WRONG_READING]),
    ("a job that was aborted", ("XXKDA", "Job aborted due to stage failure: Task 3 in stage 7.0 failed 4 times: ExecutorLostFailure (executor 2 exited caused by one of the running tasks) Reason: worker lost"), []),
    ("a cluster that is out of memory", ("53200", "[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes of memory, got 0."), []),
    ("a warehouse that cannot start", ("57012", "Clusters are failing to launch. Cluster launch will be retried. Details for the latest failure: Error: cloud provider launch failure: insufficient capacity"), []),
    ("a query over its limit of time", ("57KD0", "[QUERY_EXECUTION_TIMEOUT_EXCEEDED] Query execution has been cancelled because the time to execute the query exceeded the timeout limit of 3600 seconds."), []),
    ("an internal error", ("XX000", "[INTERNAL_ERROR] The Spark SQL phase optimization failed with an internal error."), []),
):  # fmt: skip

    @family.case(title, raises="Error", tags=tags)
    def _(http: HttpServer, sqlstate: str = sqlstate, message: str = message) -> None:
        serve(http, sqlstate, message)
        query(http.port)


@family.case("a statement that is refused at once", raises="Error")
def _(http: HttpServer) -> None:
    serve(http, "HY000", "Too many concurrent queries. Limit is 10 per cluster.", is_refused=True)
    query(http.port)


_MESSAGE = "X-Thriftserver-Error-Message"

for title, status, headers, tags in (
    ("status 400", 400, {_MESSAGE: "Invalid session handle"}, []),
    ("status 401", 401, {}, []),
    ("status 403 for a token that is not valid", 403, {_MESSAGE: "Invalid access token. [ReqId: 1f2e]"}, []),
    ("status 403 for an address that is not allowed", 403, {_MESSAGE: "Source IP address: 203.0.113.7 is blocked by Databricks IP ACL"}, []),
    ("status 404 for a warehouse that does not exist", 404, {_MESSAGE: "Endpoint 1234 does not exist"}, []),
    ("status 429 with Retry-After", 429, {"Retry-After": "1"}, []),
    ("status 502", 502, {}, []),
    ("status 503 while the cluster starts", 503, {"Retry-After": "1", _MESSAGE: "TEMPORARILY_UNAVAILABLE: cluster is starting"}, []),
):  # fmt: skip

    @family.case(title, raises=("Error", "Exception"), tags=tags)
    def _(http: HttpServer, status: int = status, headers: Mapping[str, str] = headers) -> None:
        http.answers(Answer(status, "", headers))
        query(http.port)


@family.case("the connection is refused", raises="Exception")
def _() -> None:
    with refused_port() as port:
        query(port)


@family.case("a server that never answers", raises="Exception")
def _() -> None:
    with port_that_hangs() as port:
        query(port)


@family.case("the connection is reset", raises="Exception")
def _(http: HttpServer) -> None:
    http.answers(Answer(is_reset=True))
    query(http.port)


@family.case("a cursor used after its connection was closed", raises="Error")
def _(http: HttpServer) -> None:
    serve(http, "", "")
    connection = sql.connect(
        server_hostname="127.0.0.1", http_path="/x", access_token=CANARY, enable_telemetry=False,
        _connection_uri=f"http://127.0.0.1:{http.port}/x",
    )  # fmt: skip
    connection.close()
    connection.cursor().execute("select 1")


@family.case("an overtaken append in a refresh's own exception", raises="RefreshError")
def _(http: HttpServer) -> None:
    serve(
        http,
        "2D521",
        "[DELTA_CONCURRENT_APPEND] Files were added by a concurrent update. Please try the operation again.",
    )
    try:
        query(http.port)
    except sql.exc.Error as error:
        raise RefreshError("orders_daily was not refreshed") from error


if __name__ == "__main__":
    family.run()
