"""Names of this machine, which say nothing about a failure and are others on the next machine."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

__all__ = ["without_own_names"]

_CHECKOUT = Path(__file__).parent.parent.parent.parent
_HOME = Path.home()
"""Of whoever runs this; a case has another one."""
_SHORTEST_NAME = 4
_EVERYWHERE = ("/usr", "/usr/local", "localhost")
"""Names that are the same on most machines."""


def without_own_names(text: str, work: Path) -> str:
    """
    Return a text as a worker would have printed it.

    :param work: The folder that the case ran in.
    """
    for own, neutral in _neutral_names(work):
        text = re.sub(rf"(?<![\w.-]){re.escape(own)}(?![\w-])", neutral, text)
    return text


def _neutral_names(work: Path) -> list[tuple[str, str]]:
    names = [
        (str(work), "/opt/airflow/work"),
        (str(_CHECKOUT), "/opt/airflow/checkout"),
        (sys.prefix, "/opt/airflow/venv"),
        (sys.base_prefix, "/usr/local"),
        (str(_HOME), "/home/airflow"),
        (socket.gethostname(), "worker-1"),
    ]
    return [(own, neutral) for own, neutral in names if len(own) >= _SHORTEST_NAME and own not in _EVERYWHERE]
