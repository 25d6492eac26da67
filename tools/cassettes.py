"""
What a model answered about recorded failures, kept with vcrpy: one line of a file for each failure.

Each file in ``recordings/cassettes`` holds one wire form. Its first line says which server and which model answered,
and when. Requests are matched by their whole body, so a changed prompt or schema is not found: that is a
:class:`StaleCassette`, which no retry policy and no library takes for a failed call.
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

from vcr import VCR
from vcr.persisters.filesystem import CassetteNotFoundError
from vcr.serialize import deserialize, serialize
from vcr.stubs import httpx_stubs

from airflow_common_ai.recordings.corpus_file import json_lines, write_json_lines

__all__ = ["CASSETTES", "CassetteFile", "StaleCassette", "Wire", "connected", "recording_cassette", "replaying"]

CASSETTES = Path(__file__).parent.parent / "recordings" / "cassettes"

_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms")
"""Of an answer: others name organizations, and set cookies."""

_REFUSALS = (400, 422)
"""Of a form or a setting, which is then left out: part of how a server is asked."""

_HOW_TO_RECORD = "Record it again: make record-llm, with the real model behind a connection (see docs/local-models.md)."


class StaleCassette(BaseException):
    """
    A request that was never recorded: the prompt, the schema or a setting has changed since.

    No ``Exception``, so that no policy falls back on something else as it would after a failed call.
    """

    def __init__(self, what: str = "", *, cassette: Any = None, failed_request: Any = None) -> None:
        if cassette is not None:  # raised by vcrpy
            near = cassette.find_requests_with_most_matches(failed_request)
            difference = "\n".join(str(failure[1]) for _, _, failures in near[:1] for failure in failures)
            what = f"{cassette.path}: not what was asked when it was recorded\n{difference}"
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
    """One file of cassettes; vcrpy's persister for them."""

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

    def load_cassette(self, cassette_path: str, serializer: Any) -> Any:
        """Return the requests and responses of one failure; vcrpy calls it."""
        line = self.lines.get(str(cassette_path))
        if line is None:
            raise CassetteNotFoundError
        text = json.dumps({"version": 1, "interactions": line["interactions"]})
        return deserialize(text, serializer)

    def save_cassette(self, cassette_path: str, cassette_dict: Any, serializer: Any) -> None:
        """Keep the requests and responses of one failure; vcrpy calls it."""
        kept = json.loads(serialize(cassette_dict, serializer))
        self.lines.setdefault(str(cassette_path), {})["interactions"] = kept["interactions"]


@contextlib.contextmanager
def recording_cassette(file: CassetteFile, name: str) -> Iterator[None]:
    """Let requests through and keep them with their answers, in place of what was kept before."""
    file.lines.pop(name, None)
    with _vcr(file).use_cassette(name, record_mode="all"):
        yield


@contextlib.contextmanager
def replaying(file: CassetteFile, name: str, *, is_all_asked: bool = True) -> Iterator[Any]:
    """
    Answer requests from a cassette, and let none through.

    :param is_all_asked: ``False`` where it may be that nothing is asked.
    :return: The cassette, to see what was played.
    :raises StaleCassette: A request is not on it, or one that is on it was not made.
    """
    if name not in file.lines:
        raise StaleCassette(f"{file.path.name}: there is no cassette for {name}")
    usual = httpx_stubs.CannotOverwriteExistingCassetteException
    httpx_stubs.CannotOverwriteExistingCassetteException = StaleCassette
    try:
        with _vcr(file).use_cassette(name, record_mode="none") as cassette:
            yield cassette
        if is_all_asked and cassette.play_count != len(cassette):
            raise StaleCassette(f"{name}: {cassette.play_count} of the {len(cassette)} requests were made")
    finally:
        httpx_stubs.CannotOverwriteExistingCassetteException = usual


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


def _vcr(file: CassetteFile) -> Any:
    recorder = VCR(
        serializer="json",
        match_on=("method", "path", "body"),
        decode_compressed_response=True,
        before_record_request=_scrubbed_request,
        before_record_response=_scrubbed_response,
    )
    recorder.register_persister(file)
    return recorder


def _scrubbed_request(request: Any) -> Any:
    """Keep what is matched: no key, and not where the server stands. Of a copy that vcrpy makes."""
    request.uri = f"http://the-model{request.path}"
    request.headers = {"Content-Type": request.headers.get("Content-Type", "application/json")}
    return request


def _scrubbed_response(response: dict[str, Any]) -> dict[str, Any] | None:
    if response["status"]["code"] >= 400 and response["status"]["code"] not in _REFUSALS:
        return None  # a server in trouble: nothing to keep
    headers = {name.lower(): values for name, values in response["headers"].items()}
    return {
        "status": response["status"],
        "headers": {name: headers[name] for name in _KEPT_HEADERS if name in headers},
        "body": {"string": _slim(response["body"]["string"])},
    }


def _slim(body: bytes) -> bytes:
    """
    Leave out where the server keeps the model, and how probable the tokens were that were not chosen.

    The latter are nine tenths of an answer, and nobody reads them.
    """
    try:
        answer = json.loads(body)
    except ValueError:
        return body
    if not isinstance(answer, dict):
        return body
    if str(answer.get("model", "")).startswith("/"):
        answer["model"] = Path(answer["model"]).name
    for choice in answer.get("choices", ()):
        for token in (choice.get("logprobs") or {}).get("content") or ():
            token.update(top_logprobs=[], bytes=None)
            token.pop("id", None)
    return json.dumps(answer).encode()
