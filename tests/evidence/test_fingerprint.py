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
from airflow_common_ai.evidence.fingerprint import fingerprint
from airflow_common_ai.evidence.logs.traceback_text import parse_tracebacks
from airflow_common_ai.evidence.model import Edge, Evidence, ExceptionNode, Fact, RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor

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
