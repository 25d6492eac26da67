"""One folder, one file, one line for each case and repeat that a model was asked about."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from airflow_common_ai.evals.replay.cassette_store import FILE, CassetteStore, StoreHeader

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
HEADER = StoreHeader(
    AT,
    "mine:careful",
    "Careful-01234567",
    "f" * 64,
    ("a-model",),
    {"llm": {"conn_type": "pydanticai"}},
    {"python": "3"},
)


def said(text: str) -> dict[str, Any]:
    request = {"method": "POST", "uri": "http://the-model/v1", "body": "{}", "headers": {}}
    response = {"status": {"code": 200, "message": ""}, "headers": {}, "body": {"string": text}}
    return {"request": request, "response": response}


def filled(folder: Path) -> CassetteStore:
    store = CassetteStore(folder)
    store.start(HEADER)
    store.put(("b/two", 1), [said("two")])
    store.put(("a/one", 2), [said("one again")])
    store.put(("a/one", 1), [said("one"), said("more")])
    return store


def test_what_is_put_in_is_there_for_the_next_one_who_opens_it(tmp_path: Path) -> None:
    filled(tmp_path / "answers")
    store = CassetteStore(tmp_path / "answers")
    assert store.header == HEADER
    assert store.get(("a/one", 1)) == [said("one"), said("more")]
    assert store.get(("a/one", 2)) == [said("one again")]
    assert store.get(("c/three", 1)) == []
    assert len(store) == 3


def test_at_the_end_the_file_is_sorted_and_holds_each_case_once(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.put(("b/two", 1), [said("two, newer")])
    store.put(("a/one", 2), [])
    store.finish(["another-model"])
    header, *lines = [json.loads(line) for line in (tmp_path / FILE).read_text("ascii").splitlines()]
    assert header["models"] == ["a-model", "another-model"]
    assert [(line["id"], line["repeat"]) for line in lines] == [("a/one", 1), ("b/two", 1)]
    assert store.get(("b/two", 1)) == CassetteStore(tmp_path).get(("b/two", 1)) == [said("two, newer")]


def test_recording_again_keeps_what_is_not_asked_this_time(tmp_path: Path) -> None:
    filled(tmp_path)
    store = CassetteStore(tmp_path)
    store.start(HEADER)
    store.put(("b/two", 1), [said("newer")])
    store.finish()
    assert CassetteStore(tmp_path).get(("a/one", 1)) == [said("one"), said("more")]


def test_half_a_line_of_somebody_who_was_killed_is_overlooked_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    filled(tmp_path)
    with (tmp_path / FILE).open("a") as file:
        file.write('{"id": "c/three", "rep')
    store = CassetteStore(tmp_path)
    assert len(store) == 3
    store.start(HEADER)
    store.put(("d/four", 1), [said("four")])
    assert CassetteStore(tmp_path).get(("d/four", 1)) == [said("four")]


def test_a_folder_without_recordings_is_empty(tmp_path: Path) -> None:
    store = CassetteStore(tmp_path / "nothing")
    assert (store.header, len(store), store.get(("a/one", 1))) == (None, 0, [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema must be 1, got 2. Record again with --record."),
        ({"recorded_at": "yesterday"}, "Invalid isoformat"),
        ({"recorded_at": "2026-11-30T12:00:00"}, "recorded_at must be a time with its zone"),
        ({"connections": [1]}, "connections must be an object"),
        ({"extra": 1}, "has no field 'extra'"),
    ],
)
def test_a_damaged_header_says_what_to_do(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    (tmp_path / FILE).write_text(json.dumps({**HEADER.to_json(), **change}) + "\n")
    with pytest.raises(ValueError, match=r"cassettes\.jsonl':1 is damaged: ") as refused:
        CassetteStore(tmp_path)
    assert message in str(refused.value)


@pytest.mark.parametrize("line", ["[1]", '{"id": "a/one"}', "not json", '{"id": 1, "repeat": 1, "interactions": []}'])
def test_a_damaged_line_says_where_it_is(tmp_path: Path, line: str) -> None:
    (tmp_path / FILE).write_text(f"{json.dumps(HEADER.to_json())}\n{line}\n")
    with pytest.raises(ValueError, match=r"cassettes\.jsonl':2 is damaged: .* Record again with --record\."):
        CassetteStore(tmp_path)


def test_a_line_that_cannot_be_replayed_is_refused_when_it_is_wanted(tmp_path: Path) -> None:
    store = CassetteStore(tmp_path)
    store.start(HEADER)
    store.put(("a/one", 1), [{"request": {}}])
    with pytest.raises(ValueError, match="what is kept of a/one is damaged"):
        store.get(("a/one", 1))


def test_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    filled(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ValueError, match="is a symbolic link"):
        CassetteStore(tmp_path / "link")


def test_a_recording_knows_its_age() -> None:
    assert HEADER.age_days(AT + timedelta(days=91, hours=3)) == 91
