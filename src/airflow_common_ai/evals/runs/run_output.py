"""A run file while it is written: it may be killed at any time and continued, and ends in the order of the corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.runs.run_file import Row, line_of, read_run
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.sanitizer import sanitize

__all__ = ["RunOutput"]

_COMPARED = {
    "corpus": "it is of another corpus, or of other labels or another split",
    "cases": "it is of other cases",
    "policy": "it is of the policy {old}",
    "policy_id": "the policy has changed since: it was {old} and is {new}",
    "mode": "it was made in the mode {old}",
    "repeats": "it has {old} repeats",
    "shard": "it is of the shard {old}",
    "prompt": "prompt, schema or categories have changed since",
    "conn_type": "it is of a connection of the type {old}",
    "model": "it is of the model {old}",
    "versions": "other versions are installed by now",
}
"""What must be as it was for a run to be continued, and what is said where it is not."""


class RunOutput:
    """
    A run file while it is written.

    :param path: The file.
    :param header: Its first line.
    :param resume: Continue the run that is in it; rows in which nothing was measured are asked again.
    :param tries: How often each failure comes again, at most, in this run.
    :raises ValueError: The file is there and is not to be continued, or holds another run.
    """

    def __init__(self, path: Path, header: RunHeader, *, resume: bool, tries: int = 1) -> None:
        self.path = path
        self.header = header
        self.rows: list[Row] = []
        """What is there already."""
        if path.is_symlink() or path.is_dir():
            raise ValueError(f"{self._shown} is no file. Name one with -o.")
        if path.exists() and not resume:
            raise ValueError(f"{self._shown} is there already. Continue it with --resume, or name another one with -o.")
        if path.exists() and _drop_torn_line(path):
            self.rows = self._kept(tries)
        self._order: dict[tuple[str, int], tuple[int, int]] = {}
        """Where each row stands, in the order in which they were written."""
        self._file = self._started()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def write(self, row: Row) -> None:
        """Add a row, flushed."""
        self._append(row)
        self._file.flush()

    def finish(self, order: Mapping[tuple[str, int], int]) -> None:
        """Bring the rows into order; a file that is in order already is left alone."""
        self._file.flush()
        keys = sorted(self._order, key=order.__getitem__)
        if keys != list(self._order):
            unfinished = self._unfinished
            with self.path.open("rb") as rows, unfinished.open("wb") as sorted_rows:
                sorted_rows.write(rows.readline())
                for key in keys:
                    start, length = self._order[key]
                    rows.seek(start)
                    sorted_rows.write(rows.read(length))
            unfinished.replace(self.path)

    def _kept(self, tries: int) -> list[Row]:
        run = read_run(self.path)
        for name, words in _COMPARED.items():
            old, new = getattr(run.header, name), getattr(self.header, name)
            if old != new:
                raise self._refusal(words.format(old=_said(old), new=_said(new)))
        if not _has_as_many_tries(run.rows, tries):
            raise self._refusal("it was made with other --tries")
        self.header = replace(self.header, measured_at=run.header.measured_at)
        return [row for row in run.rows if row.outcome is not Outcome.STALE]

    def _refusal(self, why: str) -> ValueError:
        return ValueError(f"{self._shown} cannot be continued: {sanitize(why)}. Name another file with -o.")

    def _started(self) -> BinaryIO:
        """Write what is known by now to a new file, so that a run that cannot be continued is not touched."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._unfinished.open("wb") as self._file:
            self._file.write(line_of(self.header).encode())
            for row in self.rows:
                self._append(row)
        self._unfinished.replace(self.path)
        return self.path.open("ab")

    def _append(self, row: Row) -> None:
        line = line_of(row).encode()
        self._order[row.key] = (self._file.tell(), len(line))
        self._file.write(line)

    @property
    def _unfinished(self) -> Path:
        return self.path.with_name(f"{self.path.name}.unfinished")

    @property
    def _shown(self) -> str:
        return f"'{sanitize(str(self.path))}'"


def _has_as_many_tries(rows: Sequence[Row], tries: int) -> bool:
    """Whether rows look like those of a run with so many tries; one that failed the task has fewer."""
    open_rows = [row for row in rows if row.outcome is Outcome.DECIDED and row.action is not Action.FAIL]
    most = max((1 + len(row.later) for row in open_rows), default=tries)
    return most <= tries and (most > 1 or tries == 1)


def _drop_torn_line(path: Path) -> int:
    """Return how many bytes are left: a run that was killed while it wrote has half a line at its end."""
    with path.open("rb+") as file:
        text = file.read()
        whole = text.rfind(b"\n") + 1
        if whole != len(text):
            file.truncate(whole)
    return whole


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return "/".join(map(str, value))
    return "none" if value is None else str(value)
