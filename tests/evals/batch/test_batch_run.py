"""A policy's questions through the Common AI provider's real operator to a batch API on loopback, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from airflow_runner import DagRunner
from evals.small_corpus import an_error_each, judged, written_corpus
from evals.test_runner import without_times
from loopback.batch_server import BatchServer, serving_batches
from loopback.llm_server import ANTHROPIC_WITH_SCHEMA, Json, Wire
from policies.scripted_model import API_KEY, CERTAIN, CONN_ID, answer, connected

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.batch.export import export_questions
from airflow_common_ai.evals.batch.question_file import read_questions
from airflow_common_ai.evals.dag import evaluation_dag
from airflow_common_ai.evals.replay.cassette_store import FILE
from airflow_common_ai.evals.runner import RunOptions, run_policy
from airflow_common_ai.evals.runs.run_file import read_run

POLICY = f"{Path(__file__).parent / 'batch_policies.py'}:careful"
COUNT = 9
ASKED = COUNT // 3
"""What the evidence leaves open."""

TROUBLED = {
    0: {"response": {"status_code": 400, "body": {"error": {"code": "content_policy"}}}, "error": None},
    1: {"response": None, "error": {"code": "batch_expired", "message": "too late"}},
}
LOST, UNUSABLE, ANSWERED = 2, 3, 4
"""The places in the batch of the other questions about five open cases."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recordings = an_error_each(COUNT)
    return written_corpus(tmp_path_factory.mktemp("corpus"), recordings, judged(recordings))


def connect(monkeypatch: pytest.MonkeyPatch, model: str, host: str | None = None) -> None:
    """Let the connection ``scripted`` be one of this model."""
    connection = {"conn_type": "pydanticai", "host": host, "password": API_KEY, "extra": {"model": model}}
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONN_ID.upper()}", json.dumps(connection))


@contextmanager
def batches(monkeypatch: pytest.MonkeyPatch, wire: Wire = CERTAIN, **options: Any) -> Iterator[BatchServer]:
    """Serve, and let the connection ``scripted`` point there."""
    with serving_batches(lambda request: wire.body(request, answer()), **options) as server:
        connect(monkeypatch, wire.model, server.url + wire.path)
        yield server


def dag_of(name: str, corpus: Path, folder: Path, **options: Any) -> Any:
    return evaluation_dag(
        name, corpus=str(corpus), policy=POLICY, folder=str(folder), shards=1, batch=CONN_ID, **options
    )


def same_form(body: Json) -> Json:
    """A request without what says the same in two ways."""
    body = {name: value for name, value in body.items() if name != "stream"}
    if "max_completion_tokens" in body:
        body.pop("max_tokens", None)
    for message in body["messages"]:
        if isinstance(message["content"], list):
            message["content"] = message["content"][0]["text"]
    return body


@pytest.mark.parametrize("wire", [CERTAIN, ANTHROPIC_WITH_SCHEMA], ids=lambda wire: wire.name)
def test_a_batch_asks_and_decides_what_a_live_run_would(
    run_dag: DagRunner, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: Wire
) -> None:
    with connected(wire.answers(answer()), wire=wire) as live:
        run_policy(RunOptions(corpus, POLICY, tmp_path / "live.jsonl", record=tmp_path / "recorded", jobs=1))
    with batches(monkeypatch, wire) as server:
        outcome = run_dag(dag_of(f"batch_{wire.name.replace(' ', '_')}", corpus, tmp_path / "runs"))
    assert outcome.state == "success"
    assert list(map(same_form, server.asked)) == [same_form(request) for request in live.requests]
    assert len(server.asked) == ASKED
    (merged,) = (tmp_path / "runs").glob("*/run.jsonl")
    (header, *rows), (live_header, *live_rows) = without_times(merged), without_times(tmp_path / "live.jsonl")
    assert rows == live_rows
    assert {name for name in header if header[name] != live_header[name]} == {"mode"}
    assert API_KEY not in (merged.parent / "answers" / FILE).read_text("ascii")


