"""What was measured as plain JSON: numbers rounded, so that the same measurement makes the same bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evals.runs.run_header import RunHeader

__all__ = ["as_json"]

_DIGITS = 6


def as_json(value: object) -> Any:
    """Return dataclasses, mappings, lists and numbers as JSON; a number that is none, or is endless, is null."""
    if isinstance(value, Row | RunHeader):
        return value.to_json()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        return round(value, _DIGITS) if math.isfinite(value) else None
    return value
