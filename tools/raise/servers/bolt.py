"""A server that speaks enough of Bolt, version 4.4, to greet Neo4j's driver, and answers statements with a failure.

Form: https://neo4j.com/docs/bolt/current/bolt/message/ and https://neo4j.com/docs/bolt/current/packstream/
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator, Mapping

from servers.broken import listener

__all__ = ["Bolt", "bolt_server"]

_MAGIC = b"\x60\x60\xb0\x17"
_VERSION = b"\0\0\4\4"
_HANDSHAKE_LENGTH = 16
_HELLO, _GOODBYE, _RUN, _RESET = 0x01, 0x02, 0x10, 0x0F
_SUCCESS, _IGNORED, _FAILURE = 0x70, 0x7E, 0x7F
_SECURITY = (".Unauthorized", ".AuthenticationRateLimit", ".TokenExpired")


class Bolt:
    """Cases run one after the other, so each simply sets what is answered from now on."""

    name = "loopback Bolt"
    version: str | None = None

    def __init__(self) -> None:
        self.port = 0
        self._failure: Mapping[str, str] = {}

    def answers(self, code: str, words: str) -> str:
        """Answer statements with a failure, or the greeting if it is about who may sign in; return the URL."""
        self._failure = {"code": code, "message": words}
        return f"bolt://127.0.0.1:{self.port}"

    def talk(self, accepted: socket.socket) -> None:
        """Hold one conversation."""
        with accepted.makefile("rb") as reader:
            reader.read(len(_MAGIC) + _HANDSHAKE_LENGTH)
            accepted.sendall(_VERSION)
            has_failed = False
            while message := _read(reader):
                kind = message[1]
                if kind == _GOODBYE:
                    return
                if kind == _RESET:
                    has_failed = False
                if has_failed:
                    accepted.sendall(_framed(b"\xb0" + bytes([_IGNORED])))
                    continue
                has_failed = kind == _RUN or (kind == _HELLO and self._failure["code"].endswith(_SECURITY))
                told = self._failure if has_failed else _greeting(kind)
                accepted.sendall(_framed(b"\xb1" + bytes([_FAILURE if has_failed else _SUCCESS]) + _map(told)))


@contextlib.contextmanager
def bolt_server() -> Iterator[Bolt]:
    """The server that the cases of a family share."""
    server = Bolt()
    with listener(server.talk) as port:
        server.port = port
        yield server


def _greeting(kind: int) -> Mapping[str, str]:
    return {"server": "Neo4j/4.4.0", "connection_id": "bolt-1"} if kind == _HELLO else {}


def _read(reader: object) -> bytes:
    message = b""
    while head := reader.read(2):  # type: ignore[attr-defined]
        (length,) = struct.unpack(">H", head)
        if not length:
            if message:
                return message
            continue
        message += reader.read(length)  # type: ignore[attr-defined]
    return message


def _framed(message: bytes) -> bytes:
    return struct.pack(">H", len(message)) + message + b"\0\0"


def _text(text: str) -> bytes:
    return b"\xd1" + struct.pack(">H", len(text.encode())) + text.encode()


def _map(told: Mapping[str, str]) -> bytes:
    return bytes([0xA0 + len(told)]) + b"".join(_text(key) + _text(value) for key, value in told.items())
