"""The connections on the page about local models reach a local server, in the form that the page names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from loopback.llm_server import OPENAI, serving_llm
from pydantic import BaseModel

from airflow_common_ai.policies.llm.call import Question, Reply, ask
from airflow_common_ai.policies.llm.connections import fetch_chain

PAGE = Path(__file__).parents[2] / "docs" / "local-models.md"
CONNECTIONS = re.findall(r"`AIRFLOW_CONN_(\w+)='(\{.*?\})'`", PAGE.read_text())
LONG_S = 60.0


class Answer(BaseModel):
    category: str


QUESTION = Question("Name the category.", "OSError", Answer, {"network": "", "data": ""}, 100)


def test_the_page_has_a_connection_for_each_server() -> None:
    assert [conn_id for conn_id, _ in CONNECTIONS] == ["OLLAMA_LOCAL", "LLAMA_LOCAL", "VLLM_LOCAL"]


@pytest.mark.parametrize(("conn_id", "definition"), CONNECTIONS, ids=[conn_id for conn_id, _ in CONNECTIONS])
def test_a_connection_of_the_page_asks_in_the_form_of_the_page_and_gives_no_key_away(
    conn_id: str, definition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the-key-of-the-worker")
    with serving_llm(OPENAI.answers({"category": "network"}), path=OPENAI.path) as server:
        assert re.search(r"http://localhost:\d+/v1", definition)
        monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id}", re.sub(r"http://localhost:\d+/v1", server.url, definition))
        reply = ask(fetch_chain(conn_id.lower(), None), QUESTION, LONG_S)

    assert isinstance(reply, Reply), reply
    assert reply.form == "json_schema"
    (request,) = server.requests
    assert server.headers[0].startswith("POST /v1/chat/completions")
    assert request["response_format"]["type"] == "json_schema"
    assert request["temperature"] == 0
    assert request["logprobs"] is True
    assert request["max_tokens"] == request["max_completion_tokens"] == 100
    assert "the-key-of-the-worker" not in server.headers[0]


def test_without_a_password_openai_chat_sends_the_key_of_the_worker_as_the_page_warns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (definition,) = [definition for conn_id, definition in CONNECTIONS if conn_id == "LLAMA_LOCAL"]
    monkeypatch.setenv("OPENAI_API_KEY", "the-key-of-the-worker")
    with serving_llm(OPENAI.answers({"category": "network"}), path=OPENAI.path) as server:
        definition = definition.replace('"password": "none", ', "").replace("http://localhost:8080/v1", server.url)
        monkeypatch.setenv("AIRFLOW_CONN_LLAMA_LOCAL", definition)
        ask(fetch_chain("llama_local", None), QUESTION, LONG_S)

    assert "the-key-of-the-worker" in server.headers[0]


def test_vllm_shows_the_schema_to_the_model_too(monkeypatch: pytest.MonkeyPatch) -> None:
    (definition,) = [definition for conn_id, definition in CONNECTIONS if conn_id == "VLLM_LOCAL"]
    with serving_llm(OPENAI.answers({"category": "network"}), path=OPENAI.path) as server:
        monkeypatch.setenv("AIRFLOW_CONN_VLLM_LOCAL", definition.replace("http://localhost:8000/v1", server.url))
        ask(fetch_chain("vllm_local", None), QUESTION, LONG_S)

    assert '"category"' in str(server.requests[0]["messages"])
