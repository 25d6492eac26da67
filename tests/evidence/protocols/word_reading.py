"""How the tests of the text reader look at a message: as the only thing that is known of a failure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime

from airflow_common_ai.evidence.model import RedactedNode, Signal
from airflow_common_ai.evidence.protocols.text import reader as text

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def read_message(
    message: str, *, notes: tuple[str, ...] = (), type_path: str = "airflow.sdk.exceptions.AirflowException"
) -> list[Signal]:
    """Return what the words of a message say, the strongest first."""
    return list(text.read(RedactedNode(type_path, message=message, notes=notes), NOW))


def conclusive_codes(message: str) -> list[str]:
    return [signal.code.removeprefix("text.") for signal in read_message(message) if signal.is_conclusive]


def hinted_codes(message: str) -> list[str]:
    return [signal.code.removeprefix("text.") for signal in read_message(message) if not signal.is_conclusive]


def sayings(phrase: str, limit: int = 12) -> Iterator[str]:
    """Write a phrase out in full: one saying for each way to choose its words."""
    fillers = {"*": ['"thing"'], "...": ["", "the other"], "#": ["5"], ",": [","]}
    choices = [
        fillers.get(token) or [*token.rstrip("?").split("|"), *([""] if token.endswith("?") else [])]
        for token in phrase.split()
    ]
    for words in itertools.islice(itertools.product(*choices), limit):
        yield " ".join(filter(None, words)).replace(" ,", ",")
