"""A model that answers what a test says, behind a real server on loopback and a real connection."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

# The libraries that speak to models are imported before a test asks one: that counts within the limit of the policy.
from airflow.providers.common.ai.hooks.pydantic_ai import PydanticAIHook
from loopback.llm_server import ANTHROPIC, OPENAI, Json, LlmServer, Manner, Wire, serving_llm
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel

from airflow_common_ai.policies import LLMRetryPolicy, RetryDecision
from airflow_common_ai.policies.llm.trust import Precision, TrustTable

IMPORTED = (AnthropicModel, OpenAIChatModel, PydanticAIHook)

CONN_ID = "scripted"
API_KEY = "k3y-0f-the-scripted-model"


def _certain(request: Json, arguments: Json) -> Json:
    body = OPENAI.body(request, arguments)
    for token in (body["choices"][0].get("logprobs") or {"content": []})["content"]:
        token["logprob"] = 0.0
    return body


CERTAIN = replace(OPENAI, name="certain", body=_certain)
"""Gives every token of its answer a probability of 1."""


def _stating(request: Json, arguments: Json) -> Json:
    return {**ANTHROPIC.body(request, arguments), "model": "a-model-as-served"}


STATING = replace(ANTHROPIC, name="stating", model="anthropic:claude-3-5-haiku-latest", body=_stating)
"""Gives no token probabilities: what counts is what it says of itself."""

UNHELD = ANTHROPIC
"""As that, and answers a prompt for JSON, with nothing that holds it to the question."""


@contextlib.contextmanager
def connected(*manners: Manner, wire: Wire = CERTAIN) -> Iterator[LlmServer]:
    """Serve, and let the connection ``scripted`` point there."""
    with serving_llm(*manners) as server:
        connection = {
            "conn_type": "pydanticai",
            "host": server.url + wire.path,
            "password": API_KEY,
            "extra": {"model": wire.model},
        }
        name = f"AIRFLOW_CONN_{CONN_ID.upper()}"
        os.environ[name] = json.dumps(connection)
        try:
            yield server
        finally:
            del os.environ[name]


@contextlib.contextmanager
def saying(wire: Wire = CERTAIN, **fields: Any) -> Iterator[LlmServer]:
    """Serve a model that always gives this answer."""
    with connected(wire.answers(answer(**fields)), wire=wire) as server:
        yield server


def answer(**fields: Any) -> dict[str, Any]:
    usual = {"reasoning": "it is so", "category": "network", "confidence": 95, "suggested_delay_seconds": 0}
    retried = fields.get("category", "network") in ("network", "transient", "rate_limit")
    return {**usual, "should_retry": retried, **fields}


class Store:
    """The task state store."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.calls: list[str] = []

    def get(self, key: str) -> Any:
        self.calls.append("get")
        return self.values.get(key)

    def set(self, key: str, value: Any, *, retention: timedelta) -> None:
        self.calls.append("set")
        self.values[key] = json.loads(json.dumps(value))

    @property
    def attempts(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.values["ai_retry"]["attempts"]
        return found

    @property
    def consultation(self) -> dict[str, Any]:
        """Of the newest attempt."""
        found: dict[str, Any] = self.attempts[-1]["consultation"]
        return found


def evaluate(
    policy: LLMRetryPolicy, error: BaseException, store: Store | None = None, try_number: int = 1, max_tries: int = 3
) -> RetryDecision:
    """Judge a failure without the embedded classifier, which would settle some of them before a model is asked."""
    policy.classifier = False
    context: Any = {"task_state_store": store} if store else None
    return policy.evaluate(error, try_number, max_tries, context)


def measured(policy: LLMRetryPolicy, **changes: Any) -> TrustTable:
    """What an evaluation run would have measured of the scripted model, right in 300 of 300 cases."""
    hashes = policy.questioner().hashes
    table = TrustTable(
        model="a-model-as-served",
        conn_type="pydanticai",
        prompt_sha256=hashes.prompt,
        schema_sha256=hashes.schema,
        categories_sha256=hashes.categories,
        corpus_sha256="0" * 64,
        measured_at=datetime(2026, 11, 30, tzinfo=UTC),
        categories={name: Precision(300, 300) for name, row in policy.categories.items() if not row.retry},
    )
    return replace(table, **changes)


def written(table: TrustTable, folder: Path) -> Path:
    """Write a trust file."""
    path = folder / "trust.json"
    path.write_text(json.dumps(table.to_json()))
    return path
