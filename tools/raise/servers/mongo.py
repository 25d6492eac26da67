"""A server that speaks enough of MongoDB's protocol to greet drivers, and answers commands with what a case says.

Forms: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ (OP_MSG, OP_QUERY, OP_REPLY), the greeting of
https://www.mongodb.com/docs/manual/reference/command/hello/, the errors of
https://www.mongodb.com/docs/manual/reference/error-codes/
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import bson

from servers.broken import listener

__all__ = ["Mongo", "mongo"]

_OP_REPLY, _OP_QUERY, _OP_MSG = 1, 2004, 2013
_HEADER = struct.Struct("<iiii")
_WIRE_VERSION = 21
Document = Mapping[str, Any]
Route = Callable[[str, Document], Document | None]


class Mongo:
    """Cases run one after the other, so each simply sets what is answered from now on."""

    name = "loopback MongoDB"
    version: str | None = None

    def __init__(self) -> None:
        self.port = 0
        self.greeting: Document = {}
        self._route: Route = lambda command, body: {}

    def answers(
        self, answer: Document | None, *, to: str = "", greeting: Document | None = None, after_s: float = 0
    ) -> None:
        """
        Answer a command with a document, all others with plain success.

        :param answer: What is answered; ``None`` hangs up.
        :param to: The command, all but the greeting if empty.
        :param greeting: What is told about the server beyond the usual.
        :param after_s: How long the answer takes.
        """
        self.greeting = greeting or {}

        def route(command: str, body: Document) -> Document | None:
            if to not in ("", command):
                return {}
            time.sleep(after_s)
            return answer

        self._route = route

    def talk(self, accepted: socket.socket) -> None:
        """Hold one conversation."""
        with accepted.makefile("rb") as reader:
            while head := reader.read(_HEADER.size):
                length, number, _, kind = _HEADER.unpack(head)
                answer = self._answer(kind, reader.read(length - _HEADER.size))
                if answer is None:
                    return
                accepted.sendall(_framed(kind, number, answer))

    def _answer(self, kind: int, content: bytes) -> Document | None:
        body = _first_document(kind, content)
        command = next(iter(body))
        if command.lower() in ("hello", "ismaster"):
            return {**_greeting(self.port), **self.greeting}
        answer = self._route(command, body)
        return None if answer is None else {"ok": 1.0, **answer}


@contextlib.contextmanager
def mongo() -> Iterator[Mongo]:
    """One that calls itself a replica set's primary."""
    server = Mongo()
    with listener(server.talk) as port:
        server.port = port
        yield server


def _greeting(port: int) -> Document:
    here = f"127.0.0.1:{port}"
    return {
        "ok": 1.0,
        "helloOk": True,
        "isWritablePrimary": True,
        "ismaster": True,
        "setName": "shop",
        "setVersion": 1,
        "hosts": [here],
        "primary": here,
        "me": here,
        "maxBsonObjectSize": 16 * 1024 * 1024,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "logicalSessionTimeoutMinutes": 30,
        "minWireVersion": 0,
        "maxWireVersion": _WIRE_VERSION,
    }


def _first_document(kind: int, content: bytes) -> Document:
    """Return the command: the section of kind 0 of an OP_MSG, or what stands behind an OP_QUERY's name and numbers."""
    start = content.index(b"\0", 4) + 9 if kind == _OP_QUERY else 5
    (length,) = struct.unpack_from("<i", content, start)
    return bson.decode(content[start : start + length])


def _framed(kind: int, number: int, answer: Document) -> bytes:
    document = bson.encode(answer)
    if kind == _OP_QUERY:
        content, answered_as = struct.pack("<iqii", 8, 0, 0, 1) + document, _OP_REPLY
    else:
        content, answered_as = struct.pack("<iB", 0, 0) + document, _OP_MSG
    return _HEADER.pack(_HEADER.size + len(content), 1, number, answered_as) + content
