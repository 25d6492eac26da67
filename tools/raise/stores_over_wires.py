# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "cassandra-driver==3.30.1",
#     "hdfs==2.7.3",
#     "influxdb-client==1.50.0",
#     "neo4j==6.4.1",
#     "requests==2.34.2",
#     "smbprotocol==1.17.0",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What clients of stores raise that speak protocols of their own: Cassandra, Neo4j, InfluxDB, WebHDFS and SMB."""

from __future__ import annotations

from functools import partial
from typing import Any

import cassandra
import cassandra.auth
import cassandra.cluster
import cassandra.policies
import hdfs
import influxdb_client
import influxdb_client.client.write_api
import neo4j
import neo4j.exceptions
import smbclient
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.bolt import Bolt, bolt_server
from servers.broken import port_that_closes, port_that_hangs, port_that_says
from servers.cassandra import Cassandra, cassandra_server
from servers.http import Answer, HttpServer, html, http_server, json_answer
from servers.port import refused_port

family = Family(
    __file__,
    "cassandra-driver",
    servers={"node": cassandra_server, "graph": bolt_server, "http": http_server},
    is_wire_form=True,
)
plain = partial(family.case, is_wire_form=False)
neo4j_case = partial(family.case, library="neo4j")
influx = partial(family.case, library="influxdb-client")
web_hdfs = partial(family.case, library="hdfs")
smb_case = partial(family.case, library="smbprotocol", is_wire_form=False)
TRAP = [WRONG_READING]
QUICK_S = 0.5


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


# Cassandra.
def cluster(port: int, **options: Any) -> Any:
    profile = cassandra.cluster.ExecutionProfile(
        load_balancing_policy=cassandra.policies.WhiteListRoundRobinPolicy(["127.0.0.1"]),
        retry_policy=cassandra.policies.FallthroughRetryPolicy(),
        request_timeout=1,
    )
    usual = {
        "connect_timeout": 1,
        "control_connection_timeout": 1,
        "protocol_version": 4,
        "monitor_reporting_enabled": False,
    }
    return cassandra.cluster.Cluster(
        ["127.0.0.1"],
        port,
        execution_profiles={cassandra.cluster.EXEC_PROFILE_DEFAULT: profile},
        auth_provider=cassandra.auth.PlainTextAuthProvider("etl", CANARY),
        schema_metadata_enabled=False,
        token_metadata_enabled=False,
        **{**usual, **options},
    )


def query(port: int, **options: Any) -> None:
    nodes = cluster(port, **options)
    try:
        nodes.connect().execute("SELECT * FROM shop.orders")
    finally:
        nodes.shutdown()


# Codes: https://cassandra.apache.org/doc/latest/cassandra/_attachments/native_protocol_v4.html, section 9
for title, code, words, more, raises, tags in (
    ("the server has an error of its own", 0x0000, "java.lang.NullPointerException", b"", "ErrorMessage", []),
    ("the statement breaks the protocol", 0x000A, "Invalid or unsupported protocol version", b"", "ErrorMessage", []),
    ("too few nodes are alive", 0x1000, "Cannot achieve consistency level QUORUM", b"\0\4\0\0\0\2\0\0\0\1", "Unavailable", []),
    ("the node is overloaded", 0x1001, "Too many in flight hints: 2048", b"", "ErrorMessage", []),
    ("the node is starting", 0x1002, "Cannot read from a bootstrapping node", b"", "ErrorMessage", []),
    ("truncating fails", 0x1003, "Truncate timed out - received only 0 responses", b"", "ErrorMessage", TRAP),
    ("the write takes too long", 0x1100, "Operation timed out - received only 1 responses.", b"\0\4\0\0\0\1\0\0\0\2\0\6SIMPLE",
     "WriteTimeout", []),
    ("the read takes too long", 0x1200, "Operation timed out - received only 1 responses.", b"\0\4\0\0\0\1\0\0\0\2\1", "ReadTimeout", []),
    ("replicas fail to read", 0x1300, "Operation failed - received 0 responses and 1 failures", b"\0\4\0\0\0\0\0\0\0\2\0\0\0\1\0",
     "ReadFailure", []),
    ("replicas fail to write", 0x1500, "Operation failed - received 0 responses and 1 failures",
     b"\0\4\0\0\0\0\0\0\0\2\0\0\0\1\0\6SIMPLE", "WriteFailure", []),
    ("the statement is not understood", 0x2000, "line 1:0 no viable alternative at input 'SELEC'", b"", "SyntaxException", []),
    ("the user may not read the table", 0x2100, "User etl has no SELECT permission on <table shop.orders>", b"", "Unauthorized", []),
    ("the table does not exist", 0x2200, "table orders does not exist", b"", "InvalidRequest", TRAP),
    ("the query needs filtering", 0x2200, "Cannot execute this query as it might involve data filtering", b"", "InvalidRequest", []),
    ("the setting is not valid", 0x2300, "Unable to use given strategy class", b"", "ConfigurationException", []),
    ("the table exists already", 0x2400, "Cannot add already existing table", b"\0\4shop\0\6orders", "AlreadyExists", []),
    ("the key space takes no more requests", 0x1001, "Request rate is large: ActivityID=1, RetryAfterMs=84", b"", "ErrorMessage", []),
):  # fmt: skip

    @family.case(title, raises=raises, tags=tags)
    def _(node: Cassandra, code: int = code, words: str = words, more: bytes = more) -> None:
        query(node.answers(code, words, more))


