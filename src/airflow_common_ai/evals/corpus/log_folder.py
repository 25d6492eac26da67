"""Logs in files: one, a folder, or the folders in which Airflow 3 keeps and uploads the logs of tasks."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from airflow_common_ai.evals.corpus.log import Log, LogReader, Skipped, TaskTry, task_try_in

__all__ = ["logs_in"]

_LAYOUT = re.compile(
    r"(?:^|/)dag_id=(?P<dag_id>[^/]+)/run_id=(?P<run_id>[^/]+)/task_id=(?P<task_id>[^/]+)/"
    r"(?:map_index=(?P<map_index>\d{1,9})/)?attempt=(?P<number>\d{1,9})\.log(?:\.gz)?$"
)
"""Source: ``[logging] log_filename_template`` of apache-airflow-core 3.3.2."""
_DAG_FOLDER = "dag_id="
_TRIGGER_LOG = re.compile(r"\.log\.trigger\.\d+\.log(?:\.gz)?$")
"""What a triggerer logs about a try; that the try failed stands in the log of the task."""

_MAX_FILES = 500_000
_MAX_DEPTH = 32


def logs_in(source: Path, read: LogReader, *, leave_out: Path | None = None) -> Iterator[Log | Skipped]:
    """
    Return the logs in a file or a folder, sorted by their names, one in memory at a time.

    No symbolic link is followed. Where there are folders ``dag_id=...``, what lies beside them are logs of other
    parts of Airflow and is passed over.

    :param read: Returns the text of a file that was opened.
    :param leave_out: A folder in it that is not read, such as the corpus itself.
    :raises ValueError: There is no such file or folder, or it is a symbolic link.
    """
    if source.is_symlink():
        raise ValueError("it is a symbolic link. Give what it points to.")
    if not source.exists():
        raise ValueError("there is no such file or folder.")
    return _logs_in(source, read, leave_out)


def _logs_in(source: Path, read: LogReader, leave_out: Path | None) -> Iterator[Log | Skipped]:
    is_folder = source.is_dir()
    left_out = leave_out.resolve() if leave_out else None
    for number, (path, reason) in enumerate(_files(source, left_out) if is_folder else [(source, "")]):
        name = str(path.relative_to(source)) if is_folder else path.name
        if number == _MAX_FILES:
            yield Skipped(name, f"this and what follows: at most {_MAX_FILES} files are read at once")
            return
        yield Skipped(name, reason) if reason else _log(path, name, read)


def _task_try_at(path: Path) -> TaskTry | None:
    """Return whose log a file is, by the folders that it is in; ``None`` if they do not tell."""
    found = _LAYOUT.search(path.as_posix())
    if found is None:
        return None
    map_index = -1 if found["map_index"] is None else int(found["map_index"])
    return TaskTry(found["dag_id"], found["run_id"], found["task_id"], map_index, int(found["number"]))


def _files(folder: Path, left_out: Path | None, depth: int = 0) -> Iterator[tuple[Path, str]]:
    """Yield files, and why one is not read."""
    if folder.resolve() == left_out:
        yield folder, "the corpus itself"
        return
    if depth > _MAX_DEPTH:
        yield folder, f"more than {_MAX_DEPTH} folders deep"
        return
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        yield folder, f"cannot be read: {error.strerror}"
        return
    is_of_airflow = any(entry.name.startswith(_DAG_FOLDER) for entry in entries)
    for entry in entries:
        path = folder / entry.name
        if entry.is_symlink():
            yield path, "a symbolic link"
        elif is_of_airflow and not entry.name.startswith(_DAG_FOLDER):
            yield path, "no log of a task"
        elif entry.is_dir(follow_symlinks=False):
            yield from _files(path, left_out, depth + 1)
        elif _TRIGGER_LOG.search(entry.name):
            yield path, "a triggerer's log: what failed stands in the task's"
        else:
            yield path, ""


def _log(path: Path, name: str, read: LogReader) -> Log | Skipped:
    try:
        # A file may have become a link, or a pipe to which nobody writes.
        with open(path, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return Skipped(name, "no regular file")
            text = read(file, "it")
    except OSError as error:
        return Skipped(name, f"cannot be read: {error.strerror or type(error).__name__}")
    except ValueError as fault:
        return Skipped(name, str(fault))
    return Log(
        name, text, datetime.fromtimestamp(status.st_mtime, UTC), _task_try_at(path.absolute()) or task_try_in(text)
    )
