"""The recorded failures as examples, and the hash of everything that a model is trained on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from airflow_common_ai.classifier.training import Example
from airflow_common_ai.evidence.conclusion import Conclusion, conclude
from airflow_common_ai.evidence.fingerprint import fingerprint
from airflow_common_ai.evidence.model import Signal
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.recordings.corpus_file import read_corpus
from airflow_common_ai.recordings.label import Label, read_labels
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split
from tools.training.twins import ALIKE, nearest

__all__ = [
    "RECORDINGS",
    "Recorded",
    "Twin",
    "distinct",
    "read_recorded",
    "recorded_examples",
    "sha256_of",
    "without_twins",
]

RECORDINGS = Path(__file__).parent.parent.parent / "recordings"

_OPEN_WEIGHT = 2.0
"""Of a failure that the evidence leaves open, beside 1 for another one: the model is asked about those."""


@dataclass(frozen=True)
class Recorded:
    """A recording with its label and what its signals come to."""

    recording: Recording
    label: Label
    signals: tuple[Signal, ...]
    conclusion: Conclusion

    @property
    def is_open(self) -> bool:
        """Whether the evidence leaves it open, so that the classifier is asked."""
        return self.conclusion.signal is None

    @property
    def library(self) -> str:
        return self.recording.provenance.library

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.recording.evidence)

    def example(self) -> Example:
        return Example(
            self.recording.evidence,
            self.signals,
            self.label.category,
            self.label.should_retry.value,
            self.label.also,
            _OPEN_WEIGHT if self.is_open else 1.0,
            self.library,
        )


@dataclass(frozen=True)
class Twin:
    """An example that was dropped."""

    name: str
    like: str
    """The recording that it resembles."""
    alike: float


def read_recorded(folder: Path = RECORDINGS) -> list[Recorded]:
    """Return every labelled recording, sorted by id."""
    labels = read_labels(folder / "labels.jsonl")
    found: list[Recorded] = []
    for recording in read_corpus(folder / "corpus"):
        if (label := labels.get(recording.id)) is not None:
            signals = read_signals(recording.evidence)
            found.append(Recorded(recording, label, signals, conclude(recording.evidence, signals)))
    return found


def distinct(recorded: Iterable[Recorded], split: Split) -> list[Recorded]:
    """Return the failures of a split, those that differ in values only once, as ``tools.replay`` counts them."""
    kept: dict[tuple[str, object], Recorded] = {}
    for one in recorded:
        if one.recording.split is split:
            kept.setdefault((one.fingerprint, one.label.delay_s), one)
    return list(kept.values())


def recorded_examples() -> Iterator[Example]:
    """Yield the examples of ``dev``."""
    for one in distinct(read_recorded(), Split.DEV):
        yield one.example()


def without_twins(recorded: list[Recorded], made_up: list[Example]) -> tuple[list[Recorded], list[Example], list[Twin]]:
    """
    Return ``dev`` and the made-up examples without what resembles a recording that must not be learned.

    For ``dev`` that is a recording of ``gate`` or ``heldout``, for what is made up one of any split.
    """
    dev = distinct(recorded, Split.DEV)
    measured = [one for split in (Split.GATE, Split.HELD_OUT) for one in distinct(recorded, split)]
    theirs = {one.fingerprint for one in measured}
    twins: list[Twin] = []
    kept: list[Recorded] = []
    near = nearest([one.recording.evidence for one in dev], [one.recording.evidence for one in measured])
    for one, (at, alike) in zip(dev, near, strict=True):
        if alike >= ALIKE or one.fingerprint in theirs:
            twins.append(Twin(one.recording.id, measured[at].recording.id, alike))
        else:
            kept.append(one)
    everything = [*dev, *measured]
    near = nearest([one.evidence for one in made_up], [one.recording.evidence for one in everything])
    taught: list[Example] = []
    for example, (at, alike) in zip(made_up, near, strict=True):
        if alike >= ALIKE:
            twins.append(Twin(f"made up: {example.evidence.nodes[0].message}", everything[at].recording.id, alike))
        else:
            taught.append(example)
    return kept, taught, twins


def sha256_of(folder: Path = RECORDINGS) -> str:
    """Return one hash of the recordings, the labels and everything else that is learned from."""
    here = Path(__file__).parent
    files = [*sorted((folder / "corpus").glob("*.jsonl")), folder / "labels.jsonl"]
    files += [here / name for name in ("catalogues.jsonl", "no_cause.txt", "phrases.txt", "word_vectors.json")]
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
