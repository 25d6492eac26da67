"""A model is asked in the form that it answers best, and whatever a server does ends in an answer or in a reason."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from asking import API_KEY, GOOD, LONG_S, QUESTION, SHORT_S, Answer, connect, helpers, wait_until
from loopback import llm_server, sockets
from loopback.llm_server import (
    ANTHROPIC,
    ANTHROPIC_WITH_SCHEMA,
    DECISION,
    OLLAMA,
    OPENAI,
    OPENAI_RESPONSES,
    WIRES,
    LlmServer,
    Manner,
    Wire,
    refuses,
    serving_llm,
)

from airflow_common_ai.policies.llm.call import NoReply, Reply, ask
from airflow_common_ai.policies.llm.connections import ModelChain, fetch_chain

CLAUDE_WITHOUT_SCHEMA = replace(ANTHROPIC, name="anthropic without a schema", model="anthropic:claude-3-5-haiku-latest")
BAD_SHAPE = {"reasoning": "x", "category": "ignore all rules"}

by_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
by_main_wire = pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC, DECISION], ids=lambda wire: wire.name)


@pytest.fixture(scope="module", autouse=True)
def _loaded_libraries() -> None:
    """Import now what the first question would import within its limit."""
    import anthropic
    import openai
    from airflow.providers.common.ai.hooks.pydantic_ai import PydanticAIHook
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIChatModel

    assert all((anthropic, openai, PydanticAIHook, AnthropicModel, OpenAIChatModel))


@pytest.fixture
def ask_at(monkeypatch: pytest.MonkeyPatch) -> Any:
    def ask_it(url: str, wire: Wire, timeout_s: float = LONG_S) -> Reply | NoReply:
        connect(monkeypatch, "my_llm", url, wire.model)
        return ask(fetch_chain("my_llm", None), QUESTION, timeout_s)

    return ask_it


@by_wire
def test_an_answer_comes_with_who_gave_it(wire: Wire, ask_at: Any) -> None:
    with serving_llm(wire.answers(GOOD), path=wire.path) as server:
        reply = ask_at(server.url, wire)

    assert isinstance(reply, Reply)
    assert reply.output == ("network" if wire is DECISION else Answer(**GOOD))  # type: ignore[arg-type]
    assert reply.model_name == f"{wire.model.partition(':')[2]}-as-served"
    assert (reply.conn_id, reply.conn_type) == ("my_llm", "pydanticai")
    assert (reply.input_tokens, reply.output_tokens) == (70, 7)
    assert 0 < reply.seconds < LONG_S
    assert reply.tried == ()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("wire", "form"),
    [
        (OPENAI, "json_schema"),
        (OLLAMA, "json_schema"),
        (OPENAI_RESPONSES, "json_schema"),
        (ANTHROPIC, "prompted"),
        (CLAUDE_WITHOUT_SCHEMA, "tool"),
        (ANTHROPIC_WITH_SCHEMA, "json_schema"),
        (DECISION, "decision"),
    ],
    ids=lambda given: given.name if isinstance(given, Wire) else given,
)
def test_the_question_takes_the_form_that_the_profile_of_the_model_supports(wire: Wire, form: str, ask_at: Any) -> None:
    with serving_llm(wire.answers(GOOD), path=wire.path) as server:
        reply = ask_at(server.url, wire)

    assert reply.form == form
    assert ("tools" in server.requests[0]) == (form == "tool")
    assert ("questions" in server.requests[0]) == (form == "decision")


@by_wire
def test_the_temperature_is_zero(wire: Wire, ask_at: Any) -> None:
    with serving_llm(wire.answers(GOOD), path=wire.path) as server:
        ask_at(server.url, wire)

    assert server.requests[0]["temperature"] == 0


@pytest.mark.parametrize(
    ("wire", "names"),
    [
        (OPENAI, {"max_completion_tokens", "max_tokens"}),
        (OLLAMA, {"max_completion_tokens", "max_tokens"}),
        (OPENAI_RESPONSES, {"max_output_tokens"}),
        (ANTHROPIC, {"max_tokens"}),
    ],
    ids=lambda given: given.name if isinstance(given, Wire) else "",
)
def test_the_answer_is_capped_under_every_name_that_the_server_may_know(
    wire: Wire, names: set[str], ask_at: Any
) -> None:
    with serving_llm(wire.answers(GOOD), path=wire.path) as server:
        ask_at(server.url, wire)

    capped = {name: value for name, value in server.requests[0].items() if "tokens" in name}
    assert capped == dict.fromkeys(names, QUESTION.max_tokens)


@pytest.mark.parametrize("wire", [OPENAI, OLLAMA, OPENAI_RESPONSES], ids=lambda wire: wire.name)
def test_token_probabilities_are_asked_for_and_handed_on(wire: Wire, ask_at: Any) -> None:
    with serving_llm(wire.answers(GOOD), path=wire.path) as server:
        reply = ask_at(server.url, wire)

    assert reply.provider_details["logprobs"][0]["logprob"] == -0.25


def test_a_decision_model_gets_the_choices_and_no_schema_with_free_text(ask_at: Any) -> None:
    with serving_llm(DECISION.answers(GOOD)) as server:
        reply = ask_at(server.url, DECISION)

    (question,) = server.requests[0]["questions"].values()
    assert question["type"] == "choice"
    assert question["criteria"] == dict(QUESTION.choices)
    assert server.requests[0]["state"] == QUESTION.prompt
    assert "reasoning" not in str(server.requests[0])
    assert reply.provider_details["confidence"] == {"response": 0.9}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("openai:o3", {"reasoning": {"effort": "low"}, "max_output_tokens": 200 + 2048}),
        ("openai-chat:o3", {"reasoning_effort": "low", "max_completion_tokens": 200 + 2048}),
        ("openai-chat:gpt-5.2", {"reasoning_effort": "none", "max_completion_tokens": 200, "temperature": 0}),
    ],
)
def test_the_thinking_of_a_reasoning_model_is_bounded(
    model: str, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    with serving_llm(refuses(500), path="/v1") as server:
        connect(monkeypatch, "my_llm", server.url, model)
        ask(fetch_chain("my_llm", None), QUESTION, LONG_S)

    asked = server.requests[0]
    assert {name: asked.get(name) for name in expected} == expected
    assert ("temperature" in asked) == ("temperature" in expected)
    assert ("logprobs" in str(asked)) == ("temperature" in expected)
    assert not [warning for warning in recwarn if "ignored" in str(warning.message)]


MISBEHAVIOURS: dict[str, tuple[Manner, str]] = {
    "429 with Retry-After: 30": (refuses(429, headers={"Retry-After": "30"}), "HTTP 429"),
    "500 for ever": (refuses(500), "HTTP 500"),
    "401": (refuses(401, f"Incorrect API key provided: {API_KEY}"), "HTTP 401"),
    "404": (refuses(404, "model 'a-model' not found, try pulling it first"), "HTTP 404: model 'a-model' not found"),
    "redirects in a circle": (llm_server.redirects_in_a_circle, "the server redirects elsewhere"),
    "200 that is no JSON": (llm_server.is_no_json, "does not fit|no usable answer"),
    "200 that is broken JSON": (llm_server.is_broken_json, "does not fit|no usable answer"),
    "closes in the middle": (llm_server.closes_in_the_middle, "the connection broke off"),
    "1 GB": (llm_server.sends_a_gigabyte, "larger than any answer"),
    "1 GB of gzip in 1 MB": (llm_server.bombs_with_gzip, "larger than any answer"),
}


@by_main_wire
@pytest.mark.parametrize(("manner", "reason"), MISBEHAVIOURS.values(), ids=MISBEHAVIOURS)
def test_a_server_that_misbehaves_ends_in_a_reason_and_is_not_asked_again(
    manner: Manner, reason: str, wire: Wire, ask_at: Any
) -> None:
    with serving_llm(manner, path=wire.path) as server:
        outcome = ask_at(server.url, wire)

    assert isinstance(outcome, NoReply)
    assert re.search(reason, outcome.reason), outcome
    assert outcome.tried == (("my_llm", outcome.reason),)
    assert len(server.requests) == 1


@contextlib.contextmanager
def silent(manner: Manner) -> Iterator[str]:
    with serving_llm(manner) as server:
        yield server.url


SILENCES = {
    "accepts and hangs": lambda: silent(llm_server.hangs),
    "drips one byte every half second": lambda: silent(llm_server.drips),
    "takes no connection": llm_server.blackhole,
    "hangs in the TLS handshake": llm_server.silent_tls,
}


@by_main_wire
@pytest.mark.parametrize("silence", SILENCES.values(), ids=SILENCES)
def test_the_limit_ends_what_a_server_would_draw_out(silence: Any, wire: Wire, ask_at: Any) -> None:
    with silence() as url:
        outcome = ask_at(url, wire, SHORT_S)

        assert outcome == NoReply("no answer within 0.5 s", (("my_llm", "no answer within 0.5 s"),))
        wait_until(lambda: not helpers())  # although the server still runs


def test_the_connection_to_a_server_that_hangs_is_closed_when_the_limit_strikes(ask_at: Any) -> None:
    with serving_llm(llm_server.hangs, path=OPENAI.path) as server:
        ask_at(server.url, OPENAI, SHORT_S)

        assert server.client_left.wait(LONG_S)


@by_main_wire
def test_nobody_listening_is_told_at_once(wire: Wire, ask_at: Any) -> None:
    with sockets.refused_port() as port:
        outcome = ask_at(f"http://127.0.0.1:{port}{wire.path}", wire)

    assert outcome.reason == "connection refused"


def test_a_name_that_does_not_resolve_is_no_reply(ask_at: Any) -> None:
    outcome = ask_at("http://nowhere.invalid/v1", OPENAI, SHORT_S)

    assert isinstance(outcome, NoReply)
    assert outcome.reason in ("the host name did not resolve", "no answer within 0.5 s")


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC], ids=lambda wire: wire.name)
def test_an_answer_of_the_wrong_shape_is_asked_for_once_more(wire: Wire, ask_at: Any) -> None:
    with serving_llm(wire.answers(BAD_SHAPE), wire.answers(GOOD), path=wire.path) as server:
        reply = ask_at(server.url, wire)

    assert reply.output == Answer(**GOOD)  # type: ignore[arg-type]
    assert len(server.requests) == 2


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC], ids=lambda wire: wire.name)
def test_and_no_more_than_once(wire: Wire, ask_at: Any) -> None:
    with serving_llm(wire.answers(BAD_SHAPE), path=wire.path) as server:
        outcome = ask_at(server.url, wire)

    assert outcome.reason == "the answer does not fit the question"
    assert len(server.requests) == 2


def test_a_decision_outside_of_the_choices_is_no_reply(ask_at: Any) -> None:
    with serving_llm(DECISION.answers(BAD_SHAPE)) as server:
        outcome = ask_at(server.url, DECISION)

    assert outcome.reason == "the answer does not fit the question"


def test_a_server_that_refuses_a_setting_is_asked_without_the_optional_ones(ask_at: Any) -> None:
    with serving_llm(refuses(400, "logprobs?"), OPENAI.answers(GOOD), path=OPENAI.path) as server:
        reply = ask_at(server.url, OPENAI)

    assert isinstance(reply, Reply)
    assert reply.form == "json_schema"
    assert not {"logprobs", "temperature", "max_tokens"} & server.requests[1].keys()
    assert server.requests[1]["max_completion_tokens"] == QUESTION.max_tokens


def test_a_server_that_knows_no_schema_is_asked_with_a_tool(ask_at: Any) -> None:
    with serving_llm(refuses(400), refuses(422), OPENAI.answers(GOOD), path=OPENAI.path) as server:
        reply = ask_at(server.url, OPENAI)

    assert isinstance(reply, Reply)
    assert reply.form == "tool"
    assert len(server.requests) == 3


def test_a_stand_in_for_claude_is_told_to_answer_in_json_and_holds_no_tool(ask_at: Any) -> None:
    with serving_llm(ANTHROPIC.answers(GOOD)) as server:
        reply = ask_at(server.url, ANTHROPIC)

    assert isinstance(reply, Reply)
    assert reply.output == Answer(**GOOD)  # type: ignore[arg-type]
    assert not {"tools", "tool_choice"} & server.requests[0].keys()
    assert all(f'"{name}"' in str(server.requests[0]["system"]) for name in Answer.model_fields)
    (said,) = server.requests[0]["messages"]
    assert said["content"][0]["text"] == f"{QUESTION.prompt} Answer with the JSON object, and nothing else."


def test_a_server_that_refuses_every_form_is_no_reply_in_its_own_words(ask_at: Any) -> None:
    with serving_llm(refuses(400, "this model is asleep"), path=OPENAI.path) as server:
        outcome = ask_at(server.url, OPENAI)

    assert outcome.reason == "HTTP 400: this model is asleep"
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 500])
@by_main_wire
def test_the_api_key_is_in_no_reason_and_no_log(
    status: int, wire: Wire, ask_at: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, "airflow_common_ai")
    with serving_llm(refuses(status, f"bad key {API_KEY}, really"), path=wire.path) as server:
        outcome = ask_at(server.url, wire)

    assert API_KEY in server.headers[0]  # it was sent to the server, and echoed
    assert API_KEY not in str(outcome)
    assert API_KEY not in caplog.text + "".join(capfd.readouterr())


def test_words_of_a_server_are_redacted_shortened_and_harmless(ask_at: Any) -> None:
    message = "\x1b[2Jpassword=hunter2secret " + "x" * 10_000
    with serving_llm(refuses(404, message), path=OPENAI.path) as server:
        outcome = ask_at(server.url, OPENAI)

    assert "hunter2secret" not in outcome.reason
    assert "\x1b" not in outcome.reason
    assert len(outcome.reason) < 300


def test_it_works_inside_a_running_event_loop(ask_at: Any) -> None:
    async def outer(url: str) -> Reply | NoReply:
        reply: Reply | NoReply = ask_at(url, OPENAI)
        return reply

    with serving_llm(OPENAI.answers(GOOD), path=OPENAI.path) as server:
        reply = asyncio.run(outer(server.url))

    assert isinstance(reply, Reply)


def test_questions_one_after_the_other_share_nothing(ask_at: Any) -> None:
    with serving_llm(OPENAI.answers(GOOD), path=OPENAI.path) as server:
        replies = [ask_at(server.url, OPENAI) for _ in range(3)]

    assert all(isinstance(reply, Reply) for reply in replies)
    wait_until(lambda: not helpers())


def test_no_thread_but_the_main_one_talks_to_the_supervisor(ask_at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from airflow.sdk.execution_time import task_runner

    class Supervisor:
        def send(self, message: object) -> None:
            callers.append(threading.current_thread())

    callers: list[threading.Thread] = []
    monkeypatch.setattr(task_runner, "SUPERVISOR_COMMS", Supervisor(), raising=False)
    with serving_llm(OPENAI.answers(GOOD), path=OPENAI.path) as server:
        reply = ask_at(server.url, OPENAI)

    assert isinstance(reply, Reply)
    assert callers  # the secrets of the connection are registered with it
    assert set(callers) == {threading.main_thread()}


@pytest.mark.parametrize(
    ("url", "model", "conn_type", "reason"),
    [
        (None, None, "pydanticai", "No model specified for connection 'my_llm'"),
        (None, "qwen", "pydanticai", "has no default model provider"),
        (None, "ollama:qwen", "pydanticai", "OLLAMA_BASE_URL"),
        (None, "openai:gpt-5", "http", "type 'http' is none of Pydantic AI's"),
        (None, "openai:gpt-5", "no_such_type", "Airflow knows no connections of type 'no_such_type'"),
        (None, "cohere:command", "pydanticai", "a package is missing: .*cohere"),
    ],
)
def test_a_connection_that_makes_no_model_is_explained(
    url: str | None, model: str | None, conn_type: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(monkeypatch, "my_llm", url, model, conn_type=conn_type)

    outcome = ask(fetch_chain("my_llm", None), QUESTION, LONG_S)

    assert isinstance(outcome, NoReply)
    assert re.search(reason, outcome.reason), outcome
    assert API_KEY not in str(outcome)


def test_an_empty_chain_is_no_reply() -> None:
    assert ask(ModelChain(), QUESTION, LONG_S) == NoReply("there is no connection to ask", ())


class TestFallbacks:
    """The connections of a chain share the one limit."""

    @pytest.fixture
    def servers(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[LlmServer, LlmServer]]:
        with (
            serving_llm(llm_server.hangs, path=OPENAI.path) as first,
            serving_llm(ANTHROPIC.answers(GOOD)) as second,
        ):
            connect(monkeypatch, "first", first.url, OPENAI.model, fallback_conn_ids=["second"])
            connect(monkeypatch, "second", second.url, ANTHROPIC.model)
            yield first, second

    @pytest.mark.usefixtures("servers")
    def test_the_next_one_answers_for_one_that_hangs(self) -> None:
        reply = ask(fetch_chain("first", None), QUESTION, 4.0)

        assert isinstance(reply, Reply)
        assert reply.conn_id == "second"
        assert reply.tried == (("first", "no answer within 2 s"),)

    def test_each_gets_half_of_what_is_left_and_the_last_one_all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with serving_llm(llm_server.hangs) as slow:
            for conn_id in ("second", "third"):
                connect(monkeypatch, conn_id, slow.url, OPENAI.model)
            connect(monkeypatch, "first", slow.url, OPENAI.model, fallback_conn_ids=["second", "third"])
            outcome = ask(fetch_chain("first", None), QUESTION, 2.0)

        assert isinstance(outcome, NoReply)
        assert outcome.reason == "no answer within 2 s"
        within = [float(what.split()[3]) for _, what in outcome.tried]
        assert within[0] == 1.0
        assert len(within) == 3
        assert all(seconds <= 0.5 for seconds in within[1:])

    @pytest.mark.usefixtures("servers")
    def test_one_that_is_missing_does_not_lose_the_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with sockets.refused_port() as port:
            url = f"http://127.0.0.1:{port}/v1"
            connect(monkeypatch, "first", url, OPENAI.model, fallback_conn_ids=["missing", "second"])
            reply = ask(fetch_chain("first", None), QUESTION, LONG_S)

        assert isinstance(reply, Reply)
        assert reply.tried == (("first", "connection refused"), ("missing", "there is no such connection"))

    def test_all_reasons_are_told_when_none_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with serving_llm(refuses(401), path=OPENAI.path) as server:
            connect(monkeypatch, "first", server.url, OPENAI.model, fallback_conn_ids=["missing"])
            outcome = ask(fetch_chain("first", None), QUESTION, LONG_S)

        assert isinstance(outcome, NoReply)
        assert outcome.reason == "first: HTTP 401; missing: there is no such connection"

    def test_a_model_of_the_policy_is_for_the_first_connection(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with serving_llm(OPENAI.answers(GOOD), path=OPENAI.path) as server:
            connect(monkeypatch, "first", server.url, OPENAI.model)
            ask(fetch_chain("first", "openai-chat:another"), QUESTION, LONG_S)

        assert server.requests[0]["model"] == "another"

    def test_a_bare_name_is_completed_by_the_platform_of_the_fallback(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with sockets.refused_port() as port, serving_llm(OPENAI.answers(GOOD), path="/v1") as azure:
            url = f"http://127.0.0.1:{port}/v1"
            connect(monkeypatch, "first", url, "gpt-4o", conn_type="pydanticai_azure", fallback_conn_ids=["second"])
            connect(monkeypatch, "second", azure.url, None, conn_type="pydanticai_azure")
            reply = ask(fetch_chain("first", None), QUESTION, LONG_S)

        assert isinstance(reply, Reply), reply
        assert azure.requests[0]["model"] == "gpt-4o"

    def test_a_name_of_another_platform_is_not_forced_on_a_fallback(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with sockets.refused_port() as port:
            url = f"http://127.0.0.1:{port}/v1"
            connect(monkeypatch, "first", url, OPENAI.model, fallback_conn_ids=["second"])
            connect(monkeypatch, "second", None, None)
            outcome = ask(fetch_chain("first", None), QUESTION, LONG_S)

        assert isinstance(outcome, NoReply)
        assert "No model specified for connection 'second'" in outcome.reason


def test_a_limit_that_is_over_before_it_begins_is_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_llm(OPENAI.answers(GOOD), path=OPENAI.path) as server:
        connect(monkeypatch, "my_llm", server.url, OPENAI.model)
        began = time.monotonic()
        outcome = ask(fetch_chain("my_llm", None), QUESTION, 0.0)

    assert isinstance(outcome, NoReply)
    assert time.monotonic() - began < LONG_S
