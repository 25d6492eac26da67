"""Where a corpus lies, and that nothing but itself is read or written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from evals.corpus.collecting import collect_into, corpus_in, label_for, log_of

from airflow_common_ai.evals.corpus.folder import Corpus, CorpusFolder


def filled(path: Path) -> Corpus:
    collect_into(path, log_of(ValueError("bad row")), log_of(KeyError("id"), dag_id="bills"))
    return corpus_in(path)


def test_recordings_lie_beside_the_labels_a_file_for_each_dag(tmp_path: Path) -> None:
    corpus = filled(tmp_path / "failures")
    for recording in corpus:
        corpus.labels[recording.id] = label_for(recording.id)
    corpus.save()

    files = sorted(path.name for path in (tmp_path / "failures").iterdir())
    assert files == ["bills.jsonl", "labels.jsonl", "seen.txt", "shop.jsonl"]
    assert corpus_in(tmp_path / "failures").labels == corpus.labels


def test_where_there_is_a_folder_corpus_the_recordings_are_in_there(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    filled(tmp_path)

    assert sorted(path.name for path in (tmp_path / "corpus").iterdir()) == ["bills.jsonl", "shop.jsonl"]
    assert len(corpus_in(tmp_path)) == 2


def test_the_corpus_of_this_repository_is_read_by_the_same_rule() -> None:
    folder = CorpusFolder(Path(__file__).parents[3] / "recordings")

    assert len(folder.files()) > 50
    assert folder.labels_file.is_file()


def test_recordings_of_many_families_in_one_file_stay_in_it(tmp_path: Path) -> None:
    filled(tmp_path)
    lines = [line for name in ("bills", "shop") for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
    for name in ("bills", "shop"):
        (tmp_path / f"{name}.jsonl").unlink()
    (tmp_path / "all.jsonl").write_text("\n".join(lines) + "\n")

    collect_into(tmp_path, log_of(ValueError("bad row"), number=2), log_of(OSError("new"), 3))

    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["all.jsonl", "shop.jsonl"]
    assert [json.loads(line).get("count") for line in (tmp_path / "all.jsonl").read_text().splitlines()] == [None, 2]


def test_a_file_in_which_nothing_changed_keeps_its_bytes(tmp_path: Path) -> None:
    filled(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.jsonl")}

    collect_into(tmp_path, log_of(KeyError("id"), number=2, dag_id="bills"))

    changed = {path.name for path, time in before.items() if path.stat().st_mtime_ns != time}
    assert changed == {"bills.jsonl"}


def test_labels_that_somebody_gives_meanwhile_are_not_lost(tmp_path: Path) -> None:
    adding = filled(tmp_path)
    labelling = corpus_in(tmp_path)
    (first, *_) = labelling
    labelling.labels[first.id] = label_for(first.id)
    labelling.save_labels()

    adding.add_to_count(first.id, 1)
    adding.save()

    assert corpus_in(tmp_path).labels == labelling.labels


def test_a_file_without_recordings_is_removed(tmp_path: Path) -> None:
    corpus = filled(tmp_path)
    for recording in [one for one in corpus if one.family == "bills"]:
        corpus.remove(recording.id)
    corpus.save()

    assert not (tmp_path / "bills.jsonl").exists()


@pytest.mark.parametrize("name", ["shop.jsonl", "labels.jsonl", "labels.unfinished", "seen.txt", "extra"])
def test_a_corpus_that_holds_a_symbolic_link_is_refused(name: str, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "failures").mkdir()
    (tmp_path / "failures" / name).symlink_to(target)

    with pytest.raises(ValueError, match="symbolic link"):
        CorpusFolder(tmp_path / "failures")
    assert target.read_text() == "mine"


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)

    for name in ("file", "link"):
        with pytest.raises(ValueError, match="is no folder"):
            CorpusFolder(tmp_path / name)


def test_a_corpus_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "shop.jsonl").open("wb") as file:
        file.truncate(600 * 1024**2)

    with pytest.raises(ValueError, match="Split the corpus"):
        CorpusFolder(tmp_path)


@pytest.mark.parametrize("text", ["not a key\n", "0123456789abcdef\nx\n", "\x00"])
def test_a_file_of_seen_tries_that_holds_something_else_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text(text)

    with pytest.raises(ValueError, match=r"seen\.txt: not the keys of tries\. Remove it"):
        CorpusFolder(tmp_path).read_seen()


def test_an_id_in_two_files_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "copy.jsonl").write_text((tmp_path / "shop.jsonl").read_text())

    with pytest.raises(ValueError, match="is there twice"):
        corpus_in(tmp_path)
