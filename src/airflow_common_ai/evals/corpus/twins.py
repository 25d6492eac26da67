"""Recordings of one failure: equal ones are merged, near twins are kept out of each other's splits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from airflow_common_ai.evals.corpus.folder import Corpus
from airflow_common_ai.recordings.label import Label, ShouldRetry
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split, failure_family, is_held_out

__all__ = ["Merge", "disputed", "merge_equal", "mergeable", "moves_of_split", "repeated"]

_LOOKED_AT_FIRST = (Split.DEV, Split.GATE, Split.HELD_OUT)
"""What somebody may have written a rule from is not held out any more, nor is its twin."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Recordings of one failure, and the one that stays for them."""

    kept: Recording
    dropped: tuple[Recording, ...]


def repeated(recordings: Iterable[Recording]) -> Iterator[list[Recording]]:
    """Yield recordings with the same fingerprint, where there are several, each group sorted by id."""
    groups: dict[str, list[Recording]] = defaultdict(list)
    for recording in recordings:
        groups[recording.fingerprint].append(recording)
    return (sorted(group, key=lambda one: one.id) for group in groups.values() if len(group) > 1)


def disputed(corpus: Corpus) -> list[list[Recording]]:
    """Return recordings of one failure of which one should be retried and another should not."""
    opposites = {ShouldRetry.YES, ShouldRetry.NO}
    return [
        group
        for group in repeated(corpus)
        if opposites <= {corpus.labels[one.id].should_retry for one in group if one.id in corpus.labels}
    ]


def mergeable(corpus: Corpus) -> list[Merge]:
    """
    Return what is there more than once.

    Where labels of one failure differ, as with another wait that a server asked for, they are cases of their own;
    what has no label goes to the first of them.
    """
    merges = []
    for group in repeated(corpus):
        by_label: dict[object, list[Recording]] = defaultdict(list)
        for one in group:
            if one.id in corpus.labels:
                by_label[_judgement(corpus.labels[one.id])].append(one)
        unlabelled = [one for one in group if one.id not in corpus.labels]
        first, *others = by_label.values() or ([],)
        for kept, *dropped in ([*first, *unlabelled], *others):
            if dropped:
                merges.append(Merge(kept, tuple(dropped)))
    return merges


def merge_equal(corpus: Corpus, merges: Iterable[Merge]) -> None:
    """Keep one of each, with the counts of all; not saved here."""
    for merge in merges:
        for recording in merge.dropped:
            corpus.remove(recording.id)
        corpus.add_to_count(merge.kept.id, sum(one.count for one in merge.dropped))


def moves_of_split(recordings: Iterable[Recording]) -> list[Recording]:
    """
    Return, in the split that they belong in, the recordings that have a near twin in another split.

    A split is kept from when a recording was made. Where twins are in several, all of them belong in the one that was
    looked at first: ``dev``, then ``gate``. Libraries of which everything is held out stay apart from the others.
    """
    families: dict[tuple[str, bool], list[Recording]] = defaultdict(list)
    for recording in recordings:
        held_out = is_held_out(recording.evidence, recording.provenance.library)
        families[failure_family(recording.evidence), held_out].append(recording)
    return [move for twins in families.values() for move in _moves(twins)]


def _moves(twins: Sequence[Recording]) -> Iterator[Recording]:
    split = min((one.split for one in twins), key=_LOOKED_AT_FIRST.index)
    return (one.in_split(split) for one in twins if one.split is not split)


def _judgement(label: Label) -> object:
    return label.category, label.also, label.should_retry, label.delay_s
