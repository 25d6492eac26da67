"""The files that commands about a run read and write, and how they end where those are wrong or say too little."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from airflow_common_ai.cli.output import print_error

if TYPE_CHECKING:
    from airflow_common_ai.evals.runs.run_file import Run
    from airflow_common_ai.evals.scoring.costs import Costs

__all__ = ["WrongFile", "costs_in", "measuring", "read_file", "run_in", "write_file"]

_MAX_FILE_BYTES = 4 * 1024**3

Content = TypeVar("Content")


class WrongFile(Exception):
    """A file cannot be used; the text says which, why, and what to do."""


@contextmanager
def measuring(command: str) -> Iterator[None]:
    """End the command where its files are wrong, with 2, or say too little, with 3."""
    from airflow_common_ai.evals.unmeasurable import Unmeasurable

    try:
        yield
    except Unmeasurable as reason:
        print_error(command, f"{reason}.")
        raise typer.Exit(3) from None
    except WrongFile as fault:
        print_error(command, fault)
        raise typer.Exit(2) from None


def read_file(path: Path, reader: Callable[[Path], Content]) -> Content:
    """
    Return what a reader makes of a file. A link is not followed: it may lead anywhere.

    :raises WrongFile: It is none, or its reader refuses it.
    """
    try:
        status = path.lstat()
    except OSError as error:
        raise WrongFile(f"{path} cannot be read: {error.strerror}.") from None
    if not stat.S_ISREG(status.st_mode):
        raise WrongFile(f"{path} is no regular file. Give the file itself, not a link, a folder or a pipe.")
    if status.st_size > _MAX_FILE_BYTES:
        raise WrongFile(f"{path} has more than {_MAX_FILE_BYTES // 1024**3} GiB. Score a part of it.")
    try:
        return reader(path)
    except (OSError, ValueError) as fault:
        raise WrongFile(str(fault)) from None


def run_in(path: Path) -> Run:
    """
    Return the run in a file.

    :raises WrongFile: As :func:`read_file`.
    """
    from airflow_common_ai.evals.runs.run_file import read_run

    return read_file(path, read_run)


def costs_in(path: Path | None) -> Costs | None:
    """
    Return the prices in a file; ``None`` if none is named.

    :raises WrongFile: As :func:`read_file`.
    """
    from airflow_common_ai.evals.scoring.costs import read_costs

    return None if path is None else read_file(path, read_costs)


def write_file(path: Path, text: str) -> None:
    """
    Write a file whole, or not at all; what a link of that name leads to stays as it is.

    :raises WrongFile: It cannot be written.
    """
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        with unfinished.open("x", encoding="utf-8") as file:
            file.write(text)
        unfinished.replace(path)
    except OSError as error:
        raise WrongFile(f"{path} cannot be written: {error.strerror}. Name a file in a folder that is there.") from None
