"""How much there is in a corpus, and what that allows to claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from airflow_common_ai.evals.corpus.folder import Corpus
from airflow_common_ai.recordings.label import CATEGORIES, ShouldRetry
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split

__all__ = ["BOUNDS", "ClassSize", "Sizes", "SplitSize", "could_still_be", "sizes_of"]

BOUNDS = ((0.05, 59), (0.02, 149), (0.01, 299))
"""
A share, and of how many cases none may be wrong to say with 95 % confidence that the share of wrong ones is lower: the
smallest n with ``(1 - share) ** n <= 0.05``.
"""


@dataclass(frozen=True, slots=True)
class SplitSize:
    split: Split
    cases: int
    distinct: int
    labelled: int
    """Distinct failures with a label."""


@dataclass(frozen=True, slots=True)
class ClassSize:
    """The distinct labelled failures of one category."""

    category: str
    retry: int
    no_retry: int
    either: int

    @property
    def labelled(self) -> int:
        return self.retry + self.no_retry + self.either


@dataclass(frozen=True, slots=True)
class Sizes:
    """All of it."""

    cases: int
    failures: int
    """How often something failed: the sum of the counts."""
    distinct: int
    labelled: int
    """Distinct failures with a label."""
    labelled_failures: int
    """How many of the failures those stand for."""
    splits: tuple[SplitSize, ...]
    categories: tuple[ClassSize, ...]
    libraries: tuple[tuple[str, int], ...]
    """With how many distinct failures, the most first."""


def sizes_of(corpus: Corpus) -> Sizes:
    labels = corpus.labels
    labelled_fingerprints = {one.fingerprint for one in corpus if one.id in labels}
    labelled = _distinct(one for one in corpus if one.id in labels)
    judged = Counter((labels[one.id].category, labels[one.id].should_retry) for one in labelled)
    answers = (ShouldRetry.YES, ShouldRetry.NO, ShouldRetry.EITHER)
    return Sizes(
        cases=len(corpus),
        failures=sum(one.count for one in corpus),
        distinct=len(_distinct(corpus)),
        labelled=len(labelled),
        labelled_failures=sum(one.count for one in corpus if one.fingerprint in labelled_fingerprints),
        splits=tuple(_split_size(split, corpus) for split in Split),
        categories=tuple(
            ClassSize(category, *(judged[category, answer] for answer in answers)) for category in CATEGORIES
        ),
        libraries=tuple(Counter(one.provenance.library for one in _distinct(corpus)).most_common()),
    )


def could_still_be(cases: int) -> float:
    """Return below which share the wrong ones are, with 95 % confidence, if none of so many cases is wrong."""
    return 1 - 0.05 ** (1 / cases) if cases else 1.0


def _split_size(split: Split, corpus: Corpus) -> SplitSize:
    inside = [one for one in corpus if one.split is split]
    labelled = _distinct(one for one in inside if one.id in corpus.labels)
    return SplitSize(split, len(inside), len(_distinct(inside)), len(labelled))


def _distinct(recordings: Iterable[Recording]) -> Sequence[Recording]:
    """Return the first recording of each failure."""
    first: dict[str, Recording] = {}
    for recording in recordings:
        first.setdefault(recording.fingerprint, recording)
    return list(first.values())
