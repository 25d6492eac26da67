"""A real ZooKeeper, alone."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.servers import ServerUnavailable

from servers.port import free_port
from servers.process import accepts_connections, find_program, running_process, server_folder

__all__ = ["ZooKeeper", "zookeeper"]

_INSTALL = "apt-get install zookeeper"
_JARS = Path("/usr/share/java")
_NEEDED = "zookeeper.jar", "zookeeper-jute.jar"


@dataclass(frozen=True)
class ZooKeeper:
    """A running server."""

    port: int
    pid: int
    version: str | None
    name: str = "ZooKeeper"


@contextlib.contextmanager
def zookeeper() -> Iterator[ZooKeeper]:
    """The server that the cases of a family share."""
    java = find_program("java", install="apt-get install default-jre-headless")
    if not (_JARS / "zookeeper.jar").exists():
        raise ServerUnavailable(f"ZooKeeper is not installed. Get it with: {_INSTALL}")
    (target,) = (_JARS / "zookeeper.jar").resolve().parent.glob((_JARS / "zookeeper.jar").resolve().name)
    found = re.search(r"(\d+\.\d+\.\d+)", target.name)
    port = free_port()
    with server_folder() as folder:
        settings = folder / "zoo.cfg"
        settings.write_text(
            f"tickTime=500\ndataDir={folder / 'data'}\nclientPort={port}\nclientPortAddress=127.0.0.1\n"
            "admin.enableServer=false\nmaxSessionTimeout=20000\n"
        )
        command = [
            java,
            "-Xmx128m",
            "-cp",
            _class_path(),
            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            str(settings),
        ]
        with running_process(command, is_ready=accepts_connections(port), folder=folder) as process:
            yield ZooKeeper(port, process.pid, found[1] if found else None)


def _class_path() -> str:
    names = ("zookeeper", "slf4j-", "netty", "log4j", "logback", "reload4j", "commons-", "metrics-", "snappy", "jline")
    return ":".join(str(jar) for jar in sorted(_JARS.glob("*.jar")) if jar.name.startswith(names))
