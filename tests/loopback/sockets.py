"""TCP servers on 127.0.0.1 that misbehave: they reset, hang up, say nothing or stop in mid-sentence."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

Conversation = Callable[[socket.socket], None]
"""What a server does with one accepted connection; the connection is closed afterwards."""


@contextlib.contextmanager
def refused_port() -> Iterator[int]:
    """A port that refuses connections and stays ours: it is bound, but nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@contextlib.contextmanager
def serve(conversation: Conversation) -> Iterator[int]:
    """Serve every connection on a port of its own until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener, conversation), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, conversation: Conversation) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_talk, args=(connection, conversation), daemon=True).start()


def _talk(connection: socket.socket, conversation: Conversation) -> None:
    with connection, contextlib.suppress(OSError):
        conversation(connection)


def read_request(connection: socket.socket) -> bytes:
    """Read an HTTP head, or what came before the peer stopped; a TLS greeting is not waited out."""
    request = b""
    while b"\r\n\r\n" not in request and not request.startswith(b"\x16"):
        received = connection.recv(65536)
        if not received:
            break
        request += received
    return request


def reset(connection: socket.socket) -> None:
    """Read a request and answer with RST: the peer sees ``ECONNRESET``."""
    read_request(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def hang_up(connection: socket.socket) -> None:
    """Read a request and close without a word."""
    read_request(connection)


def stay_silent(connection: socket.socket) -> None:
    """Read and never answer, until the peer gives up."""
    while connection.recv(65536):
        pass


def say(answer: bytes) -> Conversation:
    """Read a request, send these bytes, whole or not, and close."""

    def conversation(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(answer)

    return conversation


def http(body: bytes, *, content_type: str = "application/json", declared_length: int | None = None) -> bytes:
    """An HTTP/1.1 answer with status 200; a ``declared_length`` over the body's makes it a cut one."""
    length = len(body) if declared_length is None else declared_length
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
