"""Model and tokens as each vendor reports them."""

from __future__ import annotations

import json

import pytest

from airflow_common_ai.evals.replay.token_usage import usage_of

OPENAI = {"model": "gpt", "usage": {"prompt_tokens": 70, "completion_tokens": 7, "total_tokens": 77}}
ANTHROPIC = {"model": "claude", "usage": {"input_tokens": 70, "output_tokens": 7}}
GOOGLE = {"modelVersion": "gemini", "usageMetadata": {"promptTokenCount": 70, "candidatesTokenCount": 7}}
BEDROCK = {"output": {}, "usage": {"inputTokens": 70, "outputTokens": 7}}
OLLAMA = {"model": "llama", "prompt_eval_count": 70, "eval_count": 7}
STREAM = "\n".join(
    f"event: x\ndata: {json.dumps(event)}\n"
    for event in (
        {"type": "message_start", "message": {"model": "claude", "usage": {"input_tokens": 70, "output_tokens": 1}}},
        {"type": "message_delta", "usage": {"output_tokens": 7}},
    )
)


@pytest.mark.parametrize(
    ("body", "model"),
    [
        (json.dumps(OPENAI), "gpt"),
        (json.dumps(ANTHROPIC), "claude"),
        (json.dumps(GOOGLE), "gemini"),
        (json.dumps(BEDROCK), None),
        (json.dumps(OLLAMA), "llama"),
        (STREAM, "claude"),
    ],
    ids=["openai", "anthropic", "google", "bedrock", "ollama", "stream of anthropic"],
)
def test_each_vendor_is_understood(body: str, model: str | None) -> None:
    assert usage_of([body]) == (model, 70, 7)


def test_tokens_of_several_answers_add_up_and_the_last_model_is_named() -> None:
    assert usage_of([json.dumps(OPENAI), json.dumps(ANTHROPIC)]) == ("claude", 140, 14)


@pytest.mark.parametrize(
    "body", ["", "<html>", "[]", "3", '{"usage": 3, "model": 4}', '{"usage": {"input_tokens": -1}}']
)
def test_what_says_nothing_counts_nothing(body: str) -> None:
    assert usage_of([body]) == (None, None, None)
