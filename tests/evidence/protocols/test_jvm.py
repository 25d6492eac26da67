"""Exceptions of Java, as Java printed them and as Spark and JDBC pass them on; how they were made stands with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from failure_reading import alive, codes, conclusion, logged, printed
from stand_ins import stand_in

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import Edge, Rank, Retry
from airflow_common_ai.evidence.protocols.jvm import reader as jvm
from airflow_common_ai.evidence.protocols.jvm.classes import PLATFORM_ROWS
from airflow_common_ai.evidence.protocols.jvm.frameworks import FRAMEWORK_ROWS

RECORDED = Path(__file__).parent.parent / "java_failures"
NO, YES, DEPENDS = Retry.NO, Retry.YES, Retry.DEPENDS
Expected = tuple[str, str, Retry]
"""Code, category, whether to retry."""


def recorded(file: str) -> Mapping[str, str]:
    """Return the texts of a file by the titles above them."""
    parts = re.split(r"^=== (.+)\n", (RECORDED / file).read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


PLATFORM = recorded("platform.txt")
SPARK = recorded("spark.txt")


def through_py4j(text: str) -> Exception:
    return stand_in("py4j.protocol.Py4JJavaError", f"An error occurred while calling o42.save.\n: {text}")


def read(error: BaseException) -> Expected | None:
    signal = conclusion(alive(error))
    return (signal.code, signal.category, signal.retry) if signal else None


OF_THE_PLATFORM: dict[str, Expected | None] = {
    "a refused connection": ("os.econnrefused", "network", YES),
    "an unknown host": ("jvm.UnknownHostException", "network", DEPENDS),
    "a server that says nothing": ("jvm.SocketTimeoutException", "network", YES),
    "a reset connection": ("os.econnreset", "network", YES),
    "a broken pipe": ("os.epipe", "network", YES),
    "a stream that ends early": ("jvm.EOFException", "network", DEPENDS),
    "a socket that is closed": ("jvm.SocketException", "network", YES),
    "a port in use": ("os.eaddrinuse", "transient", YES),
    "an unresolved address": ("jvm.UnresolvedAddressException", "network", DEPENDS),
    "TLS to a plain port": ("jvm.tls_refused", "permanent", NO),
    "TLS with who hangs up": ("jvm.EOFException", "network", DEPENDS),
    "HTTP refused": ("jvm.ClosedChannelException", "network", YES),
    "HTTP without an answer": ("jvm.HttpTimeoutException", "network", YES),
    "HTTP 503": ("http.503", "transient", YES),
    "HTTP 401": ("http.401", "auth", NO),
    "HTTP 404": ("jvm.FileNotFoundException", "resource", NO),
    "a URL of no protocol": ("jvm.MalformedURLException", "permanent", NO),
    "a missing file": ("os.enoent", "resource", NO),
    "a missing file, nio": ("jvm.NoSuchFileException", "resource", NO),
    "a directory": ("os.eisdir", "permanent", NO),
    "a file that exists": ("jvm.FileAlreadyExistsException", "permanent", NO),
    "a full directory": ("jvm.DirectoryNotEmptyException", "permanent", NO),
    "a full disk": ("os.enospc", "transient", DEPENDS),
    "a bad disk": ("os.eio", "transient", DEPENDS),
    "no UTF-8": ("jvm.MalformedInputException", "data", NO),
    "no zip": ("jvm.ZipException", "data", DEPENDS),
    "no gzip": ("jvm.ZipException", "data", DEPENDS),
    "an empty gzip": ("jvm.EOFException", "network", DEPENDS),
    "no such program": ("jvm.program_missing", "permanent", NO),
    "null": ("jvm.NullPointerException", "permanent", NO),
    "a wrong cast": ("jvm.ClassCastException", "data", NO),
    "no number": ("jvm.NumberFormatException", "data", NO),
    "no date": ("jvm.DateTimeException", "data", NO),
    "an index": ("jvm.IndexOutOfBoundsException", "data", NO),
    "a division": ("jvm.ArithmeticException", "data", NO),
    "nothing there": ("jvm.NoSuchElementException", "data", NO),
    "a wrong argument": ("jvm.IllegalArgumentException", "data", NO),
    "no character set": ("jvm.IllegalCharsetNameException", "permanent", NO),
    "a changed list": ("jvm.ConcurrentModificationException", "permanent", DEPENDS),
    "not supported": ("jvm.UnsupportedOperationException", "permanent", NO),
    "a missing class": ("jvm.ClassNotFoundException", "permanent", NO),
    "a missing driver": ("jvm.no_driver", "permanent", NO),
    "a missing method": ("jvm.NoSuchMethodException", "permanent", NO),
    "a missing library": ("jvm.UnsatisfiedLinkError", "permanent", NO),
    "a class that cannot start": ("jvm.NumberFormatException", "data", NO),
    "a class that could not start": ("jvm.NumberFormatException", "data", NO),
    "a full heap": ("jvm.OutOfMemoryError", "permanent", DEPENDS),
    "a full stack": ("jvm.StackOverflowError", "permanent", NO),
    "an assertion": ("jvm.AssertionError", "permanent", NO),
    "a future that takes too long": ("jvm.TimeoutException", "network", DEPENDS),
    "a pool that was shut down": ("jvm.RejectedExecutionException", "transient", DEPENDS),
    "interrupted": None,
    "refused in a future": ("os.econnrefused", "network", YES),
    "a timeout in a future": ("jvm.SocketTimeoutException", "network", YES),
    "refused under two others": ("os.econnrefused", "network", YES),
    "missing, by reflection": ("jvm.NoSuchFileException", "resource", NO),
    "suppressed ones": None,
    "many lines": None,
}


@pytest.mark.parametrize("title", PLATFORM)
def test_a_java_failure_is_read_from_its_trace(title: str) -> None:
    trace, expected = PLATFORM[title], OF_THE_PLATFORM[title]
    in_a_log = "".join(f"2026-01-01 10:00:00 ERROR {line}\n" for line in trace.splitlines())
    assert read(through_py4j(trace)) == expected
    assert read(RuntimeError(in_a_log)) == expected
    signal = conclusion(logged(through_py4j(trace)))
    assert (signal and (signal.code, signal.category, signal.retry)) == expected


@pytest.mark.parametrize("title", [title for title, trace in PLATFORM.items() if "Caused by" not in trace])
def test_the_one_line_that_names_it_says_the_same(title: str) -> None:
    first = PLATFORM[title].partition("\n\tat ")[0]
    assert read(through_py4j(first)) == OF_THE_PLATFORM[title]
    assert read(RuntimeError(f"Job 17 failed: {first}")) == OF_THE_PLATFORM[title]


OF_SPARK: dict[str, Expected | None] = {
    "a missing table": ("spark.TABLE_OR_VIEW_NOT_FOUND", "resource", NO),
    "a missing path": ("spark.PATH_NOT_FOUND", "resource", NO),
    "a missing column": ("spark.UNRESOLVED_COLUMN", "permanent", NO),
    "a syntax error": ("spark.PARSE_SYNTAX_ERROR", "permanent", NO),
    "a path that exists": ("jvm.AnalysisException", "permanent", NO),
    "a missing driver": ("jvm.ClassNotFoundException", "permanent", NO),
    "a missing data source": ("jvm.ClassNotFoundException", "permanent", NO),
    "HDFS refuses": ("os.econnrefused", "network", YES),
    "HDFS on an unknown host": ("jvm.UnknownHostException", "network", DEPENDS),
    "no S3 connector": ("jvm.ClassNotFoundException", "permanent", NO),
    "an unknown scheme": ("jvm.UnsupportedFileSystemException", "permanent", NO),
    "a function that fails": ("python.zero_division_error", "data", NO),
    "a function that cannot connect": ("os.econnrefused", "network", YES),
    "a division": ("jvm.ArithmeticException", "data", NO),
    "a cast": ("spark.CAST_INVALID_INPUT", "data", NO),
    "no Parquet": ("jvm.damaged_file", "data", DEPENDS),
    "no JSON": ("jvm.JsonParseException", "data", NO),
    "a folder that may not be written": ("jvm.no_directory", "permanent", DEPENDS),
    "files that went meanwhile": ("jvm.SparkFileNotFoundException", "resource", DEPENDS),
    "no number, by Java": ("jvm.NumberFormatException", "data", NO),
    "an index, by Java": ("jvm.IndexOutOfBoundsException", "data", NO),
    "a missing file, by Java": ("os.enoent", "resource", NO),
    "a refused connection, by Java": ("os.econnrefused", "network", YES),
    "an unknown host, by Java": ("jvm.UnknownHostException", "network", DEPENDS),
}


@pytest.mark.parametrize("title", SPARK)
def test_what_spark_raised_in_python_is_read(title: str) -> None:
    name, _, type_path = title.partition(" | ")
    assert read(stand_in(type_path, SPARK[title].removesuffix("\n"))) == OF_SPARK[name]


SPARK_JOB = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 5 in stage 2.0 failed 4 times, most recent"
    " failure: Lost task 5.3 in stage 2.0 (TID 20) (10.0.0.7 executor 7): "
)
LOST = "ExecutorLostFailure (executor 7 exited caused by one of the running tasks) Reason: "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Spark
        (f"{SPARK_JOB}java.lang.OutOfMemoryError: Java heap space", ("jvm.OutOfMemoryError", "permanent", DEPENDS)),
        (f"{SPARK_JOB}java.io.IOException: No space left on device", ("os.enospc", "transient", DEPENDS)),
        (f"{SPARK_JOB}TaskKilled (another attempt succeeded)", None),
        (
            f"{SPARK_JOB}{LOST}Container killed by YARN for exceeding physical memory limits. 5.6 GB of 5.5 GB used.",
            ("jvm.memory_limit", "permanent", DEPENDS),
        ),
        (f"{SPARK_JOB}{LOST}Remote RPC client disassociated.", ("jvm.executor_lost", "transient", YES)),
        (f"{SPARK_JOB}{LOST}Slave lost", ("jvm.executor_lost", "transient", YES)),
        (
            "org.apache.spark.SparkException: Job aborted due to stage failure: ResultStage 3 (collect at a.py:1) has "
            "failed the maximum allowable number of times: 4. Most recent failure reason: "
            "org.apache.spark.shuffle.FetchFailedException: Connection from /10.0.0.7:7337 closed",
            ("jvm.FetchFailedException", "transient", YES),
        ),
        ("org.apache.spark.SparkException: Task not serializable", ("jvm.setting", "permanent", NO)),
        (
            "org.apache.spark.SparkException: Could not execute broadcast in 300 secs. You can increase the timeout",
            ("jvm.broadcast_timeout", "permanent", DEPENDS),
        ),
        (
            "org.apache.spark.SparkException: Job 3 cancelled because SparkContext was shut down",
            ("jvm.stopped", "transient", DEPENDS),
        ),
        (
            "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
            ("jvm.stopped", "transient", DEPENDS),
        ),
        (
            "org.apache.spark.sql.AnalysisException: org.apache.hadoop.hive.ql.metadata.HiveException: "
            "java.lang.RuntimeException: Unable to instantiate "
            "org.apache.hadoop.hive.ql.metadata.SessionHiveMetaStoreClient",
            ("jvm.metastore", "transient", DEPENDS),
        ),
        # Hadoop
        (
            "org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.security.AccessControlException): Permission "
            'denied: user=airflow, access=WRITE, inode="/data":hdfs:hdfs:drwxr-xr-x',
            ("os.eacces", "auth", NO),
        ),
        (
            "org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.ipc.StandbyException): Operation category READ is "
            "not supported in state standby.",
            ("jvm.StandbyException", "transient", YES),
        ),
        ("java.io.IOException: Filesystem closed", ("jvm.filesystem_closed", "transient", DEPENDS)),
        (
            "org.apache.hadoop.mapreduce.lib.input.InvalidInputException: Input path does not exist: hdfs://nn/data",
            ("jvm.InvalidInputException", "resource", NO),
        ),
        (
            "org.apache.hive.service.cli.HiveSQLException:Error while compiling statement: FAILED: SemanticException "
            "[Error 10001]: Line 1:14 Table not found 'orders':28:27",
            ("jvm.statement", "permanent", NO),
        ),
        (
            "org.apache.thrift.transport.TTransportException: java.net.SocketTimeoutException: Read timed out",
            ("jvm.SocketTimeoutException", "network", YES),
        ),
        (
            "org.apache.thrift.transport.TTransportException: Peer indicated failure: Error validating the login",
            ("jvm.thrift_login", "auth", DEPENDS),
        ),
        # tables
        (
            "io.delta.exceptions.ConcurrentAppendException: Files were added to the root of the table.",
            ("jvm.ConcurrentAppendException", "transient", YES),
        ),
        (
            "com.databricks.sql.transaction.tahoe.ConcurrentAppendException: Files were added.",
            ("jvm.ConcurrentAppendException", "transient", YES),
        ),
        (
            "org.apache.iceberg.exceptions.CommitFailedException: metadata location has changed",
            ("jvm.CommitFailedException", "transient", YES),
        ),
        # Kafka
        (
            "org.apache.kafka.common.errors.TimeoutException: Topic orders not present in metadata after 60000 ms.",
            ("jvm.TimeoutException", "network", YES),
        ),
        (
            "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [orders]",
            ("jvm.TopicAuthorizationException", "auth", NO),
        ),
        ("org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask.", None),
        # databases
        (
            "java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available",
            ("jvm.SQLTransientConnectionException", "network", YES),
        ),
        (
            "java.sql.SQLIntegrityConstraintViolationException: Duplicate entry '1' for key 'PRIMARY'",
            ("jvm.SQLIntegrityConstraintViolationException", "data", NO),
        ),
        (
            "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure\n\nThe last packet sent "
            "successfully to the server was 0 milliseconds ago.",
            ("jvm.CommunicationsException", "network", YES),
        ),
        ("org.postgresql.util.PSQLException: The connection attempt failed.", ("jvm.connection", "network", YES)),
        (
            'org.postgresql.util.PSQLException: FATAL: password authentication failed for user "etl"',
            ("text.login_refused", "auth", NO),
        ),
        (
            "com.microsoft.sqlserver.jdbc.SQLServerException: Transaction (Process ID 52) was deadlocked on lock "
            "resources with another process and has been chosen as the deadlock victim.",
            ("text.deadlock", "transient", YES),
        ),
        ("java.sql.SQLException: ORA-00060: deadlock detected", ("oracle.ORA-00060", "transient", YES)),
        # clouds
        (
            "com.amazonaws.services.s3.model.AmazonS3Exception: Access Denied (Service: Amazon S3; Status Code: 403; "
            "Error Code: AccessDenied; Request ID: ABC; S3 Extended Request ID: xyz=)",
            ("aws.AccessDenied", "auth", NO),
        ),
        (
            "com.amazonaws.services.s3.model.AmazonS3Exception: Slow Down (Service: Amazon S3; Status Code: 503; "
            "Error Code: SlowDown; Request ID: ABC)",
            ("aws.SlowDown", "rate_limit", YES),
        ),
        (
            "software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputExceededException: Too fast. (Service:"
            " DynamoDb, Status Code: 400, Request ID: ABC)",
            ("aws.ProvisionedThroughputExceededException", "rate_limit", YES),
        ),
        (
            "software.amazon.awssdk.services.s3.model.S3Exception: Please try again. (Service: S3, Status Code: 503, "
            "Request ID: ABC)",
            ("http.503", "transient", YES),
        ),
        (
            "com.amazonaws.SdkClientException: Unable to execute HTTP request: s3.eu-west-1.amazonaws.com",
            ("jvm.connection", "network", YES),
        ),
        (
            "com.amazonaws.SdkClientException: Unable to load AWS credentials from any provider in the chain",
            ("jvm.no_credentials", "auth", DEPENDS),
        ),
        (
            "org.apache.hadoop.fs.azurebfs.contracts.exceptions.AbfsRestOperationException: Operation failed: "
            '"This request is not authorized.", 403, HEAD, https://account.dfs.core.windows.net/c/p?timeout=90',
            ("http.403", "auth", NO),
        ),
        (
            "com.google.api.client.googleapis.json.GoogleJsonResponseException: 403 Forbidden\n"
            'POST https://storage.googleapis.com/upload\n{\n  "code" : 403,\n  "errors" : [ {\n'
            '    "reason" : "rateLimitExceeded"\n  } ]\n}',
            ("http.rate_limit_exceeded", "rate_limit", YES),
        ),
        ("io.grpc.StatusRuntimeException: UNAVAILABLE: io exception", ("grpc.UNAVAILABLE", "transient", YES)),
        (
            "com.google.api.gax.rpc.PermissionDeniedException: io.grpc.StatusRuntimeException: PERMISSION_DENIED: no",
            ("grpc.PERMISSION_DENIED", "auth", NO),
        ),
        # HTTP and TLS
        ("org.apache.http.NoHttpResponseException: host:443 failed to respond",
         ("jvm.NoHttpResponseException", "network", YES)),
        (
            "io.netty.channel.AbstractChannel$AnnotatedConnectException: Connection refused: /10.0.0.1:8080",
            ("os.econnrefused", "network", YES),
        ),
        ("java.net.SocketException: Connection reset by peer (Write failed)", ("os.econnreset", "network", YES)),
        ("javax.net.ssl.SSLHandshakeException: Received fatal alert: handshake_failure",
         ("jvm.tls_refused", "permanent", NO)),
        (
            "javax.net.ssl.SSLHandshakeException: Remote host terminated the handshake",
            ("jvm.tls_closed", "network", YES),
        ),
        (
            "com.fasterxml.jackson.core.JsonParseException: Unexpected character ('<' (code 60)): expected a value",
            ("jvm.html_instead_of_json", "network", DEPENDS),
        ),
    ],
)  # fmt: skip
def test_what_others_that_run_on_java_print_is_read(text: str, expected: Expected | None) -> None:
    """The texts are the products' own, shortened; nothing here runs them."""
    assert read(through_py4j(text)) == expected
    assert read(RuntimeError(f"Run 17 of the job failed: {text}")) == expected


