"""A real MQTT broker, Mosquitto, with a user that may publish to orders only."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from harness import CANARY

from servers.port import free_port
from servers.process import accepts_connections, find_program, running_process, server_folder

__all__ = ["Mosquitto", "mosquitto"]

_INSTALL = "apt-get install mosquitto"


@dataclass(frozen=True)
class Mosquitto:
    """A running broker; its users all have the canary for a password."""

    port: int
    version: str | None
    name: str = "Mosquitto"


@contextlib.contextmanager
def mosquitto() -> Iterator[Mosquitto]:
    """The broker that the cases of a family share."""
    program = find_program("mosquitto", "/usr/sbin/mosquitto", install=_INSTALL)
    hasher = find_program("mosquitto_passwd", install=_INSTALL)
    told = subprocess.run([program, "-h"], capture_output=True, text=True, check=False, timeout=20)
    found = re.search(r"version (\d+\.\d+\.\d+)", told.stdout + told.stderr)
    port = free_port()
    with server_folder("mosquitto") as folder:
        settings, users, rules = folder / "mosquitto.conf", folder / "users", folder / "rules"
        rules.write_text("user etl\ntopic readwrite orders/#\n")
        subprocess.run([hasher, "-b", "-c", str(users), "etl", CANARY], check=True, capture_output=True, timeout=20)
        settings.write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {users}\nacl_file {rules}\n"
            "message_size_limit 1000\nmax_packet_size 1000\n"
        )
        for file in (settings, users, rules):
            file.chmod(0o644)
        with running_process(
            [program, "-c", str(settings)], is_ready=accepts_connections(port), folder=folder, user="mosquitto"
        ):
            yield Mosquitto(port, found[1] if found else None)
