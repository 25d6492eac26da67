"""The exceptions of a task log as Airflow's UI shows and downloads it.

The UI makes a text of its own of the stacks in the JSON log, outermost first. Which one caused which, the notes and
the members of groups are lost::

    AirflowException: The invoices could not be loaded
        File /opt/airflow/dags/load.py, line 85 in load
    ,HTTPError: 404 Client Error: Not Found for url: http://127.0.0.1/invoices
        File /usr/lib/python3.11/site-packages/requests/models.py, line 1167 in raise_for_status

Source: ``renderStructuredLog`` of apache-airflow-core 3.3.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from airflow_common_ai.evidence.logs.exception_line import match_exception
from airflow_common_ai.evidence.logs.logged_stacks import Stack

__all__ = ["stacks_of_ui"]

# The words are in the language of the UI. Python itself writes one more comma, behind the number of the line.
_FRAME = re.compile(r' {0,4}[^\s/\\]{1,30} "?(?P<file>(?:/|[A-Za-z]:[/\\]|<)[^",]*)"?, [^,\d]*\d[^,]*$')


def stacks_of_ui(lines: Iterable[str]) -> list[Stack]:
    """Return the exceptions of a trace, outermost first; empty if the lines do not begin with one."""
    stacks: list[dict[str, Any]] = []
    head: list[str] = []
    for line in lines:
        frame = _FRAME.match(line)
        if frame is None:
            head.append(line)
            continue
        if head:
            # The comma stood between the exceptions when they still were a list.
            match = match_exception(head[0].removeprefix(","))
            if match is None:
                break  # a blank line ended the trace, and this frame is of another one
            message = "\n".join([match["message"] or "", *head[1:]])
            stacks.append({"exc_type": match["type"], "exc_value": message, "frames": []})
            head = []
        if not stacks:
            break
        stacks[-1]["frames"].append({"filename": frame["file"]})
    return [*stacks]
