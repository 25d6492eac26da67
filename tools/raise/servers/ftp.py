"""An FTP server, as pyftpdlib has it, over an empty folder. Depends on ``pyftpdlib``."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from harness import CANARY
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import ThreadedFTPServer

from servers.process import server_folder

__all__ = ["Ftp", "ftp_server"]


@dataclass(frozen=True)
class Ftp:
    """An FTP server; ``etl`` may write, ``reader`` may read."""

    port: int
    version: str | None
    folder: Path
    name: str = "pyftpdlib"


@contextlib.contextmanager
def ftp_server() -> Iterator[Ftp]:
    with server_folder() as folder:
        users = DummyAuthorizer()
        users.add_user("etl", CANARY, str(folder), perm="elradfmwMT")
        users.add_user("reader", CANARY, str(folder), perm="elr")
        handler = type("Handler", (FTPHandler,), {"authorizer": users, "auth_failed_timeout": 0})
        server = ThreadedFTPServer(("127.0.0.1", 0), handler)
        server.max_cons_per_ip = 2
        threading.Thread(
            target=server.serve_forever, kwargs={"timeout": 0.1, "handle_exit": False}, daemon=True
        ).start()
        try:
            yield Ftp(server.address[1], version("pyftpdlib"), folder)
        finally:
            server.close_all()
