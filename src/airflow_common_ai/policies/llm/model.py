"""Ask one model one question, through the hook that its connection type belongs to.

Runs in a thread of its own: nothing here talks to Airflow's supervisor. The libraries are imported here, inside
functions, so that the time which that takes counts within the limit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from airflow.sdk.definitions.connection import Connection
from airflow.sdk.exceptions import AirflowException

from airflow_common_ai.policies.llm.connections import FetchedConnection, ModelChain
from airflow_common_ai.policies.llm.endpoint import is_refused
from airflow_common_ai.policies.llm.form import forms_of, output_spec, prompt_for, settings_for
from airflow_common_ai.policies.llm.response_guard import guard_responses

if TYPE_CHECKING:
    from airflow.providers.common.ai.hooks.pydantic_ai import PydanticAIHook
    from pydantic_ai.agent import AgentRunResult
    from pydantic_ai.messages import ModelResponse

    from airflow_common_ai.policies.llm.call import Form, Question, Reply

__all__ = ["ask_model"]

RE_PROMPTS = 1
"""How often a model whose answer does not fit is told so."""

_REFUSALS = frozenset({400, 422})
"""What servers answer to a form or a setting that they do not know; 404 and 405 mean the whole endpoint."""


async def ask_model(chain: ModelChain, connection: FetchedConnection, question: Question, ends_at: float) -> Reply:
    """
    Return the answer of the model behind one connection of the chain.

    :param ends_at: When the answer is of no use any more, on the clock of ``time.monotonic``.
    :raises Exception: Whatever keeps it from answering.
    """
    if await is_refused(connection.host):
        raise ConnectionRefusedError
    hook = _hook(chain, connection)
    model = hook.get_conn()
    async with model:
        guard_responses(model)
        forms = forms_of(model)
        *tries, last = [(forms[0], False), *((form, True) for form in forms)]
        for form, is_plain in tries:
            try:
                return await _answer(hook, connection, question, form, ends_at, is_plain=is_plain)
            except Exception as error:
                if not _is_refusal(error):
                    raise
        return await _answer(hook, connection, question, last[0], ends_at, is_plain=last[1])


async def _answer(
    hook: PydanticAIHook,
    connection: FetchedConnection,
    question: Question,
    form: Form,
    ends_at: float,
    *,
    is_plain: bool,
) -> Reply:
    from airflow_common_ai.policies.llm.call import Reply

    started = time.monotonic()
    agent: Any = hook.create_agent(
        output_spec(form, question), instructions=question.instructions, retries={"output": RE_PROMPTS, "tools": 0}
    )
    settings = settings_for(hook.get_conn(), question, max(ends_at - started, 0.0), is_plain=is_plain)
    result = await agent.run(prompt_for(form, question), model_settings=settings)
    response = result.response
    return Reply(
        output=result.output,
        model_name=response.model_name or "",
        conn_id=connection.conn_id,
        conn_type=connection.conn_type or "",
        provider_details=_provider_details(response),
        input_tokens=result.usage.input_tokens or None,
        output_tokens=result.usage.output_tokens or None,
        seconds=time.monotonic() - started,
        form=form,
        cost_usd=_cost_usd(result),
    )


def _hook(chain: ModelChain, connection: FetchedConnection) -> PydanticAIHook:
    from airflow.providers.common.ai.hooks.pydantic_ai import PydanticAIHook

    # The hook's class follows from the type alone; the secrets come with the fetched connection below.
    bare = Connection(conn_id=connection.conn_id, conn_type=connection.conn_type)
    try:
        hook = bare.get_hook()  # type: ignore[no-untyped-call]  # Airflow's
    except AirflowException:
        raise ValueError(f"Airflow knows no connections of type {connection.conn_type!r}") from None
    if not isinstance(hook, PydanticAIHook):
        raise ValueError(f"the connection's type {connection.conn_type!r} is none of Pydantic AI's")
    hook.get_connection = lambda conn_id: connection  # type: ignore[method-assign]  # it has been fetched
    hook.fallback_conn_ids = []  # the chain is ours to walk
    hook.model_id = _model_id(chain, connection)
    return hook


def _model_id(chain: ModelChain, connection: FetchedConnection) -> str | None:
    """
    Return the model to ask for where the connection's own is not meant.

    As the hook does it for its fallbacks: one without a model takes the first connection's, if that is a bare name,
    which each platform completes with its own prefix.
    """
    first = chain.links[0].connection
    if first is None or connection.conn_id == first.conn_id:
        return chain.model_id
    if connection.extra_dejson.get("model"):
        return None
    name = chain.model_id or first.extra_dejson.get("model")
    is_same_platform = first.conn_type == connection.conn_type
    if not isinstance(name, str) or _names_a_platform(name) or (":" in name and not is_same_platform):
        return None
    return name


def _names_a_platform(model_id: str) -> bool:
    from pydantic_ai.providers import infer_provider_class

    prefix, colon, _ = model_id.partition(":")
    if not colon:
        return False
    try:
        infer_provider_class(prefix)
    except ImportError:
        return True
    except ValueError:
        return False
    return True


def _is_refusal(error: Exception) -> bool:
    from pydantic_ai.exceptions import ModelHTTPError

    return isinstance(error, ModelHTTPError) and error.status_code in _REFUSALS


def _provider_details(response: ModelResponse) -> dict[str, Any]:
    """Return what the provider told beside the answer; OpenAI's Responses API keeps probabilities in the parts."""
    details = dict(response.provider_details or {})
    if "logprobs" not in details:
        of_parts = [getattr(part, "provider_details", None) for part in response.parts]
        logprobs = [each for found in of_parts if isinstance(found, Mapping) for each in found.get("logprobs") or ()]
        if logprobs:
            details["logprobs"] = logprobs
    return details


def _cost_usd(result: AgentRunResult[Any]) -> float | None:
    """Return what all requests cost, where the price of the model is known."""
    from pydantic_ai.messages import ModelResponse

    responses = [message for message in result.all_messages() if isinstance(message, ModelResponse)]
    with suppress(Exception):  # an unknown model, an unknown provider, no usage
        return sum(float(response.cost().total_price) for response in responses)
    return None
