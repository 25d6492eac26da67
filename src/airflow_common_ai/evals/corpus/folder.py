"""Where a corpus lies, and how it is read and written.

One rule: labels are in ``labels.jsonl`` of the folder; recordings are in all other ``*.jsonl`` beside it, or, if the
folder has a folder ``corpus``, in those of that one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.corpus_file import read_corpus_file, write_corpus_file
from airflow_common_ai.recordings.label import Label, read_labels, write_labels
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.sanitizer import sanitize

__all__ = ["LABELS", "Corpus", "CorpusFolder"]

LABELS = "labels.jsonl"
_SEEN = "seen.txt"
_SEEN_KEY = re.compile(r"[0-9a-f]{16}")
_MAX_BYTES = 512 * 1024 * 1024
_MAX_FILES = 10_000
_MAX_SEEN = 1_000_000
_MAX_COUNT = 1_000_000_000
"""More a recording cannot say."""


class CorpusFolder:
    """
    The files of a corpus. No symbolic link among them is followed.

    :param path: A folder, which need not be there yet.
    :raises ValueError: It is a file or a symbolic link, holds one, or is too large to be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._name = f"'{sanitize(str(path))}'"
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise ValueError(f"{self._name} is no folder. Give the folder of a corpus.")
        nested = path / "corpus"
        self.recordings = nested if nested.is_dir() else path
        self._check()

    def require(self) -> None:
        """
        See that there is a corpus.

        :raises ValueError: There is none.
        """
        if not self.path.is_dir() or not self.files():
            raise ValueError(
                f"there is no corpus in {self._name}. Make one: airflow-common-ai corpus add LOGS -c CORPUS"
            )

    @property
    def labels_file(self) -> Path:
        return self.path / LABELS

    @property
    def seen_file(self) -> Path:
        """The tries that were added already, so that none is counted twice: hashes only."""
        return self.path / _SEEN

    def files(self) -> list[Path]:
        """Return the files with recordings, sorted."""
        return [path for path in sorted(self.recordings.glob("*.jsonl")) if path != self.labels_file]

    def file_of(self, recording: Recording) -> Path:
        """Return where a new recording belongs."""
        return self.recordings / f"{recording.family}.jsonl"

    def read_labels(self) -> dict[str, Label]:
        """
        Return the labels by the id of their recording.

        :raises ValueError: with the file, the line, the rule that it breaks and what to do.
        """
        return read_labels(self.labels_file) if self.labels_file.exists() else {}

    def read_seen(self) -> set[str]:
        """
        Return the keys of the tries that were added already.

        :raises ValueError: The file holds something else, or too much.
        """
        if not self.seen_file.exists():
            return set()
        if self.seen_file.stat().st_size > _MAX_SEEN * 17:
            raise ValueError(f"{self.seen_file}: more than {_MAX_SEEN} tries. Start another corpus.")
        keys = self.seen_file.read_text("ascii", "replace").split()
        if not all(map(_SEEN_KEY.fullmatch, keys)):
            raise ValueError(f"{self.seen_file}: not the keys of tries. Remove it; then tries may be counted twice.")
        return set(keys)

    def write_seen(self, keys: set[str]) -> None:
        text = "".join(f"{key}\n" for key in sorted(keys))
        unfinished = self.seen_file.with_suffix(".unfinished")
        unfinished.write_text(text, "ascii")
        unfinished.replace(self.seen_file)

    def _check(self) -> None:
        total_bytes = files = 0
        for folder in {self.path, self.recordings}:
            for path in folder.iterdir() if folder.is_dir() else ():
                if path.is_symlink():
                    raise ValueError(
                        f"'{sanitize(str(path))}' is a symbolic link, which a corpus may not hold. Put the file there."
                    )
                if path.suffix == ".jsonl":
                    files += 1
                    total_bytes += path.stat().st_size
        if total_bytes > _MAX_BYTES or files > _MAX_FILES:
            raise ValueError(
                f"{self._name} holds {files} files of {total_bytes // 1024**2} MiB in all; at most {_MAX_FILES} of "
                f"{_MAX_BYTES // 1024**2} MiB are read. Split the corpus."
            )


class Corpus:
    """
    Recordings and labels, in memory until they are saved. What nobody changed keeps its bytes.

    :param folder: Where they are.
    :param redactor: The wall that everything passes when it is read.
    :raises ValueError: with the file, the line, the rule that it breaks and what to do.
    """

    def __init__(self, folder: CorpusFolder, redactor: Redactor | None = None) -> None:
        self.folder = folder
        self.labels = folder.read_labels()
        self._labels_before = dict(self.labels)
        self._recordings: dict[str, Recording] = {}
        self._file_of: dict[str, Path] = {}
        self._changed: set[Path] = set()
        for path in folder.files():
            for recording in read_corpus_file(path, redactor):
                if recording.id in self._recordings:
                    raise ValueError(f"{folder.path}: id {recording.id!r} is there twice. Rename one of the cases.")
                self._recordings[recording.id] = recording
                self._file_of[recording.id] = path

    def __len__(self) -> int:
        return len(self._recordings)

    def __iter__(self) -> Iterator[Recording]:
        """Yield the recordings, sorted by id."""
        return (self._recordings[recording_id] for recording_id in sorted(self._recordings))

    def __contains__(self, recording_id: str) -> bool:
        return recording_id in self._recordings

    def __getitem__(self, recording_id: str) -> Recording:
        return self._recordings[recording_id]

    def put(self, recording: Recording) -> None:
        """Add a recording, or replace the one of that id."""
        self._recordings[recording.id] = recording
        file = self._file_of.setdefault(recording.id, self.folder.file_of(recording))
        self._changed.add(file)

    def add_to_count(self, recording_id: str, times: int) -> None:
        """Count a failure as seen so many times more."""
        recording = self[recording_id]
        self.put(replace(recording, count=min(recording.count + times, _MAX_COUNT)))

    def remove(self, recording_id: str) -> None:
        """Take out a recording and its label."""
        del self._recordings[recording_id]
        self.labels.pop(recording_id, None)
        self._changed.add(self._file_of.pop(recording_id))

    def save(self) -> None:
        """Write the files in which something changed: somebody may be labelling while others are added."""
        contents: dict[Path, list[Recording]] = defaultdict(list)
        for recording_id, path in self._file_of.items():
            contents[path].append(self._recordings[recording_id])
        for path in sorted(self._changed):
            if contents[path]:
                write_corpus_file(path, contents[path])
            else:
                path.unlink(missing_ok=True)
        self._changed.clear()
        self.save_labels()

    def save_labels(self) -> None:
        """Write the labels, if one of them changed."""
        if self.labels != self._labels_before:
            write_labels(self.folder.labels_file, self.labels.values())
            self._labels_before = dict(self.labels)