@pytest.mark.parametrize(
    ("type_path", "hint"),
    [
        ("com.acme.HiveGatewayTimeoutException", "(jvm.unavailable)"),
        ("com.acme.OrderNotFoundException", "(jvm.missing)"),
        ("com.acme.ApiThrottlingException", "(jvm.throttled)"),
        ("com.acme.TenantAccessDeniedException", "(jvm.refused)"),
        ("com.acme.RowLockedException", "(jvm.contended)"),
    ],
)
def test_the_words_in_the_name_of_an_unknown_class_are_a_hint(type_path: str, hint: str) -> None:
    assert codes(printed(type_path, "17"), "jvm.") == [hint]


@pytest.mark.parametrize(
    ("type_path", "message"),
    [
        ("java.lang.IllegalArgumentException", "java.net.UnknownHostException: nameservice1"),
        ("java.lang.IllegalArgumentException", "the service is temporarily unavailable, please try again later"),
        ("org.apache.spark.sql.AnalysisException", "com.acme.SomethingException: 17"),
        ("pyspark.errors.exceptions.captured.AnalysisException", "Connection refused by the catalogue"),
        ("java.lang.AssertionError", "read timed out"),
    ],
)
def test_a_class_that_fails_is_only_a_hint_around_another_reason(type_path: str, message: str) -> None:
    of_the_class = f"(jvm.{type_path.rpartition('.')[2]})"
    assert of_the_class in codes(printed(type_path, message), "jvm.")


