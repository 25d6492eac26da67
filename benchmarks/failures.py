"""The failures that are timed: those of the demo, raised for real, and the worst that a stranger could raise."""

from __future__ import annotations

import os

from demo.flaky_server import flaky_server

__all__ = ["demo_failures", "worst_failure"]


def demo_failures() -> dict[str, BaseException]:
    """Raise what the demo's Python tasks raise, against its own server, and return it by task."""
    caught: dict[str, BaseException] = {}
    with flaky_server() as address:
        os.environ["DEMO_SERVICE"] = address
        os.environ["AIRFLOW_CONN_DEMO_SERVICE"] = address
        from demo.dags.failures import dag

        for task_id, operator in dag.task_dict.items():
            call = getattr(operator, "python_callable", None)
            if call is None:
                continue
            try:
                call()
            except Exception as error:  # noqa: BLE001 - this is what it is for
                caught[task_id] = error
    return caught


def worst_failure() -> BaseException:
    """Return a chain of 16 with 64 exceptions in all, each with a message of 1 MB that looks like secrets."""
    words = "password=hunter2 https://user:pw@example.com/a?token=abc 10.0.0.1 2026-01-01T00:00:00Z [Errno 111] "
    message = words * (1024 * 1024 // len(words))
    error: BaseException = ConnectionError(message)
    for _ in range(15):
        members = [ValueError(message), OSError(message), RuntimeError(message)]
        outer = ExceptionGroup(message, members)
        outer.__cause__ = error
        error = outer
    return error
