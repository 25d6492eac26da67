"""Database servers that speak just enough of their protocol for a real driver to raise the real error."""

from __future__ import annotations

import socket
import struct

from loopback.sockets import Conversation

_SSL_REQUEST, _GSS_REQUEST = 80877103, 80877104


def postgres_refuses(message: str, sqlstate: str) -> Conversation:
    """Answer the start of a session with a FATAL error, as PostgreSQL does before it lets anybody in."""

    def conversation(connection: socket.socket) -> None:
        _read_startup(connection)
        connection.sendall(_error_response("FATAL", message, sqlstate))

    return conversation


def postgres_answers(message: str, sqlstate: str, **fields: str) -> Conversation:
    """Let the client in and answer its first query with an error; ``D``, ``H`` are detail and hint."""

    def conversation(connection: socket.socket) -> None:
        _let_in(connection)
        while request := connection.recv(65536):
            is_terminate = request.startswith(b"X")
            if is_terminate:
                return
            connection.sendall(_error_response("ERROR", message, sqlstate, **fields) + _READY)

    return conversation


def postgres_dies(connection: socket.socket) -> None:
    """Let the client in and close at its first query: what a client sees when its backend is killed."""
    _let_in(connection)
    connection.recv(65536)


def mysql_refuses(number: int, message: str) -> Conversation:
    """Answer the connection with an error instead of a greeting: what MySQL does when it is full."""

    def conversation(connection: socket.socket) -> None:
        connection.sendall(_mysql_packet(b"\xff" + struct.pack("<H", number) + message.encode(), 0))

    return conversation


def mysql_denies(number: int, sqlstate: str, message: str) -> Conversation:
    """Greet the client, read its login and answer it with an error."""

    def conversation(connection: socket.socket) -> None:
        connection.sendall(_mysql_packet(_GREETING, 0))
        connection.recv(65536)
        error = b"\xff" + struct.pack("<H", number) + b"#" + sqlstate.encode() + message.encode()
        connection.sendall(_mysql_packet(error, 2))

    return conversation


def _read_startup(connection: socket.socket) -> None:
    while True:
        head = _read_exactly(connection, 8)
        length, version = struct.unpack("!ii", head)
        _read_exactly(connection, length - 8)
        if version not in (_SSL_REQUEST, _GSS_REQUEST):
            return
        connection.sendall(b"N")


def _let_in(connection: socket.socket) -> None:
    _read_startup(connection)
    parameters = {"client_encoding": "UTF8", "server_version": "16.0", "DateStyle": "ISO, MDY", "TimeZone": "UTC",
                  "standard_conforming_strings": "on", "integer_datetimes": "on"}  # fmt: skip
    statuses = b"".join(_message(b"S", f"{name}\0{value}\0".encode()) for name, value in parameters.items())
    connection.sendall(_message(b"R", struct.pack("!i", 0)) + statuses + _READY)


def _error_response(severity: str, message: str, sqlstate: str, **fields: str) -> bytes:
    values = {"S": severity, "V": severity, "C": sqlstate, "M": message, **fields}
    return _message(b"E", b"".join(f"{key}{value}\0".encode() for key, value in values.items()) + b"\0")


def _message(kind: bytes, payload: bytes) -> bytes:
    return kind + struct.pack("!i", len(payload) + 4) + payload


_READY = _message(b"Z", b"I")

_GREETING = (
    b"\x0a8.0.36\0" + struct.pack("<I", 7) + b"saltsalt\0" + struct.pack("<HBHH", 0xF7FF, 33, 2, 0x000F)
    + bytes([21]) + bytes(10) + b"saltsaltsalt\0" + b"mysql_native_password\0"
)  # fmt: skip


def _mysql_packet(payload: bytes, sequence: int) -> bytes:
    return struct.pack("<I", len(payload))[:3] + bytes([sequence]) + payload


def _read_exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        received = connection.recv(count - len(data))
        if not received:
            raise ConnectionError("the client hung up")
        data += received
    return data
