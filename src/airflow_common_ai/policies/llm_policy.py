"""The retry policy that asks a language model for what the evidence leaves open.

This module is imported by every Dag file that uses the policy, at every parse: no model library is loaded before a
task has failed and a model is asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from airflow.sdk.definitions.retry_policy import RetryRule

from airflow_common_ai.policies.categories import FAIL_BAR, FailureCategory
from airflow_common_ai.policies.evidence_policy import EvidenceRetryPolicy
from airflow_common_ai.policies.rules import FailureRule

if TYPE_CHECKING:
    from airflow_common_ai.policies.ladder import Tier
    from airflow_common_ai.policies.llm.question import Questioner
    from airflow_common_ai.policies.llm.trust import TrustTable
    from airflow_common_ai.policies.settings import Mode

__all__ = ["LLMRetryPolicy"]

_LONGEST_TIMEOUT_S = 3600.0
_MAX_INSTRUCTIONS_CHARS = 16 * 1024
_MAX_CATEGORIES = 50
_TOKENS = range(64, 16_385)


class EvidenceOptions(TypedDict, total=False):
    """What :class:`EvidenceRetryPolicy` takes beside ``fallback_rules`` and ``redactor``."""

    rules: Sequence[FailureRule | RetryRule]
    categories: Mapping[str, FailureCategory]
    max_delay: timedelta | None
    max_server_delay: timedelta | None
    max_elapsed: timedelta | None
    mode: Mode | None
    classifier: bool | str | Path
    vote_always: bool
    history: bool


class LLMRetryPolicy(EvidenceRetryPolicy):
    """
    Decides from evidence first, and asks a language model about what that leaves open.

    .. code-block:: python

        @task(retries=5, retry_policy=LLMRetryPolicy(llm_conn_id="my_llm"))
        def load(): ...

    A Dag that was written for ``airflow.providers.common.ai.policies.retry.LLMRetryPolicy`` works with the import
    line changed; ``docs/migrate.md`` lists the differences.

    The model sees redacted evidence and names a category; the table of categories decides what is done. It is not
    asked where no retry is left, where a rule or a conclusive signal has decided, or where it was asked about the
    very same failure in an earlier try. Its word alone may retry a task. To fail one it takes a hint in the evidence
    that points the same way, or ``trust``.

    :param llm_conn_id: The Airflow connection of the model; its fallback connections are tried too.
    :param model_id: The model, e.g. ``ollama:llama3.2``. ``None``: the connection's own.
    :param instructions: What the model is told to do, in place of our own. The categories and how to answer are
        always added; name categories of your own in ``categories``.
    :param fallback_rules: Rules for what nothing else has settled, also because no model answered. What they retry,
        no model fails.
    :param timeout: Seconds, from the moment that Airflow has handed over the connections, after which the decision
        is made without the model, whatever its servers do. 30: what a cold local model may need.
    :param redactor: A function from text to text that removes more than the built-in redaction does.
    :param redact_exception: Accepted for the Common AI provider's sake; redaction cannot be turned off.
    :param max_exception_length: Characters of the exceptions' texts in the question, all of them together.
    :param include_traceback: Send the frames of the traceback too: files, functions, source lines, redacted.
    :param evidence_first: ``False`` asks the model about every failure that no rule settles, to compare its answers
        with the evidence in the record. A conclusive signal still decides.
    :param min_confidence: The bar for categories without one of their own. It cannot lower the bar of a category
        that fails a task. ``None``: 0.9 to fail, 0.6 to retry.
    :param extra_instructions: Added to the instructions, e.g. what the error texts of your stack mean.
    :param max_tokens: Tokens that the model may spend on the answer.
    :param trust: A file in which an evaluation run has measured this very model and question, so that its word alone
        may fail a task; see ``docs/llm-policy.md``.
    :param store_prompt: Keep what the model is told of a failure, redacted, in the record, to see why it answers as
        it does. Off, since everybody who may look at the task may read the record.
    :param options: All other options of :class:`EvidenceRetryPolicy`.
    :raises TypeError: An argument has the wrong type; raised when the Dag is parsed.
    :raises ValueError: An argument is out of range, or the trust file is not valid; raised when the Dag is parsed.
    """

    def __init__(
        self,
        llm_conn_id: str,
        model_id: str | None = None,
        instructions: str | None = None,
        fallback_rules: Sequence[FailureRule | RetryRule] | None = None,
        timeout: float = 30.0,
        *,
        redactor: Callable[[str], str] | None = None,
        redact_exception: bool = True,
        max_exception_length: int = 4096,
        include_traceback: bool = False,
        evidence_first: bool = True,
        min_confidence: float | None = None,
        extra_instructions: str | None = None,
        max_tokens: int = 512,
        trust: str | Path | None = None,
        store_prompt: bool = False,
        **options: Unpack[EvidenceOptions],
    ) -> None:
        super().__init__(fallback_rules=fallback_rules or (), redactor=redactor, **options)
        name = type(self).__name__
        self.llm_conn_id = _check_id(llm_conn_id, f"{name}.llm_conn_id", "my_llm")
        self.model_id = None if model_id is None else _check_id(model_id, f"{name}.model_id", "openai:gpt-5-mini")
        self.instructions = _check_text(instructions, f"{name}.instructions")
        self.extra_instructions = _check_text(extra_instructions, f"{name}.extra_instructions")
        self.timeout = _check_timeout(timeout, f"{name}.timeout")
        self.max_exception_length = _check_count(max_exception_length, f"{name}.max_exception_length", 1, None, 4096)
        self.max_tokens = _check_count(max_tokens, f"{name}.max_tokens", _TOKENS[0], _TOKENS[-1], 512)
        self.include_traceback = _check_flag(include_traceback, f"{name}.include_traceback")
        self.evidence_first = _check_flag(evidence_first, f"{name}.evidence_first")
        self.min_confidence = _check_confidence(min_confidence, f"{name}.min_confidence")
        self.categories = _with_bars(self.categories, self.min_confidence)
        if len(self.categories) > _MAX_CATEGORIES:
            raise ValueError(f"{name}.categories must be at most {_MAX_CATEGORIES}, got {len(self.categories)}.")
        self.trust = _read_trust(trust, f"{name}.trust")
        self.store_prompt = _check_flag(store_prompt, f"{name}.store_prompt")
        if not _check_flag(redact_exception, f"{name}.redact_exception"):
            if redactor is not None:
                raise ValueError(f"{name}.redactor and redact_exception=False contradict each other. Drop the latter.")
            _warn(f"{name}.redact_exception=False is ignored: nothing unredacted leaves the worker. Drop it.")
        if self.instructions and "categories" not in options:
            _warn(
                f"{name}.instructions are given without categories: whatever names they teach, the model answers one "
                f"of {', '.join(self.categories)}. Name your own in categories={{'queued': FailureCategory('…')}}."
            )

    def tiers(self) -> list[Tier]:
        """Return the rungs of the ladder, cheapest first."""
        from airflow_common_ai.policies.tiers.llm import LLMTier

        rules, *evidence, repeat, fallback = super().tiers()
        model = LLMTier(self, fallback)
        asked = [*evidence, model] if self.evidence_first else [model, *evidence]
        return [rules, *asked, repeat, fallback]

    def questioner(self) -> Questioner:
        """Return what puts this policy's question; its hashes are what a trust table is measured for."""
        from airflow_common_ai.policies.llm.question import INSTRUCTIONS, Questioner

        return Questioner(
            self.categories,
            self.instructions or INSTRUCTIONS,
            self.extra_instructions or "",
            self.max_exception_length,
            self.max_tokens,
            has_frames=self.include_traceback,
        )


