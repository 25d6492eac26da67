"""The cases of a corpus, wherever its files lie, and a digest that tells one corpus from another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from evals.small_corpus import an_error_each, judged, written_corpus

from airflow_common_ai.evals.cases import Case, digest_of, in_shard, read_cases
from airflow_common_ai.recordings.corpus_file import write_corpus_file
from airflow_common_ai.recordings.label import Label, write_labels
from airflow_common_ai.recordings.split import Split

RECORDINGS = an_error_each(12)
LABELS: Mapping[str, Label] = judged(RECORDINGS)
CASES = [Case(one, LABELS[one.id]) for one in RECORDINGS]


def test_a_folder_holds_recordings_and_labels(tmp_path: Path) -> None:
    assert read_cases(written_corpus(tmp_path, RECORDINGS, LABELS)) == CASES


def test_or_a_folder_with_a_folder_of_recordings(tmp_path: Path) -> None:
    write_corpus_file(tmp_path / "corpus" / "family.jsonl", RECORDINGS)
    write_labels(tmp_path / "labels.jsonl", LABELS.values())
    assert read_cases(tmp_path) == CASES


def test_or_a_file_with_labels_beside_it(tmp_path: Path) -> None:
    written_corpus(tmp_path, RECORDINGS, LABELS)
    assert read_cases(tmp_path / "family.jsonl") == CASES


def test_labels_may_lie_elsewhere_or_nowhere(tmp_path: Path) -> None:
    folder = written_corpus(tmp_path / "corpus", RECORDINGS)
    assert [case.label for case in read_cases(folder)] == [None] * len(RECORDINGS)
    write_labels(tmp_path / "mine.jsonl", LABELS.values())
    assert read_cases(folder, tmp_path / "mine.jsonl") == CASES


def test_one_split_is_a_part(tmp_path: Path) -> None:
    folder = written_corpus(tmp_path, RECORDINGS)
    parts = [read_cases(folder, split=split) for split in Split]
    assert sum(map(len, parts)) == len(RECORDINGS)
    assert {case.recording.split for case in parts[0]} <= {Split.DEV}


@pytest.mark.parametrize("name", ["corpus", "labels.jsonl"])
def test_symbolic_links_are_not_followed(tmp_path: Path, name: str) -> None:
    written_corpus(tmp_path / "real", RECORDINGS, LABELS)
    (tmp_path / "corpus").symlink_to(tmp_path / "real")
    (tmp_path / "labels.jsonl").symlink_to(tmp_path / "real" / "labels.jsonl")
    corpus, labels = (tmp_path / "corpus", None) if name == "corpus" else (tmp_path / "real", tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name}' is a symbolic link"):
        read_cases(corpus, labels)


def test_the_digest_changes_with_ids_evidence_and_labels_and_with_nothing_else() -> None:
    digest = digest_of(CASES)
    other_label = replace(LABELS[RECORDINGS[0].id], why="for another reason")
    assert digest == digest_of(list(CASES))
    assert digest == digest_of([replace(CASES[0], recording=replace(RECORDINGS[0], tags=("new",))), *CASES[1:]])
    assert digest != digest_of(CASES[1:])
    assert digest != digest_of([replace(CASES[0], label=other_label), *CASES[1:]])
    assert digest != digest_of([replace(CASES[0], label=None), *CASES[1:]])
    assert digest != digest_of([replace(CASES[0], recording=RECORDINGS[1]), *CASES[1:]])


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 10_000])
def test_shards_are_disjoint_and_together_the_whole(shards: int) -> None:
    parts = [in_shard(CASES, (index, shards)) for index in range(1, shards + 1)]
    assert sorted(case.recording.id for part in parts for case in part) == [case.recording.id for case in CASES]


def test_a_case_falls_into_the_same_shard_whatever_else_is_in_the_corpus() -> None:
    whole = in_shard(CASES, (1, 3))
    assert in_shard(CASES[::2], (1, 3)) == [case for case in CASES[::2] if case in whole]
