"""A server that is a program: started on a free port, waited for, and stopped with all that it started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path

from harness.servers import ServerUnavailable

__all__ = ["accepts_connections", "find_program", "running_process", "server_folder"]

_READY_EVERY_S = 0.1
_STOP_WITHIN_S = 10.0


def find_program(*patterns: str, install: str) -> str:
    """
    Return the path of the first program that is there.

    :param patterns: Names to be looked for on the path, or patterns of whole paths such as
        ``/usr/lib/postgresql/*/bin/postgres``.
    :param install: How to get it, e.g. ``apt-get install postgresql``; shown if it is not there.
    :raises ServerUnavailable: None of them is there.
    """
    for pattern in patterns:
        found = shutil.which(pattern) if "/" not in pattern else next(iter(sorted(glob(pattern), reverse=True)), None)
        if found:
            return found
    raise ServerUnavailable(f"{patterns[0]} is not installed. Get it with: {install}")


@contextlib.contextmanager
def server_folder(owner: str | None = None) -> Iterator[Path]:
    """An empty folder for a server's data, gone afterwards; ``owner`` is the user that the server runs as."""
    folder = Path(tempfile.mkdtemp(prefix="raise-server-"))
    if owner and os.geteuid() == 0:
        shutil.chown(folder, owner)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def running_process(
    command: Sequence[str],
    *,
    is_ready: Callable[[], bool],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    user: str | None = None,
    ready_within_s: float = 60,
) -> Iterator[subprocess.Popen[bytes]]:
    """
    Run a program until the block ends.

    :param is_ready: Asked again and again; what it raises as an ``OSError`` counts as no.
    :param folder: Where it runs and where its output goes.
    :param environment: What is added to this process's.
    :param user: Whom to run as, if this process is root: PostgreSQL and others refuse to run as root.
    :raises ServerUnavailable: It ended, or was not ready in time; the text has the end of its output.
    """
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            user=user if os.geteuid() == 0 else None,
            start_new_session=True,
        )
    try:
        _wait_until_ready(process, is_ready, log, ready_within_s)
        yield process
    finally:
        _stop(process)


def accepts_connections(port: int) -> Callable[[], bool]:
    """Return a check whether somebody listens on a port, for ``is_ready``."""

    def check() -> bool:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True

    return check


def _wait_until_ready(
    process: subprocess.Popen[bytes], is_ready: Callable[[], bool], log: Path, within_s: float
) -> None:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerUnavailable(f"{_name(process)} ended with exit code {process.returncode}: {_tail(log)}")
        with contextlib.suppress(OSError):
            if is_ready():
                return
        time.sleep(_READY_EVERY_S)
    raise ServerUnavailable(f"{_name(process)} was not ready within {within_s:g} s: {_tail(log)}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_WITHIN_S)
            break
    with contextlib.suppress(ProcessLookupError):  # whatever it started and left behind
        os.killpg(process.pid, signal.SIGKILL)


def _name(process: subprocess.Popen[bytes]) -> str:
    arguments = process.args
    return Path(str(arguments[0] if isinstance(arguments, list | tuple) else arguments)).name


def _tail(log: Path) -> str:
    return " ".join(log.read_text("utf-8", "replace")[-600:].split())
