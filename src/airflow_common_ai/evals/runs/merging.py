"""From the files of all shards to the one run that they are parts of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from airflow_common_ai.evals.runs.run_file import Run, line_of, read_run
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.sanitizer import sanitize

__all__ = ["merge_runs", "write_run"]

_COMPARED = ("corpus", "policy", "policy_id", "mode", "repeats", "level", "prompt", "versions")
"""What shards of one run have in common; when each was measured and by which connection may differ."""


def merge_runs(paths: Sequence[Path]) -> Run:
    """
    Return the whole run: every shard once, rows sorted by id and repeat.

    :raises ValueError: A file is damaged, incomplete, of another run, there twice, or a shard is missing.
    """
    if not paths:
        raise ValueError("there is nothing to merge. Name the files of all shards.")
    runs = [(path, read_run(path)) for path in paths]
    first_path, first = runs[0]
    if first.header.shard is None:
        raise ValueError(f"{_shown(first_path)} is no shard. Run it with --shard 1/4 and so on.")
    seen: dict[int, Path] = {}
    for path, run in runs:
        _check(path, run, first_path, first.header)
        index = run.header.shard[0] if run.header.shard else 0
        if index in seen:
            raise ValueError(f"{_shown(path)} and {_shown(seen[index])} are the same shard. Leave one out.")
        seen[index] = path
    shards = first.header.shard[1]
    if missing := sorted(set(range(1, shards + 1)) - seen.keys()):
        raise ValueError(f"shard {missing[0]}/{shards} is missing. Name the files of all shards.")
    header = replace(first.header, shard=None, cases=sum(run.header.cases for _, run in runs))
    return Run(header, tuple(sorted((row for _, run in runs for row in run.rows), key=lambda row: row.key)))


def write_run(path: Path, run: Run) -> None:
    """Write a run; a file is never left half done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.unfinished")
    with unfinished.open("w", encoding="ascii") as file:
        file.write(line_of(run.header))
        file.writelines(map(line_of, run.rows))
    unfinished.replace(path)


def _check(path: Path, run: Run, first_path: Path, first: RunHeader) -> None:
    if run.missing:
        raise ValueError(f"{_shown(path)} lacks {run.missing} rows. Continue it with --resume.")
    for name in _COMPARED:
        if getattr(run.header, name) != getattr(first, name):
            raise ValueError(f"{_shown(path)} has another {name} than {_shown(first_path)}. Merge shards of one run.")
    shards = None if run.header.shard is None else run.header.shard[1]
    if first.shard is None or shards != first.shard[1]:
        raise ValueError(f"{_shown(path)} is not one of as many shards as {_shown(first_path)}.")


def _shown(path: Path) -> str:
    return f"'{sanitize(str(path))}'"
