"""The nursery, seen from the process that has started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from socket import socketpair
from typing import Any

from airflow_common_ai.evals.workers.child_environment import child_environment
from airflow_common_ai.sanitizer import sanitize

__all__ = ["NoWorkers", "NurseryProcess"]

_START_LIMIT_S = 300.0
"""For imports: a policy that takes longer to load would time out every Dag parse."""
_SHOWN_CHARS = 1000


class NoWorkers(RuntimeError):
    """The processes that ask could not be started, or all of them ended: nothing can be measured."""


class NurseryProcess:
    """Starts at once; to be closed."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process is
        ours, theirs = socketpair()
        with theirs:
            command = [sys.executable, "-P", "-m", "airflow_common_ai.evals.workers.nursery", str(theirs.fileno())]
            self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env=child_environment(),
                start_new_session=True,  # what is typed at the terminal is for the parent, and all can be ended at once
            )
        self._line = Connection(ours.detach())

    def send(self, message: object) -> None:
        """
        Tell it something.

        :raises NoWorkers: It has ended.
        """
        try:
            self._line.send(message)
        except OSError:
            raise NoWorkers(self._last_words()) from None

    def receive(self) -> Any:
        """
        Return what it says.

        :raises NoWorkers: It has ended, or says nothing for minutes.
        """
        try:
            if self._line.poll(_START_LIMIT_S):
                return self._line.recv()
        except (EOFError, OSError):
            raise NoWorkers(self._last_words()) from None
        raise NoWorkers(f"the policy was not loaded within {_START_LIMIT_S:g} s. See what its module does on import.")

    def fork(self) -> tuple[Connection, int]:
        """
        Return a new worker: the connection to it, and its process.

        :raises NoWorkers: There is nobody who could fork it.
        """
        ours, theirs = socketpair()
        with theirs:
            self.send("fork")
            try:
                send_handle(self._line, theirs.fileno(), self._process.pid)
            except OSError:
                raise NoWorkers(self._last_words()) from None
            pid: int = self.receive()
        return Connection(ours.detach()), pid

    def close(self) -> None:
        """End it and everything that it has started."""
        self._line.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._errors.close()

    def _last_words(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._errors.seek(0)
        *_, last = self._errors.read().decode("utf-8", "replace").strip().splitlines() or [""]
        ended = f"the process that loads the policy ended with {self._process.returncode}"
        return sanitize(f"{ended}: {last}" if last else ended, _SHOWN_CHARS)
