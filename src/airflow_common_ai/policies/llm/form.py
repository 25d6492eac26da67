"""In which form a model answers a question best, and with which settings, read from its profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from airflow_common_ai.policies.llm.call import Form, Question

__all__ = ["forms_of", "output_spec", "settings_for"]

THINKING_TOKENS = 2048
"""Allowed beside the answer to a model that cannot answer without thinking: its thoughts count as output."""

_EFFORT_OFF = "none"

_OPENAI_ITSELF = ("openai.com", "openai.azure.com")
"""Hosts that refuse ``max_tokens`` beside ``max_completion_tokens``."""


def forms_of(profile: Mapping[str, Any]) -> tuple[Form, ...]:
    """
    Return the forms that a model may be asked in, best first.

    A grammar-held JSON schema first, since small models ramble in tool calls; the tool call where the server refuses
    that. A model without text output is a decision model: it takes a typed question and answers no schema.
    """
    if not profile.get("supports_text_output", True):
        return ("decision",)
    if profile.get("supports_json_schema_output", False):
        return ("json_schema", "tool")
    return ("tool",)


def output_spec(form: Form, question: Question) -> Any:
    """Return the ``output_type`` of an agent that asks in this form."""
    from pydantic_ai import Choices, NativeOutput, ToolOutput

    if form == "decision":
        return Choices(dict(question.choices), name="category")
    if form == "json_schema":
        return NativeOutput(question.output_type)
    return ToolOutput(question.output_type)


def settings_for(model: Model, question: Question, timeout_s: float, *, is_plain: bool) -> dict[str, Any]:
    """
    Return the settings of one request.

    :param timeout_s: pydantic-ai's limit on the whole request; no SDK retries inside of it.
    :param is_plain: Leave out what a server may refuse: it has just refused something.
    """
    profile: Mapping[str, Any] = model.profile
    max_tokens = question.max_tokens + (THINKING_TOKENS if profile.get("thinking_always_enabled") else 0)
    settings: dict[str, Any] = {"request_timeout": timeout_s, "max_retries": 0, "max_tokens": max_tokens}
    if not is_plain:
        settings["thinking"] = False  # or as little as the model can, where it cannot do without
        if _samples_freely(profile):
            settings |= {"temperature": 0.0, "openai_logprobs": True}
        if _may_know_only_max_tokens(model):
            settings["extra_body"] = {"max_tokens": max_tokens}
    # A setting that a model does not know is ignored, with a warning in the task's log.
    return {name: value for name, value in settings.items() if name not in model.unsupported_settings}


def _samples_freely(profile: Mapping[str, Any]) -> bool:
    """Return whether temperature and token probabilities are accepted: not while a model reasons."""
    if profile.get("anthropic_disallows_sampling_settings") or profile.get("thinking_always_enabled"):
        return False
    if not profile.get("openai_supports_reasoning"):
        return True
    efforts = profile.get("openai_reasoning_efforts")
    if efforts is not None:
        return _EFFORT_OFF in efforts
    return bool(profile.get("openai_supports_reasoning_effort_none"))


def _may_know_only_max_tokens(model: Model) -> bool:
    """
    Return whether a server may overlook the name that OpenAI's chat form has given the token cap.

    Ollama does: a model without a cap rambles on. Source: github.com/ollama/ollama/pull/14464.
    """
    # By name: importing the class costs a second where another library is spoken to.
    if "OpenAIChatModel" not in {cls.__name__ for cls in type(model).__mro__}:
        return False
    return not (urlsplit(model.base_url or "").hostname or "").endswith(_OPENAI_ITSELF)
