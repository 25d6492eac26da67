"""MongoDB and Redis, as far as it takes for a real client to raise the real error."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from typing import Any

import bson
from loopback.sockets import Conversation

_OP_REPLY, _OP_QUERY, _OP_MSG = 1, 2004, 2013
_HELLO = {
    "ok": 1.0,
    "ismaster": True,
    "isWritablePrimary": True,
    "helloOk": True,
    "minWireVersion": 0,
    "maxWireVersion": 21,
    "maxBsonObjectSize": 16 * 1024 * 1024,
    "maxMessageSizeBytes": 48_000_000,
    "maxWriteBatchSize": 100_000,
}


def mongo_answers(answer: Mapping[str, Any]) -> Conversation:
    """Greet the client as a standalone server and answer each of its commands with one document."""

    def conversation(connection: socket.socket) -> None:
        while head := _read(connection, 16):
            length, request_id, _, operation = struct.unpack("<iiii", head)
            body = _read(connection, length - 16)
            command = _command_in(operation, body)
            is_greeting = command in ("hello", "ismaster", "isMaster")
            document = bson.encode(_HELLO if is_greeting else dict(answer))
            connection.sendall(_mongo_message(operation, request_id, document))

    return conversation


def redis_replies(reply: str) -> Conversation:
    """Answer everything with one error reply, such as ``LOADING Redis is loading the dataset in memory``."""

    def conversation(connection: socket.socket) -> None:
        while connection.recv(65536):
            connection.sendall(f"-{reply}\r\n".encode())

    return conversation


def _command_in(operation: int, body: bytes) -> str:
    # What stands in front: flags, the collection's name and two numbers, or flags and the kind of the first section.
    document = body[body.index(b"\0", 4) + 9 if operation == _OP_QUERY else 5 :]
    return next(iter(bson.decode(document[: struct.unpack("<i", document[:4])[0]])))


def _mongo_message(operation: int, request_id: int, document: bytes) -> bytes:
    if operation == _OP_QUERY:
        operation, body = _OP_REPLY, struct.pack("<iqii", 8, 0, 0, 1) + document
    else:
        operation, body = _OP_MSG, struct.pack("<iB", 0, 0) + document
    return struct.pack("<iiii", 16 + len(body), 1, request_id, operation) + body


def _read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (received := connection.recv(count - len(data))):
        data += received
    return data
