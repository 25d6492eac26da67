"""The embedded model: what a failure that the evidence leaves open most likely is, offline and in a millisecond.

Names load when they are used, as the weights do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_common_ai.classifier.classifier import Classifier as Classifier
    from airflow_common_ai.classifier.classifier import Prediction as Prediction
    from airflow_common_ai.classifier.model import UnusableModel as UnusableModel

_MODULES = {
    "Classifier": "airflow_common_ai.classifier.classifier",
    "Prediction": "airflow_common_ai.classifier.classifier",
    "UnusableModel": "airflow_common_ai.classifier.model",
}

__all__ = ["Classifier", "Prediction", "UnusableModel"]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return __all__
