"""A task state store in memory, which a policy may write to while it is asked about one case."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

__all__ = ["MemoryStateStore"]


class MemoryStateStore:
    """As ``context["task_state_store"]``: what is kept is JSON, so nobody holds on to what somebody else changes."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def get(self, key: str, default: Any = None) -> Any:
        return json.loads(self._values[key]) if key in self._values else default

    def set(self, key: str, value: Any, *, retention: timedelta | None = None) -> None:
        self._values[key] = json.dumps(value)

    def delete(self, key: str) -> None:
        self._values.pop(key, None)

    def clear(self) -> None:
        self._values.clear()
