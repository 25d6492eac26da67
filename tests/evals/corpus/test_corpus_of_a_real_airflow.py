"""From a Dag that really fails, through Airflow's own API and its own log files, to a corpus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evals.corpus.collecting import corpus_in, texts_in
from real_airflow import PATIENT
from typer.testing import CliRunner

from airflow_common_ai.cli.corpus import app
from demo.throwaway_airflow import ThrowawayAirflow

DAG_FILE = Path(__file__).parent / "dags" / "failing_orders.py"


@pytest.fixture(scope="module")
def airflow() -> Iterator[ThrowawayAirflow]:
    with ThrowawayAirflow([DAG_FILE], environment=PATIENT, with_rest_api=True, parallelism=1) as running:
        running.wait_for_run("nightly-orders", timeout_s=240)
        yield running


def added(*arguments: str, token: str = "") -> Any:
    result = CliRunner().invoke(
        app, ["add", *arguments, "--json"], env={"AIRFLOW_CLI_TOKEN": token, "NO_PROXY": "*", "no_proxy": "*"}
    )
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_the_failed_tries_are_added_once_whether_the_api_gives_them_or_the_log_files(
    airflow: ThrowawayAirflow, tmp_path: Path
) -> None:
    corpus = str(tmp_path / "failures")

    by_api = added("--airflow", airflow.url, "--days", "1", "-c", corpus, token=airflow.token())
    by_files = added(str(airflow.home / "logs"), "-c", corpus)

    assert (by_api["failures"], len(by_api["new"]), by_api["skipped"]) == (4, 3, [])
    assert (by_files["failures"], by_files["logs_added_before"]) == (0, 4)
    found = {one.id.rpartition("-")[0]: (one.count, one.evidence.nodes[0].message) for one in corpus_in(Path(corpus))}
    assert found == {
        "nightly_orders/load-orders": (1, "[Errno 111] cannot reach postgresql://bob:***@db/orders"),
        "nightly_orders/late": (1, "took too long"),
        "nightly_orders/part": (2, found["nightly_orders/part"][1]),
    }
    assert found["nightly_orders/part"][1] in ("row 1 is bad", "row 2 is bad")
    assert not [text for text in texts_in(tmp_path) if "canary" in text]
    assert added("--airflow", airflow.url, "--dag", "nightly-orders", "-c", corpus, token=airflow.token())["new"] == []
