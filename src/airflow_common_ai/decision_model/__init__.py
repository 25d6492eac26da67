"""The embedded classifier as a decision model of pydantic-ai, for the Common AI provider's ``ClassifierRetryPolicy``.

Importing a name of it loads pydantic-ai, so nothing on the way to :mod:`airflow_common_ai.policies` does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_common_ai.decision_model.model import Abstained as Abstained
    from airflow_common_ai.decision_model.model import EmbeddedDecisionModel as EmbeddedDecisionModel
    from airflow_common_ai.decision_model.policy import EmbeddedClassifierRetryPolicy as EmbeddedClassifierRetryPolicy

_MODULES = {
    "Abstained": "airflow_common_ai.decision_model.model",
    "EmbeddedClassifierRetryPolicy": "airflow_common_ai.decision_model.policy",
    "EmbeddedDecisionModel": "airflow_common_ai.decision_model.model",
}

__all__ = ["Abstained", "EmbeddedClassifierRetryPolicy", "EmbeddedDecisionModel"]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return __all__
