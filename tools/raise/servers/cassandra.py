"""A server that speaks enough of Cassandra's protocol, version 4, to be a node, and answers a query with an error.

Form: https://cassandra.apache.org/doc/latest/cassandra/_attachments/native_protocol_v4.html
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator

from servers.broken import listener

__all__ = ["Cassandra", "cassandra_server"]

_HEADER = struct.Struct(">BBhBI")
_ANSWER = 0x84
_ERROR, _STARTUP, _READY, _OPTIONS, _SUPPORTED, _RESULT, _REGISTER = 0, 1, 2, 5, 6, 8, 0x0B
_ROWS = 2
_TEXT, _ADDRESS, _UUID = 0x0D, 0x10, 0x0C
_LOCAL = (
    ("key", _TEXT, b"local"),
    ("cluster_name", _TEXT, b"shop"),
    ("data_center", _TEXT, b"dc1"),
    ("rack", _TEXT, b"r1"),
    ("release_version", _TEXT, b"4.1.0"),
    ("partitioner", _TEXT, b"org.apache.cassandra.dht.Murmur3Partitioner"),
    ("rpc_address", _ADDRESS, b"\x7f\0\0\1"),
    ("broadcast_address", _ADDRESS, b"\x7f\0\0\1"),
    ("host_id", _UUID, b"\x01" * 16),
    ("schema_version", _UUID, b"\x02" * 16),
)


class Cassandra:
    """Cases run one after the other, so each simply sets what is answered from now on."""

    name = "loopback Cassandra"
    version: str | None = None

    def __init__(self) -> None:
        self.port = 0
        self._error: bytes | None = b""
        self._is_for_start = False

    def answers(self, code: int | None, words: str, more: bytes = b"", *, to_start: bool = False) -> int:
        """
        Answer queries with an error; return the port.

        :param code: ``None`` does not answer.
        :param more: What belongs to this code, behind its words.
        :param to_start: Answer the greeting with it already.
        """
        self._error = None if code is None else struct.pack(">i", code) + _text(words) + more
        self._is_for_start = to_start
        return self.port

    def talk(self, accepted: socket.socket) -> None:
        """Hold one conversation."""
        with accepted.makefile("rb") as reader:
            while head := reader.read(_HEADER.size):
                _, _, stream, kind, length = _HEADER.unpack(head)
                told = self._answer(kind, reader.read(length))
                if told is not None:
                    answered_as, content = told
                    accepted.sendall(_HEADER.pack(_ANSWER, 0, stream, answered_as, len(content)) + content)

    def _answer(self, kind: int, content: bytes) -> tuple[int, bytes] | None:
        if kind == _OPTIONS:
            return _SUPPORTED, _offers(("CQL_VERSION", "3.4.6"), ("COMPRESSION", None))
        if kind == _STARTUP and self._is_for_start and self._error is not None:
            return _ERROR, self._error
        if kind in (_STARTUP, _REGISTER):
            return _READY, b""
        if b"system." in content:
            return _RESULT, _local() if b"system.local" in content else _no_rows()
        return None if self._error is None else (_ERROR, self._error)


@contextlib.contextmanager
def cassandra_server() -> Iterator[Cassandra]:
    """The server that the cases of a family share."""
    server = Cassandra()
    with listener(server.talk) as port:
        server.port = port
        yield server


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()


def _offers(*offers: tuple[str, str | None]) -> bytes:
    told = (
        _text(name) + struct.pack(">h", 0 if value is None else 1) + (_text(value) if value else b"")
        for name, value in offers
    )
    return struct.pack(">h", len(offers)) + b"".join(told)


def _rows(columns: tuple[tuple[str, int], ...], *rows: bytes) -> bytes:
    told = struct.pack(">iii", _ROWS, 1, len(columns)) + _text("system") + _text("local")
    told += b"".join(_text(name) + struct.pack(">h", kind) for name, kind in columns)
    return told + struct.pack(">i", len(rows)) + b"".join(rows)


def _local() -> bytes:
    row = b"".join(struct.pack(">i", len(value)) + value for _, _, value in _LOCAL)
    return _rows(tuple((name, kind) for name, kind, _ in _LOCAL), row)


def _no_rows() -> bytes:
    return _rows((("peer", _ADDRESS), ("data_center", _TEXT)))
