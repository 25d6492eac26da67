"""Recordings in a file: one JSON object a line, sorted by id."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.essence import essence
from airflow_common_ai.recordings.recording import Recording

__all__ = ["json_lines", "merged", "read_corpus", "read_corpus_file", "write_corpus_file", "write_json_lines"]

_MAX_LINE_BYTES = 1024 * 1024
_MAX_LINES = 200_000


def read_corpus(folder: Path, redactor: Redactor | None = None) -> list[Recording]:
    """
    Return every recording of a folder, sorted by id.

    :raises ValueError: as :func:`read_corpus_file`, or an id is in two files.
    """
    recordings: list[Recording] = []
    for path in sorted(folder.glob("*.jsonl")):
        recordings += read_corpus_file(path, redactor)
    recordings.sort(key=lambda recording: recording.id)
    for one, next_one in pairwise(recordings):
        if one.id == next_one.id:
            raise ValueError(f"{folder}: id {one.id!r} is there twice. Rename one of the cases.")
    return recordings


def read_corpus_file(path: Path, redactor: Redactor | None = None) -> list[Recording]:
    """
    Return the recordings of one file, redacted again.

    :param redactor: The wall that they pass; the named patterns alone if ``None``.
    :raises ValueError: with the file, the line, the rule that it breaks and what to do.
    """
    wall = redactor or Redactor()
    recordings: list[Recording] = []
    for number, data in json_lines(path):
        try:
            recording = Recording.from_json(data, wall)
        except ValueError as fault:
            raise ValueError(f"{path}:{number}: {fault}") from None
        if recordings and recording.id <= recordings[-1].id:
            raise ValueError(
                f"{path}:{number}: ids must be sorted and each there once, got {recording.id!r} after "
                f"{recordings[-1].id!r}. Sort the file's lines."
            )
        recordings.append(recording)
    return recordings


def write_corpus_file(path: Path, recordings: Iterable[Recording]) -> None:
    """Write recordings, sorted, so that the same ones always make the same bytes."""
    write_json_lines(path, [one.to_json() for one in sorted(recordings, key=lambda recording: recording.id)])


def merged(stored: Iterable[Recording], raised: Iterable[Recording], wanted: set[str]) -> list[Recording]:
    """
    Return what a file should hold after its cases were raised again.

    A recording in which nothing really changed stays as it is stored, to the byte. One that could not be raised this
    time stays too. What has no case any more goes.

    :param wanted: The ids of all cases of the family.
    """
    kept = {recording.id: recording for recording in stored if recording.id in wanted}
    for recording in raised:
        old = kept.get(recording.id)
        if old is None:
            kept[recording.id] = recording
        elif essence(old) != essence(recording):
            kept[recording.id] = recording.in_split(old.split)
    return [kept[recording_id] for recording_id in sorted(kept)]


def json_lines(path: Path) -> Iterator[tuple[int, object]]:
    """
    Yield the number and the value of each line.

    :raises ValueError: with the file and the line: it is no JSON, or too long.
    """
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES + 1), b""), 1):
            if len(line) > _MAX_LINE_BYTES or number > _MAX_LINES:
                raise ValueError(
                    f"{path}:{number}: at most {_MAX_LINES} lines of {_MAX_LINE_BYTES} bytes. Split the file."
                )
            if not line.strip():
                raise ValueError(f"{path}:{number}: the line is empty. Remove it.")
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                raise ValueError(f"{path}:{number}: not a JSON object. Mend or remove the line.") from None


def write_json_lines(path: Path, objects: Iterable[object]) -> None:
    """Write one object a line, in ASCII: what is hidden in a text shows in a diff. A file is never left half done."""
    text = "".join(json.dumps(one) + "\n" for one in objects)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text("ascii", "replace") == text:
        return
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text, "ascii")
    unfinished.replace(path)
