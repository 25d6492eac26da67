from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from recorded import NOON, provenance, recorded

from airflow_common_ai.recordings.corpus_file import merged, read_corpus, read_corpus_file, write_corpus_file
from airflow_common_ai.recordings.recording import Recording

REFUSED = recorded("refused", ConnectionRefusedError(111, "Connection refused"), tags=("from-text",))
MISSING = recorded("missing", FileNotFoundError(2, "No such file or directory", "orders.csv"))


def file_of(folder: Path, *recordings: Recording) -> Path:
    path = folder / "tests.jsonl"
    write_corpus_file(path, recordings)
    return path


def test_what_was_written_is_read_back_the_same_and_sorted_by_id(tmp_path: Path) -> None:
    path = file_of(tmp_path, REFUSED, MISSING)

    assert read_corpus_file(path) == [MISSING, REFUSED]
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["tests/missing", "tests/refused"]


def test_provenance_comes_back_whole(tmp_path: Path) -> None:
    origin = provenance(
        "psycopg", "3.2.1", server="PostgreSQL", server_version="15.8", is_wire_form=True, wrapped_by="PostgresHook"
    )
    path = file_of(tmp_path, recorded("wrapped", ValueError("x"), origin=origin))

    assert read_corpus_file(path)[0].provenance == origin


def test_how_often_a_failure_was_seen_comes_back_and_an_unknown_version_stays_unknown(tmp_path: Path) -> None:
    often = replace(recorded("often", ValueError("x"), origin=provenance(version=None)), count=17)

    assert read_corpus_file(file_of(tmp_path, often)) == [often]


def test_a_file_holds_nothing_but_ascii_so_that_hidden_characters_show_in_a_diff(tmp_path: Path) -> None:
    path = file_of(tmp_path, recorded("bidi", ValueError("caf\u00e9 \u202e txt.exe \ud800")))

    assert path.read_bytes().isascii()
    assert "\u202e" in read_corpus_file(path)[0].evidence.nodes[0].message


@pytest.mark.parametrize("field", ["message", "tool", "library", "version", "how"])
def test_what_somebody_wrote_into_a_file_is_redacted_when_it_is_read(tmp_path: Path, field: str) -> None:
    path = file_of(tmp_path, MISSING)
    text = path.read_text()
    start = text.index(f'"{field}": "') + len(f'"{field}": "')
    path.write_text(f"{text[:start]}postgresql://etl:hunter2pass@db/sales {text[start:]}")

    assert "postgresql://etl:***@db/sales" in str(read_corpus_file(path)[0].to_json())
    assert "hunter2pass" not in str(read_corpus_file(path)[0].to_json())


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    entry = MISSING.to_json()
    change(entry)
    return json.dumps(entry)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not a JSON object. Mend or remove the line."),
        ("[]", "a recording must be a JSON object, got a value of type list."),
        ("", "the line is empty. Remove it."),
        (changed(lambda entry: entry.pop("schema")), "schema must be 1, got None. Record it again"),
        (changed(lambda entry: entry.update(schema=2)), "schema must be 1, got 2. Record it again, or use a newer"),
        (changed(lambda entry: entry.update(id="Orders")), "id must be like 'requests_http/429-with-retry-after', got"),
        (changed(lambda entry: entry.update(fingerprint="x")), "fingerprint must be like '0123456789abcdef', got 'x'."),
        (changed(lambda entry: entry.update(split="test")), "split must be one of dev, gate, heldout, got 'test'."),
        (changed(lambda entry: entry.update(tags="wrong")), "tags must be a list of at most 20 words, got 'wrong'."),
        (changed(lambda entry: entry.update(tags=["A b"])), "tags must hold words that match"),
        (changed(lambda entry: entry.update(count=0)), "count must be a whole number from 1 to 1000000000, got 0."),
        (
            changed(lambda entry: entry.update(count=True)),
            "count must be a whole number from 1 to 1000000000, got True.",
        ),
        (changed(lambda entry: entry.update(note="x")), "a recording has no field 'note'. Remove it."),
        (changed(lambda entry: entry["provenance"].pop("library")), "library must be a text of 1 to 2000 characters"),
        (changed(lambda entry: entry["provenance"].update(wire_form="yes")), "wire_form must be true or false"),
        (changed(lambda entry: entry["evidence"].update(nodes=[])), "nodes must hold at least the exception"),
    ],
)
def test_a_line_that_is_wrong_is_named_with_its_file_its_number_and_the_rule(
    tmp_path: Path, line: str, message: str
) -> None:
    path = file_of(tmp_path, recorded("a", ValueError("x")))
    path.write_text(f"{path.read_text()}{line}\n")

    with pytest.raises(ValueError, match=r"tests\.jsonl:2: ") as fault:
        read_corpus_file(path)

    assert message in str(fault.value)


