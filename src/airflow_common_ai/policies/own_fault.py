"""What is said about a fault of this package itself."""

from __future__ import annotations

import logging
import traceback
from contextlib import suppress
from pathlib import PurePath

from airflow_common_ai.evidence.type_path import built_in_name

__all__ = ["log_own_fault"]

log = logging.getLogger(__name__)


def log_own_fault(fault: Exception) -> None:
    """
    Log the type of the fault and our own frames.

    Never its message and never ``exc_info``: the task runner is inside its ``except`` block, so the task's own
    exception would be printed, unredacted, as the context of ours.
    """
    with suppress(Exception):  # a logging filter of the deployment may raise
        _log(fault)


def _log(fault: Exception) -> None:
    frames = [
        f"{frame.name} ({PurePath(frame.filename).name}:{frame.lineno})"
        for frame in reversed(traceback.extract_tb(fault.__traceback__))
        if "airflow_common_ai" in frame.filename
    ]
    log.error(
        "airflow-common-ai could not judge this failure (%s in %s). The task's own retries apply; please report this.",
        built_in_name(fault),
        " < ".join(frames),
    )
