"""Retry policies that know why a task failed.

The SDK's own types stand here beside ours, so that one import line is enough. Names load when they are used:
a Dag file that imports this module does not pay for what it does not use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import ChainRetryPolicy as ChainRetryPolicy
    from airflow.sdk.definitions.retry_policy import (
        ExceptionRetryPolicy as ExceptionRetryPolicy,
    )
    from airflow.sdk.definitions.retry_policy import (
        RetryAction as RetryAction,
    )
    from airflow.sdk.definitions.retry_policy import (
        RetryDecision as RetryDecision,
    )
    from airflow.sdk.definitions.retry_policy import (
        RetryPolicy as RetryPolicy,
    )
    from airflow.sdk.definitions.retry_policy import (
        RetryRule as RetryRule,
    )

    from airflow_common_ai.policies.categories import (
        DEFAULT_CATEGORIES as DEFAULT_CATEGORIES,
    )
    from airflow_common_ai.policies.categories import (
        FailureCategory as FailureCategory,
    )
    from airflow_common_ai.policies.error_classification import ErrorClassification as ErrorClassification
    from airflow_common_ai.policies.evidence_policy import EvidenceRetryPolicy as EvidenceRetryPolicy
    from airflow_common_ai.policies.llm_policy import LLMRetryPolicy as LLMRetryPolicy
    from airflow_common_ai.policies.rules import FailureRule as FailureRule

_MODULES = {
    "ChainRetryPolicy": "airflow.providers.common.compat.sdk",
    "DEFAULT_CATEGORIES": "airflow_common_ai.policies.categories",
    "ErrorClassification": "airflow_common_ai.policies.error_classification",
    "EvidenceRetryPolicy": "airflow_common_ai.policies.evidence_policy",
    "ExceptionRetryPolicy": "airflow.sdk.definitions.retry_policy",
    "FailureCategory": "airflow_common_ai.policies.categories",
    "FailureRule": "airflow_common_ai.policies.rules",
    "LLMRetryPolicy": "airflow_common_ai.policies.llm_policy",
    "RetryAction": "airflow.sdk.definitions.retry_policy",
    "RetryDecision": "airflow.sdk.definitions.retry_policy",
    "RetryPolicy": "airflow.sdk.definitions.retry_policy",
    "RetryRule": "airflow.sdk.definitions.retry_policy",
}

__all__ = [
    "DEFAULT_CATEGORIES",
    "ChainRetryPolicy",
    "ErrorClassification",
    "EvidenceRetryPolicy",
    "ExceptionRetryPolicy",
    "FailureCategory",
    "FailureRule",
    "LLMRetryPolicy",
    "RetryAction",
    "RetryDecision",
    "RetryPolicy",
    "RetryRule",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return __all__
