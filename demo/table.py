"""The table at the end of the demo."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from airflow_common_ai.sanitizer import sanitize
from demo.expectations import RETRIES, Expectation
from demo.outcomes import RunOutcome, TaskOutcome

_COLOURS = {"retry": "yellow", "fail": "red", "default": "cyan"}


def decision_table(run: RunOutcome, expectations: Mapping[str, Expectation]) -> Table:
    """Return one row for each task, from what Airflow stored."""
    table = Table(title="What was decided, read back from Airflow's database", title_style="bold")
    table.add_column("task\nwhat failed", overflow="fold")
    table.add_column("decision", overflow="fold")
    table.add_column("delay", justify="right", no_wrap=True)
    table.add_column("code\nreason", overflow="fold")
    table.add_column("tries\nused", justify="right", no_wrap=True)
    table.add_column("tries\nsaved", justify="right", no_wrap=True)
    for task in sorted(run.tasks, key=lambda one: _place(one.task_id, expectations)):
        expectation = expectations.get(task.task_id)
        last = task.attempts[-1] if task.attempts else {}
        table.add_row(
            _two_lines(task.task_id, expectation.failure if expectation else ""),
            _decision(task),
            _delay(task),
            _two_lines(last.get("code", ""), str(last.get("reason", "")).partition(": ")[2]),
            str(len(task.tries)),
            str(tries_saved(task) or "-"),
        )
    return table


def tries_saved(task: TaskOutcome) -> int:
    """Return how many tries Airflow's default would have spent on top, which retries whatever it is that failed."""
    return RETRIES + 1 - len(task.tries) if task.state == "failed" else 0


def _place(task_id: str, expectations: Mapping[str, Expectation]) -> int:
    return list(expectations).index(task_id) if task_id in expectations else len(expectations)


def _decision(task: TaskOutcome) -> Text:
    """Return e.g. ``retry ×2, fail``; a retry that was decided when none was left did not come."""
    actions = [str(one["action"]) for one in task.attempts if one["action"] == "fail" or not one["is_last_try"]]
    text = Text(", ").join(
        Text(f"{action} ×{actions.count(action)}" if actions.count(action) > 1 else action, _COLOURS.get(action, ""))
        for action in dict.fromkeys(actions)
    )
    if task.state == "success":
        text.append(" → success", "green")
    elif "fail" not in actions:
        text.append(" → no tries left", "red")
    return text


def _delay(task: TaskOutcome) -> str:
    delays = [one.retry_delay.total_seconds() for one in task.tries if one.retry_delay is not None]
    if not delays:
        return "-"
    low, high = f"{min(delays):.1f}", f"{max(delays):.1f}"
    return f"{low} s" if low == high else f"{low}–{high} s"


def _two_lines(first: object, second: object) -> Text:
    """Return a stranger's words, in which no markup and no control characters act on the terminal."""
    return Text(sanitize(str(first)), "bold").append(f"\n{sanitize(str(second))}", "not bold")
