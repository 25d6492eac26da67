"""The ready Dag, run in this process by Airflow's own task runner."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
from airflow_runner import DagRunner
from evals.gates_text import gates
from evals.small_corpus import an_error_each, judged, written_corpus

from airflow_common_ai.evals.dag import evaluation_dag
from airflow_common_ai.evals.runs.run_file import read_run

OURS = "airflow_common_ai.policies:EvidenceRetryPolicy"


@pytest.mark.parametrize(("bar", "state"), [(0.01, "success"), (0.99, "failed")])
def test_shards_are_asked_merged_and_judged(run_dag: DagRunner, tmp_path: Path, bar: float, state: str) -> None:
    recordings = an_error_each(12)
    corpus = written_corpus(tmp_path / "corpus", recordings, judged(recordings))
    (tmp_path / "gates.toml").write_text(gates(bar), "utf-8")
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


@pytest.fixture
def dag_file(airflow_database: Path) -> Iterator[Path]:
    """A file in the folder of Dags, where ``dag.test()`` looks its Dag up."""
    path = airflow_database.parent / "dags" / "evaluated_by_hand.py"
    yield path
    path.unlink()


def test_a_person_tries_it_with_dag_test(dag_file: Path, tmp_path: Path) -> None:
    recordings = an_error_each(12)
    corpus = written_corpus(tmp_path / "corpus", recordings, judged(recordings))
    options = {"corpus": str(corpus), "policy": OURS, "folder": str(tmp_path / "runs"), "shards": 3}
    dag_file.write_text(
        f"from airflow_common_ai.evals.dag import evaluation_dag\ndag = evaluation_dag('by_hand', **{options})\n"
    )
    run = runpy.run_path(str(dag_file))["dag"].test()
    assert run.state == "success"
    asked = sorted((ti.map_index, ti.state) for ti in run.get_task_instances() if ti.task_id == "ask")
    assert asked == [(index, "success") for index in range(3)]
    (merged,) = (tmp_path / "runs").glob("*/run.jsonl")
    assert [row.id for row in read_run(merged).rows] == [one.id for one in recordings]


def test_models_are_asked_in_one_way() -> None:
    with pytest.raises(ValueError, match="evaluation_dag takes live, or replay and batch"):
        evaluation_dag("x", corpus="c", policy=OURS, folder="f", live=True, batch="my_llm")


@pytest.mark.parametrize("shards", [0, 1025])
def test_a_number_of_shards_that_cannot_be_mapped_fails_at_parse(shards: int) -> None:
    with pytest.raises(ValueError, match=r"evaluation_dag\.shards must be from 1 to 1024, got"):
        evaluation_dag("x", corpus="c", policy=OURS, folder="f", shards=shards)
