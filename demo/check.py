"""Compares what Airflow's database and the stored record say with what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from demo.expectations import Decision, Expectation
from demo.outcomes import RunOutcome, TaskOutcome, Try

_ROUNDING_S = 0.002
"""The record keeps milliseconds, Airflow's column the whole number."""


def find_mismatches(run: RunOutcome, expectations: Mapping[str, Expectation]) -> list[str]:
    """Return every difference in words; an empty list means that all is as expected."""
    found = [f"{name}: did not run" for name in expectations.keys() - {task.task_id for task in run.tasks}]
    for task in run.tasks:
        if task.task_id in expectations:
            found += [f"{task.task_id}: {words}" for words in _of_task(task, expectations[task.task_id])]
        else:
            found.append(f"{task.task_id}: nothing is expected of it")
    return found


def _of_task(task: TaskOutcome, expected: Expectation) -> Iterator[str]:
    if task.state != expected.ends:
        yield f"ended in {task.state}, expected {expected.ends}"
    tries = len(expected.decisions) + (expected.ends == "success")
    if len(task.tries) != tries:
        yield f"took {len(task.tries)} tries, expected {tries}"
    decided = tuple(Decision(attempt["action"], attempt["code"]) for attempt in task.attempts)
    if decided != expected.decisions:
        yield f"recorded {_words(decided)}, expected {_words(expected.decisions)}"
    for attempt, this, following in zip(task.attempts, task.tries, (*task.tries[1:], None), strict=False):
        yield from _of_try(attempt, this, following, expected.asked_delay_s)


def _of_try(attempt: Mapping[str, object], this: Try, following: Try | None, asked_s: float | None) -> Iterator[str]:
    """Compare one attempt of the record with the columns that Airflow kept about the same try."""
    where = f"try {this.number}"
    if attempt["try_number"] != this.number:
        yield f"{where}: the record speaks of try {attempt['try_number']}"
    if attempt["action"] != "retry" or following is None:
        # Airflow keeps the policy's delay and reason only where another try follows.
        if this.retry_delay is not None or this.retry_reason is not None:
            yield f"{where}: Airflow stored a delay or a reason of a retry: {this.retry_delay}, {this.retry_reason}"
        return
    if this.retry_reason != attempt["reason"]:
        yield f"{where}: Airflow's reason {this.retry_reason!r} is not the record's {attempt['reason']!r}"
    recorded = attempt.get("delay_s")
    if this.retry_delay is None or not isinstance(recorded, int | float):
        yield f"{where}: no delay was stored"
        return
    delay_s = this.retry_delay.total_seconds()
    if abs(delay_s - recorded) > _ROUNDING_S:
        yield f"{where}: Airflow's delay of {delay_s} s is not the record's {recorded} s"
    if asked_s is not None and not asked_s <= delay_s <= asked_s * 1.1:
        yield f"{where}: the server asked for {asked_s} s, the delay is {delay_s} s"
    if this.end and following.start and following.start < this.end + timedelta(seconds=delay_s):
        yield f"{where}: try {following.number} came before the delay was over"


def _words(decisions: tuple[Decision, ...]) -> str:
    return ", ".join(f"{action} {code}" for action, code in decisions) or "nothing"
