"""The surroundings of a case: nothing of this machine's user, and nothing that a case leaves behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["own_environment", "own_folder", "without_output"]

_FOREIGN_PREFIXES = ("AIRFLOW_CONN_", "AIRFLOW_VAR_", "AIRFLOW__", "AWS_", "AZURE_", "GOOGLE_", "KUBE", "PG")
_FOREIGN_SUFFIXES = ("_API_KEY", "_PROXY", "_TOKEN")
"""Settings of whoever runs this, which clients would pick up."""


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """An empty working directory, gone afterwards."""
    before = Path.cwd()
    work = Path(tempfile.mkdtemp(prefix="raise-"))
    os.chdir(work)
    try:
        yield work
    finally:
        os.chdir(before)
        shutil.rmtree(work, ignore_errors=True)


@contextlib.contextmanager
def own_environment(home: Path) -> Iterator[None]:
    """A copy of the environment without what is this user's; clients look for their files in ``home``."""
    before = dict(os.environ)
    for name in before:
        if name.upper().startswith(_FOREIGN_PREFIXES) or name.upper().endswith(_FOREIGN_SUFFIXES):
            del os.environ[name]
    os.environ["HOME"] = str(home)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def without_output() -> Iterator[None]:
    """What the block and its child processes print goes nowhere."""
    sys.stdout.flush()
    sys.stderr.flush()
    terminals = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, terminal in zip((1, 2), terminals, strict=True):
            os.dup2(terminal, number)
        for descriptor in (*terminals, nowhere):
            os.close(descriptor)
