"""What the tests of asking a model share: a question, connections, a long limit."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from airflow_common_ai.policies.deadline import THREAD_NAME
from airflow_common_ai.policies.llm.call import Question

LONG_S = 60.0
"""A limit that strikes only if the test is about to fail."""

SHORT_S = 0.5
"""A limit that is meant to strike."""

API_KEY = "sk-the-very-secret-key-0123456789"


class Answer(BaseModel):
    """A small closed answer."""

    reasoning: str = Field(max_length=80)
    category: Literal["network", "auth", "data"]


GOOD = {"reasoning": "the peer closed it", "category": "network"}

QUESTION = Question(
    instructions="Name the category.",
    prompt="ConnectionResetError: [Errno 104]",
    output_type=Answer,
    choices={"network": "It did not get through.", "auth": "It was not let in.", "data": "It was malformed."},
    max_tokens=200,
)


def connect(monkeypatch: pytest.MonkeyPatch, conn_id: str, url: str | None, model: str | None, **extra: Any) -> None:
    """Define a connection as a user would, in the environment."""
    if model is not None:
        extra["model"] = model
    definition = {"conn_type": extra.pop("conn_type", "pydanticai"), "host": url, "password": API_KEY, "extra": extra}
    monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps(definition))


def helpers() -> list[threading.Thread]:
    """Return the threads that have been started to ask models."""
    return [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_NAME)]


def wait_until(condition: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.01)
