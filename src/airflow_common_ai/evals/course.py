"""What a policy does if the same failure comes again and again: its waits, until no retry is left."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_common_ai.evals.answer import Action, LaterTry, Outcome
from airflow_common_ai.evals.runs.run_file import Row

__all__ = ["Course", "Task", "course_of"]


@dataclass(frozen=True, slots=True)
class Task:
    """The task whose failures are judged, as far as its own retries matter."""

    retries: int = 5
    retry_delay_s: float = 300.0
    """Source: Airflow's ``core.default_task_retry_delay``."""

    @property
    def own_course(self) -> Course:
        """Airflow's default: every retry after the task's ``retry_delay``."""
        return Course((self.retry_delay_s,) * self.retries)

    @property
    def own_window_s(self) -> float:
        return self.retries * self.retry_delay_s


@dataclass(frozen=True, slots=True)
class Course:
    """The retries that a failure gets if it does not go away."""

    waits_s: tuple[float, ...]
    """Before each retry."""
    calls: tuple[int, ...] = ()
    """Of a model, at each failure, the first included; none where it is shorter."""
    is_known: bool = True
    """Not where the run asked about the first try only: then each later try is taken to be decided like it."""

    @property
    def window_s(self) -> float:
        """What passes before the last retry, in which the cause may go away."""
        return sum(self.waits_s)


def course_of(row: Row, task: Task) -> Course:
    """Return what a policy does about one failure of a task, as far as its run tells."""
    is_answered = row.outcome is Outcome.DECIDED
    first = LaterTry(row.action if is_answered else Action.DEFAULT, row.delay_s, row.calls)
    tries = [first, *row.later] if is_answered else [first]
    is_known = len(tries) >= task.retries or tries[-1].action is Action.FAIL or not is_answered
    tries += [tries[-1]] * (task.retries - len(tries))
    waits: list[float] = []
    for one in tries[: task.retries]:
        if one.action is Action.FAIL:
            break
        is_own = one.action is Action.DEFAULT or one.delay_s is None
        waits.append(task.retry_delay_s if is_own or one.delay_s is None else one.delay_s)
    asked = tries[: len(waits) + 1]
    return Course(tuple(waits), tuple(one.calls for one in asked), is_known)
