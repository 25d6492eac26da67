"""One process of Airflow, with everything that it starts."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it ships no types

_PR_SET_CHILD_SUBREAPER = 36
"""Source: prctl(2)."""


class Component:
    """``airflow <arguments>`` in a session of its own, writing to a log file."""

    def __init__(self, name: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "airflow", *arguments],
                env=dict(environment),
                cwd=log.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started = psutil.Process(self._process.pid)

    @property
    def exit_code(self) -> int | None:
        """How it ended; ``None`` while it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> int:
        """Wait for a component that ends by itself and return how it ended."""
        return self._process.wait(timeout_s)

    def tail(self, lines: int = 25) -> str:
        """Return the end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        if self.exit_code is None:
            self._process.terminate()

    def stop(self, grace_s: float) -> None:
        """Wait for a component that was asked to stop, then kill what is left of it and of all that it started."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(grace_s)
        left = [*self._descendants(), *self._session()]
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=grace_s)
        self._process.wait()

    def _descendants(self) -> list[psutil.Process]:
        try:
            return list(self._started.children(recursive=True))
        except psutil.NoSuchProcess:
            return []

    def _session(self) -> list[psutil.Process]:
        """Return what is in its session: a task has a process group of its own, and may have lost its parent."""
        found = []
        for pid in psutil.pids():
            with contextlib.suppress(ProcessLookupError, PermissionError, psutil.NoSuchProcess):
                if os.getsid(pid) == self._process.pid:
                    found.append(psutil.Process(pid))
        return found


def adopt_orphans() -> None:
    """Become the parent of what a killed component leaves behind: in a container nobody else reaps it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
