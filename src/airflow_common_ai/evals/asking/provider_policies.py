"""What the Common AI provider's policies say about their decisions: in the reason's form, and in their log.

Neither ``RetryDecision`` nor its reason tells whether a model answered or a rule stood in for it; the log does.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from airflow.sdk.definitions.retry_policy import RetryAction, RetryDecision, RetryPolicy

from airflow_common_ai.evidence.type_path import type_path

__all__ = ["ProviderLog", "Said", "is_provider_policy", "listening", "said_in"]

_MODULE = "airflow.providers.common.ai.policies.retry"
_POLICIES = ("ClassifierRetryPolicy", "LLMRetryPolicy")

_ESCALATED = re.compile(r"escalated \((?P<why>\w+)\)(?:; (?P<inner>.*))?", re.DOTALL)
_FELL_BACK = re.compile(r"classifier answer not applied \((?P<why>\w+)\); .*", re.DOTALL)
_CLASSIFIED = re.compile(
    r"category=(?P<category>.+?) confidence=(?P<confidence>n/a|[\d.]+) threshold=(?:n/a|[\d.]+)(?: action=\w+.*)?",
    re.DOTALL,
)
_EXPLAINED = re.compile(r"(?P<category>[^:\n]{1,60}): .*", re.DOTALL)
"""``category: reasoning``, which a rule's own reason may look like as well."""

_LLM_FAILED = "LLM retry classification failed"
_CLASSIFIER_FAILED = "Classifier retry classification failed"
_NOT_APPLIED = "Classifier answer not applied"


@dataclass(frozen=True, slots=True)
class Said:
    """Who decided, and what about."""

    source: str
    """``llm``, ``classifier``, ``fallback_rules`` or ``default``."""
    category: str | None = None
    confidence: float | None = None
    votes: tuple[dict[str, Any], ...] = ()
    error: str | None = None
    """Why a model did not answer; as it was raised, not redacted."""


@dataclass
class ProviderLog:
    """What the policies logged while one case was asked about."""

    records: list[logging.LogRecord] = field(default_factory=list)

    def find(self, start: str) -> logging.LogRecord | None:
        return next((record for record in self.records if str(record.msg).startswith(start)), None)


def is_provider_policy(policy: RetryPolicy) -> bool:
    """Whether it is one of the provider's, which is not imported to find out."""
    module = sys.modules.get(_MODULE)
    return module is not None and isinstance(policy, tuple(getattr(module, name) for name in _POLICIES))


class _Listener(logging.Handler):
    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__(logging.INFO)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)


@contextmanager
def listening() -> Iterator[ProviderLog]:
    """Collect what the provider's policies log, and let it go nowhere else."""
    heard = ProviderLog()
    handler = _Listener(heard.records)
    logger = logging.getLogger(_MODULE)
    level, switches = logger.level, (logger.propagate, logger.disabled)
    logger.setLevel(logging.INFO)
    logger.propagate, logger.disabled = False, False
    logger.addHandler(handler)
    try:
        yield heard
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate, logger.disabled = switches


def said_in(decision: RetryDecision, heard: ProviderLog) -> Said:
    """Return what a decision rests on, as far as its reason and the log tell."""
    llm_failure, classifier_failure = heard.find(_LLM_FAILED), heard.find(_CLASSIFIER_FAILED)
    votes = tuple(_votes(heard))
    error = "; ".join(_raised(record) for record in (classifier_failure, llm_failure) if record is not None) or None
    floor = "default" if decision.action is RetryAction.DEFAULT else "fallback_rules"
    reason = decision.reason or ""
    if escalated := _ESCALATED.fullmatch(reason):
        reason = escalated["inner"] or ""
    elif _FELL_BACK.fullmatch(reason):
        return Said(floor, votes=votes, error=error)
    if classified := _CLASSIFIED.fullmatch(reason):
        return Said("classifier", classified["category"], _number(classified["confidence"]), votes, error)
    if llm_failure is None and floor != "default" and (explained := _EXPLAINED.fullmatch(reason)):
        return Said("llm", explained["category"], votes=votes, error=error)
    return Said(floor, votes=votes, error=error)


def _votes(heard: ProviderLog) -> Iterator[dict[str, Any]]:
    """Yield what a classifier answered and was not sure enough of."""
    record = heard.find(_NOT_APPLIED)
    arguments = record.args if record is not None else ()
    if isinstance(arguments, tuple) and len(arguments) > 1:
        answer = _CLASSIFIED.fullmatch(str(arguments[1]))
        if answer:
            vote = {"tier": "classifier", "outcome": "unsure", "category": answer["category"]}
            confidence = _number(answer["confidence"])
            yield vote if confidence is None else {**vote, "confidence": confidence}


def _raised(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return "a model failed" if error is None else f"{type_path(type(error))}: {error}"


def _number(text: str) -> float | None:
    return None if text == "n/a" else min(float(text), 1.0)
