"""How often ``LLMRetryPolicy`` would ask its model: no model is needed to count that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from airflow_common_ai.evals.asking.asker import Asker
from airflow_common_ai.policies import LLMRetryPolicy
from airflow_common_ai.policies.settings import read_settings
from airflow_common_ai.recordings.split import Split
from tools.training.corpus import Recorded, distinct
from tools.training.measures import Rate

__all__ = ["Calls", "count_calls"]

_MODEL_TIER = "llm"


@dataclass(frozen=True, slots=True)
class Calls:
    """Of the distinct failures of one split, on the first of several tries, so that a retry is possible."""

    split: Split
    by_evidence: Rate
    """Those that reach the model where the classifier is switched off."""
    with_classifier: Rate


def count_calls(recorded: Sequence[Recorded]) -> list[Calls]:
    """Return what reaches the model tier of the policy, with the shipped classifier and without."""
    alone = Asker(LLMRetryPolicy("unasked", classifier=False), read_settings())
    helped = Asker(LLMRetryPolicy("unasked"), read_settings())
    found: list[Calls] = []
    for split in Split:
        failures = distinct(recorded, split)
        found.append(Calls(split, _asked(alone, failures), _asked(helped, failures)))
    return found


def _asked(asker: Asker, failures: Sequence[Recorded]) -> Rate:
    reached = [any(vote["tier"] == _MODEL_TIER for vote in asker.ask(one.recording).votes) for one in failures]
    return Rate(sum(reached), len(reached))
