"""The beginning of an AMQP 1.0 conversation, and its end: the server opens, and closes with a condition.

Form: http://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-transport-v1.0-os.html
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator

__all__ = ["AmqpServer", "amqp_server"]

_SASL_HEADER = b"AMQP\x03\x01\x00\x00"
_HEADER = b"AMQP\x00\x01\x00\x00"
_NULL = b"\x40"
_AUTH_FAILED = 1
_SASL_FRAME, _AMQP_FRAME = 1, 0
_OPEN_REST = (b"\x70\x00\x01\x00\x00", b"\x60\x00\xff", *(_NULL,) * 6)
"""Largest frame, highest channel, and nothing for the other fields."""
_MECHANISMS, _OUTCOME, _OPEN, _CLOSE, _ERROR = 0x40, 0x44, 0x10, 0x18, 0x1D


def _symbol(text: str) -> bytes:
    return b"\xa3" + bytes([len(text)]) + text.encode()


def _string(text: str) -> bytes:
    return b"\xa1" + bytes([len(text)]) + text.encode()


def _described(code: int, *fields: bytes) -> bytes:
    content = b"".join(fields)
    return b"\x00\x53" + bytes([code]) + b"\xd0" + struct.pack(">II", len(content) + 4, len(fields)) + content


def _frame(kind: int, performative: bytes) -> bytes:
    return struct.pack(">IBBH", len(performative) + 8, 2, kind, 0) + performative


class AmqpServer:
    """A running server. Cases run one after the other, so each simply sets how it ends."""

    name = "loopback AMQP 1.0"
    version: str | None = None

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._sasl_outcome = 0
        self._end = b""
        threading.Thread(target=self._serve, daemon=True).start()

    def closes(self, condition: str, description: str) -> int:
        """Open each connection and close it with an error at once; return the port."""
        self._sasl_outcome = 0
        error = _described(_ERROR, _symbol(condition), _string(description), _NULL)
        self._end = _frame(_AMQP_FRAME, _described(_CLOSE, error))
        return self.port

    def refuses_sign_in(self) -> int:
        """End SASL with an authentication error; return the port."""
        self._sasl_outcome = _AUTH_FAILED
        return self.port

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection = self._listener.accept()[0]
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        connection.settimeout(3)
        with connection, contextlib.suppress(OSError):
            if self._read(connection, 8) == _SASL_HEADER:
                names = b"\x02\xa3\x09ANONYMOUS\x05PLAIN"  # two symbols
                mechanisms = b"\xe0" + bytes([len(names)]) + names
                connection.sendall(_SASL_HEADER + _frame(_SASL_FRAME, _described(_MECHANISMS, mechanisms)))
                self._read_frame(connection)
                outcome = _described(_OUTCOME, b"\x50" + bytes([self._sasl_outcome]))
                connection.sendall(_frame(_SASL_FRAME, outcome))
                if self._sasl_outcome:
                    return
                self._read(connection, 8)
            connection.sendall(_HEADER)
            self._read_frame(connection)
            connection.sendall(_frame(_AMQP_FRAME, _described(_OPEN, _string("loopback"), _NULL, *_OPEN_REST)))
            connection.sendall(self._end)
            while connection.recv(4096):
                pass

    def _read_frame(self, connection: socket.socket) -> bytes:
        size = struct.unpack(">I", self._read(connection, 4))[0]
        return self._read(connection, size - 4)

    def _read(self, connection: socket.socket, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = connection.recv(size - len(data))
            if not more:
                raise ConnectionError("the client went away")
            data += more
        return data


@contextlib.contextmanager
def amqp_server() -> Iterator[AmqpServer]:
    """A server on a free port."""
    with contextlib.closing(AmqpServer()) as server:
        yield server