def test_a_task_that_is_tried_again_finds_its_batch_and_what_has_no_usable_answer_is_stale(
    run_dag: DagRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings = an_error_each(5 * 3)
    corpus = written_corpus(tmp_path / "corpus", recordings, judged(recordings))
    troubled = TROUBLED | {UNUSABLE: line_with(answer(category="no such category"))}
    with batches(monkeypatch, troubled=troubled, lost=frozenset({LOST}), broken_downloads=1) as server:
        outcome = run_dag(dag_of("batch_with_troubles", corpus, tmp_path))
    assert [one.state for one in outcome.task("ask_in_batch").tries] == ["failed", "success"]
    assert server.submitted == 1
    (merged,) = tmp_path.glob("*/run.jsonl")
    open_cases = [row for row in read_run(merged).rows if row.id in {one.id for one in recordings[2::3]}]
    assert [row.outcome for row in open_cases] == [Outcome.STALE] * ANSWERED + [Outcome.DECIDED]
    assert open_cases[ANSWERED].calls == 1
    never = "POST /v1/chat/completions was never recorded for this case"
    *unanswered, unusable = [row.error or "" for row in open_cases[:ANSWERED]]
    assert unanswered == [f"{never}: nothing was"] * UNUSABLE
    assert unusable.startswith(never)
    assert "no such category" in unusable, "the model would have been told"
    with batches(monkeypatch) as later:
        again = run_dag(dag_of("batch_of_the_rest", corpus, tmp_path / "later", replay=str(merged.parent / "answers")))
    assert again.state == "success"
    assert len(later.asked) == UNUSABLE, "what was answered, if badly, is not asked again"

    monkeypatch.delenv(f"AIRFLOW_CONN_{CONN_ID.upper()}")
    summary = run_policy(RunOptions(corpus, POLICY, tmp_path / "again.jsonl", replay=merged.parent / "answers", jobs=1))
    assert summary.warnings == [], "it is the same question, and a replay needs no connection"
    assert summary.outcomes == {"stale": 1, "decided": len(recordings) - 1}


def test_a_batch_that_has_nothing_left_to_ask_is_skipped(
    run_dag: DagRunner, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(CERTAIN.answers(answer())):
        run_policy(RunOptions(corpus, POLICY, tmp_path / "live.jsonl", record=tmp_path / "recorded", jobs=1))
    with batches(monkeypatch) as server:
        outcome = run_dag(dag_of("batch_of_nothing", corpus, tmp_path / "runs", replay=str(tmp_path / "recorded")))
    assert (outcome.state, outcome.task("ask_in_batch").state, server.submitted) == ("success", "skipped", 0)
    (merged,) = (tmp_path / "runs").glob("*/run.jsonl")
    assert without_times(merged)[1:] == without_times(tmp_path / "live.jsonl")[1:]


def line_with(said: Json) -> Json:
    body = CERTAIN.body({"model": "a-model"}, said)
    return {"response": {"status_code": 200, "body": body}, "error": None}


@pytest.mark.parametrize(
    ("policy", "model", "why"),
    [
        ("careful", "openai:gpt-5-mini", "a batch cannot ask .*: the model is asked through OpenAI's Responses API"),
        ("careful", "no-such-platform:x", "a model was wanted, and no request was made: "),
        ("of_another", "openai-chat:gpt-4o", "it asks the connection 'another'. Name that one."),
    ],
)
def test_what_a_batch_cannot_ask_is_said_before_it_is_paid(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, model: str, why: str
) -> None:
    connect(monkeypatch, model)
    name = POLICY.replace("careful", policy)
    with pytest.raises(ValueError, match=why):
        export_questions(corpus, name, tmp_path, llm_conn_id=CONN_ID)
    assert not list(tmp_path.iterdir())


def test_the_same_questions_are_written_once_and_others_beside_them(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(monkeypatch, "openai-chat:gpt-4o")
    once, again, twice = (
        export_questions(corpus, POLICY, tmp_path, llm_conn_id=CONN_ID, repeats=repeats) for repeats in (1, 1, 2)
    )
    assert once == again
    assert once.model == "openai:gpt-4o"
    files = [one.questions for one in (once, twice) if one.questions]
    assert [len(read_questions(path).questions) for path in files] == [ASKED, 2 * ASKED]
    assert sorted(path.parent for path in files) == sorted(tmp_path.iterdir())
