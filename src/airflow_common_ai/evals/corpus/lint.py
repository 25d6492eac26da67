"""What is wrong with a corpus: errors break it or leak, warnings weaken what is measured on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from airflow_common_ai.evals.corpus.folder import Corpus, CorpusFolder
from airflow_common_ai.evals.corpus.sizes import sizes_of
from airflow_common_ai.evals.corpus.twins import disputed, mergeable, moves_of_split
from airflow_common_ai.evidence.evidence_json import read_evidence
from airflow_common_ai.evidence.model import Evidence, ExceptionNode, RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.corpus_file import json_lines, write_corpus_file
from airflow_common_ai.recordings.fields import Fields
from airflow_common_ai.recordings.label import Label, write_labels
from airflow_common_ai.recordings.recording import Recording

__all__ = ["ENOUGH_OF_A_CLASS", "Finding", "Level", "lint", "mend"]

ENOUGH_OF_A_CLASS = 30
"""Distinct labelled failures of a category: of fewer, its precision and recall say little."""
_MAX_NAMED = 3


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    level: Level
    where: str
    """A file with a line, or the folder."""
    what: str
    """Which rule, and what to do."""
    can_be_mended: bool = False
    """Whether :func:`mend` does it."""


def lint(folder: CorpusFolder, redactor: Redactor) -> list[Finding]:
    """Return what is wrong; what weakens a measurement is looked for where nothing is broken."""
    reading = _Reading(folder, redactor)
    return reading.findings or list(_weaknesses(Corpus(folder, redactor)))


def mend(folder: CorpusFolder, redactor: Redactor) -> int:
    """
    Sort what is unsorted, redact again, and give each recording the fingerprint that it has by now.

    :return: How many faults that mended; none are, if one of them cannot be.
    """
    reading = _Reading(folder, redactor)
    if not all(finding.can_be_mended for finding in reading.findings):
        return 0
    for path, recordings in reading.files.items():
        write_corpus_file(path, [one.refreshed() for one in recordings])
    if reading.labels:
        write_labels(folder.labels_file, reading.labels)
    return len(reading.findings)


class _Reading:
    """Every line of a corpus, also those behind a fault."""

    def __init__(self, folder: CorpusFolder, redactor: Redactor) -> None:
        self._folder = folder
        self._redactor = redactor
        self._ids: set[str] = set()
        self.findings: list[Finding] = []
        self.files = {path: list(self._recordings(path)) for path in folder.files()}
        self.labels = list(self._labels()) if folder.labels_file.exists() else []

    def _recordings(self, path: Path) -> Iterator[Recording]:
        last = ""
        for where, data in self._lines(path):
            try:
                recording = Recording.from_json(data, self._redactor)
            except ValueError as fault:
                self._fault(where, str(fault))
                continue
            if recording.id in self._ids:
                self._fault(where, f"the id {recording.id!r} is there twice. Rename one of the cases.")
                continue
            self._ids.add(recording.id)
            if recording.id < last:
                self._fault(where, f"{recording.id!r} stands after {last!r}: ids must be sorted.", can_be_mended=True)
            last = max(last, recording.id)
            if _holds_secret(data, recording):
                self._fault(where, f"{recording.id!r} holds something that must be redacted.", can_be_mended=True)
            if recording.refreshed().fingerprint != recording.fingerprint:
                self._fault(where, f"{recording.id!r} has the fingerprint of another failure.", can_be_mended=True)
            yield recording

    def _labels(self) -> Iterator[Label]:
        last = ""
        labelled: set[str] = set()
        for where, data in self._lines(self._folder.labels_file):
            try:
                label = Label.from_json(data)
            except ValueError as fault:
                self._fault(where, str(fault))
                continue
            if label.id in labelled:
                self._fault(where, f"{label.id!r} is labelled twice. Remove one of the lines.")
                continue
            labelled.add(label.id)
            if label.id < last:
                self._fault(where, f"{label.id!r} stands after {last!r}: ids must be sorted.", can_be_mended=True)
            last = max(last, label.id)
            if label.id not in self._ids:
                self._fault(where, f"there is no recording {label.id!r}. Remove the label, or rename it.")
            yield label

    def _lines(self, path: Path) -> Iterator[tuple[str, object]]:
        try:
            for number, data in json_lines(path):
                yield f"{path}:{number}", data
        except ValueError as fault:  # what follows is not read
            where, _, what = str(fault).partition(": ")
            self._fault(where, what)

    def _fault(self, where: str, what: str, *, can_be_mended: bool = False) -> None:
        self.findings.append(Finding(Level.ERROR, where, what, can_be_mended))


def _weaknesses(corpus: Corpus) -> Iterator[Finding]:
    where = str(corpus.folder.path)
    sizes = sizes_of(corpus)
    if not sizes.cases:
        yield Finding(Level.ERROR, where, "there is no recording. Add some: airflow-common-ai corpus add.")
        return
    if twins := [one.id for one in moves_of_split(corpus)]:
        yield _weakness(where, f"{_some(twins)} have near twins in a split that was looked at: corpus split.")
    if copies := [one.id for merge in mergeable(corpus) for one in merge.dropped]:
        yield _weakness(where, f"{_some(copies)} are there already under another id: corpus dedupe.")
    if contrary := [one.id for group in disputed(corpus) for one in group]:
        yield _weakness(where, f"{_some(contrary)} are equal, and labelled yes and no: look at them again.")
    if unlabelled := sizes.distinct - sizes.labelled:
        yield _weakness(where, f"{unlabelled} of {sizes.distinct} failures have no label: corpus label.")
    if small := [f"{one.category} {one.labelled}" for one in sizes.categories if one.labelled < ENOUGH_OF_A_CLASS]:
        few = f"fewer than {ENOUGH_OF_A_CLASS} labelled failures of {', '.join(small)}"
        yield _weakness(where, f"{few}: precision and recall of these say little.")


def _weakness(where: str, what: str) -> Finding:
    return Finding(Level.WARNING, where, what)


def _some(ids: list[str]) -> str:
    more = f" and {len(ids) - _MAX_NAMED} more" if len(ids) > _MAX_NAMED else ""
    return f"{', '.join(ids[:_MAX_NAMED])}{more}"


def _holds_secret(data: object, recording: Recording) -> bool:
    """Whether a text in a line is another one after it was redacted."""
    fields = Fields("a recording", data)
    raw = read_evidence(fields.take("evidence"))
    return _texts(raw) != _texts(recording.evidence) or fields.take("provenance") != recording.provenance.to_json()


def _texts(evidence: Evidence | RedactedEvidence) -> list[object]:
    return [_texts_of(node) for node in evidence.nodes]


def _texts_of(node: ExceptionNode) -> object:
    return node.type_path, node.base_paths, node.message, node.notes, dict(node.facts)
