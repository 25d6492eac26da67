"""Listeners that are no servers: they hang, close, reset, or say what somebody asked them to say."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

__all__ = ["listener", "port_that_closes", "port_that_hangs", "port_that_resets", "port_that_says"]

Talk = Callable[[socket.socket], None]


@contextlib.contextmanager
def listener(talk: Talk) -> Iterator[int]:
    """A port on 127.0.0.1 where each connection is handed to ``talk``, in a thread, and closed afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    accepted, _ = listening.accept()
                    threading.Thread(target=_quiet, args=(talk, accepted), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)


def port_that_hangs() -> contextlib.AbstractContextManager[int]:
    """Accepts, reads, and never says a word."""

    def talk(accepted: socket.socket) -> None:
        while accepted.recv(4096):
            pass

    return listener(talk)


def port_that_closes(after_reads: int = 0) -> contextlib.AbstractContextManager[int]:
    """Accepts and closes, at once or after it was spoken to."""

    def talk(accepted: socket.socket) -> None:
        for _ in range(after_reads):
            accepted.recv(4096)

    return listener(talk)


def port_that_resets() -> contextlib.AbstractContextManager[int]:
    """Accepts, lets the client say something, and closes with RST."""

    def talk(accepted: socket.socket) -> None:
        accepted.recv(1)
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return listener(talk)


def port_that_says(words: bytes, *, first: bool = False) -> contextlib.AbstractContextManager[int]:
    """
    Answers whatever comes with the same bytes, then closes.

    :param first: Speak without having been spoken to, as servers of MySQL, SSH and mail do.
    """

    def talk(accepted: socket.socket) -> None:
        if not first:
            accepted.recv(4096)
        accepted.sendall(words)
        accepted.shutdown(socket.SHUT_WR)
        while accepted.recv(4096):
            pass

    return listener(talk)


def _quiet(talk: Talk, accepted: socket.socket) -> None:
    with contextlib.suppress(OSError), accepted:
        talk(accepted)
