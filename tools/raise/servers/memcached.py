"""A real memcached."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from servers.port import free_port
from servers.process import accepts_connections, find_program, running_process, server_folder

__all__ = ["Memcached", "memcached", "memcached_server"]


@dataclass(frozen=True)
class Memcached:
    """A running server."""

    port: int
    version: str
    name: str = "memcached"


def memcached() -> contextlib.AbstractContextManager[Memcached]:
    """The server that the cases of a family share."""
    return memcached_server()


@contextlib.contextmanager
def memcached_server(*arguments: str) -> Iterator[Memcached]:
    """A server of one's own, started with more arguments."""
    program = find_program("memcached", install="apt-get install memcached")
    told = subprocess.run([program, "-V"], capture_output=True, text=True, check=True, timeout=20).stdout
    port = free_port()
    command = [program, "-l", "127.0.0.1", "-p", str(port), "-U", "0", *arguments]
    if os.geteuid() == 0:
        command += ["-u", "nobody"]
    with server_folder() as folder, running_process(command, is_ready=accepts_connections(port), folder=folder):
        yield Memcached(port, told.split()[-1])
