"""The contract between running a policy and scoring it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from airflow_common_ai.evals.answer import Action, LaterTry, Outcome
from airflow_common_ai.evals.runs.run_file import Row, line_of, read_run
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.recordings.label import Label, ShouldRetry

HEADER = RunHeader(
    corpus="c" * 64,
    cases=2,
    policy="my_dags.policies:careful",
    policy_id="EvidenceRetryPolicy-01234567",
    mode="offline",
    repeats=2,
    shard=(1, 4),
    question={"prompt": "a" * 64, "schema": "b" * 64, "categories": "c" * 64},
    conn_type="pydanticai",
    measured_at=datetime(2026, 11, 30, 12, tzinfo=UTC),
    versions={"python": "3.11.2"},
)
LABEL = Label("requests/429", "rate_limit", ShouldRetry.YES, (60.0, 600.0), "asked to wait", "RFC 6585")
ROW = Row(
    id="requests/429",
    fingerprint="0123456789abcdef",
    split="dev",
    library="requests",
    repeat=2,
    outcome=Outcome.DECIDED,
    label=LABEL,
    failure=("requests.exceptions.HTTPError: 429 Client Error",),
    tags=("obvious",),
    count=7,
    action=Action.RETRY,
    delay_s=124.5,
    asked_delay_s=120.0,
    later=(LaterTry(Action.RETRY, 300.0, calls=1), LaterTry(Action.FAIL)),
    category="rate_limit",
    confidence=0.75,
    source="llm",
    code="http.429",
    reason="http.429: rate limited",
    votes=({"tier": "signals", "outcome": "retry", "confidence": 0.5},),
    calls=1,
    model="a-model",
    input_tokens=400,
    output_tokens=20,
    cost_usd=0.001,
    milliseconds=1.25,
    error=None,
)


def written(path: Path, *entries: Any) -> Path:
    path.write_text("".join(entry if isinstance(entry, str) else line_of(entry) for entry in entries), "utf-8")
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    run = read_run(written(tmp_path / "run.jsonl", HEADER, ROW))
    assert run.header == HEADER
    assert run.rows == (ROW,)
    assert run.missing == 3, "two cases, twice, and one row is there"


def test_a_row_that_nobody_judged_counts_in_no_accuracy(tmp_path: Path) -> None:
    unlabelled = Row.from_json({**ROW.to_json(), "id": "requests/500", "label": None})
    run = read_run(written(tmp_path / "run.jsonl", HEADER, ROW, unlabelled))
    assert [row.id for row in run.labelled] == ["requests/429"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": "fine"}, "outcome must be one of decided, crashed, timed_out, stale, got 'fine'"),
        ({"action": "reschedule"}, "action must be one of retry, fail, default, got 'reschedule'"),
        ({"delay_s": -1}, "delay_s must be a number from 0 to 1e+12, or null, got -1"),
        ({"delay_s": float("nan")}, "delay_s must be a number from 0 to 1e+12, or null, got nan"),
        ({"confidence": 1.5}, "confidence must be a number from 0 to 1, or null, got 1.5"),
        ({"calls": 0.5}, "calls must be a whole number, or null, got 0.5"),
        ({"failure": "one"}, "failure must be a list of at most 64 texts"),
        ({"votes": [{"tier": "llm"}]}, "outcome must be a text"),
        ({"later": [{"action": "wait"}]}, "action must be one of retry, fail, default, got 'wait'"),
        ({"later": {}}, "later must be a list of at most 64 objects"),
        ({"note": "?"}, "a row has no field 'note'. Remove it."),
    ],
)
def test_a_damaged_row_is_refused_with_file_line_and_rule(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = written(tmp_path / "run.jsonl", HEADER, json.dumps({**ROW.to_json(), **change}) + "\n")
    with pytest.raises(ValueError, match=r"run\.jsonl:2: ") as refused:
        read_run(path)
    assert message in str(refused.value)


def test_an_empty_file_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"the file is empty\. Write it with `airflow-common-ai run`"):
        read_run(written(tmp_path / "run.jsonl"))


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"run\.jsonl:1: schema must be 1, got 2"):
        read_run(written(tmp_path / "run.jsonl", json.dumps({**HEADER.to_json(), "schema": 2}) + "\n"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": {"prompt": "a" * 64}}, "question must give prompt, schema, categories as 64 hexadecimal digits"),
        ({"question": {"prompt": "A" * 64, "schema": "b" * 64, "categories": "c" * 64}}, "64 hexadecimal digits"),
        ({"measured_at": "2026-11-30T12:00:00"}, "measured_at must be a time with its zone"),
        ({"measured_at": "yesterday"}, "measured_at must be a time with its zone"),
    ],
)
def test_a_damaged_header_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=r"run\.jsonl:1: ") as refused:
        read_run(written(tmp_path / "run.jsonl", json.dumps({**HEADER.to_json(), **change}) + "\n"))
    assert message in str(refused.value)


def test_what_came_into_the_contract_later_may_be_missing(tmp_path: Path) -> None:
    header, row = HEADER.to_json(), ROW.to_json()
    for name in ("question", "conn_type", "measured_at"):
        del header[name]
    del row["later"]
    run = read_run(written(tmp_path / "run.jsonl", json.dumps(header) + "\n", json.dumps(row) + "\n"))
    assert run.header.question == {}
    assert run.rows[0].later == ()


def test_a_row_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'requests/429', repeat 2, is there twice"):
        read_run(written(tmp_path / "run.jsonl", HEADER, ROW, ROW))


def test_what_a_stranger_wrote_into_a_row_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    hostile = Row.from_json({**ROW.to_json(), "reason": "\x1b]0;owned\x07", "failure": ["\u202eevil"]})
    run = read_run(written(tmp_path / "run.jsonl", HEADER, hostile))
    assert run.rows[0].reason == "\\x1b]0;owned\\x07"
    assert run.rows[0].failure == ("\\u202eevil",)