def test_a_shaded_copy_of_a_class_is_the_class() -> None:
    shaded = "org.apache.flink.kafka.shaded.org.apache.kafka.common.errors.SaslAuthenticationException"
    assert codes(printed(shaded, "invalid credentials"), "jvm.") == ["jvm.SaslAuthenticationException"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NullPointerException", ["jvm.NullPointerException"]),
        # A fault of the code in Java's own collections, a lost race at AWS.
        ("com.acme.ConcurrentModificationException", ["(jvm.contended)"]),
        ("CommitFailedException", []),
        ("TimeoutException", []),
        ("AcmeException", []),
    ],
)
def test_a_class_without_its_package_counts_where_all_of_that_name_say_the_same(name: str, expected: list[str]) -> None:
    assert codes(printed(name, "x"), "jvm.") == expected


def test_classes_of_python_are_no_classes_of_java() -> None:
    paths = ("acme.exceptions.NotFoundException", "io.UnsupportedOperation", "app.errors.NotFoundError")
    for error in (TimeoutError("x"), ConnectionError("x"), *map(stand_in, paths)):
        assert codes(alive(error), "jvm.") == []


def test_an_exception_that_jpype_passes_on_is_read_with_its_bases() -> None:
    """JPype 1.7.1 names a class by its full path inside the module of its package."""
    refused = stand_in(
        "java.net.java.net.ConnectException",
        "java.net.ConnectException: Connection refused",
        bases=("java.net.java.net.SocketException", "java.io.java.io.IOException"),
    )
    derived = stand_in("com.acme.com.acme.LineException", "17", bases=("java.net.java.net.SocketException",))
    of_code = stand_in("com.acme.com.acme.CodeException", "17", bases=("java.lang.java.lang.NullPointerException",))

    assert read(refused) == ("os.econnrefused", "network", YES)
    assert read(derived) == ("jvm.SocketException", "network", YES)
    assert codes(alive(of_code), "jvm.") == ["(jvm.NullPointerException)"]


