"""Equal failures are merged without losing a count or a judgement, near twins share a split."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evals.corpus.collecting import collect_into, corpus_in, label_for, log_of

from airflow_common_ai.evals.corpus.folder import Corpus
from airflow_common_ai.evals.corpus.twins import disputed, merge_equal, mergeable, moves_of_split
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split


def with_copies(path: Path, *names: str) -> tuple[Corpus, Recording]:
    """Return a corpus with one failure under several ids, each seen twice."""
    (original_id,) = collect_into(path, log_of(ValueError("bad row"), 1), log_of(ValueError("bad row"), 2)).new
    corpus = corpus_in(path)
    original = corpus[original_id]
    for name in names:
        corpus.put(replace(original, id=f"shop/{name}"))
    corpus.save()
    return corpus_in(path), original


def left(corpus: Corpus) -> dict[str, int]:
    return {recording.id.partition("/")[2]: recording.count for recording in corpus}


def test_copies_are_merged_into_the_first_with_the_counts_of_all(tmp_path: Path) -> None:
    corpus, _ = with_copies(tmp_path, "a", "b")

    merge_equal(corpus, mergeable(corpus))
    corpus.save()

    assert left(corpus_in(tmp_path)) == {"a": 6}
    assert mergeable(corpus) == []


def test_what_has_a_label_stays_for_those_that_have_none(tmp_path: Path) -> None:
    corpus, _ = with_copies(tmp_path, "a", "b")
    corpus.labels["shop/b"] = label_for("shop/b")

    merge_equal(corpus, mergeable(corpus))

    assert left(corpus) == {"b": 6}
    assert list(corpus.labels) == ["shop/b"]


def test_equal_labels_are_one_and_other_ones_are_cases_of_their_own(tmp_path: Path) -> None:
    corpus, original = with_copies(tmp_path, "a", "b", "c")
    for name, delay in {"a": (5.0, 60.0), "b": (60.0, 600.0), "c": (5.0, 60.0)}.items():
        corpus.labels[f"shop/{name}"] = label_for(f"shop/{name}", "yes", "network", delay_s=delay)

    merge_equal(corpus, mergeable(corpus))

    assert left(corpus) == {"a": 6, "b": 2}
    assert original.id not in corpus
    assert disputed(corpus) == []


def test_labels_that_want_opposite_things_are_found(tmp_path: Path) -> None:
    corpus, _ = with_copies(tmp_path, "a", "b")
    corpus.labels["shop/a"] = label_for("shop/a", "yes", "network")
    corpus.labels["shop/b"] = label_for("shop/b", "no", "data")

    assert [[one.id for one in group if one.id in corpus.labels] for group in disputed(corpus)] == [
        ["shop/a", "shop/b"]
    ]


def test_different_failures_are_never_merged(tmp_path: Path) -> None:
    collect_into(tmp_path, log_of(ValueError("bad row"), 1), log_of(ValueError("other words"), 2))

    assert mergeable(corpus_in(tmp_path)) == []


def test_twins_in_several_splits_go_where_somebody_may_have_looked_at_one(tmp_path: Path) -> None:
    corpus, original = with_copies(tmp_path, "a", "b")
    corpus.put(replace(original, split=Split.HELD_OUT))
    corpus.put(replace(original, id="shop/a", split=Split.GATE))
    corpus.put(replace(original, id="shop/b", split=Split.HELD_OUT))

    moves = moves_of_split(corpus)

    assert {one.id for one in moves} == {original.id, "shop/b"}
    assert {one.split for one in moves} == {Split.GATE}
    for recording in moves:
        corpus.put(recording)
    assert moves_of_split(corpus) == []


def test_a_split_that_twins_share_is_kept_whatever_a_new_recording_would_get(tmp_path: Path) -> None:
    corpus, _ = with_copies(tmp_path, "a")
    for recording in list(corpus):
        corpus.put(recording.in_split(Split.HELD_OUT))

    assert moves_of_split(corpus) == []
