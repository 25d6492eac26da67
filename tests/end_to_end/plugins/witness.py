"""What the end-to-end tests put into the plugins folder: a listener that reads the record, and a trigger that fails.

Everything that is seen goes to one file, a JSON object a line.
"""

from __future__ import annotations

import json
import os
import sys

from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin
from airflow.triggers.base import BaseTrigger

from airflow_common_ai.policies import history


def write_down(who: str, context) -> None:
    ti = context["ti"]
    seen = {
        "who": who,
        "dag_id": ti.dag_id,
        "task_id": ti.task_id,
        "try_number": ti.try_number,
        "attempts": [[one.try_number, one.action, one.code] for one in history.read(context).attempts],
    }
    with open(os.environ["END_TO_END_SEEN"], "a") as file:
        file.write(json.dumps(seen) + "\n")


@hookimpl
def on_task_instance_failed(previous_state, task_instance, error) -> None:
    write_down("listener", task_instance.get_template_context())


class Witness(AirflowPlugin):
    name = "witness"
    listeners = [sys.modules[__name__]]  # noqa: RUF012 - Airflow reads it off the class


class FailingTrigger(BaseTrigger):
    """Raises in the triggerer."""

    def __init__(self, failure: str) -> None:
        super().__init__()
        self.failure = failure

    def serialize(self):
        return "witness.FailingTrigger", {"failure": self.failure}

    async def run(self):
        if self.failure == "connection":
            raise ConnectionResetError(104, "Connection reset by peer")
        open("/nowhere/offsets.json").close()
        yield
