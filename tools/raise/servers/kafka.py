"""A server that speaks enough of Kafka's protocol to be a cluster of one broker with one topic, and says errors.

Form: https://kafka.apache.org/protocol. Of each request it knows one version, the oldest that clients still speak.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from servers.broken import listener

__all__ = ["TOPIC", "Kafka", "kafka"]

TOPIC = "orders"
_PRODUCE, _FETCH, _OFFSETS, _METADATA, _COORDINATOR = 0, 1, 2, 3, 10
_SASL, _VERSIONS, _CREATE, _DELETE, _PRODUCER_ID, _SASL_GO = 17, 18, 19, 20, 22, 36
_SPOKEN = {
    _PRODUCE: (0, 3),
    _FETCH: (0, 4),
    _OFFSETS: (0, 1),
    _METADATA: (0, 1),
    _COORDINATOR: (0, 0),
    _SASL: (0, 1),
    _VERSIONS: (0, 0),
    _CREATE: (0, 2),
    _DELETE: (0, 1),
    _PRODUCER_ID: (0, 0),
    _SASL_GO: (0, 0),
}
_UNSUPPORTED_VERSION = 35
_NULL = struct.pack(">h", -1)


@dataclass
class Kafka:
    """Cases run one after the other, so each simply sets what is answered from now on."""

    port: int = 0
    name: str = "loopback Kafka"
    version: str | None = None
    codes: Mapping[str, int] = field(default_factory=dict)
    words: str | None = None

    def answers(self, words: str | None = None, **codes: int) -> str:
        """
        Answer with codes of errors; return the address.

        :param words: The message, where an answer has one.
        :param codes: By ``produce``, ``fetch``, ``metadata``, ``leader``, ``coordinator``, ``create``, ``producer``,
            ``handshake`` and ``sign_in``; what is not named succeeds.
        """
        self.codes, self.words = codes, words
        return f"127.0.0.1:{self.port}"

    def talk(self, accepted: socket.socket) -> None:
        """Hold one conversation."""
        with accepted.makefile("rb") as reader:
            while head := reader.read(4):
                request = reader.read(struct.unpack(">i", head)[0])
                key, version, number = struct.unpack_from(">hhi", request)
                answer = struct.pack(">i", number) + self._answer(key, version)
                accepted.sendall(struct.pack(">i", len(answer)) + answer)

    def _code(self, name: str) -> bytes:
        return struct.pack(">h", self.codes.get(name, 0))

    def _answer(self, key: int, version: int) -> bytes:
        spoken = [struct.pack(">hhh", api, *versions) for api, versions in _SPOKEN.items()]
        if key == _VERSIONS:
            return struct.pack(">h", _UNSUPPORTED_VERSION if version else 0) + _array(*spoken)
        partition = struct.pack(">i", 0)
        topic = _text(TOPIC)
        no_wait = struct.pack(">i", 0)
        words = _NULL if self.words is None else _text(self.words)
        match key:
            case 0:  # produce
                told = partition + self._code("produce") + struct.pack(">qq", 0, -1)[: 16 if version > 1 else 8]
                return _array(topic + _array(told)) + (no_wait if version else b"")
            case 1:  # fetch
                told = partition + self._code("fetch") + struct.pack(">qq", 0, 0)[: 16 if version > 3 else 8]
                told += (struct.pack(">i", 0) if version > 3 else b"") + struct.pack(">i", 0)
                return (no_wait if version else b"") + _array(topic + _array(told))
            case 2:  # offsets
                return _array(topic + _array(partition + self._code("offsets") + struct.pack(">qq", -1, 0)))
            case 3:  # metadata
                return self._metadata(version)
            case 10:  # coordinator
                return self._code("coordinator") + self._broker()
            case 17:  # handshake
                return self._code("handshake") + _array(_text("PLAIN"))
            case 19 | 20:  # create, delete
                told = topic + self._code("create") + (words if key == _CREATE and version else b"")
                return (no_wait if version > (1 if key == _CREATE else 0) else b"") + _array(told)
            case 22:  # producer id
                return no_wait + self._code("producer") + struct.pack(">qh", 1, 0)
            case _:  # sign in
                return self._code("sign_in") + words + struct.pack(">i", 0)

    def _broker(self) -> bytes:
        return struct.pack(">i", 1) + _text("127.0.0.1") + struct.pack(">i", self.port)

    def _metadata(self, version: int) -> bytes:
        one = _array(struct.pack(">i", 1))
        partition = self._code("leader") + struct.pack(">ii", 0, -1 if self.codes.get("leader") else 1) + one + one
        topic = self._code("metadata") + _text(TOPIC) + (b"\0" if version else b"")
        topic += _array() if self.codes.get("metadata") else _array(partition)
        if version:
            return _array(self._broker() + _NULL) + struct.pack(">i", 1) + _array(topic)
        return _array(self._broker()) + _array(topic)


@contextlib.contextmanager
def kafka() -> Iterator[Kafka]:
    """The server that the cases of a family share."""
    server = Kafka()
    with listener(server.talk) as port:
        server.port = port
        yield server


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()


def _array(*items: bytes) -> bytes:
    return struct.pack(">i", len(items)) + b"".join(items)
