"""``python -m demo.run``: let thirteen tasks fail in a real Airflow and show what was decided about each."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

from airflow_common_ai.sanitizer import sanitize
from demo.check import find_mismatches
from demo.expectations import EXPECTATIONS
from demo.flaky_server import flaky_server
from demo.interruptions import Interrupted
from demo.progress import Progress
from demo.table import decision_table, tries_saved
from demo.throwaway_airflow import AirflowStartError, ThrowawayAirflow

DAG_FILE = Path(__file__).parent / "dags" / "failures.py"
DAG_ID = "failures"
_TIMEOUT_S = 300.0
_LOG_WIDTH = 160
"""Columns of the table where nobody's terminal says how wide it is."""


def main() -> int:
    """Run the demo; return 0 only if every decision was the expected one."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_LOG_WIDTH)
    started = time.monotonic()

    def say(line: str) -> None:
        console.print(Text(f"{time.monotonic() - started:5.1f} s  {sanitize(line)}"), soft_wrap=True)

    try:
        with (
            console.status("a throw-away Airflow is at work"),
            flaky_server() as service,
            ThrowawayAirflow([DAG_FILE], environment=service_environment(service), say=say) as airflow,
        ):
            run = airflow.wait_for_run(DAG_ID, timeout_s=_TIMEOUT_S, on_change=Progress(say))
            mismatches = find_mismatches(run, EXPECTATIONS)
            airflow.keep_home = bool(mismatches)
    except AirflowStartError as error:
        console.print(Text(str(error)))
        return 1
    except Interrupted as interruption:
        console.print(f"interrupted by {interruption}; Airflow is stopped")
        return interruption.exit_code

    console.print(decision_table(run, EXPECTATIONS))
    used, saved = sum(len(task.tries) for task in run.tasks), sum(map(tries_saved, run.tasks))
    console.print(f"{used} tries; Airflow's default would have taken {used + saved}. {saved} saved.")
    if mismatches:
        console.print(Text("Not as expected:\n" + "\n".join(f"  {sanitize(line)}" for line in mismatches), "red"))
        return 1
    console.print(
        f"All {len(EXPECTATIONS)} tasks: every decision is the expected one, "
        "in Airflow's own columns and in the stored record.",
        style="green",
    )
    return 0


def service_environment(service: str) -> dict[str, str]:
    """Return how the Dag finds the flaky service: by an address, and by a connection for the hook."""
    return {"DEMO_SERVICE": service, "AIRFLOW_CONN_DEMO_SERVICE": service}


if __name__ == "__main__":
    sys.exit(main())
