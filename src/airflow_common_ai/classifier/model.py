"""The weights of a linear model, and the file that keeps them: plain JSON, so that loading one runs nothing."""

from __future__ import annotations

import base64
import binascii
import json
import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from airflow_common_ai.evidence.model import CategoryName

__all__ = [
    "CATEGORIES", "HEADS", "HOPELESS", "MAX_MODEL_BYTES", "MOST_STEPS", "SCHEMA",
    "Bars", "LinearModel", "UnusableModel",
]  # fmt: skip

CATEGORIES: tuple[CategoryName, ...] = get_args(CategoryName)
HOPELESS: frozenset[CategoryName] = frozenset({"auth", "data", "permanent", "resource"})
"""The categories that no other try helps, as a rule."""
HEADS = len(CATEGORIES) + 1
"""Numbers for each feature: one for each category, and the last for another try."""
SCHEMA = 2
"""Raised by one whenever an older file would be misread, also when the features change their meaning."""
MAX_MODEL_BYTES = 4 * 1024 * 1024
MOST_STEPS = 127
"""Weights are whole steps that fit into one byte."""
_TRAIN_AGAIN = "Train it again with this version, or leave classifier at its default."


class UnusableModel(ValueError):
    """A file that holds no model of this version; says what is wrong with it and what to do."""


@dataclass(frozen=True, slots=True)
class Bars:
    """How sure the model must be before its word may decide, chosen on failures that training did not see."""

    fail: Mapping[CategoryName, float]
    """Of each hopeless category: the least probability that it is right, and that no other try helps."""
    retry: Mapping[CategoryName, float]
    """Of each category that seems likeliest: the least probability that another try helps."""

    @property
    def is_sound(self) -> bool:
        """Whether every category has its bars, and none is below an even chance."""
        has_all = self.fail.keys() == HOPELESS and self.retry.keys() == set(CATEGORIES)
        return has_all and all(0.5 <= bar <= 1 for bars in (self.fail, self.retry) for bar in bars.values())


