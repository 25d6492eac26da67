"""Errors as some 150 clients and programs print them, each with what somebody on call would do about it.

Written down before it was asked what the readers make of them. A reader may leave one open, but must not fail what is
worth a retry, nor retry to the end what is not.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from failure_reading import NOW, conclusion

from airflow_common_ai.evidence.logs.traceback_text import parse_tracebacks
from airflow_common_ai.evidence.model import Evidence, Retry, Signal
from airflow_common_ai.evidence.redaction import Redactor

LINES = [line.split("|", 2) for line in Path(__file__).with_name("service_errors.txt").read_text("utf-8").splitlines()]
"""What to do, the class, and what it says, with its line ends escaped."""
HEAD = 'Traceback (most recent call last):\n  File "/opt/airflow/dags/load.py", line 3, in load\n    client.load()\n'


def said_of(type_path: str, message: str) -> Signal | None:
    message = message.replace("\\n", "\n").replace("\\t", "\t")
    nodes = tuple(parse_tracebacks(f"{HEAD}{type_path}: {message}"))
    return conclusion(Redactor().redact(Evidence(nodes, NOW)))


@pytest.mark.parametrize(("wanted", "type_path", "message"), LINES)
def test_no_service_is_taken_for_the_opposite(wanted: str, type_path: str, message: str) -> None:
    signal = said_of(type_path, message)
    forbidden = {"retry": Retry.NO, "fail": Retry.YES}.get(wanted)
    assert signal is None or signal.retry is not forbidden


def test_most_services_are_understood() -> None:
    settled = [said_of(type_path, message) is not None for _, type_path, message in LINES]
    assert len(settled) > 250
    assert sum(settled) > 0.75 * len(settled)
