"""What a model was asked is recorded without secrets, and replayed; anything else than a match is loud."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest
import requests
from loopback.http_server import Answer, json_answer, serving

from airflow_common_ai.evals.replay.exchange import Stale, recording, replaying
from airflow_common_ai.evals.replay.interaction import Interaction, is_interaction
from airflow_common_ai.evals.replay.scrubbing import Scrubber

SCRUBBER = Scrubber(lambda text: text.replace("correct-horse", "***"))
SECRETS = re.compile(
    r"sk-\w|Bearer|hunter2|AKIA[0-9A-Z]{16}|jane@example|set-cookie|organization|127\.0\.0\.1|correct-horse|s3cr3t",
    re.I,
)
PROMPT = {"model": "a-model", "messages": [{"content": "why?"}]}
USAGE = {"prompt_tokens": 40, "completion_tokens": 2}
ANSWER = json_answer(200, {"model": "/models/a-model.gguf", "usage": USAGE})


def post(url: str, body: Any = PROMPT, **options: Any) -> httpx2.Response:
    return httpx2.post(f"{url}/v1/chat", json=body, **options)


def recorded(*bodies: Any, answer: Answer = ANSWER) -> list[Interaction]:
    with serving(answer) as server, recording(SCRUBBER) as exchange:
        for body in bodies:
            post(server.url, body)
    assert exchange.calls == len(bodies)
    return exchange.interactions


# ---- what is kept


def test_nothing_secret_is_kept_of_requests_and_answers() -> None:
    key = "sk-ant-REDACTED-0123456789abcdefghijklmnop"
    asked = {
        "prompt": "postgres://user:hunter2@db/x AKIAIOSFODNN7EXAMPLE for jane@example.com, or correct-horse",
        "api_key": "s3cr3t-s3cr3t",
    }
    said = {"content": f"use postgres://user:hunter2@db/x and {key}", "model": "m"}
    headers = {"Set-Cookie": "session=abc", "OpenAI-Organization": "ours", "X-Request-Id": "1"}
    with serving(json_answer(200, said, headers)) as server, recording(SCRUBBER) as exchange:
        authorization = {"Authorization": f"Bearer {key}", "OpenAI-Project": "ours", "Cookie": "session=abc"}
        post(f"{server.url}/m?key=s3cr3t-s3cr3t&v=1#", asked, headers=authorization)
        httpx2.post(f"{server.url}/v1?key=s3cr3t-s3cr3t&version=1", json=asked, headers=authorization)
    kept = json.dumps(exchange.interactions)
    assert len(exchange.interactions) == 2
    assert SECRETS.findall(kept) == []
    assert "version=1" in kept


def test_a_stream_of_events_is_scrubbed_too() -> None:
    events = 'event: delta\ndata: {"text": "postgres://user:hunter2@db/x"}\n\ndata: [DONE]\n\n'
    (kept,) = recorded(PROMPT, answer=Answer(200, events, {"Content-Type": "text/event-stream"}))
    body = kept["response"]["body"]["string"]
    assert "hunter2" not in body
    assert body.startswith('event: delta\ndata: {"text": "postgres://user:***@db/x"}')
    assert body.endswith("data: [DONE]\n\n")


def test_a_secret_is_not_spelled_by_the_tokens_of_an_answer_either() -> None:
    tokens = [{"token": piece, "logprob": -0.1, "top_logprobs": [{"token": "x"}]} for piece in ("correct", "-horse")]
    choices = [{"message": {"content": "correct-horse"}, "logprobs": {"content": tokens}}]
    (kept,) = recorded(PROMPT, answer=json_answer(200, {"choices": choices}))
    (choice,) = json.loads(kept["response"]["body"]["string"])["choices"]
    assert choice == {"message": {"content": "***"}, "logprobs": None}


def test_of_token_probabilities_those_of_the_chosen_tokens_are_kept() -> None:
    token = {"id": 7, "token": "net", "logprob": -0.1, "bytes": [1], "top_logprobs": [{"token": "x"}]}
    (kept,) = recorded(PROMPT, answer=json_answer(200, {"choices": [{"logprobs": {"content": [token]}}]}))
    (choice,) = json.loads(kept["response"]["body"]["string"])["choices"]
    assert choice["logprobs"]["content"] == [{"token": "net", "logprob": -0.1, "bytes": None, "top_logprobs": []}]


def test_where_a_local_model_lies_is_not_kept() -> None:
    (kept,) = recorded(PROMPT)
    assert json.loads(kept["response"]["body"]["string"])["model"] == "a-model.gguf"


def test_a_server_in_trouble_is_not_kept_but_a_refused_form_is() -> None:
    assert recorded(PROMPT, answer=json_answer(429, {}, {"Retry-After": "1"})) == []
    (refused,) = recorded(PROMPT, answer=json_answer(400, {"error": "no such setting"}))
    assert refused["response"]["status"]["code"] == 400


def test_calls_model_and_tokens_are_counted() -> None:
    with serving(ANSWER) as server, recording(SCRUBBER) as exchange:
        post(server.url)
        post(server.url, {"again": True})
    assert exchange.calls == 2
    assert exchange.usage == ("a-model.gguf", 80, 4)


# ---- what is replayed


@pytest.mark.parametrize("again", [PROMPT, dict(reversed(PROMPT.items()))], ids=["the same", "in another order"])
def test_a_recorded_request_is_answered_wherever_it_goes(again: Any) -> None:
    with replaying(recorded(PROMPT), SCRUBBER) as exchange:
        answer = post("http://elsewhere.invalid", again)
    assert answer.json()["usage"] == USAGE
    assert (exchange.problem, exchange.calls, exchange.usage) == (None, 1, ("a-model.gguf", 40, 2))


def test_a_secret_in_the_request_still_matches_though_it_was_not_kept() -> None:
    def body(password: str) -> Any:
        return {"prompt": f"postgres://user:{password}@db/x failed"}

    with replaying(recorded(body("hunter2")), SCRUBBER) as exchange:
        post("http://elsewhere.invalid", body("another-one"))
    assert exchange.problem is None


def test_the_same_request_twice_gets_both_answers_in_order_and_no_third() -> None:
    with serving(json_answer(200, {"n": 1}), json_answer(200, {"n": 2})) as server, recording(SCRUBBER) as exchange:
        post(server.url)
        post(server.url)
    with replaying(exchange.interactions, SCRUBBER) as replayed:
        assert [post("http://x.invalid").json()["n"] for _ in range(2)] == [1, 2]
        with pytest.raises(Stale):
            post("http://x.invalid")
    assert replayed.problem == "POST /v1/chat was never recorded for this case so often: 2 times it was"


def test_what_was_never_asked_is_stale_and_passes_through_whoever_catches_exceptions() -> None:
    def policy() -> None:
        try:
            post("http://x.invalid", {**PROMPT, "messages": [{"content": "why?\nand how?"}]})
        except Exception:
            return

    with replaying(recorded(PROMPT), SCRUBBER) as exchange, pytest.raises(Stale):
        policy()
    assert exchange.problem is not None
    assert exchange.problem.startswith("POST /v1/chat was never recorded for this case\n--- recorded\n+++ asked now\n")
    assert "+and how?" in exchange.problem


def test_a_miss_is_noted_even_where_the_library_makes_an_ordinary_exception_of_it() -> None:
    def swallowed() -> None:
        try:
            requests.post("http://x.invalid/v1/chat", json={"other": 1}, timeout=1)
        except BaseException:
            return

    with replaying(recorded(PROMPT), SCRUBBER) as exchange:
        swallowed()
    assert exchange.misses
    assert exchange.problem is not None


def test_a_request_that_is_not_made_any_more_is_a_problem() -> None:
    with replaying(recorded(PROMPT, {"again": 1}), SCRUBBER) as exchange:
        post("http://x.invalid")
    assert exchange.problem == "1 of the 2 recorded requests were made"


def test_nothing_recorded_and_nothing_asked_is_no_problem() -> None:
    with replaying([], SCRUBBER) as exchange:
        pass
    assert (exchange.problem, exchange.calls) == (None, 0)


def test_after_a_replay_requests_leave_again() -> None:
    with replaying([], SCRUBBER):
        pass
    with serving(ANSWER) as server:
        assert post(server.url).status_code == 200


@pytest.mark.parametrize(
    "value", [None, {}, {"request": {}, "response": {}}, {"request": 1, "response": {"status": 1}}]
)
def test_what_cannot_be_replayed_is_no_interaction(value: object) -> None:
    assert not is_interaction(value)
    assert all(map(is_interaction, recorded(PROMPT)))