@family.case("the password is wrong", raises="NoHostAvailable", tags=TRAP)
def _(node: Cassandra) -> None:
    query(node.answers(0x0100, "Provided username etl and/or password are incorrect", to_start=True))


@family.case("the node goes down at the start", raises="NoHostAvailable")
def _(node: Cassandra) -> None:
    query(node.answers(0x1002, "Server is shutting down", to_start=True))


@plain("no node can be reached", raises="NoHostAvailable")
def _() -> None:
    with refused_port() as port:
        query(port)


@plain("the host name does not exist", raises=("UnresolvableContactPoints", "NoHostAvailable"))
def _() -> None:
    cassandra.cluster.Cluster(["cassandra.invalid"]).connect()


@plain("the node does not answer in time", raises="NoHostAvailable")
def _() -> None:
    with port_that_hangs() as port:
        query(port)


@plain("the node hangs up", raises="NoHostAvailable")
def _() -> None:
    with port_that_closes(1) as port:
        query(port)


@family.case("the query is not answered in time", raises="OperationTimedOut", tags=TRAP)
def _(node: Cassandra) -> None:
    query(node.answers(None, ""))


# Neo4j: https://neo4j.com/docs/status-codes/current/errors/all-errors/
def graph_query(url: str, **options: Any) -> None:
    usual = {"connection_timeout": 1, "connection_acquisition_timeout": 2, "max_transaction_retry_time": 0}
    with (
        neo4j.GraphDatabase.driver(url, auth=("etl", CANARY), **{**usual, **options}) as driver,
        driver.session() as session,
    ):
        session.run("MATCH (o:Order) RETURN o").consume()