def failure_info(*classes: str) -> dict[str, object] | None:
    info = None
    for type_path in reversed(classes):
        info = {"type": type_path, "message": f"{type_path} said this", "stack": ["a.B.c(B.java:1)"], "cause": info}
    return info


def test_the_innermost_failure_that_trino_sends_along_is_read() -> None:
    """As ``trino.exceptions.TrinoQueryError`` keeps it, trino 0.340.0."""
    info = failure_info("io.trino.spi.TrinoException", "java.net.SocketTimeoutException")
    error = stand_in("trino.exceptions.TrinoExternalError", "JDBC_ERROR", _error={"failureInfo": info})

    assert jvm.probe(error) == {
        "jvm.class": "java.net.SocketTimeoutException",
        "jvm.message": "java.net.SocketTimeoutException said this",
    }
    assert read(error) == ("jvm.SocketTimeoutException", "network", YES)


@pytest.mark.parametrize("value", [None, 7, {}, {"failureInfo": "x"}, {"failureInfo": {"cause": {}}}])
def test_other_things_in_the_place_of_trinos_failure_are_left_alone(value: object) -> None:
    assert jvm.probe(stand_in("trino.exceptions.TrinoQueryError", _error=value)) == {}


def test_a_failure_inside_itself_ends() -> None:
    info: dict[str, object] = {"type": "java.io.EOFException"}
    info["cause"] = info
    error = stand_in("trino.exceptions.TrinoQueryError", _error={"failureInfo": info})
    assert jvm.probe(error) == {"jvm.class": "java.io.EOFException", "jvm.message": ""}


def test_a_java_exception_hangs_below_the_python_exception_that_prints_it() -> None:
    text = "Session 4 failed: java.util.concurrent.ExecutionException: java.net.ConnectException: Connection refused"
    nodes = collect(RuntimeError(text)).nodes
    assert [(node.type_path, node.edge, node.parent) for node in nodes] == [
        ("builtins.RuntimeError", Edge.ROOT, None),
        ("java.util.concurrent.ExecutionException", Edge.NESTED, 0),
        ("java.net.ConnectException", Edge.CAUSE, 1),
    ]


def test_a_class_ranks_as_a_class() -> None:
    signal = conclusion(printed("java.lang.NullPointerException", ""))
    assert signal is not None
    assert signal.rank is Rank.CLASS


def test_no_class_stands_twice_for_one_package() -> None:
    named = [(package, name) for package, names, _ in (*PLATFORM_ROWS, *FRAMEWORK_ROWS) for name in names.split()]
    assert sorted(set(named)) == sorted(named)
