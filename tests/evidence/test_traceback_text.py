"""Tracebacks as they are found in logs and messages; what Python prints itself is in the round trip."""

from __future__ import annotations

import io
import subprocess
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor

import pytest
from rich.console import Console
from rich.traceback import Traceback

from airflow_common_ai.evidence.logs.traceback_text import parse_tracebacks
from airflow_common_ai.evidence.model import Edge

Read = list[tuple[str, str, str, int | None]]


def read(text: str) -> Read:
    """Return what is read, as ``(type, message, edge, parent)``."""
    return [(node.type_path, node.message, node.edge.value, node.parent) for node in parse_tracebacks(text)]


def printed(code: str) -> str:
    """Return what a fresh interpreter prints when ``code`` fails."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise ValueError", ("builtins.ValueError", "")),
        ("raise KeyError('k')", ("builtins.KeyError", "'k'")),
        ("raise SystemError(1, 2)", ("builtins.SystemError", "(1, 2)")),
        ("raise ValueError('one\\n\\n  two: 2\\n')", ("builtins.ValueError", "one\n\n  two: 2")),
        ("1 +", ("builtins.SyntaxError", "invalid syntax")),
        (
            "import json; json.loads('{')",
            (
                "json.decoder.JSONDecodeError",
                "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            ),
        ),
        ("def f(): f()\nf()", ("builtins.RecursionError", "maximum recursion depth exceeded")),
        ("class Mine(Exception): ...\nraise Mine('m')", ("Mine", "m")),
        ("raise KeyboardInterrupt", ("builtins.KeyboardInterrupt", "")),
    ],
    ids=lambda value: None,
)
def test_what_the_interpreter_prints_is_read(code: str, expected: tuple[str, str]) -> None:
    assert read(printed(code)) == [(*expected, "root", None)]


def test_bases_are_known_for_built_in_classes_only() -> None:
    built_in, foreign = (
        parse_tracebacks("ConnectionRefusedError: [Errno 111] Connection refused"),
        parse_tracebacks("requests.exceptions.ConnectionError: Max retries exceeded"),
    )
    assert built_in[0].base_paths == (
        "builtins.ConnectionError",
        "builtins.OSError",
        "builtins.Exception",
        "builtins.BaseException",
    )
    assert foreign[0].base_paths == ()
    assert built_in[0].from_text
    assert foreign[0].from_text


def test_a_class_with_the_name_of_a_built_in_function_is_no_built_in() -> None:
    assert read("Traceback (most recent call last):\n  ...\nprint: x") == [("print", "x", "root", None)]


ONE = 'Traceback (most recent call last):\n  File "a.py", line 1, in one\n    one()\nValueError: one\n'
TWO = 'Traceback (most recent call last):\n  File "a.py", line 2, in two\n    two()\n    ^^^^^\npkg.TwoError: two\n'
BECAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
WHILE = "\nDuring handling of the above exception, another exception occurred:\n\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ONE + BECAUSE + TWO, [("pkg.TwoError", "two", "root", None), ("builtins.ValueError", "one", "cause", 0)]),
        (ONE + WHILE + TWO, [("pkg.TwoError", "two", "root", None), ("builtins.ValueError", "one", "context", 0)]),
        (ONE + "\nretrying\n\n" + TWO, [("pkg.TwoError", "two", "root", None)]),
        (ONE + TWO, [("pkg.TwoError", "two", "root", None)]),
        (ONE + "2026-01-01 10:00:00 INFO again" + WHILE + TWO, [("pkg.TwoError", "two", "root", None)]),
    ],
    ids=["cause", "context", "an earlier try", "two in a row", "a separator that speaks of nothing"],
)
def test_only_a_separator_ties_tracebacks_together(text: str, expected: Read) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ONE.split("\n", 1)[1] + BECAUSE + TWO, ["pkg.TwoError", "builtins.ValueError"]),
        (ONE.split("\n", 2)[2] + BECAUSE + TWO, ["pkg.TwoError", "builtins.ValueError"]),
        ("rror: lost\n" + BECAUSE + TWO, ["pkg.TwoError"]),
        (ONE.split("\n", 1)[1], ["builtins.ValueError"]),
        (ONE + BECAUSE + TWO[:60], ["builtins.ValueError"]),
        (ONE + "\n" + TWO[:60], ["builtins.ValueError"]),
        (TWO[:60] + BECAUSE + ONE, ["builtins.ValueError"]),
        (TWO[:60], []),
    ],
    ids=[
        "no header",
        "no header and no frame",
        "a line cut in half",
        "no header, alone",
        "outer one cut",
        "later one cut",
        "inner one cut",
        "only one and cut",
    ],
)
def test_what_was_cut_off_is_done_without(text: str, expected: list[str]) -> None:
    assert [path for path, *_ in read(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "requests.exceptions.ConnectionError: Max retries exceeded",
        "doing this\ndoing that\n\nrequests.exceptions.ConnectionError: Max retries exceeded\n",
        "[2026-01-01, 10:00:00 UTC] {job.py:7} ERROR - requests.exceptions.ConnectionError: Max retries exceeded",
        "2026-01-01 10:00:00,123 job ERROR: requests.exceptions.ConnectionError: Max retries exceeded",
    ],
)
def test_a_final_line_alone_counts(text: str) -> None:
    assert read(text) == [("requests.exceptions.ConnectionError", "Max retries exceeded", "root", None)]


@pytest.mark.parametrize(
    "line",
    [
        "google.api_core.exceptions.NotFound: 404 Not found: dataset x",
        "botocore.errorfactory.NoSuchKey: An error occurred (NoSuchKey)",
        "sqlalchemy.exc.IntegrityError: (psycopg2.errors.UniqueViolation) duplicate key",
        "MyOwnError: with words",
        "asyncio.exceptions.CancelledError",
        "TimeoutError",
    ],
)
def test_a_line_that_can_only_be_an_exception_is_one(line: str) -> None:
    path, _, message = line.partition(": ")
    [node] = parse_tracebacks(line)
    assert (node.type_path.removeprefix("builtins."), node.message) == (path, message)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n \n",
        "Note: the table is empty",
        "Error: command failed",
        "ERROR: relation does not exist",
        "DeprecationWarning: use the other one",
        "An error occurred (ThrottlingException) when calling the GetItem operation",
        "ThrottlingException",
        "example.Com: not found",
        "see http://example.com/Error: nothing",
        "C:\\Users\\Error: no",
        "The above exception was the direct cause of the following exception:",
        'File "report.csv", line 3 is empty',
        "Bash command failed. The command returned a non-zero exit code 1.",
    ],
)
def test_words_that_look_like_an_exception_are_none(text: str) -> None:
    assert read(text) == []


def test_a_group_without_a_traceback_is_read() -> None:
    group = ExceptionGroup("two", [ValueError("a"), OSError("b")])
    error = RuntimeError("outer")
    error.__cause__ = group
    text = "".join(traceback.format_exception(error)).replace(
        "RuntimeError", f"{ONE.rpartition('Value')[0]}RuntimeError"
    )
    assert read(text) == [
        ("builtins.RuntimeError", "outer", "root", None),
        ("builtins.ExceptionGroup", "two (2 sub-exceptions)", "cause", 0),
        ("builtins.ValueError", "a", "member", 1),
        ("builtins.OSError", "b", "member", 1),
    ]


def test_a_message_of_many_lines_after_a_group_is_read_whole() -> None:
    innermost, between, outer = ExceptionGroup("g", [OSError("b")]), ValueError("one\ntwo\nthree"), RuntimeError("r")
    between.__cause__, outer.__cause__ = innermost, between
    assert [node.message for node in parse_tracebacks("".join(traceback.format_exception(outer)) + BECAUSE + ONE)] == [
        "one",
        "r",
        "one\ntwo\nthree",
        "g (1 sub-exception)",
        "b",
    ]


def test_members_that_were_not_printed_are_left_out() -> None:
    group = ExceptionGroup("many", [ValueError(str(number)) for number in range(20)])
    nodes = parse_tracebacks(printed(f"raise {group!r}"))
    assert [node.message for node in nodes] == ["many (20 sub-exceptions)", *map(str, range(15))]


def test_a_group_whose_start_is_cut_off_leaves_its_last_member() -> None:
    text = printed("raise ExceptionGroup('g', [ValueError('a'), OSError('b')])").split("ValueError: a")[1]
    assert read(text) == []
    text = printed("try: raise ExceptionGroup('g', [ValueError('a'), OSError('b')])\nfinally: 1/0")
    assert [node.edge for node in parse_tracebacks(text)] == [Edge.ROOT, Edge.CONTEXT, Edge.MEMBER, Edge.MEMBER]


def test_rich_tracebacks_are_read() -> None:
    output = io.StringIO()
    try:
        try:
            raise ConnectionError("refused")
        except ConnectionError as error:
            raise ValueError("no answer") from error
    except ValueError as error:
        rendered = Traceback.from_exception(type(error), error, error.__traceback__)
    Console(file=output, force_terminal=True, width=100).print(rendered)
    expected = [
        ("builtins.ValueError", "no answer", "root", None),
        ("builtins.ConnectionError", "refused", "cause", 0),
    ]
    assert read(output.getvalue()) == expected
    assert read("".join(f"2026-01-01T10:00:00Z {line}\n" for line in output.getvalue().splitlines())) == expected


def test_notebook_tracebacks_are_read() -> None:
    text = (
        "---------------------------------------------------------------------------\n"
        "ZeroDivisionError                         Traceback (most recent call last)\n"
        "Cell In[1], line 1\n----> 1 1/0\n\n"
        "ZeroDivisionError: division by zero\n"
    )
    assert read(text) == [("builtins.ZeroDivisionError", "division by zero", "root", None)]


def test_frames_that_lost_their_indentation_are_not_taken_for_exceptions() -> None:
    text = (
        'Traceback (most recent call last):\nFile "a.py", line 1, in f\nraise\nFile "a.py", line 2, in g\nKeyError: 1'
    )
    assert read(text) == [("builtins.KeyError", "1", "root", None)]


def _fail_in_a_worker() -> None:
    try:
        {}["region"]
    except KeyError as error:
        raise RuntimeError("worker failed") from error


def test_a_traceback_that_a_worker_process_sent_is_read() -> None:
    with ProcessPoolExecutor(1) as pool, pytest.raises(RuntimeError) as caught:
        pool.submit(_fail_in_a_worker).result()
    assert read(str(caught.value.__cause__)) == [
        ("builtins.RuntimeError", "worker failed", "root", None),
        ("builtins.KeyError", "'region'", "cause", 0),
    ]


def test_timestamps_in_nanoseconds_may_differ_in_length() -> None:
    stamps = ["2026-01-01T10:00:00.123456789Z", "2026-01-01T10:00:00.12Z", "2026-01-01T10:00:01Z"]
    text = "".join(f"{stamps[n % 3]} {line}\n" for n, line in enumerate((ONE + BECAUSE + TWO).splitlines()))
    assert read(text) == read(ONE + BECAUSE + TWO)


def test_the_log_that_goes_on_is_not_part_of_the_message() -> None:
    text = "".join(f"[2026-01-01 10:00:00] {{bash.py:1}} INFO - {line}\n" for line in ONE.splitlines())
    assert read(text + "[2026-01-01 10:00:00] {bash.py:9} INFO - Command exited with return code 1\n") == read(ONE)


def test_a_log_that_was_cut_at_its_start_is_read_with_its_prefix() -> None:
    text = "".join(f"[2026-01-01 10:00:00] {{bash.py:1}} INFO - {line}\n" for line in ONE.splitlines()[1:])
    assert read(text) == read(ONE)


def test_long_chains_keep_both_ends() -> None:
    text = BECAUSE.join(f"Traceback (most recent call last):\n  ...\nValueError: {number}\n" for number in range(100))
    messages = [node.message for node in parse_tracebacks(text)]
    assert messages == [str(number) for number in (*range(99, 91, -1), *range(7, -1, -1))]
