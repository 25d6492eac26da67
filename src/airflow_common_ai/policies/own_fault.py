"""What is said about a fault of this package itself."""

from __future__ import annotations

import logging
import traceback
from pathlib import PurePath

__all__ = ["log_own_fault"]

log = logging.getLogger(__name__)


def log_own_fault(fault: Exception) -> None:
    """
    Log the type of the fault and our own frames.

    Never its message and never ``exc_info``: the task runner is inside its ``except`` block, so the task's own
    exception would be printed, unredacted, as the context of ours.
    """
    frames = [
        f"{frame.name} ({PurePath(frame.filename).name}:{frame.lineno})"
        for frame in reversed(traceback.extract_tb(fault.__traceback__))
        if "airflow_common_ai" in frame.filename
    ]
    log.error(
        "airflow-common-ai could not judge this failure (%s in %s). The task's own retries apply; please report this.",
        type(fault).__name__,
        " < ".join(frames),
    )
