"""All connections of a chain are fetched at once, and one that is missing does not lose the others."""

from __future__ import annotations

import json
import logging
import threading
from itertools import count
from typing import Any

import pytest
from airflow.sdk import BaseHook
from asking import API_KEY, connect

from airflow_common_ai.policies.llm.connections import MAX_LINKS, SLOW_FETCH_S, ModelChain, fetch_chain

MODEL = "openai-chat:a-model"


def ids(chain: ModelChain) -> list[str]:
    return [link.conn_id for link in chain.links]


def problems(chain: ModelChain) -> dict[str, str]:
    return {link.conn_id: link.problem for link in chain.links if link.connection is None}


def test_a_connection_without_fallbacks_is_a_chain_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, "first", "http://127.0.0.1:1/v1", MODEL)

    chain = fetch_chain("first", "openai:gpt-5")

    (link,) = chain.links
    assert link.connection is not None
    assert link.connection.host == "http://127.0.0.1:1/v1"
    assert link.connection.password == API_KEY
    assert link.connection.extra_dejson == {"model": MODEL}
    assert chain.model_id == "openai:gpt-5"
    assert chain.fetch_seconds > 0


@pytest.mark.parametrize(
    ("fallbacks", "expected"),
    [
        (["second", "third"], ["second", "third"]),
        ([" second ", "", "  "], ["second"]),
        (["second", "second", "third"], ["second", "third"]),
        (["first", "second"], ["second"]),
        ([], []),
        (None, []),
    ],
)
def test_the_fallbacks_are_those_of_the_first_connection(
    fallbacks: list[str] | None, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(monkeypatch, "first", None, MODEL, fallback_conn_ids=fallbacks)
    for conn_id in ("second", "third"):
        connect(monkeypatch, conn_id, None, MODEL)

    assert ids(fetch_chain("first", None)) == ["first", *expected]


def test_fallbacks_of_fallbacks_are_not_followed_even_in_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, "first", None, MODEL, fallback_conn_ids=["second"])
    connect(monkeypatch, "second", None, MODEL, fallback_conn_ids=["first", "third"])

    assert ids(fetch_chain("first", None)) == ["first", "second"]


def test_a_chain_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, "first", None, MODEL, fallback_conn_ids=[f"number_{n}" for n in range(100)])

    assert len(fetch_chain("first", None).links) == MAX_LINKS


@pytest.mark.parametrize("listed", ["second", 7, {"second": 1}, ["second", 7]])
def test_fallbacks_that_are_no_list_of_ids_are_ignored_and_said(
    listed: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connect(monkeypatch, "first", None, MODEL, fallback_conn_ids=listed)

    with caplog.at_level(logging.WARNING):
        assert ids(fetch_chain("first", None)) == ["first"]

    assert "fallback_conn_ids of the connection 'first' is no list of connection ids" in caplog.text


def test_a_connection_that_is_missing_does_not_lose_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, "first", None, MODEL, fallback_conn_ids=["missing", "third"])
    connect(monkeypatch, "third", None, MODEL)

    chain = fetch_chain("first", None)

    assert ids(chain) == ["first", "missing", "third"]
    assert problems(chain) == {"missing": "there is no such connection"}
    assert not chain.has_airflow_failed


def test_a_first_connection_that_is_missing_is_a_chain_with_a_problem() -> None:
    assert problems(fetch_chain("missing", None)) == {"missing": "there is no such connection"}


def test_what_a_secrets_backend_raises_is_named_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(conn_id: str) -> Any:
        raise PermissionError(f"token {API_KEY} may not read {conn_id}")

    monkeypatch.setattr(BaseHook, "get_connection", refuse)

    chain = fetch_chain("first", None)

    assert problems(chain) == {"first": "Airflow did not hand over the connection (PermissionError)"}
    assert chain.has_airflow_failed


def test_once_airflow_itself_is_down_the_rest_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, "first", None, MODEL, fallback_conn_ids=["second", "third"])
    hours = count(step=SLOW_FETCH_S)

    chain = fetch_chain("first", None, clock=lambda: next(hours))

    assert problems(chain) == {
        "second": "there is no such connection",
        "third": "not fetched, since Airflow did not answer before",
    }
    assert chain.has_airflow_failed


@pytest.mark.parametrize("extra", ["{not json", "[]", '"text"', "null", ""])
def test_an_extra_that_is_no_object_is_empty(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_FIRST", json.dumps({"conn_type": "pydanticai", "extra": extra}))

    (link,) = fetch_chain("first", None).links

    assert link.connection is not None
    assert link.connection.extra_dejson == {}


def test_the_secrets_of_a_connection_are_registered_and_not_in_its_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.providers.common.compat.sdk import redact

    connect(monkeypatch, "first", "http://user:in-the-url-42@127.0.0.1/v1", MODEL, api_key="in-the-extra-42")

    chain = fetch_chain("first", None)

    assert redact(f"{API_KEY} in-the-url-42 in-the-extra-42") == "*** *** ***"
    assert not any(secret in repr(chain) for secret in (API_KEY, "in-the-url-42", "in-the-extra-42"))


def test_a_fetched_connection_is_read_without_the_supervisor(monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.sdk.execution_time import task_runner

    class Supervisor:
        def send(self, message: object) -> None:
            sent.append(message)

    sent: list[object] = []
    connect(monkeypatch, "first", None, MODEL)
    monkeypatch.setattr(task_runner, "SUPERVISOR_COMMS", Supervisor(), raising=False)
    (link,) = fetch_chain("first", None).links
    asked_while_fetching = len(sent)

    reader = threading.Thread(target=lambda: link.connection and link.connection.extra_dejson)
    reader.start()
    reader.join()

    assert 0 < asked_while_fetching == len(sent)
