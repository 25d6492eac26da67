"""What becomes of faults that are not the task's: ours, and those of what a deployment plugs in.

A store, a logging handler, a metrics backend or a user's predicate may raise anything, also what is no ``Exception``
(``asyncio.CancelledError``). None of it may decide about a task. Who interrupts the process is obeyed.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

from airflow_common_ai.evidence.type_path import built_in_name

__all__ = ["INTERRUPTS", "log_own_fault", "quietly", "say"]

log = logging.getLogger(__name__)

INTERRUPTS = (KeyboardInterrupt, SystemExit)
"""What always passes through."""


@contextmanager
def quietly() -> Iterator[None]:
    """Swallow whatever is raised but an interrupt."""
    try:
        yield
    except INTERRUPTS:
        raise
    except BaseException:  # noqa: BLE001, S110 - see above
        pass


def say(logger: logging.Logger, level: int, message: str, *values: object) -> None:
    """Log; a handler or filter of the deployment that raises changes nothing."""
    with quietly():
        logger.log(level, message, *values, stacklevel=2)


def log_own_fault(fault: BaseException) -> None:
    """
    Log the type of the fault and our own frames.

    Never its message and never ``exc_info``: the task runner is inside its ``except`` block, so the task's own
    exception would be printed, unredacted, as the context of ours.
    """
    with quietly():
        frames = [
            f"{frame.name} ({PurePath(frame.filename).name}:{frame.lineno})"
            for frame in reversed(traceback.extract_tb(fault.__traceback__))
            if "airflow_common_ai" in frame.filename
        ]
        log.error(
            "airflow-common-ai could not judge this failure (%s in %s). The task's own retries apply; "
            "please report this.",
            built_in_name(fault),
            " < ".join(frames),
        )
