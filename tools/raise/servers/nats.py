"""A real NATS server with JetStream and a few users."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from harness import CANARY

from servers.port import free_port
from servers.process import accepts_connections, find_program, running_process, server_folder

__all__ = ["Nats", "nats", "nats_server"]

_SETTINGS = """
host: 127.0.0.1
port: {port}
max_payload: 1000
{more}
jetstream {{ store_dir: "{folder}/streams", max_memory_store: 1000000, max_file_store: 1000000 }}
authorization {{
  users = [
    {{ user: etl, password: "{secret}" }}
    {{ user: reader, password: "{secret}", permissions: {{ publish: "_INBOX.>", subscribe: ">" }} }}
  ]
}}
"""


@dataclass(frozen=True)
class Nats:
    """A running server; its users all have the canary for a password."""

    port: int
    pid: int
    version: str | None
    name: str = "NATS"


def nats() -> contextlib.AbstractContextManager[Nats]:
    """The server that the cases of a family share."""
    return nats_server()


@contextlib.contextmanager
def nats_server(more: str = "") -> Iterator[Nats]:
    """
    A server of one's own.

    :param more: Settings beyond the usual.
    """
    program = find_program("nats-server", "/usr/sbin/nats-server", install="apt-get install nats-server")
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=20)
    found = re.search(r"\d+\.\d+\.\d+", told.stdout + told.stderr)
    port = free_port()
    with server_folder() as folder:
        settings = folder / "nats.conf"
        settings.write_text(_SETTINGS.format(port=port, folder=folder, secret=CANARY, more=more))
        with running_process(
            [program, "-c", str(settings)], is_ready=accepts_connections(port), folder=folder
        ) as process:
            yield Nats(port, process.pid, found[0] if found else None)
