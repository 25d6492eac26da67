"""The phrases that systems write about their failures, as data; one kind of trouble a file."""

from __future__ import annotations

from airflow_common_ai.evidence.protocols.text.patterns import access, capacity, data, locks, missing, network, rate
from airflow_common_ai.evidence.protocols.text.patterns.model import Form, Pattern, Topic, compile_phrase

__all__ = ["TOPICS", "Form", "Pattern", "Topic", "compile_phrase"]

TOPICS: tuple[Topic, ...] = (
    *network.TOPICS,
    *rate.TOPICS,
    *access.TOPICS,
    *missing.TOPICS,
    *data.TOPICS,
    *capacity.TOPICS,
    *locks.TOPICS,
)
