"""One line for each thing that happens to a task while the demo runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from demo.outcomes import RunOutcome, TaskOutcome


class Progress:
    """
    Called with every new state of the run; says what is new.

    :param say: called with one line.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()

    def __call__(self, run: RunOutcome) -> None:
        for task in run.tasks:
            for line in _lines(task):
                if line not in self._said:
                    self._said.add(line)
                    self._say(line)


def _lines(task: TaskOutcome) -> Iterator[str]:
    retried = [one for one in task.tries if one.retry_reason is not None]
    for one in retried:
        delay = "" if one.retry_delay is None else f" in {one.retry_delay.total_seconds():.1f} s"
        yield f"{task.task_id:<18} try {one.number} failed, again{delay}: {one.retry_reason}"
    if task.state == "success":
        yield f"{task.task_id:<18} try {len(task.tries)} succeeded"
    elif task.state == "failed":
        reason = task.attempts[-1]["reason"] if task.attempts else "nothing was recorded"
        yield f"{task.task_id:<18} try {len(task.tries)} failed, no more: {reason}"
