"""Command-line programs that tasks run, as a family's servers: a case names the one that it cannot do without."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from harness.servers import StartServer

from servers.process import find_program

__all__ = ["Program", "program"]


@dataclass(frozen=True)
class Program:
    """One that is there."""

    name: str
    path: str
    version: str | None = None


def program(name: str, *ask: str, install: str) -> StartServer:
    """
    Return what looks for a program.

    :param ask: The arguments that make it tell its version.
    :param install: How to get it.
    """

    @contextlib.contextmanager
    def start() -> Iterator[Program]:
        path = find_program(name, install=install)
        told = subprocess.run([path, *ask], capture_output=True, text=True, check=False, timeout=60) if ask else None
        found = re.search(r"\d+\.\d+(?:\.\d+)?", told.stdout + told.stderr) if told else None
        yield Program(name, path, found[0] if found else None)

    return start
