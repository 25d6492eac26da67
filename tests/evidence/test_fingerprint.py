"""The same failure has the same fingerprint whatever it meets this time; another failure has another one."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from real_failures import Failure, of_databases, of_http_clients, of_libraries, of_python, of_services, two_tries

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.fingerprint import fingerprint, normalise
from airflow_common_ai.evidence.model import Edge, Evidence, ExceptionNode, Fact, RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.evidence.traceback_text import parse_tracebacks

NOW = datetime(2026, 1, 5, 6, 7, 8, tzinfo=UTC)

FAILURES: list[Failure] = [
    *of_python.FAILURES,
    *of_http_clients.FAILURES,
    *of_services.FAILURES,
    *of_databases.FAILURES,
    *of_libraries.FAILURES,
]
BY_LIBRARY: dict[str, list[Failure]] = {}
for _failure in FAILURES:
    BY_LIBRARY.setdefault(_failure.library, []).append(_failure)

LIBRARIES_THAT_PRINT_IT_ALL = (
    "builtins", "os", "json", "zipfile", "tarfile", "gzip", "xml", "sqlite3", "urllib", "smtplib", "ftplib",
    "kubernetes", "tenacity", "grpc", "redis", "psycopg", "psycopg2", "pymysql", "pymongo",
    "pydantic", "jinja2", "yaml", "jsonschema", "jwt", "pendulum", "croniter",
)  # fmt: skip
"""Others keep to themselves what a traceback does not show: a status, a body, an original behind ``from None``."""

Raised = Callable[[Failure], tuple[BaseException, BaseException]]


@pytest.fixture(scope="module")
def raised(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raised]:
    """Raise a failure in both tries, once for all tests."""
    errors: dict[Failure, tuple[BaseException, BaseException]] = {}

    with two_tries(tmp_path_factory.mktemp("tries")) as (first, second):

        def raised(failure: Failure) -> tuple[BaseException, BaseException]:
            if failure not in errors:
                errors[failure] = (failure.raised_in(first), failure.raised_in(second))
            return errors[failure]

        yield raised


def evidence_of(error: BaseException) -> RedactedEvidence:
    return Redactor().redact(collect(error))


def what_is_said(error: BaseException) -> list[tuple[str, Mapping[str, Fact]]]:
    return [(node.message, node.facts) for node in evidence_of(error).nodes]


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_the_same_failure_in_two_tries_is_equal(failure: Failure, raised: Raised) -> None:
    first, second = raised(failure)

    assert fingerprint(evidence_of(first)) == fingerprint(evidence_of(second)), (
        f"{what_is_said(first)}\n{what_is_said(second)}"
    )


@pytest.mark.parametrize("library", BY_LIBRARY)
def test_no_two_failures_of_one_library_are_equal(library: str, raised: Raised) -> None:
    by_fingerprint: dict[str, list[str]] = {}
    for failure in BY_LIBRARY[library]:
        by_fingerprint.setdefault(fingerprint(evidence_of(raised(failure)[0])), []).append(failure.name)

    assert [names for names in by_fingerprint.values() if len(names) > 1] == []


def test_no_two_failures_at_all_are_equal(raised: Raised) -> None:
    assert len({fingerprint(evidence_of(raised(failure)[0])) for failure in FAILURES}) == len(FAILURES)


def test_the_pairs_are_many_and_the_equal_ones_really_differ(raised: Raised) -> None:
    differing = [
        failure for failure in FAILURES if what_is_said(raised(failure)[0]) != what_is_said(raised(failure)[1])
    ]
    unequal_pairs = [pair for failures in BY_LIBRARY.values() for pair in itertools.combinations(failures, 2)]

    assert len(differing) >= 100
    assert len({failure.library for failure in differing}) >= 15
    assert len(unequal_pairs) >= 100
    assert sum(len(failures) > 1 for failures in BY_LIBRARY.values()) >= 15


def evidence(*nodes: ExceptionNode) -> RedactedEvidence:
    return Redactor().redact(Evidence(nodes, NOW))


def chain(*nodes: ExceptionNode, edge: Edge = Edge.CAUSE) -> RedactedEvidence:
    return evidence(
        *(
            replace(node, edge=edge if index else Edge.ROOT, parent=index - 1 if index else None)
            for index, node in enumerate(nodes)
        )
    )


def error(message: str = "failed", type_path: str = "builtins.RuntimeError", **facts: Fact) -> ExceptionNode:
    return ExceptionNode(
        type_path, message=message, facts={name.replace("__", "."): fact for name, fact in facts.items()}
    )


# ---- what is printed


@pytest.mark.parametrize(
    "failure", [failure for library in LIBRARIES_THAT_PRINT_IT_ALL for failure in BY_LIBRARY[library]], ids=str
)
def test_an_exception_that_prints_all_of_itself_equals_its_traceback(failure: Failure, raised: Raised) -> None:
    live = raised(failure)[0]
    text = "".join(traceback.format_exception(live))
    printed = evidence(*parse_tracebacks(text))

    assert all(node.from_text for node in printed.nodes)
    assert fingerprint(printed) == fingerprint(evidence_of(live))


# ---- messages

SAME = {
    "numbers": ("read 12 of 300 rows", "read 1,204 of 88 rows", "read <*> of <*> rows"),
    "fractions": ("score 0.5 is below 1e-05", "score 12.75 is below 3E+2", "score <*> is below <*>"),
    "sizes": ("got 12 bytes, need 4.5MB", "got 1 byte, need 1 GiB", "got <*>B, need <*>B"),
    "durations": ("gave up after 1m30s", "gave up after 45 seconds", "gave up after <*>s"),
    "moments": ("stale since 2026-01-05T06:07:08.123Z", "stale since 2025-12-31 23:59:59+01:00", "stale since <*>"),
    "dates in words": (
        "at Mon, 05 Jan 2026 06:07:08 GMT: closed",
        "at Sun, 1 Nov 2026 10:00:00 GMT: closed",
        "at <*>: closed",
    ),
    "times of day": ("closed at 10:15", "closed at 9:15:07 PM", "closed at <*>"),
    "UUIDs": (
        "job 7f3a9c1b-52d4-4e8f-9a01-0c5de8b7f311 died",
        "job 0be41d77-c3a9-4b16-8d5e-91f2a6c0d4e8 died",
        "job <*> died",
    ),
    "hashes": ("blob 9f86d081884c7d65 is gone", "blob 60303ae22b998861bce3 is gone", "blob <*> is gone"),
    "an id of digits only": ("job 7f3a9c1b died", "job 73291846 died", "job <*> died"),
    "request ids": (
        "(request req_011CSHoEeqs5C35K2UUqR7Fy)",
        "(request req_9Zk2LmQpX7vB4nTcR8sWfYdE)",
        "(request <*>)",
    ),
    "base64": ("host id 9Y+abcDEF012345678/xyz=", "host id Qr7TTuvWXyz+98765abcd/4=", "host id <*>="),
    "memory addresses": ("<Conn object at 0x7f3a2b1c0d10>", "<Conn object at 0x55d0a8>", "<Conn object at <*>>"),
    "IPv4 or IPv6": (
        "dial tcp 10.0.0.7:5432: refused",
        "dial tcp [2001:db8::7]:5432: refused",
        "dial tcp <*>: refused",
    ),
    "host names": ("cannot reach db-1.example.com:443", "cannot reach localhost:8080", "cannot reach <*>"),
    "host or address": ("cannot reach 192.168.0.1", "cannot reach api.eu.example.org", "cannot reach <*>"),
    "names of nodes": (
        "node ip-10-0-12-3.ec2.internal left",
        "node ip-172-31-4-200.ec2.internal left",
        "node <*> left",
    ),
    "URLs": ("GET https://a.example/v1?id=7 failed", "GET http://127.0.0.1:81/x/y failed", "GET <*> failed"),
    "keys in buckets": ("no object s3://raw/a/b.csv", "no object gs://landing/2026/01/c.json.gz", "no object <*>"),
    "ARNs": (
        "User: arn:aws:sts::123456789012:assumed-role/a/b may not",
        "User: arn:aws:iam::999999999999:user/ci may not",
        "User: <*> may not",
    ),
    "paths": ("cannot open /data/in/1.csv", "cannot open /tmp/x", "cannot open <*>"),
    "quoted paths with blanks": ("cannot open '/data/my file.csv'", 'cannot open "/x"', "cannot open <*>"),
    "paths of Windows": (r"cannot open C:\Data\1.csv", r"cannot open D:\x", "cannot open <*>"),
    "relative paths": ("cannot open data/in/1.csv", "cannot open part-00012.parquet", "cannot open <*>"),
    "lines of a source": (
        'File "/a/b.py", line 12, in run',
        'File "/c.py", line 7, in run',
        "File <*>, line <*>, in run",
    ),
    "quoted values": ("user 'anna' is unknown", 'user "bert" is unknown', "user <*> is unknown"),
    "values of settings": ("cannot use mode='a b c'", "cannot use mode='d'", "cannot use mode=<*>"),
    "lists": ("columns ['a', 'b'] are missing", "columns ['c'] are missing", "columns [<*>] are missing"),
    "mail addresses": ("cannot write to <anna@example.com>", "cannot write to <***>", "cannot write to <<*>>"),
    "masked secrets": ("token *** is expired", "token abcd1234 is expired", "token <*> is expired"),
    "masked URLs": ("to postgresql://u:***@h/d failed", "to postgresql://h:1/d failed", "to <*> failed"),
    "pods of a deployment": ("pod etl-7d9f8b6c5-x7k2p died", "pod etl-6bd4c9fdf7-bcdfg died", "pod etl-<*> died"),
    "pods of an operator": ("pod etl-a1b2c3d4 died", "pod etl-0k9j8h7g died", "pod etl-<*> died"),
    "numbered workers": ("worker12 left", "worker3 left", "worker<*> left"),
    "runs": (
        "in run scheduled__2026-01-05T00:00:00+00:00",
        "in run manual__2026-01-05T06:07:08.123456+00:00_Ab3dE6gH",
        "in run <*>",
    ),
    "lines that repeat": ("try 1 failed\ntry 2 failed\ntry 3 failed", "try 1 failed", "try <*> failed"),
    "blanks": ("one\n\t two", "one two", "one two"),
    "bound values": (
        "[SQL: DELETE FROM t WHERE a = ?]\n[parameters: (1, 'x y')]\n(see below)",
        "[SQL: DELETE FROM t WHERE a = ?]\n[parameters: (2, 'z')]\n(see below)",
        "[SQL: DELETE FROM t WHERE a = ?] <*> (see below)",
    ),
    "JSON": (
        '{"error": {"code": "quota", "id": "a7"}, "at": 12}',
        '{"error": {"code": "quota", "id": "b99"}, "at": 3}',
        '{"error": {"code": "quota", "id": <*>}, "at": <*>}',
    ),
}


@pytest.mark.parametrize(("first", "second", "normalised"), SAME.values(), ids=SAME)
def test_a_message_is_the_same_whatever_it_names(first: str, second: str, normalised: str) -> None:
    assert normalise(first) == normalised
    assert normalise(second) == normalised


CODES = [
    ("[Errno 111] refused", "[Errno 113] refused"),
    ("[Errno -2] not known", "[Errno -3] not known"),
    ("[WinError 10054] closed", "[WinError 10061] closed"),
    ("ConnectionResetError(104, 'closed')", "ConnectionResetError(103, 'closed')"),
    ("404 Client Error: x for url: http://h/1", "410 Client Error: x for url: http://h/2"),
    ("HTTP Error 502: Bad Gateway", "HTTP Error 504: Bad Gateway"),
    ("HTTP 429 from 10.0.0.1", "HTTP 503 from 10.0.0.1"),
    ("answered HTTP/1.1 502 after 3 s", "answered HTTP/1.1 503 after 3 s"),
    ("status code 503", "status code 500"),
    ("status=401 for 'x'", "status=403 for 'x'"),
    ('{"status": 409, "id": 1}', '{"status": 412, "id": 1}'),
    ("<Response [404]>", "<Response [403]>"),
    ("404:Not Found", "403:Not Found"),
    ("(403)\nReason: x", "(409)\nReason: x"),
    ("too many 429 error responses", "too many 503 error responses"),
    ("the API returned 404", "the API returned 500"),
    ("grpc_status:14, at 12", "grpc_status:8, at 12"),
    ("exit code 137", "exit code 143"),
    ("exit status 1", "exit status 2"),
    ("The command returned a non-zero exit code 2.", "The command returned a non-zero exit code 99."),
    ("exited with 3", "exited with 4"),
    ("died with <Signals.SIGKILL: 9>.", "died with <Signals.SIGTERM: 15>."),
    ('(1045, "no")', '(1049, "no")'),
    ("(20009, b'no')", "(20002, b'no')"),
    ("1045 (28000): no", "1049 (42000): no"),
    ("250001 (08001): no", "250003 (08001): no"),
    ("SQLSTATE 40P01", "SQLSTATE 40001"),
    ("SQLSTATE[HY000] no", "SQLSTATE[28000] no"),
    ("('HYT00', '[HYT00] [Microsoft][ODBC] no')", "('08001', '[08001] [Microsoft][ODBC] no')"),
    ("ORA-00060: no", "ORA-01017: no"),
    ("DPY-4011: no", "DPY-6005: no"),
    ("AADSTS7000215: no", "AADSTS7000222: no"),
    ("SQL0911N no", "SQL0204N no"),
    ("Error code: 400 - no", "Error code: 429 - no"),
    ("Error 111 connecting to h:1", "Error 113 connecting to h:1"),
    ("failed with code 0x80070005", "failed with code 0x80004005"),
    ("An error occurred (Throttling) when", "An error occurred (AccessDenied) when"),
    ("EC2ThrottledException: no", "EC2QuotaException: no"),
    ('{"reason":"NotFound"}', '{"reason":"Conflict"}'),
    ('{"error": "invalid_grant"}', '{"error": "invalid_scope"}'),
    ("ApiError(429, 'queue_exception')", "ApiError(429, 'memory_exception')"),
    ("invalid status 'Forbidden'", "invalid status 'Unauthorized'"),
    ("401, message='Unauthorized'", "401, message='Expired'"),
    ("failed with 'RESOURCE_EXHAUSTED'", "failed with 'DEADLINE_EXCEEDED'"),
    ("failed with 'AccessDenied'", "failed with 'NoSuchKey'"),
    ("job ended in state 'FAILED'", "job ended in state 'KILLED'"),
    ("failed rc=3", "failed rc=4"),
    ("(sqlite3.OperationalError) no", "(psycopg2.OperationalError) no"),
    ("limit of 10 MB", "limit of 10 s"),
    ("the disk is full", "the disk is gone"),
    ("Die Datei fehlt", "Die Datei ist leer"),
    ("接続が拒否されました。", "接続が切断されました。"),
]


@pytest.mark.parametrize(("first", "second"), CODES)
def test_a_message_differs_with_its_words_and_codes(first: str, second: str) -> None:
    assert normalise(first) != normalise(second)


def test_only_head_and_tail_of_a_huge_message_are_read() -> None:
    head, tail = "The job failed because of 'x': " + "some words " * 400, " and more" * 100 + " the last word is: quota"

    message = normalise(head + "a1 ( " * 200_000 + tail)

    assert message == normalise(head + "é = '" * 150_000 + tail)
    assert message.startswith("The job failed because of <*>")
    assert message.endswith("the last word is: quota")
    assert len(message) < 10_000


@pytest.mark.parametrize("words", ["is bad;", "was not found in the list of those that had been read before;"])
def test_ids_of_another_length_do_not_move_where_reading_stops(words: str) -> None:
    def dump(id_: str) -> str:
        return " ".join(f"{name} {id_} {words}" for name in ("row", "cell") * 200) + " end"

    assert normalise(dump("7")) == normalise(dump("1234567890"))
    assert normalise(dump("7")).endswith(" end")


# ---- exceptions


def test_is_16_hexadecimal_digits_and_stays_what_it_is_between_versions() -> None:
    # Fingerprints are kept between the tries of a task. A change here makes those forget what they saw.
    assert (
        fingerprint(chain(error("read 5 rows"), error("[Errno 111] refused", "builtins.OSError"))) == "6b38c78be40f1742"
    )


def test_types_messages_and_order_of_a_chain_count() -> None:
    a, b = error("a"), error("b")
    fingerprints = {
        fingerprint(chained)
        for chained in (
            chain(a),
            chain(b),
            chain(a, b),
            chain(b, a),
            chain(error("a", "builtins.ValueError"), b),
            chain(a, error("b", "lib.Error")),
            chain(a, error("b", "lib2.Error")),
        )
    }

    assert len(fingerprints) == 7


def test_what_a_module_is_called_in_this_process_does_not_count() -> None:
    paths = [f"unusual_prefix_{digest}_my_dag.ExportError" for digest in ("0f3a" * 10, "9b1c" * 10)]

    assert fingerprint(chain(error("a", paths[0]))) == fingerprint(chain(error("a", paths[1])))
    assert fingerprint(chain(error("a", "__main__.E"))) == fingerprint(chain(error("a", "__mp_main__.E")))


def test_how_often_a_retry_loop_wrapped_a_failure_does_not_count() -> None:
    lost, refused = error("gave up after try 1"), error("[Errno 111] refused", "builtins.OSError")
    again = error("gave up after try 2")

    assert fingerprint(chain(lost, refused)) == fingerprint(chain(again, refused, lost, refused, edge=Edge.CONTEXT))


def test_an_implicit_context_counts_unless_a_cause_stands_beside_it() -> None:
    def beside(cause: bool, context: str) -> str:
        nodes = [error("root"), replace(error(context), edge=Edge.CONTEXT, parent=0)]
        if cause:
            nodes.append(replace(error("cause"), edge=Edge.CAUSE, parent=0))
        return fingerprint(evidence(*nodes))

    assert beside(False, "quota") != beside(False, "disk")
    assert beside(True, "quota") == beside(True, "disk")


def _group(*errors: Exception) -> BaseException:
    try:
        raise ExceptionGroup("tasks failed", errors)
    except ExceptionGroup as group:
        return group


def test_order_and_number_of_equal_members_of_a_group_do_not_count() -> None:
    a = _group(ValueError("row 1"), OSError(111, "refused"))
    b = _group(OSError(111, "refused"), ValueError("row 2"), ValueError("row 35"), OSError(111, "refused"))
    c = _group(OSError(113, "refused"), ValueError("row 2"))

    assert fingerprint(evidence_of(a)) == fingerprint(evidence_of(b))
    assert fingerprint(evidence_of(a)) != fingerprint(evidence_of(c))


def test_members_of_a_group_are_not_mixed_up() -> None:
    def group(*pairs: tuple[str, str]) -> str:
        nodes = [error("group")]
        for message, cause in pairs:
            nodes.append(replace(error(message), edge=Edge.MEMBER, parent=0))
            nodes.append(replace(error(cause), edge=Edge.CAUSE, parent=len(nodes) - 1))
        return fingerprint(evidence(*nodes))

    assert group(("a", "x"), ("b", "y")) != group(("a", "y"), ("b", "x"))


# ---- facts

IDENTIFYING: list[tuple[str, Fact, Fact]] = [
    ("http.status", 403, 404),
    ("http.body.code", "insufficient_quota", "rate_limit_exceeded"),
    ("http.body.message", "column 'a' is missing", "the table is locked"),
    ("http.header.x-ms-error-code", "ServerBusy", "BlobNotFound"),
    ("os.errno", 111, 113),
    ("dns.code", -2, -3),
    ("tls.verify_code", 10, 18),
    ("tls.reason", "WRONG_VERSION_NUMBER", "UNSUPPORTED_PROTOCOL"),
    ("process.exit_code", 1, 2),
    ("process.signal", 9, 15),
    ("process.program", "curl", "psql"),
    ("process.stderr", "no space left", "permission denied"),
    ("postgres.sqlstate", "40P01", "40001"),
    ("kubernetes.reason", "Evicted", "OOMKilled"),
    ("airflow.error_type", "CONNECTION_NOT_FOUND", "VARIABLE_NOT_FOUND"),
]


@pytest.mark.parametrize(("name", "one", "other"), IDENTIFYING)
def test_facts_that_say_what_failed_count(name: str, one: Fact, other: Fact) -> None:
    nodes = [ExceptionNode("lib.Error", message="failed", facts={name: fact}) for fact in (one, other)]

    assert fingerprint(evidence(nodes[0])) != fingerprint(evidence(nodes[1]))


MEASURED: list[tuple[str, Fact, Fact]] = [
    ("http.header.retry-after", 5.0, 120.0),
    ("http.header.date", "Mon, 05 Jan 2026 06:07:08 GMT", "Tue, 06 Jan 2026 06:07:08 GMT"),
    ("http.header.x-ratelimit-remaining", 0.0, 3.0),
    ("http.header.content-type", "text/html", "text/html; charset=utf-8"),
    ("http.body.retry_after_s", 5.5, 7.0),
    ("http.body", "<p>request 12</p>", "<p>see you</p>"),
    ("process.time_limit_s", 5, 60),
    ("json.pos", 12, 1),
    ("http.body.message", "request 7f3a9c1b of 'anna' failed", "request 0be41d77 of 'bert' failed"),
]


@pytest.mark.parametrize(("name", "one", "other"), MEASURED)
def test_facts_that_are_measured_do_not_count(name: str, one: Fact, other: Fact) -> None:
    nodes = [ExceptionNode("lib.Error", message="failed", facts={name: fact}) for fact in (one, other)]

    assert fingerprint(evidence(nodes[0])) == fingerprint(evidence(nodes[1]))


def test_a_fact_that_the_message_states_adds_nothing() -> None:
    bare = ExceptionNode("lib.Error", message="404 Client Error: no such table for url: http://h/1")

    told = replace(bare, facts={"http.status": 404, "http.body.message": "no such table"})
    assert fingerprint(evidence(bare)) == fingerprint(evidence(told))
    assert fingerprint(evidence(bare)) != fingerprint(evidence(replace(bare, facts={"http.status": 4})))


def test_a_failure_that_the_redactor_withheld_equals_no_other() -> None:
    def withheld(message: str, second: int) -> str:
        def broken(text: str) -> str:
            raise ValueError(text)

        failure = Evidence((error(message),), NOW.replace(second=second))
        return fingerprint(Redactor(extra=broken).redact(failure))

    assert withheld("a", 1) != withheld("b", 2)


def test_notes_count_as_further_lines_of_the_message() -> None:
    noted = ExceptionNode("lib.Error", message="failed", notes=("while reading 'a'",))

    assert fingerprint(evidence(noted)) == fingerprint(evidence(replace(noted, notes=("while reading 'b'",))))
    assert fingerprint(evidence(noted)) == fingerprint(chain(error("failed\nwhile reading 'c'", "lib.Error")))
    assert fingerprint(evidence(noted)) != fingerprint(evidence(replace(noted, notes=())))