def _with_bars(categories: dict[str, FailureCategory], min_confidence: float | None) -> dict[str, FailureCategory]:
    if min_confidence is None:
        return categories
    return {
        name: row
        if row.min_confidence is not None
        else replace(row, min_confidence=min_confidence if row.retry else max(min_confidence, FAIL_BAR))
        for name, row in categories.items()
    }


def _read_trust(path: object, name: str) -> TrustTable | None:
    if path is None:
        return None
    if not isinstance(path, str | Path):
        raise TypeError(f"{name} must be the path of a trust file or None, got {path!r}. Use e.g. '/opt/trust.json'.")
    from airflow_common_ai.policies.llm.trust import read_trust

    return read_trust(path)


def _check_id(value: object, name: str, example: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError(f"{name} must be a text, got {value!r}. Use e.g. {example!r}.")
    return value


def _check_text(value: object, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a text or None, got {type(value).__name__}.")
    if value is not None and len(value) > _MAX_INSTRUCTIONS_CHARS:
        raise ValueError(f"{name} must have at most {_MAX_INSTRUCTIONS_CHARS} characters, got {len(value)}.")
    return value if value and value.strip() else None


def _check_timeout(value: object, name: str) -> float:
    problem = f"{name} must be a positive number of seconds, at most an hour, got {value!r}. Use e.g. timeout=30."
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(problem)
    if not 0 < value <= _LONGEST_TIMEOUT_S:
        raise ValueError(problem)
    return float(value)


def _check_count(value: object, name: str, low: int, high: int | None, example: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, got {value!r}. Use e.g. {example}.")
    if value < low or (high is not None and value > high):
        bounds = f"from {low}" if high is None else f"between {low} and {high}"
        raise ValueError(f"{name} must be {bounds}, got {value!r}. Use e.g. {example}.")
    return value


def _check_flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return value


def _check_confidence(value: object, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number between 0 and 1 or None, got {value!r}. Use e.g. 0.8.")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}. Use e.g. 0.8.")
    return float(value)


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=3)
