"""Ask the models of a fallback chain one question, within one hard limit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from airflow_common_ai.evidence.type_path import built_in_name
from airflow_common_ai.policies.deadline import DeadlineExceeded, call
from airflow_common_ai.policies.llm.trouble import in_words

if TYPE_CHECKING:
    from pydantic import BaseModel

    from airflow_common_ai.policies.llm.connections import ModelChain

__all__ = ["Form", "NoReply", "Question", "Reply", "ask"]

Form = Literal["json_schema", "tool", "prompted", "decision"]
"""How the answer was asked for; ``prompted``: as JSON, with nothing that holds the model to it."""


@dataclass(frozen=True)
class Question:
    """What a model is asked. ``choices`` (category -> description) is for decision models, which answer no schema."""

    instructions: str
    prompt: str
    output_type: type[BaseModel]
    choices: Mapping[str, str]
    max_tokens: int


@dataclass(frozen=True)
class Reply:
    """What a model answered; ``output`` is a string, the chosen category, where a decision model answered."""

    output: BaseModel | str
    model_name: str
    """As the server answered, not as it was asked for."""
    conn_id: str
    conn_type: str
    provider_details: Mapping[str, Any] = field(default_factory=dict)
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float = 0.0
    form: Form = "json_schema"
    cost_usd: float | None = None
    tried: tuple[tuple[str, str], ...] = ()
    """``(conn_id, what happened)`` of the connections before the one that answered."""


@dataclass(frozen=True)
class NoReply:
    """No model answered: why, in redacted words for people."""

    reason: str
    tried: tuple[tuple[str, str], ...] = ()
    """``(conn_id, what happened)`` in the order of the chain."""


def ask(chain: ModelChain, question: Question, timeout_s: float) -> Reply | NoReply:
    """
    Ask the connections of ``chain`` in order until one answers.

    They share the one limit: while others wait behind it, a connection gets half of what is left, the last one all.

    :param timeout_s: Seconds for everything: imports, building the models, look-ups, requests, re-prompts.
    :return: After at most ``timeout_s`` + 0.25 s, and never raises an Exception.
    """
    ends_at = time.monotonic() + timeout_s
    tried: list[tuple[str, str]] = []  # shared with the thread, so that it is known when the limit strikes
    try:
        reply = call(lambda: _walk(chain, question, ends_at, tried), timeout_s)
    except DeadlineExceeded:
        reply = None
    except Exception as error:  # noqa: BLE001 - a fault of ours must not fail the task
        return NoReply(f"asking failed ({built_in_name(error)})", tuple(tried))
    if reply is not None:
        return reply
    return NoReply(_reason(tried, ends_at, timeout_s), tuple(tried))


async def _walk(chain: ModelChain, question: Question, ends_at: float, tried: list[tuple[str, str]]) -> Reply | None:
    from airflow_common_ai.policies.llm.model import ask_model

    waiting = sum(link.connection is not None for link in chain.links)
    for link in chain.links:
        if link.connection is None:
            tried.append((link.conn_id, link.problem))
            continue
        waiting -= 1
        now = time.monotonic()
        share = (ends_at - now) / 2 if waiting else ends_at - now
        before = tuple(tried)
        tried.append((link.conn_id, _no_answer_within(share)))  # what holds if the limit strikes now
        try:
            async with asyncio.timeout(share):
                reply = await ask_model(chain, link.connection, question, now + share)
                return replace(reply, tried=before)
        except Exception as error:  # noqa: BLE001 - the next connection may answer
            if time.monotonic() < now + share:
                tried[-1] = (link.conn_id, in_words(error, link.connection))
    return None


def _reason(tried: Sequence[tuple[str, str]], ends_at: float, timeout_s: float) -> str:
    if time.monotonic() >= ends_at:
        return _no_answer_within(timeout_s)
    if len(tried) == 1:
        return tried[0][1]
    return "; ".join(f"{conn_id}: {what}" for conn_id, what in tried) or "there is no connection to ask"


def _no_answer_within(seconds: float) -> str:
    return f"no answer within {round(seconds, 1):g} s"
