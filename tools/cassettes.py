"""
What a model answered about recorded failures: one line of a file for each failure.

Each file in ``recordings/cassettes`` holds one wire form. Its first line says which server and which model answered,
and when. Requests are recorded, matched and replayed as in evaluations; a changed prompt or schema is not found: that
is a :class:`StaleCassette`.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_common_ai.evals.replay import exchange
from airflow_common_ai.evals.replay.exchange import Exchange, Stale
from airflow_common_ai.evals.replay.scrubbing import Scrubber
from airflow_common_ai.recordings.corpus_file import json_lines, write_json_lines

__all__ = ["CASSETTES", "CassetteFile", "StaleCassette", "Wire", "connected", "recording_cassette", "replaying"]

CASSETTES = Path(__file__).parent.parent / "recordings" / "cassettes"

_HOW_TO_RECORD = "Record it again: make record-llm, with the real model behind a connection (see docs/local-models.md)."


class StaleCassette(BaseException):
    """
    A request that was never recorded: the prompt, the schema or a setting has changed since.

    No ``Exception``, so that nobody takes it for a failed call.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}\n{_HOW_TO_RECORD}")


@dataclass(frozen=True)
class Wire:
    """A form in which a model is asked, and how the recorded one was."""

    model_id: str
    """As in a connection's extra."""
    conn_type: str = "pydanticai"
    path: str | None = None
    """What belongs behind the server's address in the connection's host; ``None`` for a connection without a host."""


@dataclass
class CassetteFile:
    """One file of cassettes."""

    path: Path
    header: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the id of the recorded failure: ``seconds``, ``load``, ``interactions``, and ``is_stopped`` where the answer
    took too long."""

    @classmethod
    def read(cls, path: Path) -> CassetteFile:
        """Return the file; an empty one if it is not there."""
        found = cls(path)
        for number, line in json_lines(path) if path.exists() else ():
            assert isinstance(line, dict)
            if number == 1:
                found.header = line
            else:
                found.lines[line.pop("id")] = line
        return found

    @property
    def wire(self) -> Wire:
        """How a connection must look to ask as this file was asked."""
        return Wire(**self.header["wire"])

    def write(self) -> None:
        lines = [{"id": name, **line} for name, line in sorted(self.lines.items())]
        write_json_lines(self.path, [self.header, *lines])


@contextlib.contextmanager
def recording_cassette(file: CassetteFile, name: str) -> Iterator[None]:
    """Let requests through and keep them with their answers, in place of what was kept before."""
    file.lines.pop(name, None)
    with exchange.recording(Scrubber()) as recorded:
        yield
    file.lines[name] = {"interactions": recorded.interactions}


@contextlib.contextmanager
def replaying(file: CassetteFile, name: str, *, is_all_asked: bool = True) -> Iterator[Exchange]:
    """
    Answer requests from a cassette, and let none through.

    :param is_all_asked: ``False`` where it may be that nothing is asked.
    :return: The requests that were made.
    :raises StaleCassette: A request is not on it, or one that is on it was not made.
    """
    if name not in file.lines:
        raise StaleCassette(f"{file.path.name}: there is no cassette for {name}")
    with exchange.replaying(file.lines[name]["interactions"], Scrubber()) as played, contextlib.suppress(Stale):
        yield played
    if played.problem and (played.misses or is_all_asked):
        raise StaleCassette(f"{file.path.name}, {name}: {played.problem}")


@contextlib.contextmanager
def connected(wire: Wire, conn_id: str, url: str | None = None) -> Iterator[None]:
    """
    Define a connection as a user would, in the environment.

    :param url: The server, without the wire's path. ``None`` for a port where nobody answers, since nothing is to get
        there: refused it must not be, or a policy would see that and not even ask.
    """
    name = f"AIRFLOW_CONN_{conn_id.upper()}"
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        server = url.rstrip("/") if url else f"http://127.0.0.1:{nobody.getsockname()[1]}"
        host = None if wire.path is None else server + wire.path
        definition = {"conn_type": wire.conn_type, "host": host, "password": "none", "extra": {"model": wire.model_id}}
        os.environ[name] = json.dumps(definition)
        try:
            yield
        finally:
            del os.environ[name]
