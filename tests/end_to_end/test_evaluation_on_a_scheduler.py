"""The ready Dag of an evaluation on a real scheduler: what needs a LocalExecutor, an API server and a triggerer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from evals.batch.batch_policies import CONN_ID
from evals.gates_text import gates
from evals.small_corpus import an_error_each, judged, written_corpus
from evals.test_runner import without_times
from loopback.batch_server import serving_batches
from policies.scripted_model import API_KEY, CERTAIN, answer
from real_airflow import PATIENT

from airflow_common_ai.evals.runner import RunOptions, run_policy
from airflow_common_ai.evals.runs.run_file import read_run
from demo.throwaway_airflow import ThrowawayAirflow

HERE = Path(__file__).parent
BATCH_POLICY = f"{HERE.parent / 'evals' / 'batch' / 'batch_policies.py'}:careful"
COUNT = 60
_TIMEOUT_S = 900


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("evaluated")
    recordings = an_error_each(COUNT)
    written_corpus(found / "corpus", recordings, judged(recordings))
    for dag_id, bar in (("good_enough", 0.1), ("not_good_enough", 0.99), ("in_a_batch", 0.1)):
        (found / f"{dag_id}.toml").write_text(gates(bar))
    return found


@pytest.fixture(scope="module")
def airflow(folder: Path) -> Iterator[ThrowawayAirflow]:
    environment = {**PATIENT, "EVALUATED": str(folder), "BATCH_POLICY": BATCH_POLICY, "BATCH_CONNECTION": CONN_ID}
    dags = [HERE / "dags" / "evaluations.py"]
    with ThrowawayAirflow(dags, environment=environment, with_rest_api=True, with_triggerer=True) as running:
        yield running


def test_twenty_shards_make_the_run_that_one_process_makes(
    airflow: ThrowawayAirflow, folder: Path, tmp_path: Path
) -> None:
    outcome = airflow.wait_for_run("good_enough", timeout_s=_TIMEOUT_S)

    assert outcome.state == "success"
    assert [outcome.task("ask", index).state for index in range(20)] == ["success"] * 20
    (merged,) = (folder / "good_enough").glob("*/run.jsonl")
    shards = [read_run(path) for path in merged.parent.glob("shard-*.jsonl")]
    assert sorted(run.header.shard for run in shards if run.header.shard) == [(at, 20) for at in range(1, 21)]
    assert sum(len(run.rows) for run in shards) == COUNT
    run_policy(RunOptions(folder / "corpus", read_run(merged).header.policy, tmp_path / "alone.jsonl"))
    (header, *rows), (header_alone, *rows_alone) = without_times(merged), without_times(tmp_path / "alone.jsonl")
    assert rows == rows_alone
    assert len(rows) == COUNT
    assert header == header_alone


def test_gates_that_are_missed_fail_the_last_task_once_and_for_all(airflow: ThrowawayAirflow, folder: Path) -> None:
    outcome = airflow.wait_for_run("not_good_enough", timeout_s=_TIMEOUT_S)

    assert outcome.state == "failed"
    assert {one.task_id: one.state for one in outcome.tasks} == {
        "ask": "success",
        "merge": "success",
        "gate": "failed",
    }
    assert len(outcome.task("gate").tries) == 1
    (merged,) = (folder / "not_good_enough").glob("*/run.jsonl")
    assert len(read_run(merged).rows) == COUNT


def test_a_batch_is_asked_through_a_connection_that_only_tasks_can_see(airflow: ThrowawayAirflow, folder: Path) -> None:
    with serving_batches(lambda request: CERTAIN.body(request, answer())) as server:
        connection = {"connection_id": CONN_ID, "conn_type": "pydanticai", "password": API_KEY}
        host = {"host": server.url + CERTAIN.path, "extra": f'{{"model": "{CERTAIN.model}"}}'}
        airflow.call("POST", "/connections", connection | host)
        started = airflow.call("POST", "/dags/in_a_batch/dagRuns", {"logical_date": None})
        outcome = airflow.wait_for_run("in_a_batch", started["dag_run_id"], timeout_s=_TIMEOUT_S)

    assert outcome.state == "success"
    assert (server.submitted, len(server.asked)) == (1, COUNT // 3)
    (merged,) = (folder / "in_a_batch").glob("*/run.jsonl")
    rows = read_run(merged).rows
    assert len(rows) == COUNT
    assert {row.model for row in rows if row.calls} == {"a-model-as-served"}
    assert sum(row.calls for row in rows) == COUNT // 3