@dataclass(frozen=True, slots=True)
class LinearModel:
    """For each feature a weight in each head, in steps of the head's own size."""

    rows: Mapping[str, int]
    """Where the weights of a feature begin in :attr:`steps`."""
    steps: array[int]
    step_sizes: tuple[float, ...]
    intercepts: tuple[float, ...]
    confidence: tuple[float, float]
    """Slope and shift, in log-odds, from the most probable category's probability to the one that it is right: of two
    that are both right each gets a part of the probability."""
    bars: Bars
    about: Mapping[str, Any]
    """Where it comes from: hash of the data, seed, counts. Shown, never acted on."""

    @classmethod
    def of(
        cls,
        features: Sequence[str],
        weights: Sequence[Sequence[float]],
        intercepts: Sequence[float],
        confidence: tuple[float, float],
        bars: Bars,
        about: Mapping[str, Any],
    ) -> LinearModel:
        """Return a model of these weights, one row for each feature, rounded to what the file can hold."""
        sizes = tuple(
            float(f"{max((abs(row[head]) for row in weights), default=0.0) / MOST_STEPS or 1.0:.6g}")
            for head in range(HEADS)
        )
        kept: dict[str, list[int]] = {}
        for feature, row in sorted(zip(features, weights, strict=True)):
            steps = [round(weight / size) for weight, size in zip(row, sizes, strict=True)]
            if any(steps):
                kept[feature] = [max(-MOST_STEPS, min(MOST_STEPS, step)) for step in steps]
        rows = {feature: index * HEADS for index, feature in enumerate(kept)}
        flat = array("b", [step for steps in kept.values() for step in steps])
        slope, shift = _short(confidence)
        return cls(rows, flat, sizes, _short(intercepts), (slope, shift), bars, dict(about))

    def scores(self, weights: Mapping[str, float]) -> list[float]:
        """Return the log-odds of each head."""
        totals = [0.0] * HEADS
        steps = self.steps
        for feature, weight in weights.items():
            row = self.rows.get(feature)
            if row is not None:
                for head in range(HEADS):
                    totals[head] += weight * steps[row + head]
        return [
            total * size + intercept
            for total, size, intercept in zip(totals, self.step_sizes, self.intercepts, strict=True)
        ]

    def weights_of(self, feature: str) -> list[float]:
        """Return the weights of one feature, zeros if the model does not know it."""
        row = self.rows.get(feature)
        if row is None:
            return [0.0] * HEADS
        return [step * size for step, size in zip(self.steps[row : row + HEADS], self.step_sizes, strict=True)]

    def to_bytes(self) -> bytes:
        """Return the file; the same model makes the same bytes."""
        data = {
            "schema": SCHEMA,
            "about": dict(self.about),
            "bars": {"fail": dict(self.bars.fail), "retry": dict(self.bars.retry)},
            "categories": list(CATEGORIES),
            "confidence": list(self.confidence),
            "intercepts": list(self.intercepts),
            "step_sizes": list(self.step_sizes),
            "features": "\n".join(self.rows),
            "steps": base64.b64encode(self.steps.tobytes()).decode("ascii"),
        }
        return (json.dumps(data, indent=1, sort_keys=True) + "\n").encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> LinearModel:
        """
        Return the model of a file.

        :raises UnusableModel: with what is wrong and what to do.
        """
        if len(data) > MAX_MODEL_BYTES:
            raise UnusableModel(f"is larger than {MAX_MODEL_BYTES:,} bytes. {_TRAIN_AGAIN}")
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError):
            raise UnusableModel(f"is damaged: it is no JSON. {_TRAIN_AGAIN}") from None
        if not isinstance(fields, dict) or fields.get("schema") != SCHEMA:
            schema = fields.get("schema") if isinstance(fields, dict) else None
            raise UnusableModel(f"has schema {str(schema)[:20]!r}, this version reads {SCHEMA}. {_TRAIN_AGAIN}")
        if fields.get("categories") != list(CATEGORIES):
            raise UnusableModel(f"has other categories than {', '.join(CATEGORIES)}. {_TRAIN_AGAIN}")
        try:
            features = fields["features"].split("\n")
            steps = array("b", base64.b64decode(fields["steps"], validate=True))
            model = cls(
                {feature: index * HEADS for index, feature in enumerate(features)},
                steps,
                tuple(float(size) for size in fields["step_sizes"]),
                tuple(float(value) for value in fields["intercepts"]),
                (float(fields["confidence"][0]), float(fields["confidence"][1])),
                Bars(
                    **{name: {of: float(bar) for of, bar in fields["bars"][name].items()} for name in ("fail", "retry")}
                ),
                dict(fields["about"]),
            )
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, binascii.Error):
            raise UnusableModel(f"is damaged: a field is missing or holds something else. {_TRAIN_AGAIN}") from None
        is_whole = len(steps) == len(features) * HEADS == len(model.rows) * HEADS
        numbers = (*model.step_sizes, *model.intercepts, *model.confidence)
        if not (
            is_whole and model.bars.is_sound and len(numbers) == 2 * HEADS + 2 and all(map(math.isfinite, numbers))
        ):
            raise UnusableModel(f"is damaged: its numbers do not fit its features. {_TRAIN_AGAIN}")
        return model

    @classmethod
    def read(cls, path: Path) -> LinearModel:
        """
        Return the model of a file.

        :raises UnusableModel: with the file, what is wrong and what to do.
        """
        try:
            with path.open("rb") as file:
                return cls.from_bytes(file.read(MAX_MODEL_BYTES + 1))
        except OSError as error:
            raise UnusableModel(
                f"The model {path} cannot be read: {error.strerror or type(error).__name__}. Check the path."
            ) from None
        except UnusableModel as fault:
            raise UnusableModel(f"The model {path} {fault}") from None


def _numbers(bars: Mapping[CategoryName, Any]) -> dict[CategoryName, float]:
    return {category: float(bar) for category, bar in bars.items()}


def _short(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in values)
