"""``airflow-common-ai doctor``, against servers on loopback that answer as models do, well or badly."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from loopback.llm_server import (
    ANTHROPIC,
    DECISION,
    OLLAMA,
    OPENAI,
    Json,
    LlmServer,
    Manner,
    Wire,
    hangs,
    is_no_json,
    refuses,
    serving_llm,
)
from typer.testing import CliRunner

from airflow_common_ai.cli import doctor
from airflow_common_ai.cli.app import app
from airflow_common_ai.cli.doctor import read_failures
from airflow_common_ai.recordings.label import CATEGORIES, Label, ShouldRetry

API_KEY = "k3y-0f-the-doctor-s-model"
FAILURES = read_failures()


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command sets it for its own process."""
    monkeypatch.setenv("_AIRFLOW_PROCESS_CONTEXT", "client")


@pytest.fixture
def examine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Define the connection and run the command about it."""

    def run(
        host: str | None, model: str | None, *options: str, exit_code: int, **extra: Any
    ) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        extra |= {"model": model} if model else {}
        conn_type = extra.pop("conn_type", "pydanticai")
        definition = {"conn_type": conn_type, "host": host, "password": API_KEY, "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_A_MODEL", json.dumps(definition))
        result = CliRunner().invoke(app, ["doctor", "--conn-id", "a_model", "--json", *options])
        assert result.exit_code == exit_code, result.output
        assert API_KEY not in result.output
        found = json.loads(result.stdout)
        for finding in found["findings"]:
            assert finding["fix"] or finding["state"] != "bad"
        return {finding["check"]: finding for finding in found["findings"]}, found

    return run


def right(label: Label) -> Json:
    return answer(label.category, is_retried=label.should_retry is ShouldRetry.YES)


def answer(category: str, *, is_retried: bool) -> Json:
    return {
        "reasoning": "it is so",
        "category": category,
        "confidence": 95,
        "should_retry": is_retried,
        "suggested_delay_seconds": 0,
    }


def knowing(wire: Wire) -> list[Manner]:
    """A model that is right about every failure, in the order in which it is asked."""
    return [wire.answers(right(label)) for _, label in FAILURES]


def lists(*models: str) -> Manner:
    """Answer as Ollama does when it is asked for its models."""

    def manner(connection: socket.socket, server: LlmServer, request: Json) -> None:
        body = json.dumps({"models": [{"model": model} for model in models]}).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)

    return manner


# ---- the failures that it asks about


def test_it_asks_about_twenty_failures_of_every_category_half_of_them_worth_a_retry() -> None:
    labels = [label for _, label in FAILURES]

    assert len({label.id for label in labels}) == len(FAILURES) == 20
    assert [recording.id for recording, _ in FAILURES] == [label.id for label in labels]
    assert {category for label in labels for category in (label.category, *label.also)} == set(CATEGORIES)
    assert [label.should_retry for label in labels].count(ShouldRetry.YES) == 10
    assert ShouldRetry.EITHER not in {label.should_retry for label in labels}


# ---- a model that is fit


@pytest.mark.parametrize(
    ("wire", "source"),
    [
        (OPENAI, "the probability of the tokens"),
        (ANTHROPIC, "what the model says of itself"),
        (DECISION, "a decision model reports it"),
    ],
    ids=lambda value: value.name if isinstance(value, Wire) else "",
)
def test_a_model_that_is_right_is_fit_and_it_says_where_the_confidence_comes_from(
    examine: Any, wire: Wire, source: str
) -> None:
    with serving_llm(*knowing(wire)) as server:
        findings, found = examine(server.url + wire.path, wire.model, exit_code=0)

    assert found["is_healthy"]
    assert "a-model-as-served answers" in findings["answer"]["found"]
    assert "70 tokens in, 7 out" in findings["answer"]["found"]
    assert source in findings["confidence"]["found"]
    assert (
        "for 20, and retry or fail would be right for 20; of 10 worth a retry it would fail 0"
        in (findings["failures"]["found"])
    )
    assert [one["id"] for one in found["failures"]] == [recording.id for recording, _ in FAILURES]
    assert {one["is_open"] for one in found["failures"]} == {True, False}
    assert len(server.requests) == 20


def test_ollama_is_asked_for_its_models(examine: Any) -> None:
    with serving_llm(lists("a-model:latest", "another:7b"), *knowing(OLLAMA)) as server:
        findings, _ = examine(server.url + OLLAMA.path, OLLAMA.model, exit_code=0)

    assert server.headers[0].startswith("GET /api/tags ")
    assert findings["model"] == {"check": "model", "state": "ok", "found": "a-model:latest is there", "fix": None}


def test_for_people_each_finding_is_a_line_with_its_fix_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_A_MODEL", '{"conn_type": "pydanticai", "host": "localhost"}')

    result = CliRunner().invoke(app, ["doctor", "--conn-id", "a_model", "--model-id", "ollama:llama3.2"])

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "ok    connection: type pydanticai, model ollama:llama3.2",
        "bad   server: the host is no URL: localhost",
        "      fix: Set the host to a URL, e.g. http://localhost:11434/v1",
        "a_model is not fit to judge failures.",
    ]


# ---- what has to be mended


def test_a_connection_that_is_not_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    result = CliRunner().invoke(app, ["doctor", "--conn-id", "nobody_defined_it"])

    assert result.exit_code == 1
    assert "bad   connection: there is no such connection" in result.stdout
    assert "AIRFLOW_CONN_NOBODY_DEFINED_IT" in result.stdout


def test_a_connection_without_a_model(examine: Any) -> None:
    findings, _ = examine("http://127.0.0.1:9/v1", None, exit_code=1)

    assert findings["connection"]["found"] == "it names no model"


@pytest.mark.parametrize("conn_type", ["http", "no_such_type"])
def test_a_connection_of_another_type(examine: Any, conn_type: str) -> None:
    findings, _ = examine(None, OPENAI.model, exit_code=1, conn_type=conn_type)

    assert conn_type in findings["answer"]["found"]
    assert "the type pydanticai" in findings["answer"]["fix"]


def test_a_fallback_that_is_not_defined(examine: Any) -> None:
    findings, _ = examine("http://127.0.0.1:9/v1", OPENAI.model, exit_code=1, fallback_conn_ids=["no_such"])

    assert findings["fallback"]["found"] == "no_such: there is no such connection"


@pytest.mark.parametrize(("model", "fix"), [(OLLAMA.model, "ollama serve"), (OPENAI.model, "Start it")])
def test_a_server_that_is_not_running(examine: Any, model: str, fix: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    findings, found = examine(f"http://127.0.0.1:{port}/v1", model, exit_code=1)

    assert findings["server"]["found"] == f"127.0.0.1:{port} refuses connections"
    assert fix in findings["server"]["fix"]
    assert found["failures"] == []


def test_a_model_that_was_not_pulled_is_the_cause_named_for_that_it_does_not_answer(examine: Any) -> None:
    with serving_llm(lists("qwen3:4b"), refuses(404, "model 'a-model' not found")) as server:
        findings, _ = examine(server.url + OLLAMA.path, OLLAMA.model, exit_code=1)

    assert findings["model"]["found"] == "a-model:latest is not there; there are: qwen3:4b"
    assert findings["model"]["fix"] == "ollama pull a-model"
    assert "answer" in findings


def test_a_server_behind_ollama_that_is_another_one_is_asked_all_the_same(examine: Any) -> None:
    with serving_llm(refuses(404), *knowing(OLLAMA)) as server:
        findings, _ = examine(server.url + OLLAMA.path, OLLAMA.model, exit_code=0)

    assert findings["model"]["state"] == "note"
    assert findings["failures"]["state"] == "ok"


def test_where_the_ollama_client_is_missing_the_model_is_asked_all_the_same(
    examine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ollama", None)
    with serving_llm(*knowing(OLLAMA)) as server:
        findings, _ = examine(server.url + OLLAMA.path, OLLAMA.model, exit_code=0)

    assert findings["model"]["fix"] == "pip install 'airflow-common-ai[ollama]'"


@pytest.mark.parametrize(
    ("manner", "found", "fix"),
    [
        (refuses(401, "wrong key"), "HTTP 401", "password"),
        (refuses(404, "no such model"), "HTTP 404: no such model", "model's name"),
        (refuses(500), "HTTP 500", "server's own log"),
        (is_no_json, "", ""),
        (hangs, "no answer within 1", "--timeout"),
        (OPENAI.answers({"category": "drop_table"}), "the answer does not fit the question", "JSON schema"),
    ],
)
def test_a_model_that_does_not_answer(examine: Any, manner: Manner, found: str, fix: str) -> None:
    timeout = "1" if manner is hangs else "60"
    with serving_llm(manner) as server:
        findings, _ = examine(server.url + OPENAI.path, OPENAI.model, "--timeout", timeout, exit_code=1)

    assert findings["answer"]["state"] == "bad"
    assert found in findings["answer"]["found"]
    assert fix in findings["answer"]["fix"]


def test_questions_that_get_no_answer_are_counted(examine: Any) -> None:
    manners: Sequence[Manner] = [*knowing(OPENAI)[:17], *[refuses(500)] * 3]
    with serving_llm(*manners) as server:
        findings, _ = examine(server.url + OPENAI.path, OPENAI.model, exit_code=1)

    assert findings["answers"]["found"] == "3 of 20 questions got none: HTTP 500"


@pytest.mark.parametrize(
    ("category", "is_retried", "failed"), [("permanent", False, 10), ("network", True, 0)], ids=["fails", "retries"]
)
def test_a_model_that_says_the_same_of_everything_is_not_fit(
    examine: Any, category: str, is_retried: bool, failed: int
) -> None:
    with serving_llm(OPENAI.answers(answer(category, is_retried=is_retried))) as server:
        findings, _ = examine(server.url + OPENAI.path, OPENAI.model, exit_code=1)

    assert findings["failures"]["state"] == "bad"
    assert f"right for 10; of 10 worth a retry it would fail {failed}" in findings["failures"]["found"]


def test_a_model_that_would_fail_what_is_worth_a_retry_is_fit_and_that_is_noted(examine: Any) -> None:
    worth = next(at for at, (_, label) in enumerate(FAILURES) if label.should_retry is ShouldRetry.YES)
    manners = knowing(OPENAI)
    manners[worth] = OPENAI.answers(answer("permanent", is_retried=False))
    with serving_llm(*manners) as server:
        findings, _ = examine(server.url + OPENAI.path, OPENAI.model, exit_code=0)

    assert findings["failures"]["state"] == "note"
    assert "of 10 worth a retry it would fail 1" in findings["failures"]["found"]


def test_a_model_that_is_slower_than_a_policy_waits_needs_more_time(
    examine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "POLICY_TIMEOUT_S", 0.0)
    with serving_llm(*knowing(OPENAI)) as server:
        findings, _ = examine(server.url + OPENAI.path, OPENAI.model, exit_code=1)

    assert "LLMRetryPolicy(..., timeout=" in findings["answer"]["fix"]
    assert "LLMRetryPolicy(..., timeout=" in findings["speed"]["fix"]


@pytest.mark.parametrize("arguments", [[], ["--conn-id", " "], ["--conn-id", "x", "--timeout", "0"]])
def test_a_wrong_call_exits_with_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, ["doctor", *arguments]).exit_code == 2