for title, code, words, tags in (
    ("the password is wrong", "Neo.ClientError.Security.Unauthorized", "The client is unauthorized due to authentication"
     " failure.", []),
    ("too many wrong passwords", "Neo.ClientError.Security.AuthenticationRateLimit", "The client has provided incorrect"
     " authentication details too many times in a row.", TRAP),
    ("the password must be changed", "Neo.ClientError.Security.CredentialsExpired", "The credentials you provided were valid,"
     " but must be changed before you can use this instance.", []),
    ("the token has expired", "Neo.ClientError.Security.TokenExpired", "The provided token has expired.", []),
    ("the user may not do that", "Neo.ClientError.Security.Forbidden", "Read on any label is not allowed for user 'etl'.", []),
    ("the statement is not understood", "Neo.ClientError.Statement.SyntaxError", "Invalid input 'MACH'", []),
    ("the parameter is missing", "Neo.ClientError.Statement.ParameterMissing", "Expected parameter(s): id", []),
    ("the node breaks a rule", "Neo.ClientError.Schema.ConstraintValidationFailed", "Node(5) already exists with label `Order`"
     " and property `id` = 1", []),
    ("the database does not exist", "Neo.ClientError.Database.DatabaseNotFound", "Database 'shop' does not exist", []),
    ("transactions wait for each other", "Neo.TransientError.Transaction.DeadlockDetected", "ForsetiClient can't acquire"
     " ExclusiveLock because it would form this wait cycle", []),
    ("a lock is not to be had in time", "Neo.TransientError.Transaction.LockAcquisitionTimeout", "Unable to acquire lock"
     " within configured timeout.", []),
    ("the transaction takes too long", "Neo.ClientError.Transaction.TransactionTimedOut", "The transaction has not completed"
     " within the specified timeout", TRAP),
    ("the transaction was ended by an administrator", "Neo.TransientError.Transaction.Terminated", "Explicitly terminated by"
     " the user.", TRAP),
    ("memory of transactions is used up", "Neo.TransientError.General.MemoryPoolOutOfMemoryError", "The allocation of an extra"
     " 2.0 MiB would use more than the limit", TRAP),
    ("memory of the server is used up", "Neo.TransientError.General.OutOfMemoryError", "There is not enough memory to perform"
     " the current task.", TRAP),
    ("no thread is free", "Neo.TransientError.Request.NoThreadsAvailable", "There are no available threads to serve this"
     " request at the moment.", []),
    ("the database is not available", "Neo.TransientError.General.DatabaseUnavailable", "The database is not currently"
     " available to serve your request", []),
    ("the server is no leader", "Neo.ClientError.Cluster.NotALeader", "No write operations are allowed directly on this"
     " database.", TRAP),
    ("the database may only be read", "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", "Write operations are not allowed"
     " in read-only mode.", TRAP),
    ("the server has a bug", "Neo.DatabaseError.General.UnknownError", "Unexpected error", []),
    ("the procedure does not exist", "Neo.ClientError.Procedure.ProcedureNotFound", "There is no procedure with the name"
     " `apoc.load.json`", []),
):  # fmt: skip

    @neo4j_case(f"neo4j: {title}", raises=("Neo4jError", "WriteServiceUnavailable"), tags=tags)
    def _(graph: Bolt, code: str = code, words: str = words) -> None:
        graph_query(graph.answers(code, words))


@neo4j_case("neo4j: the connection is refused", raises="ServiceUnavailable", is_wire_form=False)
def _() -> None:
    with refused_port() as port:
        graph_query(f"bolt://127.0.0.1:{port}")


@neo4j_case(
    "neo4j: the host name does not exist", raises=("ServiceUnavailable", "ValueError"), is_wire_form=False, tags=TRAP
)
def _() -> None:
    graph_query("bolt://graph.invalid:7687")


@neo4j_case("neo4j: the cluster has no way to be found", raises="ServiceUnavailable", is_wire_form=False)
def _() -> None:
    with refused_port() as port:
        graph_query(f"neo4j://127.0.0.1:{port}")


@neo4j_case(
    "neo4j: the server is none of Neo4j",
    raises=("ServiceUnavailable", "BoltHandshakeError"),
    is_wire_form=False,
    tags=TRAP,
)
def _() -> None:
    with port_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        graph_query(f"bolt://127.0.0.1:{port}")


@neo4j_case("neo4j: the scheme is not known", raises=("ConfigurationError", "ValueError"), is_wire_form=False)
def _() -> None:
    graph_query("postgres://127.0.0.1:5432")


@neo4j_case("neo4j: the server hangs up", raises="ServiceUnavailable", is_wire_form=False)
def _() -> None:
    with port_that_closes(1) as port:
        graph_query(f"bolt://127.0.0.1:{port}")


# InfluxDB: https://docs.influxdata.com/influxdb/v2/api/
def write(url: str) -> None:
    with influxdb_client.InfluxDBClient(url, CANARY, org="shop", timeout=500) as client:
        writer = client.write_api(write_options=influxdb_client.client.write_api.SYNCHRONOUS)
        writer.write("orders", record="orders amount=1")


def read(url: str) -> None:
    with influxdb_client.InfluxDBClient(url, CANARY, org="shop", timeout=500) as client:
        client.query_api().query('from(bucket: "orders") |> range(start: -1h)')


