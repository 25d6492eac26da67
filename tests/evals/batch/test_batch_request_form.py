"""What the operator can ask as a policy would, and what it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from airflow.providers.common.ai.batch.base import BatchRequest
from airflow.providers.common.ai.operators.llm_batch import LLMBatchOperator

from airflow_common_ai.evals.batch.request_form import request_of

CHAT = {
    "model": "gpt-4o",
    "stream": False,
    "messages": [{"role": "system", "content": "judge"}, {"role": "user", "content": "{{ this }}"}],
    "max_completion_tokens": 512,
    "max_tokens": 512,
    "response_format": {"type": "json_schema"},
    "temperature": 0.0,
}
MESSAGE = {
    "model": "claude",
    "system": [{"type": "text", "text": "judge"}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "this"}]}],
    "max_tokens": 512,
    "tools": [{"name": "final_result"}],
}


def test_the_schema_of_the_answer_and_all_settings_go_along() -> None:
    assert request_of("/v1/chat/completions", CHAT) == {
        "model": "openai:gpt-4o",
        "system_prompt": "judge",
        "prompt": "{{ this }}",
        "max_tokens": 512,
        "params": {"response_format": {"type": "json_schema"}, "temperature": 0.0},
    }
    assert request_of("/v1/messages", MESSAGE) == {
        "model": "anthropic:claude",
        "prompt": "this",
        "max_tokens": 512,
        "params": {"system": MESSAGE["system"], "tools": MESSAGE["tools"]},
    }


@pytest.mark.parametrize(("path", "body"), [("/v1/chat/completions", CHAT), ("/v1/messages", MESSAGE)])
def test_the_operator_takes_it(path: str, body: dict[str, Any]) -> None:
    request = request_of(path, body)
    assert request.keys() <= BatchRequest.__annotations__.keys()
    assert LLMBatchOperator._normalize_requests([request]) == [request]


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("/v1/responses", {"model": "gpt-5"}, "Name the model 'openai-chat:gpt-5' in its connection"),
        ("/v1beta/models/gemini:generateContent", {}, "has no batch API"),
        (
            "/chat/completions",
            CHAT | {"messages": [*CHAT["messages"], {"role": "user", "content": "and"}]},
            "more than",
        ),
        ("/chat/completions", CHAT | {"messages": [{"role": "developer"}, {"role": "user"}]}, "more than a system"),
        ("/chat/completions", CHAT | {"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "more than"),
        ("/v1/messages", MESSAGE | {"messages": MESSAGE["messages"] * 2}, "more than one prompt"),
        (
            "/v1/messages",
            MESSAGE | {"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}]}]},
            "more than a text",
        ),
    ],
)
def test_what_it_cannot_ask_exactly_is_refused(path: str, body: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        request_of(path, body)
