from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import botocore.exceptions
import grpc
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from recorded import seen

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import Edge, Evidence, ExceptionNode, RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.class_of import class_of
from airflow_common_ai.recordings.rebuild import rebuild

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def evidence_of(*nodes: ExceptionNode) -> RedactedEvidence:
    return Redactor().redact(Evidence(nodes, NOW))


def raised(function: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - each is another one
        function()
    return caught.value


def raise_from(cause: Exception) -> None:
    raise RuntimeError("load failed") from cause


def raise_while_handling(error: Exception) -> None:
    try:
        raise error
    except Exception:
        raise RuntimeError("load failed")  # noqa: B904 - the context is what is tested


def noted() -> None:
    error = ValueError("bad row")
    error.add_note("row 17 of orders.csv")
    raise error


def http_error() -> None:
    response = requests.Response()
    response.status_code, response._content = 429, b'{"error": "slow down"}'
    response.headers["Retry-After"] = "30"
    response.url = "http://127.0.0.1/"
    response.raise_for_status()


def botocore_error() -> None:
    answer = {
        "Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"},
        "ResponseMetadata": {"HTTPStatusCode": 400, "HTTPHeaders": {}},
    }
    raise botocore.exceptions.ClientError(answer, "PutItem")  # type: ignore[arg-type]


RAISING: list[Callable[[], object]] = [
    lambda: int("n/a"),
    lambda: {}["customer_id"],
    lambda: b"\xff".decode(),
    lambda: Path("/nowhere/orders.csv").read_text(),
    lambda: json.loads('{"id": tru'),
    lambda: subprocess.run(["sh", "-c", "echo no >&2; exit 3"], check=True, capture_output=True),
    lambda: subprocess.run(["sh", "-c", "kill -9 $$"], check=True),
    lambda: subprocess.run(["sleep", "9"], check=True, timeout=0.01),
    lambda: sqlite3.connect(":memory:").execute("SELECT * FROM nowhere"),
    lambda: socket.getaddrinfo("127.0.0.1", "no-such-service"),
    lambda: sys.exit("no input"),
    lambda: sys.exit(3),
    lambda: raise_from(ConnectionRefusedError(111, "Connection refused")),
    lambda: raise_while_handling(TimeoutError("timed out")),
    noted,
    http_error,
    botocore_error,
]


@pytest.mark.parametrize("function", RAISING)
def test_a_rebuilt_exception_says_what_the_raised_one_said(function: Callable[[], object]) -> None:
    before = seen(raised(function))

    after = seen(rebuild(before))

    assert [(node.type_path, node.message, node.edge, node.notes) for node in after.nodes] == [
        (node.type_path, node.message, node.edge, node.notes) for node in before.nodes
    ]
    assert [dict(node.facts) for node in after.nodes] == [dict(node.facts) for node in before.nodes]


def test_a_group_holds_its_members_again() -> None:
    group = ExceptionGroup("two failed", [ConnectionResetError(104, "reset"), ValueError("bad")])

    rebuilt = rebuild(seen(group))

    assert isinstance(rebuilt, ExceptionGroup)
    assert [type(member) for member in rebuilt.exceptions] == [ConnectionResetError, ValueError]


def test_a_requests_error_is_one_with_its_status_and_headers() -> None:
    rebuilt = rebuild(seen(raised(http_error)))

    assert type(rebuilt) is requests.HTTPError
    assert rebuilt.response.status_code == 429
    assert rebuilt.response.headers["retry-after"] == "30"


def test_a_botocore_error_has_the_code_where_everybody_looks_for_it() -> None:
    rebuilt = rebuild(seen(raised(botocore_error)))

    assert isinstance(rebuilt, botocore.exceptions.ClientError)
    assert rebuilt.response["Error"]["Code"] == "ThrottlingException"


def test_a_grpc_error_has_its_code_and_the_delay_that_was_asked_for() -> None:
    node = ExceptionNode(
        "grpc._channel._InactiveRpcError",
        ("grpc.RpcError", "builtins.Exception", "builtins.BaseException"),
        "quota used up",
        facts={"grpc.code": "RESOURCE_EXHAUSTED", "grpc.reason": "RATE_LIMIT_EXCEEDED", "grpc.retry_delay_s": 34.5},
    )

    rebuilt: Any = rebuild(evidence_of(node))

    assert isinstance(rebuilt, grpc.RpcError)
    assert rebuilt.code().name == "RESOURCE_EXHAUSTED"
    assert dict(seen(rebuilt).nodes[0].facts) == {**node.facts, "grpc.details": ""} or {**node.facts} == dict(
        seen(rebuilt).nodes[0].facts
    )


