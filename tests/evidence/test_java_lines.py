"""Java exceptions that are named in a line, without a trace."""

from __future__ import annotations

import pytest

from airflow_common_ai.evidence.logs.java_trace import parse_java_lines, parse_java_trace
from airflow_common_ai.evidence.logs.traceback_text import parse_tracebacks

Read = list[tuple[str, str]]


def read(text: str) -> Read:
    """Return class and message of what is named, the outermost first."""
    return [(node.type_path, node.message) for node in parse_java_lines(text)]


REFUSED = "java.net.ConnectException: Connection refused"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (REFUSED, [("java.net.ConnectException", "Connection refused")]),
        (f"An error occurred calling o4.save.\n: {REFUSED}", [("java.net.ConnectException", "Connection refused")]),
        (f"Batch 7 is dead: {REFUSED}", [("java.net.ConnectException", "Connection refused")]),
        (f"the step failed with {REFUSED}", [("java.net.ConnectException", "Connection refused")]),
        (f"{{'Reason': 'Unknown', 'Message': '{REFUSED}'}}", [("java.net.ConnectException", "Connection refused'}")]),
        (f'Exception in thread "main" {REFUSED}', [("java.net.ConnectException", "Connection refused")]),
        (f"failed\\n: {REFUSED}\\nfor ever", [("java.net.ConnectException", "Connection refused\nfor ever")]),
        (
            f"{REFUSED}\n  at the third try\nof five",
            [("java.net.ConnectException", "Connection refused\n  at the third try\nof five")],
        ),
        ("*org.apache.hive.service.cli.HiveSQLException:Error while compiling:28:27", [
            ("org.apache.hive.service.cli.HiveSQLException", "Error while compiling:28:27"),
        ]),
        ("Job failed with message [java.lang.ClassNotFoundException: com.acme.Main]. See the log.", [
            ("java.lang.ClassNotFoundException", "com.acme.Main]. See the log."),
        ]),
        ("Batch 7 is dead: java.io.EOFException", [("java.io.EOFException", "")]),
        ("it threw exception java.io.EOFException.", [("java.io.EOFException", "")]),
        ("org.apache.kafka.common.errors.DisconnectException: null", [
            ("org.apache.kafka.common.errors.DisconnectException", "null"),
        ]),
        ("software.amazon.awssdk.services.s3.model.S3Exception: Forbidden", [
            ("software.amazon.awssdk.services.s3.model.S3Exception", "Forbidden"),
        ]),
        ("scala.tools.reflect.ToolBoxError: reflective compilation has failed", [
            ("scala.tools.reflect.ToolBoxError", "reflective compilation has failed"),
        ]),
        (
            f"java.lang.RuntimeException: java.io.UncheckedIOException: {REFUSED}",
            [
                ("java.lang.RuntimeException", f"java.io.UncheckedIOException: {REFUSED}"),
                ("java.io.UncheckedIOException", REFUSED),
                ("java.net.ConnectException", "Connection refused"),
            ],
        ),
        (
            f"java.net.ConnectException: Call From a/127.0.0.1 to b:8020 failed: {REFUSED}; For more: see",
            [
                ("java.net.ConnectException", f"Call From a/127.0.0.1 to b:8020 failed: {REFUSED}; For more: see"),
                ("java.net.ConnectException", "Connection refused; For more: see"),
            ],
        ),
        (
            "org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.ipc.StandbyException): not now",
            [("org.apache.hadoop.ipc.StandbyException", "not now")],
        ),
        ("java.lang.ClassNotFoundException: com.acme.LostException", [
            ("java.lang.ClassNotFoundException", "com.acme.LostException"),
        ]),
    ],
)  # fmt: skip
def test_an_exception_that_a_line_names_is_read(text: str, expected: Read) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Connection refused",
        "requests.exceptions.ConnectionError: Connection refused",
        "airflow.exceptions.AirflowException: java is missing",
        "System.Net.WebException: The remote name could not be resolved",
        "com.acme.Job: started",
        "com.acme.TheException:8080",
        "io.UnsupportedOperation: not readable",
        "app.errors.OrderError: 17",
        "py4j.protocol.Py4JNetworkError: Answer from Java side is empty",
        "retries on java.io.EOFException are not configured",
        "see https://docs.example.org/java.io.IOException: the page",
        "/opt/lib/java.io.IOException: no such file",
        "Error: com.acme: Exception",
    ],
)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert read(text) == []


def test_of_a_log_the_last_line_that_names_one_counts() -> None:
    log = "\n".join(
        f"2026-01-01 10:00:0{number} ERROR try {number}: {type_path}: x"
        for number, type_path in enumerate(["java.io.EOFException", "java.net.SocketException"])
    )
    assert read(f"{log}\n2026-01-01 10:00:03 INFO bye") == [("java.net.SocketException", "x")]


def test_what_stands_far_from_both_ends_is_not_why_it_failed() -> None:
    around = "\n".join(["word"] * 20)
    assert read(f"{around}\n{REFUSED}\n{around}") == []
    assert read(f"{around}\n{REFUSED}") == [("java.net.ConnectException", "Connection refused")]
    assert read(f"{REFUSED}\n{around}") != []


def test_what_the_innermost_exception_of_a_trace_prints_hangs_below_it() -> None:
    trace = f"org.apache.spark.SparkException: Lost task 0.0 (executor 7): {REFUSED}\n\tat a.B.c(B.java:1)\n"
    assert [(node.type_path, node.parent) for node in parse_java_trace(trace)] == [
        ("org.apache.spark.SparkException", None),
        ("java.net.ConnectException", 0),
    ]


def test_a_printed_python_exception_is_read_to_the_java_exception_in_its_message() -> None:
    text = f"Traceback (most recent call last):\n  ...\njaydebeapi.DatabaseError: java.sql.SQLException: {REFUSED}"
    assert [(node.type_path, node.edge.value, node.parent) for node in parse_tracebacks(text)] == [
        ("jaydebeapi.DatabaseError", "root", None),
        ("java.sql.SQLException", "nested", 0),
        ("java.net.ConnectException", "cause", 1),
    ]
