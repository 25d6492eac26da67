"""The failures that are timed: those of the demo, raised for real, and the worst that a stranger could raise."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from contextlib import redirect_stdout
from itertools import count
from types import SimpleNamespace
from typing import Any

from demo.flaky_server import flaky_server
from demo.run import service_environment

__all__ = ["demo_failures", "worst_failure"]

_WORDS = "password=hunter2 https://user:pw@example.com/a?token=abc 10.0.0.1 2026-01-01T00:00:00Z [Errno 111] "
_MESSAGE_CHARS = 1024 * 1024
_DEPTH = 16


def demo_failures() -> dict[str, BaseException]:
    """Run the demo's tasks once, against its own server, and return what each of them raises."""
    caught: dict[str, BaseException] = {}
    with flaky_server() as service, redirect_stdout(io.StringIO()):
        os.environ.update(service_environment(service))
        from demo.dags.failures import dag

        operators: Mapping[str, Any] = dag.task_dict
        for task_id, operator in operators.items():
            context = {"ti": SimpleNamespace(try_number=1)}
            operator.render_template_fields(context)
            try:
                operator.execute(context)
            except Exception as error:  # noqa: BLE001 - this is what it is for
                caught[task_id] = error
    return caught


def worst_failure() -> BaseException:
    """Return a chain of 16 with 64 exceptions in all, each with 1 MB of its own that looks like secrets."""
    text = _WORDS * (_MESSAGE_CHARS // len(_WORDS) + 2)
    messages = (text[start : start + _MESSAGE_CHARS] for start in count())  # no two of them are alike
    error: BaseException = ConnectionError(next(messages))
    for level in range(_DEPTH - 1):
        kinds = (ValueError, OSError, RuntimeError) * (2 if level == 0 else 1)
        outer = ExceptionGroup(next(messages), [kind(next(messages)) for kind in kinds])
        outer.__cause__ = error
        error = outer
    return error
