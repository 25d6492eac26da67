"""A ready Dag that evaluates a retry policy on whatever executor a deployment has: one mapped task for each shard.

.. code-block:: python

    from airflow_common_ai.evals.dag import evaluation_dag

    dag = evaluation_dag(
        "evaluate_retry_policy",
        corpus="/shared/corpus",
        policy="my_dags.policies:careful",
        folder="/shared/evaluations",
        shards=20,
        gates="/shared/gates.toml",
    )

Paths travel through XCom, rows never do; so corpus and folder must be where every worker finds them.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException

from airflow_common_ai.evals.batch.tasks import answers_of_a_batch

__all__ = ["evaluation_dag"]

_FAILED = 1
"""The exit code of a verdict that was measured and is no."""

_MAX_SHARDS = 1024
"""Airflow's own ``[core] max_map_length`` unless it was raised."""


def evaluation_dag(
    dag_id: str,
    *,
    corpus: str,
    policy: str,
    folder: str,
    shards: int = 4,
    gates: str | None = None,
    baseline: str | None = None,
    labels: str | None = None,
    repeats: int = 1,
    replay: str | None = None,
    live: bool = False,
    batch: str | None = None,
    max_active_shards: int | None = None,
    timeout_s: float = 120.0,
    **dag_options: Any,
) -> DAG:
    """
    Return a Dag with three steps: ask shard by shard, merge, and pass or fail by gates.

    A shard that is tried again goes on where it was. It is not for one policy on a few thousand cases without a
    model: one machine needs seconds for that.

    :param corpus: A folder of recorded failures, as for ``airflow-common-ai run``.
    :param policy: What workers can import, ``my_dags.policies:careful``, or a file that all of them have.
    :param folder: Where the runs are written, each in a folder named by the Dag run.
    :param shards: Mapped tasks; about 250 cases each are a good size.
    :param gates: The file of the gates; without it the last task only merges.
    :param baseline: An earlier run, for gates about drops.
    :param replay: Recorded answers of models; without it, ``live`` and ``batch`` no model is asked.
    :param batch: The connection of the model that the policy asks, to ask it all questions in one batch before. With
        ``replay`` only those that are not answered there, and their answers are added.
    :param max_active_shards: How many may run at once, which caps the rate of requests to a model.
    :param timeout_s: Seconds that one decision may take.
    :param dag_options: Of the Dag itself, such as ``schedule``.
    :raises ValueError: ``shards`` is out of range, or models are to be asked in two ways.
    """
    if not 1 <= shards <= _MAX_SHARDS:
        raise ValueError(f"evaluation_dag.shards must be from 1 to {_MAX_SHARDS}, got {shards}. Use e.g. shards=20.")
    if live and (replay is not None or batch is not None):
        raise ValueError("evaluation_dag takes live, or replay and batch.")

    def here() -> Path:
        return _folder(folder)

    with DAG(dag_id, **{"schedule": None, "catchup": False, **dag_options}) as dag:

        @task(retries=2, retry_delay=timedelta(minutes=1), max_active_tis_per_dagrun=max_active_shards)
        def ask(answers: str | None, index: int) -> str:
            from airflow_common_ai.evals.runner import RunOptions, run_policy

            output = here() / f"shard-{index:04}-of-{shards:04}.jsonl"
            run_policy(
                RunOptions(
                    Path(corpus),
                    policy,
                    output,
                    labels=None if labels is None else Path(labels),
                    shard=(index, shards),
                    repeats=repeats,
                    resume=True,
                    replay=None if answers is None else Path(answers),
                    live=live,
                    jobs=1,  # the executor is what runs them side by side
                    timeout_s=timeout_s,
                )
            )
            return str(output)

        @task
        def merge(paths: list[str]) -> str:
            from airflow_common_ai.evals.runs.merging import merge_runs, write_run

            merged = here() / "run.jsonl"
            write_run(merged, merge_runs([Path(path) for path in paths]))
            return str(merged)

        @task
        def gate(path: str) -> dict[str, Any]:
            from airflow_common_ai.evals.gates.gate import check
            from airflow_common_ai.evals.gates.gates_file import read_gates
            from airflow_common_ai.evals.runs.run_file import read_run

            earlier = None if baseline is None else read_run(Path(baseline))
            verdict = check(read_run(Path(path)), read_gates(Path(gates or "")), earlier)
            if verdict.exit_code:
                what = "did not pass its gates" if verdict.exit_code == _FAILED else "could not be measured"
                raise AirflowFailException(f"{policy} {what}. See: airflow-common-ai gate {path} --config {gates}")
            return verdict.to_json()

        answers: Any = replay
        if batch is not None:
            answers = answers_of_a_batch(
                here,
                corpus=corpus,
                policy=policy,
                llm_conn_id=batch,
                answers=replay,
                labels=labels,
                repeats=repeats,
            )
        asked: Any = ask.partial(answers=answers).expand(index=list(range(1, shards + 1)))
        merged: Any = merge(asked)
        if gates is not None:
            gate(merged)
    return dag


def _folder(folder: str) -> Path:
    run_id = str(get_current_context()["run_id"])
    return Path(folder) / "".join(char if char.isalnum() or char in "-_." else "_" for char in run_id)
