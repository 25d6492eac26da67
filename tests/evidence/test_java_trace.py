"""Java stack traces, alone, in a log and in the message of a Python exception."""

from __future__ import annotations

import pytest

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.logs.java_trace import parse_java_trace
from airflow_common_ai.evidence.logs.traceback_text import parse_tracebacks

Read = list[tuple[str, str, str, int | None]]


def read(text: str) -> Read:
    """Return what is read, as ``(type, message, edge, parent)``."""
    return [(node.type_path, node.message, node.edge.value, node.parent) for node in parse_java_trace(text)]


PLAIN = """\
Exception in thread "main" java.lang.IllegalStateException: cannot start
\tat com.acme.Job.run(Job.java:12)
\tat com.acme.Job$.main(Job.java:3)
Caused by: java.io.UncheckedIOException
\tat com.acme.Store.open(Store.java:7)
\t... 2 more
Caused by: java.net.ConnectException: Connection refused
while connecting to 10.0.0.1
\tat java.base/sun.nio.ch.Net.connect0(Native Method)
\t... 4 more
"""
CHAIN: Read = [
    ("java.lang.IllegalStateException", "cannot start", "root", None),
    ("java.io.UncheckedIOException", "", "cause", 0),
    ("java.net.ConnectException", "Connection refused\nwhile connecting to 10.0.0.1", "cause", 1),
]
SPARK = """\
An error occurred while calling o45.save.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 4 times
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2844)
Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2780)
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
\t... 1 more
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PLAIN, CHAIN),
        (PLAIN.replace("\n", "\r\n"), CHAIN),
        ("".join(f"2026-01-01 10:00:00 INFO {line}\n" for line in PLAIN.splitlines()), CHAIN),
        (repr(PLAIN), CHAIN),
        (PLAIN.replace("cannot start", "first try") + "2026-01-01 10:00:00 INFO again\n" + PLAIN, CHAIN),
        (
            SPARK,
            [
                (
                    "org.apache.spark.SparkException",
                    "Job aborted due to stage failure: Task 0 failed 4 times",
                    "root",
                    None,
                ),
                ("java.io.IOException", "No space left on device", "cause", 0),
            ],
        ),
        (
            "Request failed; nested exception is java.sql.SQLException: no route; nested exception is "
            "java.net.NoRouteToHostException: 10.0.0.1",
            [
                ("java.sql.SQLException", "no route", "root", None),
                ("java.net.NoRouteToHostException", "10.0.0.1", "cause", 0),
            ],
        ),
        (
            "java.lang.RuntimeException: close failed\n\tat a.B.c(B.java:1)\n"
            "\tSuppressed: java.io.IOException: flush\n\t\tat a.B.d(B.java:2)\n"
            "\tCaused by: java.io.EOFException\n\t\tat a.B.e(B.java:3)\n"
            "Caused by: java.lang.OutOfMemoryError: Java heap space\n\tat a.B.f(B.java:4)\n",
            [
                ("java.lang.RuntimeException", "close failed", "root", None),
                ("java.lang.OutOfMemoryError", "Java heap space", "cause", 0),
            ],
        ),
        ("Job 7 failed. Caused by: java.lang.OutOfMemoryError.", [("java.lang.OutOfMemoryError", "", "root", None)]),
        (
            PLAIN + "2026-01-01 10:00:00 ERROR something else went wrong\n\tat a.B.c(B.java:1)\n"
            "Caused by: a.b.OtherException: x\n",
            [("a.b.OtherException", "x", "root", None)],
        ),
    ],
    ids=[
        "a main thread",
        "Windows line ends",
        "a log",
        "escaped",
        "an earlier try",
        "a Spark job",
        "nested on one line",
        "suppressed ones",
        "in a sentence",
        "a head that cannot be read",
    ],
)
def test_the_last_trace_is_read_outermost_first(text: str, expected: Read) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "java.net.ConnectException: Connection refused",
        "Caused by: a lack of sleep",
        "(Caused by NewConnectionError('refused'))",
        "TypeError: x is not a function\n    at run (/app/index.js:1:2)",
        "we met    at noon. (Yes)",
    ],
)
def test_what_only_looks_like_a_trace_is_none(text: str) -> None:
    assert read(text) == []


def test_a_java_trace_in_a_message_hangs_below_the_python_exception() -> None:
    nodes = collect(RuntimeError(SPARK)).nodes
    assert [(node.type_path, node.edge.value, node.parent, node.from_text) for node in nodes] == [
        ("builtins.RuntimeError", "root", None, False),
        ("org.apache.spark.SparkException", "nested", 0, True),
        ("java.io.IOException", "cause", 1, True),
    ]


def test_a_java_trace_in_a_printed_message_hangs_below_the_printed_exception() -> None:
    text = f"Traceback (most recent call last):\n  ...\npy4j.protocol.Py4JJavaError: {SPARK}"
    assert [(node.type_path, node.edge.value, node.parent) for node in parse_tracebacks(text)] == [
        ("py4j.protocol.Py4JJavaError", "root", None),
        ("org.apache.spark.SparkException", "nested", 0),
        ("java.io.IOException", "cause", 1),
    ]


def test_a_text_with_nothing_but_a_java_trace_is_read_as_one() -> None:
    assert parse_tracebacks(PLAIN) == parse_java_trace(PLAIN)
