"""What breaks a corpus or leaks is an error, what weakens a measurement a warning."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from evals.corpus.collecting import collect_into, corpus_in, label_for, log_of

from airflow_common_ai.evals.corpus.folder import CorpusFolder
from airflow_common_ai.evals.corpus.lint import Finding, Level, lint, mend
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.split import Split

FAILURES = (ValueError("bad row"), KeyError("id"), ConnectionError("broke"))


def corpus(path: Path) -> list[str]:
    """Make a corpus with labels that has no fault, and return its ids."""
    ids = collect_into(path, *(log_of(failure, number) for number, failure in enumerate(FAILURES))).new
    made = corpus_in(path)
    for recording_id in ids:
        made.labels[recording_id] = label_for(recording_id)
    made.save()
    return sorted(ids)


def findings(path: Path) -> list[Finding]:
    return lint(CorpusFolder(path), Redactor())


def errors(path: Path) -> list[str]:
    return [f"{one.where.rpartition('/')[2]}: {one.what}" for one in findings(path) if one.level is Level.ERROR]


def changed(path: Path, change: Callable[[list[dict[str, object]]], object], name: str = "shop.jsonl") -> None:
    entries = [json.loads(line) for line in (path / name).read_text().splitlines()]
    change(entries)
    (path / name).write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def set_message(text: str) -> Callable[[list[dict[str, object]]], object]:
    def change(entries: list[dict[str, object]]) -> None:
        entries[0]["evidence"]["nodes"][0]["message"] = text  # type: ignore[index]

    return change


def test_a_fresh_corpus_has_no_error(tmp_path: Path) -> None:
    corpus(tmp_path)

    assert errors(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "name", "said", "can_be_mended"),
    [
        (lambda entries: entries[0].update(schema=7), "shop.jsonl", r"shop.jsonl:1: schema must be 1", False),
        (lambda entries: entries[1].update(speed=7), "shop.jsonl", r"shop.jsonl:2: a recording has no field", False),
        (lambda entries: entries.reverse(), "shop.jsonl", r"shop.jsonl:2: .* ids must be sorted", True),
        (lambda entries: entries.append(entries[-1]), "shop.jsonl", r"shop.jsonl:4: the id .* is there twice", False),
        (set_message("cannot open postgresql://a:hunter2canary@db"), "shop.jsonl", r"must be redacted", True),
        (set_message("something else"), "shop.jsonl", r"the fingerprint of another failure", True),
        (lambda entries: entries.pop(), "shop.jsonl", r"labels.jsonl:3: there is no recording 'shop/", False),
        (lambda entries: entries[0].update(category="odd"), "labels.jsonl", r"labels.jsonl:1: category must be", False),
        (lambda entries: entries.reverse(), "labels.jsonl", r"labels.jsonl:2: .* ids must be sorted", True),
        (lambda entries: entries.append(entries[0]), "labels.jsonl", r"labels.jsonl:4: .* is labelled twice", False),
    ],
)
def test_each_fault_is_named_with_its_line(
    change: Callable[[list[dict[str, object]]], object], name: str, said: str, can_be_mended: bool, tmp_path: Path
) -> None:
    corpus(tmp_path)
    changed(tmp_path, change, name)
    before = (tmp_path / name).read_bytes()

    assert re.search(said, "\n".join(errors(tmp_path)))

    mended = mend(CorpusFolder(tmp_path), Redactor())
    assert (mended > 0) is can_be_mended
    assert (errors(tmp_path) == []) is can_be_mended
    assert ((tmp_path / name).read_bytes() == before) is not can_be_mended


def test_all_faults_are_found_at_once_and_no_secret_is_shown(tmp_path: Path) -> None:
    corpus(tmp_path)
    changed(tmp_path, set_message("cannot open postgresql://a:hunter2canary@db"))
    changed(tmp_path, lambda entries: entries[1].update(speed=7))

    found = errors(tmp_path)

    assert len(found) == 4  # the other fingerprint, and a label without a recording that can be read
    assert "canary" not in "\n".join(found)


@pytest.mark.parametrize("junk", ["{", "[]\n", "\n", "\x00\x01", "[" * 5000])
def test_what_is_no_recording_is_an_error(junk: str, tmp_path: Path) -> None:
    corpus(tmp_path)
    with (tmp_path / "shop.jsonl").open("a") as file:
        file.write(junk)

    assert [one.partition(": ")[0] for one in errors(tmp_path)] == ["shop.jsonl:4"]


def test_an_empty_corpus_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "shop.jsonl").write_text("")

    assert errors(tmp_path) == [f"{tmp_path.name}: there is no recording. Add some: airflow-common-ai corpus add."]


def warnings(path: Path) -> str:
    return "\n".join(one.what for one in findings(path) if one.level is Level.WARNING)


def test_too_few_of_a_class_and_failures_without_a_label_are_warned_of(tmp_path: Path) -> None:
    first, *_ = corpus(tmp_path)
    made = corpus_in(tmp_path)
    del made.labels[first]
    made.save_labels()

    assert "1 of 3 failures have no label: corpus label." in warnings(tmp_path)
    assert "fewer than 30 labelled failures of rate_limit 0, auth 0, network 0, data 2," in warnings(tmp_path)


def test_near_twins_in_two_splits_copies_and_contrary_labels_are_warned_of(tmp_path: Path) -> None:
    first, second, _ = corpus(tmp_path)
    copy = f"{first[:-8]}copy"

    def add_copy(entries: list[dict[str, object]]) -> None:
        other = Split.GATE if entries[0]["split"] == Split.DEV else Split.DEV
        entries.append({**entries[0], "id": copy, "split": other})

    changed(tmp_path, add_copy)
    mend(CorpusFolder(tmp_path), Redactor())

    assert "near twins in a split that was looked at: corpus split." in warnings(tmp_path)
    assert f"{copy} are there already under another id: corpus dedupe." in warnings(tmp_path)

    made = corpus_in(tmp_path)
    made.labels[copy] = label_for(copy, "yes", "network")
    made.save_labels()
    assert "are equal, and labelled yes and no: look at them again." in warnings(tmp_path)
    assert second in made


def test_the_corpus_of_this_repository_has_no_error() -> None:
    assert errors(Path(__file__).parents[3] / "recordings") == []