for title, call, answer, tags in (
    ("the token is not known", write, json_answer(401, {"code": "unauthorized", "message": "unauthorized access"}), []),
    ("the token may not write", write, json_answer(403, {"code": "forbidden", "message": "insufficient permissions for write"}), []),
    ("the bucket does not exist", write, json_answer(404, {"code": "not found", "message": 'bucket "orders" not found'}), []),
    ("a line cannot be parsed", write, json_answer(400, {"code": "invalid", "message": "unable to parse 'orders amount=':"
     " missing field value"}), []),
    ("a field has another type", write, json_answer(422, {"code": "unprocessable entity", "message": "failure writing points to"
     " database: partial write: field type conflict: input field \"amount\" is type float, already exists as type integer"}), []),
    ("points are older than kept", write, json_answer(422, {"code": "unprocessable entity", "message": "partial write: points"
     " beyond retention policy dropped=1"}), []),
    ("writes of the plan are exceeded", write, json_answer(429, {"code": "too many requests", "message": "org shop has exceeded"
     " limited_write plan limit"}, {"Retry-After": "30"}), []),
    ("the cardinality of the plan is exceeded", write, json_answer(429, {"code": "too many requests", "message": "org shop has"
     " exceeded limited_cardinality plan limit"}), TRAP),
    ("the body is too large", write, json_answer(413, {"code": "request too large", "message": "max size is 50 MB"}), []),
    ("the server has an error of its own", write, json_answer(500, {"code": "internal error", "message": "engine is closed"}), TRAP),
    ("the queue of queries is full", read, json_answer(429, {"code": "too many requests", "message": "queue length exceeded"}), []),
    ("the server starts", read, json_answer(503, {"code": "unavailable", "message": "service unavailable"}, {"Retry-After": "10"}), []),
    ("the query is not understood", read, json_answer(400, {"code": "invalid", "message": "compilation failed: error @1:1-1:5"}), []),
    ("the query needs too much memory", read, json_answer(400, {"code": "invalid", "message": "memory allocation limit reached:"
     " limit 1000000 bytes"}), TRAP),
    ("a gateway has no server", read, html(502, "<html><body>502 Bad Gateway</body></html>"), []),
):  # fmt: skip

    @influx(f"influxdb: {title}", raises="ApiException", tags=tags)
    def _(http: HttpServer, call: Any = call, answer: Answer = answer) -> None:
        call(http.answers(answer))


@influx("influxdb: the connection is refused", raises="NewConnectionError", is_wire_form=False)
def _() -> None:
    with refused_port() as port:
        read(f"http://127.0.0.1:{port}")


@influx("influxdb: the answer does not come in time", raises=("ReadTimeoutError", "ApiException"), is_wire_form=False)
def _(http: HttpServer) -> None:
    read(http.answers(Answer(silent_s=3)))


# WebHDFS: https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html#Error_Responses
def list_files(url: str) -> None:
    hdfs.InsecureClient(url, user="etl", timeout=1).list("/orders")


def remote(status: int, name: str, package: str, message: str) -> Answer:
    told = {"exception": name, "javaClassName": f"{package}.{name}", "message": message}
    return json_answer(status, {"RemoteException": told})


