"""Just enough of the wire protocols of databases for their real clients to connect and be told an error."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from socket import IPPROTO_TCP, TCP_NODELAY, socket
from typing import Any

import bson
from loopback.sockets import Conversation

_SSL_OR_GSS_REQUEST = (80877103, 80877104)


def postgres(code: str, message: str, detail: str = "", *, at_login: bool = False) -> Conversation:
    """Answer the first statement, or the login, with an error. Source: PostgreSQL documentation, chapter 55."""

    def conversation(connection: socket) -> None:
        read = connection.makefile("rb").read
        while struct.unpack("!I", (startup := read(struct.unpack("!I", read(4))[0] - 4))[:4])[0] in _SSL_OR_GSS_REQUEST:
            connection.sendall(b"N")
        del startup
        severity = "FATAL" if at_login else "ERROR"
        fields = {"S": severity, "V": severity, "C": code, "M": message, "D": detail}
        error = _postgres_message(
            b"E", b"".join(f"{key}{value}\0".encode() for key, value in fields.items() if value) + b"\0"
        )
        if at_login:
            connection.sendall(error)
            return
        settings = {"server_version": "16.4", "client_encoding": "UTF8", "standard_conforming_strings": "on"}
        connection.sendall(
            _postgres_message(b"R", struct.pack("!I", 0))
            + b"".join(_postgres_message(b"S", f"{name}\0{value}\0".encode()) for name, value in settings.items())
            + _postgres_message(b"K", struct.pack("!II", 7, 7))
            + _postgres_message(b"Z", b"I")
        )
        while kind := read(1):
            statement = read(struct.unpack("!I", read(4))[0] - 4)
            if kind == b"Q" and statement.upper().startswith((b"BEGIN", b"ROLLBACK")):
                connection.sendall(_postgres_message(b"C", b"BEGIN\0") + _postgres_message(b"Z", b"T"))
            elif kind == b"Q":
                connection.sendall(error + _postgres_message(b"Z", b"I"))

    return conversation


def _postgres_message(kind: bytes, payload: bytes) -> bytes:
    return kind + struct.pack("!I", len(payload) + 4) + payload


def mysql(number: int, state: str, message: str, *, at_login: bool = False) -> Conversation:
    """Answer the first statement, or the login, with an error. Source: MySQL's protocol, handshake v10."""

    def conversation(connection: socket) -> None:
        connection.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        read = connection.makefile("rb").read

        def send(sequence: int, payload: bytes) -> None:
            connection.sendall(struct.pack("<I", len(payload))[:3] + bytes([sequence]) + payload)

        def receive() -> bytes:
            head = read(4)
            return read(int.from_bytes(head[:3], "little")) if head else b""

        ok = b"\0\0\0\2\0\0\0"
        error = b"\xff" + struct.pack("<H", number) + b"#" + state.encode() + message.encode()
        plugin = b"mysql_native_password\0"
        send(
            0,
            b"\x0a8.4.0\0"
            + struct.pack("<I", 7)
            + b"saltsalt\0\xff\xf7\x21\2\0\xff\x81\x15"
            + bytes(10)
            + b"saltsaltsalt\0"
            + plugin,
        )
        receive()
        send(2, error if at_login else ok)
        while statement := receive():
            send(1, ok if statement[1:].upper().startswith((b"SET ", b"ROLLBACK")) else error)

    return conversation


def mongo(reply: Mapping[str, Any]) -> Conversation:
    """Answer every command but the greeting with ``reply``. Source: MongoDB's wire protocol, OP_MSG and OP_QUERY."""
    greeting = {
        "helloOk": True, "isWritablePrimary": True, "ismaster": True, "maxBsonObjectSize": 16777216,
        "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000, "minWireVersion": 0,
        "maxWireVersion": 21, "ok": 1,
    }  # fmt: skip

    def conversation(connection: socket) -> None:
        read = connection.makefile("rb").read
        while head := read(16):
            length, request_id, _, opcode = struct.unpack("<iiii", head)
            body = read(length - 16)
            is_message = opcode == 2013
            command = bson.decode(body[5 : 5 + struct.unpack_from("<i", body, 5)[0]]) if is_message else {"hello": 1}
            is_greeting = next(iter(command)).lower() in ("hello", "ismaster")
            document = bson.encode(greeting if is_greeting else {**reply})
            prefix = struct.pack("<iB", 0, 0) if is_message else struct.pack("<iqii", 8, 0, 0, 1)
            answer = prefix + document
            connection.sendall(
                struct.pack("<iiii", 16 + len(answer), 1, request_id, opcode if is_message else 1) + answer
            )

    return conversation
