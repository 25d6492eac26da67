"""The demo's Dag in a real Airflow, and whether its check would notice anything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from real_airflow import RealAirflow
from rich.console import Console

from demo.check import find_mismatches
from demo.expectations import EXPECTATIONS
from demo.outcomes import RunOutcome, TaskOutcome
from demo.progress import Progress
from demo.run import DAG_ID
from demo.table import decision_table, tries_saved


@pytest.fixture(scope="module")
def run(real_airflow: RealAirflow) -> RunOutcome:
    return real_airflow.finished_run(DAG_ID)


def with_task(run: RunOutcome, changed: TaskOutcome) -> RunOutcome:
    return replace(run, tasks=tuple(changed if one.task_id == changed.task_id else one for one in run.tasks))


def with_first_try(task: TaskOutcome, **changes: object) -> TaskOutcome:
    return replace(task, tries=(replace(task.tries[0], **changes), *task.tries[1:]))


def with_first_attempt(task: TaskOutcome, **changes: object) -> TaskOutcome:
    first, *others = task.attempts
    return replace(task, store={"ai_retry": {**task.record, "attempts": [{**first, **changes}, *others]}})


def test_every_decision_of_the_demo_is_the_expected_one(run: RunOutcome):
    assert len(EXPECTATIONS) >= 10
    assert find_mismatches(run, EXPECTATIONS) == []


def test_two_swapped_expectations_are_noticed_and_nothing_else(run: RunOutcome):
    swapped = {
        **EXPECTATIONS,
        "fetch_prices": EXPECTATIONS["fetch_archive"],
        "fetch_archive": EXPECTATIONS["fetch_prices"],
    }

    found = find_mismatches(run, swapped)

    assert {line.partition(":")[0] for line in found} == {"fetch_prices", "fetch_archive"}


FALSIFICATIONS: list[tuple[str, Callable[[TaskOutcome], TaskOutcome], str]] = [
    ("no record", lambda task: replace(task, store={}), "recorded nothing"),
    ("another end", lambda task: replace(task, state="failed"), "ended in failed, expected success"),
    ("a try too many", lambda task: replace(task, tries=(*task.tries, task.tries[-1])), "took 3 tries"),
    ("another action", lambda task: with_first_attempt(task, action="fail"), "recorded fail http.429"),
    ("another code", lambda task: with_first_attempt(task, code="http.503"), "recorded retry http.503"),
    ("a record of another try", lambda task: with_first_attempt(task, try_number=2), "speaks of try 2"),
    ("a record with another delay", lambda task: with_first_attempt(task, delay_s=60), "not the record's 60 s"),
    ("no delay in Airflow", lambda task: with_first_try(task, retry_delay=None), "no delay was stored"),
    ("another reason in Airflow", lambda task: with_first_try(task, retry_reason="no idea"), "'no idea'"),
    (
        "an ask undercut",
        lambda task: with_first_try(task, retry_delay=timedelta(seconds=2)),
        "the server asked for 3 s, the delay is 2.0 s",
    ),
    (
        "a try that came too early",
        lambda task: with_first_try(task, end=task.tries[1].start),
        "try 2 came before the delay was over",
    ),
]


@pytest.mark.parametrize(
    ("falsify", "words"), [case[1:] for case in FALSIFICATIONS], ids=[case[0] for case in FALSIFICATIONS]
)
def test_a_result_that_differs_from_what_airflow_stored_is_noticed(
    run: RunOutcome, falsify: Callable[[TaskOutcome], TaskOutcome], words: str
):
    falsified = with_task(run, falsify(run.task("fetch_orders")))

    found = find_mismatches(falsified, EXPECTATIONS)

    assert any(line.startswith("fetch_orders: ") and words in line for line in found), found


def test_a_delay_stored_for_a_task_that_was_failed_is_noticed(run: RunOutcome):
    falsified = with_task(run, with_first_try(run.task("read_upload"), retry_delay=timedelta(seconds=1)))

    assert any("stored a delay" in line for line in find_mismatches(falsified, EXPECTATIONS))


def test_a_task_that_did_not_run_and_one_that_nobody_expects_are_noticed(run: RunOutcome):
    renamed = with_task(run, run.task("read_upload"))
    renamed = replace(
        renamed, tasks=tuple(replace(one, task_id=one.task_id.replace("upload", "book")) for one in run.tasks)
    )

    found = find_mismatches(renamed, EXPECTATIONS)

    assert found == ["read_upload: did not run", "read_book: nothing is expected of it"]


def shown(run: RunOutcome) -> str:
    screen = StringIO()
    Console(width=200, file=screen).print(decision_table(run, EXPECTATIONS))
    return screen.getvalue()


def test_the_table_says_of_each_task_what_it_was_decided_from_and_how_many_tries_that_saved(run: RunOutcome):
    rows = {}
    for line in shown(run).splitlines():
        task_id, *cells = [cell.strip() for cell in line.strip("│").split("│")]
        rows[task_id] = cells

    for task_id, expectation in EXPECTATIONS.items():
        assert rows[task_id][2] == expectation.decisions[-1].code
        assert expectation.failure in rows
    assert rows["read_upload"] == ["fail", "-", "os.enoent", "1", "3"]
    assert rows["fetch_prices"] == ["retry ×3 → no tries left", "3.0 s", "http.503", "4", "-"]
    assert rows["fetch_customers"] == ["retry, fail", "3.0 s", "http.401.expired", "2", "2"]
    assert rows["fetch_orders"][0] == "retry → success"
    assert tries_saved(run.task("fetch_orders")) == 0


def test_a_hostile_reason_does_not_act_on_the_terminal(run: RunOutcome):
    hostile = with_first_attempt(run.task("read_upload"), reason="x: \x1b[2J[red]gone[/red]", code="\x1b]0;owned\x07")

    text = shown(with_task(run, hostile))

    assert "\x1b[2J" not in text
    assert "\x1b]0" not in text
    assert "[red]gone[/red]" in text


def test_progress_says_once_what_has_happened_to_each_task(run: RunOutcome):
    said: list[str] = []
    progress = Progress(said.append)

    progress(run)
    progress(run)

    assert len(said) == len(set(said))
    assert sum("try 1 failed, again in 3." in line for line in said if line.startswith("fetch_orders")) == 1
    assert sum("succeeded" in line for line in said) == 3
