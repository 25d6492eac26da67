"""A real RabbitMQ with a few users and queues."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness import CANARY

from servers.port import free_port
from servers.process import accepts_connections, find_program, running_process, server_folder

__all__ = ["RabbitMQ", "rabbitmq"]

_INSTALL = "apt-get install rabbitmq-server"
_PROGRAMS = "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin"
_USER = "rabbitmq"
_COMMAND_WITHIN_S = 60


@dataclass(frozen=True)
class RabbitMQ:
    """A running server; its users all have the canary for a password."""

    port: int
    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    version: str | None = None
    name: str = "RabbitMQ"

    def control(self, *words: str) -> str:
        """Do something as the server's administrator."""
        program = find_program(f"{_PROGRAMS}/rabbitmqctl", install=_INSTALL)
        done = subprocess.run(
            [program, "--quiet", *words],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=True,
            timeout=_COMMAND_WITHIN_S,
            user=_USER if os.geteuid() == 0 else None,
        )
        return done.stdout.strip()


@contextlib.contextmanager
def rabbitmq() -> Iterator[RabbitMQ]:
    """The server that the cases of a family share."""
    program = find_program(f"{_PROGRAMS}/rabbitmq-server", install=_INSTALL)
    directory = find_program("epmd", "/usr/lib/erlang/erts-*/bin/epmd", install=_INSTALL)
    port, node_port, directory_port = free_port(), free_port(), free_port()
    with server_folder(_USER) as folder, contextlib.ExitStack() as running:
        environment = {
            "HOME": str(folder),
            "ERL_EPMD_PORT": str(directory_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"shop{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(node_port),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-start_epmd false +S 1:1",
        }
        (folder / "rabbitmq.conf").write_text(
            "channel_max = 8\nheartbeat = 30\ncollect_statistics_interval = 60000\nmax_message_size = 1000000\n"
        )
        for file in folder.iterdir():
            file.chmod(0o644)
        running.enter_context(
            running_process(
                [directory],
                is_ready=accepts_connections(directory_port),
                folder=folder,
                environment=environment,
                user=_USER,
            )
        )
        running.enter_context(
            running_process(
                [program], is_ready=accepts_connections(port), folder=folder, environment=environment, user=_USER
            )
        )
        server = RabbitMQ(port, folder, environment)
        _fill(server)
        yield RabbitMQ(port, folder, environment, server.control("version"))


def _fill(server: RabbitMQ) -> None:
    for user, rights in (("etl", (".*", ".*", ".*")), ("reader", ("^$", "^$", ".*"))):
        server.control("add_user", user, CANARY)
        server.control("set_permissions", user, *rights)
    server.control("add_user", "stranger", CANARY)
