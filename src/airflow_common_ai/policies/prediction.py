"""Ask the embedded model, which is loaded once a process, and never let a fault of it fail a decision."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_common_ai.policies.own_fault import log_own_fault, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from airflow_common_ai.classifier import Classifier, Prediction
    from airflow_common_ai.evidence.model import RedactedEvidence, Signal

__all__ = ["predict"]

log = logging.getLogger(__name__)


def predict(classifier: bool | str, evidence: RedactedEvidence, signals: Sequence[Signal]) -> Prediction | None:
    """
    Return what the model says about a failure; ``None`` if it abstains, is switched off or cannot be used.

    :param classifier: ``True`` for the shipped model, ``False`` for none, else the path of one.
    """
    if not classifier:
        return None
    from airflow_common_ai.classifier import UnusableModel

    try:
        return _loaded(classifier if isinstance(classifier, str) else None).predict(evidence, signals)
    except UnusableModel as fault:  # a model that is gone on the worker costs its vote, not the decision
        say(log, logging.WARNING, "%s Decided without the classifier.", fault)
    except Exception as fault:  # noqa: BLE001 - as above
        log_own_fault(fault)
    return None


@lru_cache(maxsize=8)
def _loaded(path: str | None) -> Classifier:
    from airflow_common_ai.classifier import Classifier

    return Classifier.load(None if path is None else Path(path))
