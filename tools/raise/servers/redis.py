"""A real Redis with a password and a few users."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import CANARY

from servers.port import free_port
from servers.process import accepts_connections, find_program, running_process, server_folder

__all__ = ["Redis", "redis", "redis_server"]

_INSTALL = "apt-get install redis-server"
_USERS = (
    f"reader on >{CANARY} ~* &* +@read +@connection",
    f"orders on >{CANARY} ~orders:* &orders:* +@all",
    f"retired off >{CANARY} ~* &* +@all",
)


@dataclass(frozen=True)
class Redis:
    """A running server; its users all have the canary for a password."""

    port: int
    folder: Path
    version: str | None
    name: str = "Redis"


def redis() -> contextlib.AbstractContextManager[Redis]:
    """The server that the cases of a family share."""
    return redis_server()


@contextlib.contextmanager
def redis_server(*arguments: str) -> Iterator[Redis]:
    """
    A server of one's own.

    :param arguments: What it is started with beyond the usual, e.g. ``"--maxclients", "3"``.
    """
    program = find_program("redis-server", install=_INSTALL)
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=20).stdout
    found = re.search(r"v=([\d.]+)", told)
    port = free_port()
    with server_folder() as folder:
        command = [program, "--port", str(port), "--bind", "127.0.0.1", "--requirepass", CANARY, "--save", ""]
        command += ["--dir", str(folder), "--enable-debug-command", "local", "--busy-reply-threshold", "100"]
        command += ["--cluster-port", str(free_port())]
        for user in _USERS:
            command += ["--user", *user.split()]
        command += arguments
        with running_process(command, is_ready=accepts_connections(port), folder=folder):
            yield Redis(port, folder, found[1] if found else None)
