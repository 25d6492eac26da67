"""The fields of a JSON object that anybody may have written, each checked as it is taken."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

__all__ = ["Fields"]

_MAX_TEXT_CHARS = 2000


class Fields:
    """
    Takes the fields of one object out of it.

    Every fault is a ``ValueError`` that says where, which rule, what was found, and shows no long value: it may be
    a secret.
    """

    def __init__(self, what: str, data: object) -> None:
        if not isinstance(data, Mapping):
            raise ValueError(f"{what} must be a JSON object, got {_shown(data)}.")
        self._what = what
        self._left = dict(data)

    def take(self, name: str) -> object:
        """Return any value; ``None`` if it is not there."""
        return self._left.pop(name, None)

    def text(self, name: str, *, like: re.Pattern[str] | None = None, example: str = "") -> str:
        value = self.take(name)
        if not isinstance(value, str) or not 0 < len(value) <= _MAX_TEXT_CHARS:
            raise ValueError(f"{name} must be a text of 1 to {_MAX_TEXT_CHARS} characters, got {_shown(value)}.")
        if like is not None and not like.fullmatch(value):
            raise ValueError(f"{name} must be like {example!r}, got {_shown(value)}.")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text; ``None`` if it is not there or null."""
        if self._left.get(name) is None:
            self.take(name)
            return None
        return self.text(name)

    def any_texts(self, name: str, *, limit: int) -> tuple[str, ...]:
        """Return a list of texts, empty ones included."""
        values = self.take(name)
        if (
            not isinstance(values, list)
            or len(values) > limit
            or not all(isinstance(value, str) and len(value) <= _MAX_TEXT_CHARS for value in values)
        ):
            raise ValueError(
                f"{name} must be a list of at most {limit} texts of at most {_MAX_TEXT_CHARS} characters, "
                f"got {_shown(values)}."
            )
        return tuple(values)

    def texts(self, name: str, *, like: re.Pattern[str], limit: int) -> tuple[str, ...]:
        """Return a list of words; an empty one if it is not there."""
        values = self._left.pop(name, [])
        if not isinstance(values, list) or len(values) > limit:
            raise ValueError(f"{name} must be a list of at most {limit} words, got {_shown(values)}.")
        for value in values:
            if not isinstance(value, str) or not like.fullmatch(value):
                raise ValueError(f"{name} must hold words that match {like.pattern}, got {_shown(value)}.")
        return tuple(values)

    def one_of(self, name: str, allowed: Sequence[str]) -> str:
        value = self.take(name)
        if not isinstance(value, str) or value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {_shown(value)}.")
        return value

    def flag(self, name: str) -> bool:
        value = self._left.pop(name, False)
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, got {_shown(value)}.")
        return value

    def whole_number(self, name: str, *, default: int, most: int) -> int:
        value = self._left.pop(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise ValueError(f"{name} must be a whole number from 1 to {most}, got {_shown(value)}.")
        return value

    def optional_number(self, name: str, *, most: float = 1e12) -> float | None:
        """Return a number that is not negative; ``None`` if it is not there or null."""
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise ValueError(f"{name} must be a number from 0 to {most:g}, or null, got {_shown(value)}.")
        return float(value)

    def optional_count(self, name: str) -> int | None:
        """Return a whole number that is not negative; ``None`` if it is not there or null."""
        value = self.optional_number(name)
        if value is not None and not value.is_integer():
            raise ValueError(f"{name} must be a whole number, or null, got {_shown(value)}.")
        return None if value is None else int(value)

    def moment(self, name: str) -> datetime:
        """Return a time that names its zone."""
        value = self.take(name)
        problem = "Invalid isoformat string"
        if isinstance(value, str):
            with suppress(ValueError):
                moment = datetime.fromisoformat(value)
                if moment.tzinfo is not None:
                    return moment
                problem = "it names no zone"
        raise ValueError(
            f"{name} must be a time with its zone, e.g. 2026-11-30T12:00:00+00:00, got {_shown(value)}: {problem}."
        )

    def optional_moment(self, name: str) -> datetime | None:
        """Return a time that names its zone; ``None`` if it is not there or null."""
        if self._left.get(name) is None:
            self.take(name)
            return None
        return self.moment(name)

    def texts_by_name(self, name: str, *, limit: int) -> dict[str, str]:
        """Return an object that holds texts."""
        value = self.take(name)
        if not isinstance(value, Mapping) or len(value) > limit:
            raise ValueError(f"{name} must be an object of at most {limit} texts, got {_shown(value)}.")
        return {str(key): str(text) for key, text in value.items()}

    def nothing_else(self) -> None:
        """Refuse fields that nobody took: a misspelt one would be ignored in silence."""
        if self._left:
            raise ValueError(f"{self._what} has no field {_shown(sorted(map(str, self._left))[0])}. Remove it.")


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool | int | float):
        return repr(value)[:40]
    if isinstance(value, str) and len(value) <= 40:
        return repr(value)
    return f"a value of type {type(value).__name__}"
