"""A real FTP server, pyftpdlib's, in a thread."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from harness import CANARY
from pyftpdlib.authorizers import DummyAuthorizer  # type: ignore[import-not-found,unused-ignore]
from pyftpdlib.handlers import FTPHandler  # type: ignore[import-not-found,unused-ignore]
from pyftpdlib.log import config_logging  # type: ignore[import-not-found,unused-ignore]
from pyftpdlib.servers import FTPServer  # type: ignore[import-not-found,unused-ignore]

from servers.process import server_folder

__all__ = ["Ftp", "ftp"]

_POLL_S = 0.1
_ALL_RIGHTS = "elradfmwMT"
_READING = "elr"


@dataclass(frozen=True)
class Ftp:
    """A running server; its users all have the canary for a password."""

    port: int
    folder: Path
    version: str
    name: str = "pyftpdlib"


@contextlib.contextmanager
def ftp() -> Iterator[Ftp]:
    """User ``etl`` may do all, ``reader`` may read; three connections at a time, two of an address."""
    config_logging(level=logging.CRITICAL)
    with server_folder() as folder:
        users = DummyAuthorizer()
        users.add_user("etl", CANARY, str(folder), perm=_ALL_RIGHTS)
        users.add_user("reader", CANARY, str(folder), perm=_READING)

        class Handler(FTPHandler):  # type: ignore[misc,unused-ignore]
            authorizer = users
            auth_failed_timeout = 0
            max_login_attempts = 1

        server = FTPServer(("127.0.0.1", 0), Handler)
        server.max_cons_per_ip = 2
        is_ending = threading.Event()

        def serve() -> None:
            while not is_ending.is_set():
                server.ioloop.loop(timeout=_POLL_S, blocking=False)
            server.close_all()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield Ftp(server.socket.getsockname()[1], folder, version("pyftpdlib"))
        finally:
            is_ending.set()
            thread.join()
