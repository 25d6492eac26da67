"""A stable name for a configured policy, so that several policies of one task keep apart in the record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from pathlib import Path

from airflow.sdk.definitions.retry_policy import RetryRule

from airflow_common_ai.policies.categories import FailureCategory
from airflow_common_ai.policies.evidence_policy import EvidenceRetryPolicy
from airflow_common_ai.policies.rules import FailureRule

__all__ = ["policy_id"]


def policy_id(policy: object) -> str:
    """
    Return the class name and a digest of the options; equal in every process for an equal configuration.

    The weights of the classifier count, not where their file is.
    """
    options = dict(vars(policy))
    if isinstance(policy, EvidenceRetryPolicy):
        options["classifier"] = _weights(policy.classifier)
    digest = hashlib.sha256(repr(_stable(options)).encode()).hexdigest()[:8]
    return f"{type(policy).__name__}-{digest}"


def _weights(classifier: bool | str) -> str:
    if classifier is False:
        return "none"
    from airflow_common_ai.classifier.classifier import SHIPPED
    from airflow_common_ai.classifier.version import version_of

    try:
        return version_of(SHIPPED if classifier is True else Path(classifier))
    except OSError:
        return f"unreadable {classifier}"  # the decision is made without it, which is another policy


def _stable(value: object) -> object:
    """Plain data without addresses: the repr of a function differs from process to process."""
    if isinstance(value, str | int | float | timedelta | Enum | None | FailureCategory):
        return value
    if isinstance(value, Mapping):
        return {key: _stable(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_stable(item) for item in value]
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        return f"{getattr(value, '__module__', '')}.{name}"
    if isinstance(value, FailureRule | RetryRule):
        return {name: _stable(item) for name, item in sorted(vars(value).items()) if not name.startswith("_")}
    return type(value).__qualname__  # a stranger's object is not walked: it may be huge, or refer to itself