def test_no_init_of_a_class_is_called() -> None:
    class Demanding(Exception):
        def __init__(self, one: int, two: int) -> None:
            raise AssertionError("never")

    module = sys.modules[__name__]
    Demanding.__qualname__ = "Demanding"
    module.Demanding = Demanding  # type: ignore[attr-defined]

    rebuilt = rebuild(evidence_of(ExceptionNode(f"{__name__}.Demanding", message="x")))

    assert type(rebuilt) is Demanding
    assert str(rebuilt) == "x"


def test_a_class_of_a_module_that_is_not_loaded_and_not_on_the_list_becomes_a_stand_in() -> None:
    path = "acme_pipeline.errors.QuotaError"
    rebuilt = rebuild(evidence_of(ExceptionNode(path, ("acme_pipeline.errors.Base", "builtins.OSError"), "no more")))

    cls = type(rebuilt)
    assert f"{cls.__module__}.{cls.__qualname__}" == path
    assert isinstance(rebuilt, OSError)
    assert [f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__[1:3]] == [
        "acme_pipeline.errors.Base",
        "builtins.OSError",
    ]


def test_two_recordings_of_one_unknown_class_are_of_one_class() -> None:
    first, second = (rebuild(evidence_of(ExceptionNode("acme.Error", message=text))) for text in ("a", "b"))

    assert type(first) is type(second)


@pytest.mark.parametrize("path", ["this.Zen", "antigravity.Flight", "tests_never_import.me.Error", "os.system", ""])
def test_a_name_in_a_recording_imports_and_runs_nothing(path: str) -> None:
    before = set(sys.modules)

    cls = class_of(path)

    assert issubclass(cls, Exception)
    assert set(sys.modules) == before


def test_a_package_that_the_user_allows_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "allowed_by_user.py").write_text("class QuotaError(ValueError): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    evidence = evidence_of(ExceptionNode("allowed_by_user.QuotaError", message="x"))

    assert not isinstance(rebuild(evidence), ValueError)
    assert isinstance(rebuild(evidence, allow_import=["allowed_by_user"]), ValueError)


def test_bases_that_do_not_go_together_still_make_an_exception() -> None:
    node = ExceptionNode("acme.Odd", ("builtins.OSError", "builtins.UnicodeDecodeError", "builtins.int"), "odd")

    assert str(rebuild(evidence_of(node))) == "odd"


NAMES = st.text(min_size=0, max_size=30) | st.sampled_from(
    ["builtins.ExceptionGroup", "builtins.SystemExit", "builtins.OSError", "builtins.KeyError", "requests.HTTPError"]
)
FACTS = st.dictionaries(
    st.sampled_from(["http.status", "os.errno", "json.pos", "json.doc_length", "grpc.code", "grpc.retry_delay_s",
                     "process.signal", "process.exit_code", "aws.code", "http.header.retry-after", "sql.errno"]),
    st.integers(-(2**63), 2**63) | st.text(max_size=20) | st.booleans() | st.floats(allow_nan=False),
)  # fmt: skip
NODES = st.builds(
    ExceptionNode,
    type_path=NAMES,
    base_paths=st.lists(NAMES, max_size=4).map(tuple),
    message=st.text(max_size=60),
    notes=st.lists(st.text(max_size=10), max_size=2).map(tuple),
    facts=FACTS,
)


@given(st.lists(NODES, min_size=1, max_size=5), st.lists(st.sampled_from(list(Edge)[1:]), min_size=5, max_size=5))
def test_whatever_a_corpus_holds_comes_out_as_an_exception_with_its_message(
    nodes: list[ExceptionNode], edges: list[Edge]
) -> None:
    hung = [
        ExceptionNode(
            node.type_path, node.base_paths, node.message, node.notes,
            Edge.ROOT if index == 0 else edges[index], None if index == 0 else index // 2, node.facts,
        )
        for index, node in enumerate(nodes)
    ]  # fmt: skip
    evidence = evidence_of(*hung)

    rebuilt = rebuild(evidence)

    assert isinstance(rebuilt, BaseException)
    assert str(rebuilt) == evidence.nodes[0].message
    collect(rebuilt)