def test_lines_out_of_order_are_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, REFUSED, MISSING)
    path.write_text("\n".join(reversed(path.read_text().splitlines())) + "\n")

    with pytest.raises(ValueError, match=r"tests.jsonl:2: ids must be sorted and each there once.*Sort the file"):
        read_corpus_file(path)


def test_an_id_in_two_files_is_refused(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        write_corpus_file(tmp_path / name, [MISSING])

    with pytest.raises(ValueError, match="'tests/missing' is there twice"):
        read_corpus(tmp_path)


def at_another_time(text: str) -> Recording:
    return recorded("case", RuntimeError(text), at=NOON + timedelta(days=30))


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("connection to 127.0.0.1:41873 lost", "connection to 127.0.0.1:39112 lost"),
        ("pool(host='127.0.0.1', port=41873)", "pool(host='127.0.0.1', port=55001)"),
        ("worker pid 812 was killed", "worker pid 90311 was killed"),
        ("<Future at 0x7f2992d10d90 state=finished>", "<Future at 0x7fd6aa010d90 state=finished>"),
        ("failed at 2026-01-31T12:00:01.123Z", "failed at 2026-02-28T07:30:59.9Z"),
        ("Date: Mon, 30 Nov 2026 19:09:48 GMT", "Date: Tue, 01 Dec 2026 07:11:00 GMT"),
        ("Read timed out. (read timeout=0.49984823299928394)", "Read timed out. (read timeout=0.49956834399927175)"),
        ("resets at 1796065818", "resets at 1796069999"),
        ("request 123e4567-e89b-42d3-a456-426614174000", "request 00000000-e89b-42d3-a456-426614174999"),
        ("cannot open /tmp/tmpab12cd34/x.csv", "cannot open /tmp/tmpzz99yy88/x.csv"),
    ],
)
def test_raising_again_leaves_a_line_alone_in_which_only_times_ports_and_ids_are_others(first: str, again: str) -> None:
    stored = recorded("case", RuntimeError(first))

    assert merged([stored], [at_another_time(again)], {stored.id}) == [stored]


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("try again in 30 seconds", "try again in 60 seconds"),
        ("status 503", "status 504"),
        ("connection refused", "connection reset"),
        ("code 1205", "code 1213"),
    ],
)
def test_raising_again_replaces_a_recording_that_says_something_else_but_keeps_its_split(
    first: str, again: str
) -> None:
    stored = recorded("case", RuntimeError(first))
    raised = at_another_time(again)

    assert merged([stored], [raised], {stored.id}) == [raised.in_split(stored.split)]


def test_another_version_of_the_library_is_a_change_and_its_patch_level_is_none() -> None:
    stored = recorded("case", ValueError("x"), origin=provenance("requests", "2.34.2"))
    patched = recorded("case", ValueError("x"), origin=provenance("requests", "2.34.9"))
    newer = recorded("case", ValueError("x"), origin=provenance("requests", "2.35.0"))

    assert merged([stored], [patched], {stored.id}) == [stored]
    assert merged([stored], [newer], {stored.id}) == [newer]


def test_what_could_not_be_raised_this_time_stays_and_what_has_no_case_any_more_goes() -> None:
    new = recorded("new", ValueError("x"))

    assert merged([MISSING, REFUSED], [new], {MISSING.id, new.id}) == [MISSING, new]


def test_writing_the_same_again_does_not_touch_the_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, MISSING, REFUSED)
    before = path.stat()

    file_of(tmp_path, REFUSED, MISSING)

    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert path.stat().st_ino == before.st_ino
    assert [entry.name for entry in tmp_path.iterdir()] == ["tests.jsonl"]
