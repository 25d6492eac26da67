"""From the request that a policy would make to the one that ``LLMBatchOperator`` takes, or why there is none.

The operator writes the body itself: a system prompt and one user prompt, the model, the cap on tokens, and whatever
stands in ``params``. The schema of the answer goes through ``params``, and the operator is given no ``output_type``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_common_ai.sanitizer import sanitize

__all__ = ["request_of"]

_CHAT, _RESPONSES, _MESSAGES = "/chat/completions", "/responses", "/messages"
_CAP = "max_completion_tokens"
_OF_SERVERS_AT_HOME = "max_tokens"
"""The cap once more, for servers that overlook OpenAI's new name for it; the operator leaves it out."""
_MAX_CHARS = 120


def request_of(path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return what the operator makes the same request of.

    Left out is ``stream: false``, since nothing streams in a batch. Anthropic's user prompt becomes a text where it was
    a list of one text, which means the same to it (docs.anthropic.com/en/api/messages).

    :param path: Where the policy sends it.
    :param body: What it sends.
    :return: A ``BatchRequest`` that names the model.
    :raises ValueError: The operator cannot ask this: why, and what can be done.
    """
    if path.endswith(_CHAT):
        return _chat(body)
    if path.endswith(_MESSAGES):
        return _message(body)
    if path.endswith(_RESPONSES):
        model = sanitize(str(body.get("model")), _MAX_CHARS)
        raise ValueError(
            "the model is asked through OpenAI's Responses API, and batches through Chat Completions. Name the model "
            f"'openai-chat:{model}' in its connection, or in the policy."
        )
    raise ValueError(f"{sanitize(path, _MAX_CHARS)} has no batch API. Batches are for OpenAI's and Anthropic's models.")


def _chat(body: Mapping[str, Any]) -> dict[str, Any]:
    *system, user = body["messages"]
    if [one["role"] for one in system] != ["system"] or user["role"] != "user":
        raise ValueError("it is more than a system prompt and a prompt.")
    cap = body.get(_CAP)
    return {
        "model": f"openai:{body['model']}",
        "system_prompt": _text(system[0]["content"]),
        "prompt": _text(user["content"]),
        **({} if cap is None else {"max_tokens": cap}),
        "params": _without(body, "model", "messages", "stream", _CAP, _OF_SERVERS_AT_HOME),
    }


def _message(body: Mapping[str, Any]) -> dict[str, Any]:
    if [one["role"] for one in body["messages"]] != ["user"]:
        raise ValueError("it is more than one prompt.")
    return {
        "model": f"anthropic:{body['model']}",
        "prompt": _text(body["messages"][0]["content"]),
        "max_tokens": body["max_tokens"],
        "params": _without(body, "model", "messages", "stream", "max_tokens"),
    }


def _text(content: object) -> str:
    if isinstance(content, list) and len(content) == 1 and content[0].keys() == {"type", "text"}:
        content = content[0]["text"]
    if not isinstance(content, str):
        raise ValueError("it holds more than a text.")
    return content


def _without(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}
