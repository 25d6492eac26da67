"""A table of a TOML file that somebody wrote by hand, each key checked as it is taken."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["TomlTable", "read_toml"]

_MAX_BYTES = 256 * 1024
_MAX_TEXT_CHARS = 200


class TomlTable:
    """
    Takes the keys of one table out of it.

    Every fault is a ``ValueError`` that names the key, the rule, what was found, and what to write instead.
    """

    def __init__(self, where: str, data: object) -> None:
        if not isinstance(data, Mapping):
            raise ValueError(f"{where} must be a table, got {_shown(data)}. Write it as [{where}].")
        self.where = where
        self._left = dict(data)
        self._known: list[str] = []

    def number(self, key: str, *, default: float | None, least: float = 0.0, most: float = 1e9) -> float:
        value = self._take(key, default)
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not least <= float(value) <= most:  # type: ignore[arg-type]  # it is a number by then
            raise ValueError(
                f"{self._path(key)} must be a number from {least:g} to {most:g}, got {_shown(value)}. "
                f"Write e.g. {key} = {least if default is None else default:g}."
            )
        return float(value)  # type: ignore[arg-type]  # it is a number by now

    def optional_number(self, key: str, *, least: float = 0.0, most: float = 1e9) -> float | None:
        return None if self._is_left_out(key) else self.number(key, default=None, least=least, most=most)

    def count(self, key: str, *, default: int, least: int = 0, most: int = 1_000_000) -> int:
        value = self._take(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(
                f"{self._path(key)} must be a whole number from {least} to {most}, got {_shown(value)}. "
                f"Write e.g. {key} = {default}."
            )
        return value

    def text(self, key: str, *, default: str | None = None) -> str:
        value = self._take(key, default)
        if not isinstance(value, str) or not 0 < len(value) <= _MAX_TEXT_CHARS:
            raise ValueError(
                f"{self._path(key)} must be a text of 1 to {_MAX_TEXT_CHARS} characters, got {_shown(value)}. "
                f'Write e.g. {key} = "{default or "..."}".'
            )
        return value

    def optional_text(self, key: str) -> str | None:
        return None if self._is_left_out(key) else self.text(key)

    def one_of(self, key: str, allowed: Sequence[str], *, default: str | None = None) -> str:
        value = self._take(key, default)
        if value not in allowed:
            raise ValueError(
                f"{self._path(key)} must be one of {', '.join(allowed)}, got {_shown(value)}.{_meant(value, allowed)}"
            )
        return str(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise ValueError(
                f'{self._path(key)} must be a list of texts, got {_shown(value)}. Write e.g. {key} = ["a"].'
            )
        return tuple(value)

    def table(self, key: str) -> TomlTable:
        return TomlTable(self._path(key), self._take(key, {}))

    def tables(self, key: str) -> list[TomlTable]:
        value = self._take(key, [])
        if not isinstance(value, list):
            raise ValueError(f"{self._path(key)} must be a list of tables, got {_shown(value)}. Write it as [[{key}]].")
        return [TomlTable(f"{self._path(key)}[{number}]", item) for number, item in enumerate(value)]

    def nothing_else(self) -> None:
        """Refuse keys that nobody took: a misspelt one would be ignored in silence."""
        if self._left:
            key = sorted(self._left)[0]
            known = ", ".join(self._known)
            raise ValueError(
                f"{self._path(key)} is no key of this file. Known here: {known}.{_meant(key, self._known)}"
            )

    def _take(self, key: str, default: object) -> object:
        self._known.append(key)
        return self._left.pop(key, default)

    def _is_left_out(self, key: str) -> bool:
        if key in self._left:
            return False
        self._known.append(key)
        return True

    def _path(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key


def read_toml(path: Path) -> TomlTable:
    """
    Return the top table of a file.

    :raises ValueError: It cannot be read, is too large, or no TOML; with the line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}.") from None
    if len(data) > _MAX_BYTES:
        raise ValueError(f"it has more than {_MAX_BYTES // 1024} KiB. Make it shorter.")
    try:
        return TomlTable("", tomllib.loads(data.decode()))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no TOML: {error}.") from None


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float) and len(str(value)) <= 60:
        return repr(value)
    return f"a value of type {type(value).__name__}"


def _meant(value: object, allowed: Sequence[str]) -> str:
    close = difflib.get_close_matches(str(value), allowed, 1, 0.7)
    return f" Did you mean {close[0]!r}?" if close else ""
