"""A folder of recorded answers: one file, and in it one line for each case and repeat.

Its first line says who answered, when, and how the connections look, so that a replay needs none of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from airflow_common_ai.evals.replay.interaction import Interaction, is_interaction
from airflow_common_ai.recordings.fields import Fields
from airflow_common_ai.sanitizer import sanitize

__all__ = ["OLD_DAYS", "CassetteStore", "StoreHeader"]

SCHEMA = 1
FILE = "cassettes.jsonl"

OLD_DAYS = 90
"""Models change behind their names: an older recording is said to be old."""

_MAX_LINE_BYTES = 16 * 1024 * 1024
_MAX_LINES = 1_000_000
_MAX_CONNECTIONS = 64
_MAX_CHARS = 300


@dataclass(frozen=True)
class StoreHeader:
    """How the answers in a store came about."""

    recorded_at: datetime
    policy: str
    policy_id: str
    prompt: str | None = None
    models: tuple[str, ...] = ()
    """As they named themselves."""
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By id: type, host without the server's name, model. No password."""
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "recorded_at": self.recorded_at.isoformat(timespec="seconds"),
            "policy": self.policy,
            "policy_id": self.policy_id,
            "prompt": self.prompt,
            "models": list(self.models),
            "connections": {name: dict(self.connections[name]) for name in sorted(self.connections)},
            "versions": dict(sorted(self.versions.items())),
        }

    @classmethod
    def from_json(cls, data: object) -> StoreHeader:
        """
        Return the header that :meth:`to_json` wrote.

        :raises ValueError: with the field, the rule and what was found instead.
        """
        fields = Fields("the header of cassettes", data)
        schema = fields.take("schema")
        if schema != SCHEMA:
            raise ValueError(f"schema must be {SCHEMA}, got {schema!r}. Record again with --record.")
        header = cls(
            recorded_at=fields.moment("recorded_at"),
            policy=sanitize(fields.text("policy")),
            policy_id=sanitize(fields.text("policy_id")),
            prompt=fields.optional_text("prompt"),
            models=tuple(map(sanitize, fields.any_texts("models", limit=_MAX_CONNECTIONS))),
            connections=_connections(fields.take("connections")),
            versions={
                sanitize(name, _MAX_CHARS): sanitize(version, _MAX_CHARS)
                for name, version in fields.texts_by_name("versions", limit=_MAX_CONNECTIONS).items()
            },
        )
        fields.nothing_else()
        return header

    def age_days(self, now: datetime) -> int:
        return (now - self.recorded_at).days


class CassetteStore:
    """
    The answers in a folder. What is asked for is read from the file, so that a large store takes little memory.

    :param folder: Where they are; it need not be there to record.
    :raises ValueError: with the file, the line, the rule that it breaks and what to do.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.header: StoreHeader | None = None
        self._places: dict[tuple[str, int], tuple[int, int]] = {}
        if folder.is_symlink() or self.path.is_symlink():
            raise ValueError(f"{self._shown} is a symbolic link. Name the folder itself.")
        if self.path.is_file():
            self._index()

    def __contains__(self, key: tuple[str, int]) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: tuple[str, int]) -> list[Interaction]:
        """Return what was recorded about a case and repeat; nothing, if nothing was asked."""
        if key not in self._places:
            return []
        start, length = self._places[key]
        with self.path.open("rb") as file:
            file.seek(start)
            line = json.loads(file.read(length))
        interactions = line.get("interactions")
        if not isinstance(interactions, list) or not all(map(is_interaction, interactions)):
            raise ValueError(f"{self._shown}: what is kept of {sanitize(key[0])} is damaged. Record it again.")
        return interactions

    def start(self, header: StoreHeader) -> None:
        """Write a header in place of the one that is there; what was recorded before stays until it is replaced."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._rewrite(header)

    def put(self, key: tuple[str, int], interactions: Sequence[Interaction]) -> None:
        """Keep what was recorded, in place of what was there; flushed, so that no answer is paid for twice."""
        line = json.dumps({"id": key[0], "repeat": key[1], "interactions": list(interactions)}).encode() + b"\n"
        with self.path.open("ab") as file:
            start = file.tell()
            file.write(line)
        self._places.pop(key, None)
        if interactions:
            self._places[key] = (start, len(line))

    def finish(self, models: Sequence[str] = ()) -> None:
        """Sort the file, and leave out what was replaced."""
        header = self.header
        if header is None:
            raise RuntimeError("start it first")
        known = tuple(sorted({*header.models, *models}))
        self._rewrite(StoreHeader(**{**vars(header), "models": known}))

    def _rewrite(self, header: StoreHeader) -> None:
        unfinished = self.path.with_suffix(".unfinished")
        places: dict[tuple[str, int], tuple[int, int]] = {}
        with unfinished.open("wb") as file:
            file.write(json.dumps(header.to_json()).encode() + b"\n")
            if self._places:
                with self.path.open("rb") as kept:
                    for key, (start, length) in sorted(self._places.items()):
                        kept.seek(start)
                        places[key] = (file.tell(), length)
                        file.write(kept.read(length))
        unfinished.replace(self.path)
        self.header, self._places = header, places

    def _index(self) -> None:
        start = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES + 1), b""), 1):
                if len(line) > _MAX_LINE_BYTES or number > _MAX_LINES:
                    raise ValueError(f"{self._shown}:{number}: it is too long. Record again with --record.")
                if line.endswith(b"\n"):  # else whoever wrote it was stopped
                    self._note(number, line, start)
                start += len(line)

    def _note(self, number: int, line: bytes, start: int) -> None:
        try:
            data = json.loads(line)
            if number == 1:
                self.header = StoreHeader.from_json(data)
                return
            key = (data["id"], data["repeat"])
            if not isinstance(key[0], str) or not isinstance(key[1], int):
                raise ValueError("a line needs an id and a repeat.")
            self._places.pop(key, None)
            if data["interactions"]:
                self._places[key] = (start, len(line))
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            raise ValueError(f"{self._shown}:{number} is damaged: {fault} Record again with --record.") from None

    @property
    def _shown(self) -> str:
        return f"'{sanitize(str(self.path))}'"


def _connections(value: object) -> dict[str, Mapping[str, Any]]:
    if not isinstance(value, Mapping) or len(value) > _MAX_CONNECTIONS:
        raise ValueError(f"connections must be an object of at most {_MAX_CONNECTIONS}.")
    for name, connection in value.items():
        if not isinstance(name, str) or not isinstance(connection, Mapping):
            raise ValueError("connections must hold objects.")
    return dict(value)
