"""The ready Dag, run in this process by Airflow's own task runner."""

from __future__ import annotations

from pathlib import Path

import pytest
from airflow_runner import DagRunner
from evals.small_corpus import an_error_each, judged, written_corpus

from airflow_common_ai.evals.dag import evaluation_dag
from airflow_common_ai.evals.runs.run_file import read_run

OURS = "airflow_common_ai.policies:EvidenceRetryPolicy"
GATES = """
[measure]
split = "dev"
min_failures = 1
max_unanswered = 0.0
alpha = 0.05

[[bound]]
metric = "right"
at_least = {bar}
"""


@pytest.mark.parametrize(("bar", "state"), [(0.01, "success"), (0.99, "failed")])
def test_shards_are_asked_merged_and_judged(run_dag: DagRunner, tmp_path: Path, bar: float, state: str) -> None:
    recordings = an_error_each(12)
    corpus = written_corpus(tmp_path / "corpus", recordings, judged(recordings))
    (tmp_path / "gates.toml").write_text(GATES.format(bar=bar), "utf-8")
    dag = evaluation_dag(
        f"evaluate_to_{state}",
        corpus=str(corpus),
        policy=OURS,
        folder=str(tmp_path / "runs"),
        shards=2,
        gates=str(tmp_path / "gates.toml"),
    )
    outcome = run_dag(dag)
    assert outcome.task("gate").state == state
    (merged,) = (tmp_path / "runs").glob("*/run.jsonl")
    run = read_run(merged)
    assert [row.id for row in run.rows] == [one.id for one in recordings]
    assert run.header.shard is None


@pytest.mark.parametrize("shards", [0, 1025])
def test_a_number_of_shards_that_cannot_be_mapped_fails_at_parse(shards: int) -> None:
    with pytest.raises(ValueError, match=r"evaluation_dag\.shards must be from 1 to 1024, got"):
        evaluation_dag("x", corpus="c", policy=OURS, folder="f", shards=shards)
