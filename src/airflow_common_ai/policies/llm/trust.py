"""How far a model was measured, so that its word may fail a task: a file that an evaluation run writes.

A small file with a strict schema, read when the Dag is parsed. It holds for the very model, connection type, prompt,
schema and categories that it was measured with; anything else than a match makes it void.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_common_ai.policies.llm.question import Hashes

__all__ = ["MIN_CASES", "Precision", "TrustTable", "precision_lower", "read_trust"]

MAX_FILE_BYTES = 64 * 1024

MIN_CASES = 59
"""Fewer bound nothing: 59 right answers of 59 bound the precision at 95 % from below. Source: Clopper-Pearson,
0.05 ** (1 / 59)."""

_MAX_CASES = 10_000
_SIGNIFICANCE = 0.05
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAMED = ("model", "conn_type")
_HASHES = ("prompt_sha256", "schema_sha256", "categories_sha256", "corpus_sha256")
_FIELDS = {"version", "measured_at", "categories", *_NAMED, *_HASHES}
_HOW_TO_MEND = "Write it again with the evaluation command; it is not meant to be edited."


@dataclass(frozen=True, slots=True)
class Precision:
    """How often a model was right when it named one category."""

    cases: int
    right: int

    @property
    def lower(self) -> float:
        """The one-sided 95 % lower bound."""
        return precision_lower(self.right, self.cases)


@dataclass(frozen=True)
class TrustTable:
    """What an evaluation run measured about one model and one question."""

    model: str
    """As the server answered."""
    conn_type: str
    prompt_sha256: str
    schema_sha256: str
    categories_sha256: str
    corpus_sha256: str
    """The corpus that it was measured on; for people, since no worker has it."""
    measured_at: datetime
    categories: dict[str, Precision] = field(default_factory=dict)

    def voids(self, model: str, conn_type: str, hashes: Hashes) -> str | None:
        """Return why this table does not hold for an answer; ``None`` if it does."""
        pairs = {
            "model": (self.model, model),
            "connection type": (self.conn_type, conn_type),
            "prompt": (self.prompt_sha256, hashes.prompt),
            "schema": (self.schema_sha256, hashes.schema),
            "categories": (self.categories_sha256, hashes.categories),
        }
        others = [name for name, (measured, found) in pairs.items() if measured != found]
        return f"measured with another {' and '.join(others)}" if others else None

    def to_json(self) -> dict[str, Any]:
        """Return what :func:`read_trust` reads."""
        return {
            "version": 1,
            **{name: getattr(self, name) for name in (*_NAMED, *_HASHES)},
            "measured_at": self.measured_at.isoformat(),
            "categories": {
                name: {"cases": one.cases, "right": one.right, "precision_lower": round(one.lower, 4)}
                for name, one in sorted(self.categories.items())
            },
        }


def read_trust(path: str | Path) -> TrustTable:
    """
    Read and check a trust file.

    :raises ValueError: It is not there, too big, or not what an evaluation run writes; with the field and the fix.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ValueError(f"the trust file {str(path)!r} cannot be read: {error.strerror}. {_HOW_TO_MEND}") from None
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"the trust file {str(path)!r} has more than {MAX_FILE_BYTES // 1024} KiB. {_HOW_TO_MEND}")
    try:
        return _table(json.loads(data, object_pairs_hook=_without_twins, parse_constant=_refuse_constant))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"the trust file {str(path)!r} is not valid: {error}. {_HOW_TO_MEND}") from None


def precision_lower(right: int, cases: int) -> float:
    """Return the exact one-sided 95 % lower bound of a share (Clopper-Pearson), without a library."""
    if right <= 0 or cases <= 0:
        return 0.0
    low, high = 0.0, right / cases
    for _ in range(40):
        middle = (low + high) / 2
        if _tail(right, cases, middle) < _SIGNIFICANCE:
            low = middle
        else:
            high = middle
    return low


def _tail(right: int, cases: int, share: float) -> float:
    """The chance of at least ``right`` right answers of ``cases``."""
    if share <= 0:
        return 0.0
    log_share, log_other = math.log(share), math.log1p(-share) if share < 1 else -math.inf
    total = 0.0
    for count in range(right, cases + 1):
        others = cases - count
        term = math.lgamma(cases + 1) - math.lgamma(count + 1) - math.lgamma(others + 1) + count * log_share
        total += math.exp(term + (others * log_other if others else 0.0))
    return total


def _table(data: object) -> TrustTable:
    if not isinstance(data, Mapping) or data.get("version") != 1 or isinstance(data.get("version"), bool):
        raise ValueError("version must be 1")
    if data.keys() != _FIELDS:
        raise ValueError(f"its fields must be {', '.join(sorted(_FIELDS))}")
    for name in _NAMED:
        if not isinstance(data[name], str) or not 0 < len(data[name]) <= 200:
            raise ValueError(f"{name} must be a name of at most 200 characters")
    for name in _HASHES:
        if not isinstance(data[name], str) or not _SHA256.fullmatch(data[name]):
            raise ValueError(f"{name} must be 64 hexadecimal digits")
    if not isinstance(data["measured_at"], str):
        raise ValueError("measured_at must be a time such as 2026-11-30T12:00:00+00:00")
    measured_at = datetime.fromisoformat(data["measured_at"])
    if measured_at.tzinfo is None:
        raise ValueError("measured_at must have a zone, as in 2026-11-30T12:00:00+00:00")
    rows = data["categories"]
    if not isinstance(rows, Mapping) or not 0 < len(rows) <= 100:
        raise ValueError("categories must name 1 to 100 categories")
    texts = {name: data[name] for name in (*_NAMED, *_HASHES)}
    return TrustTable(**texts, measured_at=measured_at, categories={n: _precision(n, row) for n, row in rows.items()})


def _precision(name: str, row: object) -> Precision:
    if not name.isidentifier() or not isinstance(row, Mapping) or row.keys() != {"cases", "right", "precision_lower"}:
        raise ValueError(f"categories[{name[:60]!r}] must have cases, right and precision_lower")
    cases, right, lower = row["cases"], row["right"], row["precision_lower"]
    if type(cases) is not int or type(right) is not int or not 0 <= right <= cases <= _MAX_CASES:
        raise ValueError(f"categories[{name!r}] must count right answers and cases, at most {_MAX_CASES}")
    if cases < MIN_CASES:
        raise ValueError(f"categories[{name!r}] was measured on {cases} cases: at least {MIN_CASES} are needed")
    measured = Precision(cases, right)
    if type(lower) not in (int, float) or not abs(lower - measured.lower) <= 0.001:
        raise ValueError(f"categories[{name!r}].precision_lower does not follow from its cases")
    return measured


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice")
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")
