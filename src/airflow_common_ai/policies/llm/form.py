"""In which form a model answers a question best, and with which settings, read from its profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from airflow_common_ai.policies.llm.call import Form, Question

__all__ = ["forms_of", "output_spec", "prompt_for", "settings_for"]

THINKING_TOKENS = 2048
"""Allowed beside the answer to a model that cannot answer without thinking: its thoughts count as output."""

_JSON_AND_NOTHING_ELSE = "Answer with the JSON object, and nothing else."
"""The last word, since a small model goes by that: by the schema in the instructions alone it answered with a word.
Source: measured with Qwen2.5-Coder 0.5B."""

_EFFORT_OFF = "none"

_OPENAI_ITSELF = ("openai.com", "openai.azure.com")
"""Hosts that refuse ``max_tokens`` beside ``max_completion_tokens``."""


def forms_of(model: Model) -> tuple[Form, ...]:
    """
    Return the forms that a model may be asked in, best first.

    A grammar-held JSON schema first, since small models ramble in tool calls; the tool call where the server refuses
    that. A model without text output is a decision model: it takes a typed question and answers no schema.
    """
    profile: Mapping[str, Any] = model.profile
    if not profile.get("supports_text_output", True):
        return ("decision",)
    if profile.get("supports_json_schema_output", False):
        return ("json_schema", "tool")
    if _is_stand_in_for_claude(model):
        return ("prompted", "tool")
    return ("tool",)


def output_spec(form: Form, question: Question) -> Any:
    """Return the ``output_type`` of an agent that asks in this form."""
    from pydantic_ai import Choices, NativeOutput, PromptedOutput, ToolOutput

    if form == "decision":
        return Choices(dict(question.choices), name="category")
    if form == "json_schema":
        return NativeOutput(question.output_type)
    if form == "prompted":
        return PromptedOutput(question.output_type)
    return ToolOutput(question.output_type)


def prompt_for(form: Form, question: Question) -> str:
    """Return what is said in this form after the instructions."""
    return f"{question.prompt} {_JSON_AND_NOTHING_ELSE}" if form == "prompted" else question.prompt


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
    if not _is_a(model, "OpenAIChatModel"):
        return False
    return not (urlsplit(model.base_url or "").hostname or "").endswith(_OPENAI_ITSELF)


def _is_stand_in_for_claude(model: Model) -> bool:
    """
    Return whether another model answers in Anthropic's form, as local servers let it: a tool call may not be forced.

    Ollama has no ``tool_choice`` there (docs.ollama.com/api/anthropic-compatibility). llama.cpp's grammar allows any
    text before the call and no end without one, so that a small model writes on until its tokens are spent; asked in
    the prompt for JSON, the same model answers at once. Source: measured with Qwen2.5-Coder 0.5B; the first half with
    1.5B too.
    """
    return _is_a(model, "AnthropicModel") and "claude" not in model.model_name.casefold()


def _is_a(model: Model, class_name: str) -> bool:
    """By name: importing the class costs a second where another library is spoken to."""
    return class_name in {cls.__name__ for cls in type(model).__mro__}
