"""Examples that nobody recorded: hand-written phrases and vendors' catalogues, varied and wrapped as people wrap."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple, cast

from airflow_common_ai.classifier.training import Example
from airflow_common_ai.evidence.model import CategoryName, Evidence, ExceptionNode
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor
from tools.training.catalogues import read_entries

__all__ = ["PHRASES", "Phrase", "example_of", "made_up_examples", "read_phrases"]

PHRASES = Path(__file__).parent / "phrases.txt"

_COPIES = 2
"""Of each phrase, with other names and other words around it."""
_PHRASE_WEIGHT, _ENTRY_WEIGHT = 0.5, 0.3
"""Beside 1 for a recorded failure."""
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_HEADING = re.compile(r"\[(\w+) (yes|no|either)(?:: ([\w ]+))?\]")
_SLOT = re.compile(r"\{(\w+)\}")
_FILLINGS = {
    "word": ("orders", "customers", "etl", "daily_load", "sales"),
    "n": ("3", "7", "42", "100"),
    "host": ("db.internal", "10.1.2.3", "api.example.com:443"),
    "path": ("/data/in/orders.csv", "/etc/etl/key.pem"),
    "id": ("81723", "a1b2c3d4e5f6"),
}
_WRAPPINGS = (
    "{}", "{}", "Error: {}.", "Failed to load: {}", "could not finish orders: {}", "step load failed: {}",
    "{} (attempt 2)",
)  # fmt: skip
_ROOTS = ("builtins.Exception", "builtins.BaseException")
_CLASSES = (
    ("airflow.sdk.exceptions.AirflowException", ("builtins.RuntimeError", *_ROOTS)),
    ("builtins.RuntimeError", _ROOTS),
    ("__main__.LoadError", _ROOTS),
    ("vendor.errors.ClientError", _ROOTS),
    ("vendor.errors.OperationalError", ("vendor.errors.Error", *_ROOTS)),
)


class Phrase(NamedTuple):
    """One line of ``phrases.txt`` with what its heading says."""

    text: str
    category: CategoryName
    should_retry: Literal["yes", "no", "either"]
    also: tuple[CategoryName, ...]


def read_phrases(path: Path = PHRASES) -> Iterator[Phrase]:
    """
    Yield the phrases of a file.

    :raises ValueError: with the line that is no heading and stands under none.
    """
    heading: re.Match[str] | None = None
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            heading = _HEADING.fullmatch(line)
        elif heading is not None:
            category, should_retry, also = heading.groups()
            names = cast(tuple[CategoryName, ...], (category, *(also or "").split()))
            yield Phrase(line, names[0], cast(Literal["yes", "no", "either"], should_retry), names[1:])
        if heading is None:
            raise ValueError(f"{path}:{number}: a heading must be like [network yes] or [permanent either: data].")


def made_up_examples(seed: int = 0) -> Iterator[Example]:
    """Yield the examples; the same ones for the same seed."""
    chance = random.Random(seed)
    redactor = Redactor()
    for phrase in read_phrases():
        for _ in range(_COPIES):
            yield example_of(phrase, _PHRASE_WEIGHT, chance, redactor)
    for entry in read_entries():
        said = Phrase(entry.text, cast(CategoryName, entry.category), cast(Literal["yes"], entry.should_retry), ())
        yield example_of(said, _ENTRY_WEIGHT, chance, redactor)


def example_of(phrase: Phrase, weight: float, chance: random.Random, redactor: Redactor) -> Example:
    """Return a phrase with its slots filled, as an exception of one class or another."""
    text = _SLOT.sub(lambda slot: chance.choice(_FILLINGS[slot[1]]), phrase.text)
    if chance.random() < 0.5:
        text = text[0].upper() + text[1:]
    path, bases = chance.choice(_CLASSES)
    node = ExceptionNode(path, bases, chance.choice(_WRAPPINGS).format(text))
    evidence = redactor.redact(Evidence((node,), _NOW))
    return Example(
        evidence,
        read_signals(evidence),
        phrase.category,
        phrase.should_retry,
        phrase.also,
        weight,
        is_measured=False,
    )