for title, answer, tags in (
    ("the file does not exist", remote(404, "FileNotFoundException", "java.io", "File /orders does not exist."), []),
    ("the user may not read", remote(403, "AccessControlException", "org.apache.hadoop.security", "Permission denied:"
     ' user=etl, access=READ_EXECUTE, inode="/orders":hdfs:hdfs:drwx------'), []),
    ("the name node is on standby", remote(403, "StandbyException", "org.apache.hadoop.ipc", "Operation category READ is not"
     " supported in state standby"), TRAP),
    ("the name node is in safe mode", remote(403, "SafeModeException", "org.apache.hadoop.hdfs.server.namenode", "Cannot create"
     " file/orders. Name node is in safe mode."), TRAP),
    ("the name node asks to try again", remote(403, "RetriableException", "org.apache.hadoop.ipc", "Namenode is in startup"
     " mode"), TRAP),
    ("the space quota is exceeded", remote(403, "DSQuotaExceededException", "org.apache.hadoop.hdfs.protocol", "The DiskSpace"
     " quota of /orders is exceeded: quota = 1 GB but diskspace consumed = 1.1 GB"), TRAP),
    ("the names quota is exceeded", remote(403, "NSQuotaExceededException", "org.apache.hadoop.hdfs.protocol", "The NameSpace"
     " quota (directories and files) of directory /orders is exceeded"), TRAP),
    ("the token has expired", remote(403, "InvalidToken", "org.apache.hadoop.security.token.SecretManager", "token (HDFS_DELEGATION_TOKEN"
     " token 5 for etl) is expired"), TRAP),
    ("nobody has signed in", Answer(401, "<html>Authentication required</html>", {"WWW-Authenticate": "Negotiate"}), []),
    ("another has the lease of the file", remote(403, "AlreadyBeingCreatedException", "org.apache.hadoop.hdfs.protocol", "Failed to"
     " create file /orders for etl because current leaseholder is trying to recreate file."), TRAP),
    ("the call queue is full", remote(503, "RetriableException", "org.apache.hadoop.ipc", "Server too busy"), []),
    ("the parameter is not valid", remote(400, "IllegalArgumentException", "java.lang", 'Invalid value for webhdfs parameter "op"'), []),
    ("the operation is not supported", remote(400, "UnsupportedOperationException", "java.lang", "LISTSTATUS is not supported"), []),
    ("the server fails on input and output", remote(500, "IOException", "java.io", "Failed to find datanode, suggest to check"
     " cluster health."), []),
):  # fmt: skip

    @web_hdfs(f"webhdfs: {title}", raises="HdfsError", tags=tags)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        list_files(http.answers(answer))


@web_hdfs("webhdfs: the connection is refused", raises="ConnectionError", is_wire_form=False)
def _() -> None:
    with refused_port() as port:
        list_files(f"http://127.0.0.1:{port}")


@web_hdfs("webhdfs: the local file exists already", raises="HdfsError", is_wire_form=False)
def _(http: HttpServer) -> None:
    http.answers(json_answer(200, {"FileStatus": {"type": "FILE", "length": 1, "pathSuffix": ""}}))
    hdfs.InsecureClient(http.url, user="etl").download("/orders/a.csv", __file__)


# SMB.
def share(port: int) -> None:
    options: Any = {
        "username": "etl",
        "password": CANARY,
        "port": port,
        "connection_timeout": 1,
        "connection_cache": {},
    }
    smbclient.listdir(r"\\127.0.0.1\orders", **options)


@smb_case("SMB: the connection is refused", raises="ValueError", tags=TRAP)
def _() -> None:
    with refused_port() as port:
        share(port)


@smb_case("SMB: the host name does not exist", raises="ValueError", tags=TRAP)
def _() -> None:
    smbclient.listdir(r"\\files.invalid\orders", username="etl", password=CANARY, connection_timeout=1)


@smb_case("SMB: the server hangs up", raises=("SMBException", "OSError"))
def _() -> None:
    with port_that_closes(1) as port:
        share(port)


@smb_case("SMB: the server says nothing", raises=("SMBException", "OSError"))
def _() -> None:
    with port_that_hangs() as port:
        share(port)


@smb_case("SMB: the path names no share", raises="ValueError")
def _() -> None:
    smbclient.listdir("orders", username="etl", password=CANARY)


# As tasks meet them.
@family.case("wrapped: the read takes too long", raises="LoadError")
def _(node: Cassandra) -> None:
    try:
        query(node.answers(0x1200, "Operation timed out.", b"\0\4\0\0\0\1\0\0\0\2\1"))
    except cassandra.DriverException as error:
        raise LoadError("cannot read the day's orders") from error


@web_hdfs("wrapped in words: the space quota is exceeded", raises="LoadError", tags=[FROM_TEXT, WRONG_READING])
def _(http: HttpServer) -> None:
    words = "The DiskSpace quota of /orders is exceeded: quota = 1 GB but diskspace consumed = 1.1 GB"
    try:
        list_files(http.answers(remote(403, "DSQuotaExceededException", "org.apache.hadoop.hdfs.protocol", words)))
    except hdfs.HdfsError as error:
        raise LoadError(f"upload failed: {error}") from None


@neo4j_case("tenacity gives up: transactions wait for each other", raises="RetryError")
def _(graph: Bolt) -> None:
    url = graph.answers("Neo.TransientError.Transaction.DeadlockDetected", "ForsetiClient can't acquire ExclusiveLock")
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(graph_query, url)


if __name__ == "__main__":
    family.run()
