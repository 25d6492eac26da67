"""Policies with a model: recorded once from a server on loopback, then replayed without it, through the real hooks."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from evals.small_corpus import POLICIES, a_recording, an_error_each, judged, written_corpus
from evals.test_runner import without_times
from policies.scripted_model import API_KEY, CERTAIN, answer, connected

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.replay.cassette_store import FILE, CassetteStore
from airflow_common_ai.evals.runner import RunOptions, RunSummary, run_policy
from airflow_common_ai.evals.runs.run_file import Row, read_run

CHAIN, COMMON_AI = f"{POLICIES}:chain", f"{POLICIES}:common_ai"
COUNT = 9


def ran(corpus: Path, output: Path, policy: str, **options: Any) -> tuple[RunSummary, tuple[Row, ...]]:
    summary = run_policy(RunOptions(corpus, policy, output, jobs=2, **options))
    return summary, read_run(output).rows


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recordings = an_error_each(COUNT)
    return written_corpus(tmp_path_factory.mktemp("corpus"), recordings, judged(recordings))


@pytest.fixture(scope="module", params=[CHAIN, COMMON_AI], ids=["a chain with ours", "the Common AI provider's"])
def recorded(request: pytest.FixtureRequest, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Record with one process, since the server's answers are in order: what each case was told is its own."""
    folder = tmp_path_factory.mktemp("recorded")
    manners = [CERTAIN.answers(answer(category="network", reasoning=f"answer {at}")) for at in range(COUNT)]
    with connected(*manners) as server:
        options = RunOptions(corpus, request.param, folder / "run.jsonl", record=folder / "answers", jobs=1)
        summary = run_policy(options)
    return request.param, folder, summary, len(server.requests)


def test_what_is_recorded_is_counted(recorded: Any) -> None:
    policy, folder, summary, requests = recorded
    wanted = COUNT if policy == COMMON_AI else COUNT // 3  # ours asks about what the evidence leaves open
    assert (summary.calls, requests) == (wanted, wanted)
    assert len(CassetteStore(folder / "answers")) == wanted
    assert summary.is_measured


def test_nothing_secret_and_not_where_the_server_stood_is_kept(recorded: Any) -> None:
    _, folder, _, _ = recorded
    kept = (folder / "answers" / FILE).read_text("ascii")
    assert API_KEY not in kept
    assert re.findall(r"Bearer|api-key|set-cookie|127\.0\.0\.1:(?!9/)\d+", kept, re.IGNORECASE) == []


def test_a_replay_needs_no_server_no_connection_and_gives_the_same_file(
    recorded: Any, corpus: Path, tmp_path: Path
) -> None:
    policy, folder, _, _ = recorded
    summary, rows = ran(corpus, tmp_path / "run.jsonl", policy, replay=folder / "answers")
    assert summary.is_measured
    assert summary.stale == []
    replayed, live = without_times(tmp_path / "run.jsonl"), without_times(folder / "run.jsonl")
    assert (replayed[0].pop("mode"), live[0].pop("mode")) == ("replay", "record")
    assert replayed == live
    asked = [row for row in rows if row.calls]
    assert {(row.source, row.category, row.model) for row in asked} == {("llm", "network", "a-model-as-served")}
    assert {(row.input_tokens, row.output_tokens) for row in asked} == {(70, 7)}
    assert read_run(tmp_path / "run.jsonl").header.conn_type == "pydanticai"


def test_what_was_never_recorded_is_stale_and_measures_nothing(recorded: Any, tmp_path: Path) -> None:
    policy, folder, _, _ = recorded
    answers = tmp_path / "answers"
    shutil.copytree(folder / "answers", answers)
    changed = [*an_error_each(COUNT)[:-1], a_recording(f"case-{COUNT - 1:04}", RuntimeError("the wing is on fire"))]
    changed.append(a_recording("new", RuntimeError("this is new")))
    summary, rows = ran(written_corpus(tmp_path / "corpus", changed), tmp_path / "run.jsonl", policy, replay=answers)
    assert not summary.is_measured
    stale = dict(summary.stale)
    assert stale.keys() == {f"family/case-{COUNT - 1:04}", "family/new"}
    assert {row.id for row in rows if row.outcome is Outcome.STALE} == stale.keys()
    assert "--- recorded" in stale[f"family/case-{COUNT - 1:04}"]
    assert re.search(r"^\+.*the wing is on fire", stale[f"family/case-{COUNT - 1:04}"], re.MULTILINE)
    assert stale["family/new"].endswith("was never recorded for this case: nothing was")
    assert all(row.action.value == "default" for row in rows if row.id in stale), "and nobody's answer counts"


def test_a_connection_that_cannot_be_asked_through_is_no_answer_of_the_policy(
    recorded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without this a replay in which no request was made would count as the policy's own way to abstain."""
    policy, folder, _, _ = recorded
    monkeypatch.setenv("AIRFLOW_CONN_SCRIPTED", json.dumps({"conn_type": "pydanticai", "extra": {"model": "no:such"}}))
    corpus = written_corpus(tmp_path / "corpus", [a_recording("new", RuntimeError("this is new"))])
    summary, (row,) = ran(corpus, tmp_path / "run.jsonl", policy, replay=folder / "answers")
    assert not summary.is_measured
    assert row.outcome is Outcome.STALE
    assert (row.error or "").startswith("a model was wanted, and no request was made: ")
