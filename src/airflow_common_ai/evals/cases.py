"""What a policy is asked about: the recordings of a corpus with what somebody judged about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from airflow_common_ai.evals.answer import Answer
from airflow_common_ai.evals.corpus.folder import LABELS, Corpus, CorpusFolder
from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evidence.model import RedactedEvidence
from airflow_common_ai.recordings.corpus_file import read_corpus_file
from airflow_common_ai.recordings.label import Label, read_labels
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split
from airflow_common_ai.sanitizer import sanitize

__all__ = ["Case", "class_paths", "digest_of", "in_shard", "read_cases", "row_of"]

MAX_SHARDS = 10_000
_MAX_LINES = 64
_MAX_LINE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded failure; the policy never sees the label."""

    recording: Recording
    label: Label | None


def read_cases(corpus: Path, labels: Path | None = None, split: Split | None = None) -> list[Case]:
    """
    Return the cases of a corpus, sorted by id.

    :param corpus: A folder, or one file of recordings.
    :param labels: Where they are, if not in ``labels.jsonl`` of that folder.
    :param split: One split only.
    :raises ValueError: with the file, the line, the rule that it breaks and what to do.
    """
    recordings, judged = _read(corpus, labels)
    if judged and not any(recording.id in judged for recording in recordings):
        raise ValueError(f"no label belongs to a recording of {_shown(corpus)}. Name the right file with --labels.")
    return [Case(one, judged.get(one.id)) for one in recordings if split is None or one.split is split]


def digest_of(cases: Iterable[Case]) -> str:
    """Return the SHA-256 over ids, evidence and labels."""
    digest = hashlib.sha256()
    for case in cases:
        label = None if case.label is None else case.label.to_json()
        entry = [case.recording.id, case.recording.evidence.to_json(), label]
        digest.update(json.dumps(entry, sort_keys=True).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def in_shard(cases: Sequence[Case], shard: tuple[int, int] | None) -> list[Case]:
    """Return the i-th of n shards, from 1; what shares a fingerprint is in the same one."""
    if shard is None:
        return list(cases)
    index, shards = shard
    return [case for case in cases if _number(case.recording.fingerprint) % shards == index - 1]


def class_paths(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return all classes of a whole corpus: what a case is rebuilt as must not depend on those before it."""
    nodes = (node for case in cases for node in case.recording.evidence.nodes)
    return tuple(sorted({path for node in nodes for path in (node.type_path, *node.base_paths)}))


def row_of(case: Case, repeat: int, answer: Answer) -> Row:
    """Return the row for one case and repeat."""
    recording = case.recording
    return Row(
        id=recording.id,
        fingerprint=recording.fingerprint,
        split=recording.split.value,
        library=sanitize(recording.provenance.library),
        repeat=repeat,
        label=case.label,
        failure=_lines(recording.evidence),
        tags=recording.tags,
        count=recording.count,
        **{field.name: getattr(answer, field.name) for field in fields(answer)},
    )


def _lines(evidence: RedactedEvidence) -> tuple[str, ...]:
    """Return a line for each exception, outermost first."""
    nodes = evidence.nodes[:_MAX_LINES]
    texts = (f"{node.type_path.removeprefix('builtins.')}: {' '.join(node.message.split())}" for node in nodes)
    return tuple(sanitize(text.removesuffix(": "), _MAX_LINE_CHARS) for text in texts)


def _number(fingerprint: str) -> int:
    return int.from_bytes(hashlib.sha256(fingerprint.encode()).digest()[:8])


def _read(corpus: Path, labels: Path | None) -> tuple[list[Recording], dict[str, Label]]:
    if corpus.is_symlink() or (labels is not None and labels.is_symlink()):
        raise ValueError(f"{_shown(corpus if labels is None else labels)} is a symbolic link. Name the file itself.")
    if not corpus.exists():
        raise ValueError(f"there is no corpus at {_shown(corpus)}. Make one with `airflow-common-ai corpus add`.")
    if corpus.is_file():
        beside = corpus.parent / LABELS
        where = labels or (beside if beside.is_file() and not beside.is_symlink() else None)
        return read_corpus_file(corpus), {} if where is None else _labels(where)
    found = Corpus(CorpusFolder(corpus))
    return list(found), found.labels if labels is None else _labels(labels)


def _labels(path: Path) -> dict[str, Label]:
    if not path.is_file():
        raise ValueError(f"there is no file of labels at {_shown(path)}. Name it with --labels, or leave it out.")
    return read_labels(path)


def _shown(path: Path) -> str:
    return f"'{sanitize(str(path))}'"
