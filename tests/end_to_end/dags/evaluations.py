"""Evaluations as a deployment would have them; corpus, gates and runs are in a folder of the test's."""

from __future__ import annotations

import os
from pathlib import Path

from airflow_common_ai.evals.dag import evaluation_dag

FOLDER = Path(os.environ["EVALUATED"])
OURS = "airflow_common_ai.policies:EvidenceRetryPolicy"


def evaluation(dag_id: str, **options) -> None:
    evaluation_dag(
        dag_id,
        corpus=str(FOLDER / "corpus"),
        folder=str(FOLDER / dag_id),
        gates=str(FOLDER / f"{dag_id}.toml"),
        is_paused_upon_creation=False,
        **options,
    )


evaluation("good_enough", policy=OURS, shards=20, schedule="@once")
evaluation("not_good_enough", policy=OURS, shards=2, schedule="@once")
evaluation("in_a_batch", policy=os.environ["BATCH_POLICY"], shards=2, batch=os.environ["BATCH_CONNECTION"])
