"""Examples that teach the model to doubt: texts that tell no cause, and words put together by chance.

Without them a word that happens to stand in some failures settles any sentence that it stands in. Each of these counts
for every category, and for and against another try, alike ("outlier exposure", arXiv 1812.04606).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from airflow_common_ai.classifier.model import CATEGORIES
from airflow_common_ai.classifier.training import Example
from airflow_common_ai.evidence.redaction import Redactor
from tools.training.made_up import Phrase, example_of
from tools.training.word_vectors import read_vectors

__all__ = ["NO_CAUSE", "no_cause_examples", "read_lines"]

NO_CAUSE = Path(__file__).parent / "no_cause.txt"

_BY_CHANCE = 600
_LENGTHS = (3, 12)
"""Between which the number of words lies."""
_WEIGHT = 2.0
"""Of each text, beside 1 for a recorded failure. Chosen on ``dev``, by library."""


def read_lines(path: Path = NO_CAUSE) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]


def no_cause_examples(seed: int = 0) -> Iterator[Example]:
    """Yield the examples, one for each text and category; the same ones for the same seed."""
    chance = random.Random(seed)
    redactor = Redactor()
    words = sorted(read_vectors())
    by_chance = (" ".join(chance.choices(words, k=chance.randint(*_LENGTHS))) for _ in range(_BY_CHANCE))
    for text in (*read_lines(), *by_chance):
        phrase = Phrase(text, CATEGORIES[0], "either", ())
        example = example_of(phrase, _WEIGHT / len(CATEGORIES), chance, redactor)
        yield from (replace(example, category=category) for category in CATEGORIES)
