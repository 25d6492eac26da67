"""One real Airflow for the whole session: scheduler, API server, Dag processor, triggerer and LocalExecutor.

The fixture ``real_airflow`` starts it when the first test asks for it. All of its Dags run once, at once; a test waits
for the run of its Dag and looks at what is left of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demo.flaky_server import flaky_server
from demo.outcomes import RunOutcome
from demo.run import DAG_FILE, service_environment
from demo.throwaway_airflow import ThrowawayAirflow

_HERE = Path(__file__).parent / "end_to_end"
_TIMEOUT_S = 240

PATIENT = {"AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60", "AIRFLOW__WORKERS__EXECUTION_API_RETRIES": "20"}
"""For tests that look at results: on a busy machine the API may answer too late for a task, which then fails."""


class RealAirflow:
    """What the tests ask of it."""

    def __init__(self, airflow: ThrowawayAirflow, seen: Path) -> None:
        self._airflow = airflow
        self._seen = seen

    def finished_run(self, dag_id: str) -> RunOutcome:
        """Wait for the end of the run that the Dag's schedule has made, and return it."""
        return self._airflow.wait_for_run(dag_id, timeout_s=_TIMEOUT_S)

    def clear(self, dag_id: str, run_id: str) -> None:
        """Clear what has failed in a run, as the button in the UI does."""
        body = {"dry_run": False, "dag_run_id": run_id, "only_failed": True}
        self._airflow.call("POST", f"/dags/{dag_id}/clearTaskInstances", body)

    def record_in_api(self, dag_id: str, run_id: str, task_id: str) -> Any:
        """Return the record as the public API gives it to the UI's Task State Store tab."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/state-store/ai_retry"
        return self._airflow.call("GET", path)["value"]

    def seen(self, dag_id: str) -> list[tuple[str, int, list[list[object]]]]:
        """Return what callbacks and listeners read: who, at which try, and the attempts of the record."""
        lines = [json.loads(line) for line in self._seen.read_text().splitlines()]
        return [(one["who"], one["try_number"], one["attempts"]) for one in lines if one["dag_id"] == dag_id]


@contextmanager
def running_airflow(folder: Path) -> Iterator[RealAirflow]:
    """
    Start it, and stop it in the end.

    :param folder: where the callbacks and listeners of the tasks write down what they see.
    """
    seen = folder / "seen.jsonl"
    with (
        flaky_server() as service,
        ThrowawayAirflow(
            [DAG_FILE, _HERE / "dags" / "behaviours.py"],
            plugins=sorted(_HERE.glob("plugins/*.py")),
            environment={**service_environment(service), "END_TO_END_SEEN": str(seen)},
            with_rest_api=True,
            with_triggerer=True,
        ) as airflow,
    ):
        yield RealAirflow(airflow, seen)
