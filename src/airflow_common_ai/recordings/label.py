"""What should have been decided about a recorded failure, judged by those who saw neither rules nor decisions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast, get_args

from airflow_common_ai.evidence.model import CategoryName
from airflow_common_ai.recordings.corpus_file import json_lines, write_json_lines
from airflow_common_ai.recordings.fields import Fields

__all__ = ["CATEGORIES", "Label", "ShouldRetry", "read_labels", "write_labels"]

CATEGORIES: tuple[CategoryName, ...] = get_args(CategoryName)
_ID = re.compile(r"[a-z0-9_]+/[a-z0-9-]+")
_CATEGORY = re.compile("|".join(CATEGORIES))
_LONGEST_DELAY_S = 366 * 86400.0


class ShouldRetry(StrEnum):
    YES = "yes"
    NO = "no"
    EITHER = "either"
    """Truly arguable: either decision is right."""


@dataclass(frozen=True, slots=True)
class Label:
    """The judgement on one recording."""

    id: str
    category: CategoryName
    should_retry: ShouldRetry
    delay_s: tuple[float, float] | None
    """The shortest and the longest wait that make sense, in seconds; ``None`` if it should not be retried."""
    why: str
    """In a sentence; where it was argued, the argument."""
    source: str
    """What the judgement rests on: a page of documentation, or ``reading``."""
    also: tuple[CategoryName, ...] = ()
    """Other categories that are as right."""

    def __post_init__(self) -> None:
        if self.category in self.also:
            raise ValueError(f"also must name other categories than {self.category!r}. Leave it out there.")
        if (self.delay_s is None) != (self.should_retry is ShouldRetry.NO):
            raise ValueError(
                "delay_s must be [shortest, longest] where should_retry is yes or either, and null for no."
            )
        if self.delay_s is not None and not 0 <= self.delay_s[0] <= self.delay_s[1] <= _LONGEST_DELAY_S:
            raise ValueError(f"delay_s must be [shortest, longest] in seconds, got {list(self.delay_s)}.")

    def accepts(self, category: str | None) -> bool:
        """Whether a category is right."""
        return category == self.category or category in self.also

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "category": self.category,
            **({"also": list(self.also)} if self.also else {}),
            "should_retry": self.should_retry.value,
            "delay_s": None if self.delay_s is None else [_short(bound) for bound in self.delay_s],
            "why": self.why,
            "source": self.source,
        }

    @classmethod
    def from_json(cls, data: object) -> Label:
        """
        Return the label that :meth:`to_json` wrote.

        :raises ValueError: with the field, the rule and what was found instead.
        """
        fields = Fields("a label", data)
        label = cls(
            id=fields.text("id", like=_ID, example="requests_http/429-with-retry-after"),
            category=cast(CategoryName, fields.one_of("category", CATEGORIES)),
            also=cast(tuple[CategoryName, ...], fields.texts("also", like=_CATEGORY, limit=len(CATEGORIES))),
            should_retry=ShouldRetry(fields.one_of("should_retry", [answer.value for answer in ShouldRetry])),
            delay_s=_delays(fields.take("delay_s")),
            why=fields.text("why"),
            source=fields.text("source"),
        )
        fields.nothing_else()
        return label


def read_labels(path: Path) -> dict[str, Label]:
    """
    Return the labels of a file by the id of their recording.

    :raises ValueError: with the file, the line, the rule that it breaks and what to do.
    """
    labels: dict[str, Label] = {}
    last = ""
    for number, data in json_lines(path):
        try:
            label = Label.from_json(data)
        except ValueError as fault:
            raise ValueError(f"{path}:{number}: {fault}") from None
        if label.id <= last:
            raise ValueError(
                f"{path}:{number}: ids must be sorted and each there once, got {label.id!r} after {last!r}."
            )
        last = label.id
        labels[label.id] = label
    return labels


def write_labels(path: Path, labels: Iterable[Label]) -> None:
    """Write labels, sorted by id."""
    write_json_lines(path, [label.to_json() for label in sorted(labels, key=lambda label: label.id)])


def _delays(value: object) -> tuple[float, float] | None:
    if value is None:
        return None
    if isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)):
        return float(value[0]), float(value[1])
    raise ValueError("delay_s must be null or [shortest, longest] in seconds, e.g. [30, 300].")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _short(number: float) -> float | int:
    return int(number) if number == int(number) else number
