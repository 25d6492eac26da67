from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from recorded import provenance, recorded

from airflow_common_ai.recordings.corpus_file import write_corpus_file
from airflow_common_ai.recordings.label import read_labels
from airflow_common_ai.recordings.split import Split
from tools import labels

REFUSED = recorded("refused", ConnectionRefusedError(111, "Connection refused")).in_split(Split.DEV)
REFUSED_AGAIN = recorded("refused-again", ConnectionRefusedError(111, "Connection refused")).in_split(Split.DEV)
MISSING = recorded("missing", FileNotFoundError(2, "No such file", "x.csv")).in_split(Split.GATE)
WRAPPED = recorded(
    "wrapped",
    ValueError("bad row"),
    origin=provenance("psycopg", "3.2.1", server="PostgreSQL", server_version="15.8", wrapped_by="PostgresHook"),
    tags=("obvious-reading-is-wrong",),
).in_split(Split.DEV)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_corpus_file(tmp_path / "corpus" / "tests.jsonl", [REFUSED, REFUSED_AGAIN, MISSING, WRAPPED])
    return tmp_path


def judgement(recording_id: str, should_retry: str = "yes", category: str = "network") -> dict[str, Any]:
    delay_s = None if should_retry == "no" else [5, 300]
    return {
        "id": recording_id, "category": category, "should_retry": should_retry, "delay_s": delay_s,
        "why": f"because {should_retry}", "source": "reading",
    }  # fmt: skip


def add(folder: Path, monkeypatch: pytest.MonkeyPatch, judge: str, *judgements: dict[str, Any]) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(map(json.dumps, judgements))))
    return labels.main(["add", judge], folder=folder)


def test_a_judge_sees_what_was_raised_and_nothing_of_what_anybody_thinks_about_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels.main(["show", "pass1", "--split", "dev"], folder=folder)

    shown = capsys.readouterr().out
    assert (
        "tests/wrapped  (psycopg 3.2.1, PostgreSQL 15.8, through PostgresHook, seen 2026-01-01 12:00:00 UTC)" in shown
    )
    assert "root builtins.ConnectionRefusedError: [Errno 111] Connection refused\n      os.errno = 111" in shown
    assert "obvious-reading" not in shown
    assert "tests/missing" not in shown


def test_what_a_message_hides_does_not_reach_the_terminal() -> None:
    shown = labels.shown(recorded("hostile", ValueError("one \x1b[2J\ntwo \u202e")))

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "one" in shown.splitlines()[1]
    assert "two" in shown.splitlines()[2]


def test_what_a_judge_has_done_is_not_shown_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add(folder, monkeypatch, "pass1", judgement(REFUSED.id))
    capsys.readouterr()

    labels.main(["show", "pass1", "--limit", "1"], folder=folder)

    streams = capsys.readouterr()
    assert streams.out.startswith("tests/missing")
    assert "1 shown, 3 not judged yet" in streams.err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (judgement("tests/nowhere"), "line 2: there is no recording 'tests/nowhere'. Nothing was kept."),
        (judgement(MISSING.id, category="x"), "line 2: category must be one of rate_limit, auth"),
    ],
)
def test_judgements_are_kept_all_or_none(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wrong: dict[str, Any],
    message: str,
) -> None:
    assert add(folder, monkeypatch, "pass1", judgement(REFUSED.id), wrong) == 1

    assert message in capsys.readouterr().err
    assert not (folder / "labels" / "pass1.jsonl").exists()


def test_agreement_counts_each_distinct_failure_once_and_lists_the_rest(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = [REFUSED.id, REFUSED_AGAIN.id, MISSING.id, WRAPPED.id]
    add(folder, monkeypatch, "pass1", *(judgement(one, "yes") for one in everything[:2]),
        judgement(MISSING.id, "no", "resource"), judgement(WRAPPED.id, "no", "data"))  # fmt: skip
    add(folder, monkeypatch, "pass2", *(judgement(one, "yes") for one in everything[:2]),
        judgement(MISSING.id, "no", "resource"), judgement(WRAPPED.id, "yes", "transient"))  # fmt: skip
    capsys.readouterr()

    labels.main(["agree"], folder=folder)

    shown = capsys.readouterr().out
    assert "3 distinct failures by both" in shown
    # By hand: 2 of 3 agree, by chance (1·2 + 2·1)/9 = 4/9 would: (2/3 - 4/9) / (1 - 4/9) = 0.4.
    assert "should_retry: 2 of 3 the same, Cohen's kappa 0.400" in shown
    assert "tests/wrapped\n  pass1: data, retry no: because no\n  pass2: transient, retry yes: because yes" in shown
    assert "tests/missing" not in shown


def test_merging_writes_a_label_for_what_both_judged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(folder, monkeypatch, "pass1", judgement(REFUSED.id), judgement(WRAPPED.id, "no", "data"))
    add(folder, monkeypatch, "pass2", judgement(REFUSED.id), judgement(WRAPPED.id, "yes"), judgement(MISSING.id))

    assert labels.main(["merge"], folder=folder) == 0

    merged = read_labels(folder / "labels.jsonl")
    assert {one: label.should_retry.value for one, label in merged.items()} == {
        "tests/refused": "yes",
        "tests/wrapped": "either",
    }


def test_an_argument_settles_what_the_passes_disagree_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(folder, monkeypatch, "pass1", judgement(WRAPPED.id, "no", "data"))
    add(folder, monkeypatch, "pass2", judgement(WRAPPED.id, "yes"))
    add(folder, monkeypatch, "argued", judgement(WRAPPED.id, "no", "permanent"))

    labels.main(["merge"], folder=folder)

    assert read_labels(folder / "labels.jsonl")[WRAPPED.id].category == "permanent"


def test_sizes_count_recordings_and_distinct_failures(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for judge in ("pass1", "pass2"):
        add(folder, monkeypatch, judge, judgement(REFUSED.id), judgement(REFUSED_AGAIN.id))
    labels.main(["merge"], folder=folder)
    capsys.readouterr()

    assert labels.main(["sizes"], folder=folder) == 0

    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:4] == [
        "4 recordings",
        "3 distinct fingerprints",
        "2 libraries",
        "1 through a hook or operator of Airflow",
    ]
    assert {"2 with a label", "3 in split dev", "1 tagged obvious-reading-is-wrong"} <= set(lines)
    assert "1 fingerprints of category network" in lines
