"""A megabyte of hostile log does not keep the reader busy.

No time is asserted: each text is read in a process that is killed after a processor time in which any quadratic
step over a million characters would still be at its beginning.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

CPU_LIMIT_S = 300

_RECORD = '{"timestamp": "", "level": "", "event": "Task failed with exception", "error_detail": '
HOSTILE: dict[str, tuple[str, str, str]] = {
    "words of a failure": ("", "Task failed with exception", ""),
    "lines of failures": ("", "Task failed with exception\n", ""),
    "records of failures": ("", "2026-01-31 12:00:00 Task failed with exception\n", ""),
    "exits": ("Task exited ", "exit_code=", ""),
    "words of an exit": ("", "Task exited ", ""),
    "fields": ("Task failed with exception", " a=b", ""),
    "fields with gaps": ("Task failed with exception", " a=b ", ""),
    "exceptions of the UI": ("", "V: x\n    File /x.py, line 3 in f\n", ""),
    "stack frames of the UI": ("V: x\n", "    File /x.py, line 3 in f\n", ""),
    "a long path": ("V: x\n    File /", "x/", ""),
    "numbers behind a path": ("V: x\n    File /x, ", "1 ", ","),
    "braces": ("", "{", ""),
    "lines of braces": ("", "{\n", ""),
    "lines of pairs of braces": ("", "{{}\n", ""),
    "half a document": ("", '{"event":', ""),
    "brackets": ("", "[", ""),
    "records": ("", '{"timestamp": "", "level": "", "event": "x"}\n', ""),
    "records in front of which something stands": ("", 'a {"timestamp": "", "level": "", "event": "x"}\n', ""),
    "records with brackets": ('{"timestamp": "", "level": "", "event": ', "[", ""),
    "tries": ("", "::group::Pre Execute", ""),
    "tries of Airflow 2": ("", "Starting attempt 1", ""),
    "decisions": ("", "Retry policy decision\n", ""),
    "our logger": ("", "source=airflow_common_ai", ""),
    "triggers": ("", "2026-01-31 12:00:00 Trigger failed:\n", _RECORD + '[{"exc_type": "TaskDeferralError"}]}'),
    "stacks": (_RECORD + "[", '{"exc_type": "A", "exc_value": "B: c"},', "{}]}"),
    "stacks with tracebacks": (
        _RECORD + "[",
        '{"exc_type":"A","exc_value":"Traceback (most recent call last)"},',
        "{}]}",
    ),
    "members": (_RECORD + '[{"exc_type": "A", "exceptions": [', '[{"exc_type": "B"}],', "[]]}]}"),
    "groups in groups": (_RECORD + '[{"exc_type": "A", "exceptions": [', '[{"exc_type":"B","exceptions":[', ""),
    "stack frames": (_RECORD + '[{"exc_type": "A", "frames": [', '{"filename": "/python3.11/http/x.py"},', "{}]}]}"),
    "packages": (_RECORD + '[{"exc_type": "A", "frames": [{"filename": "', "/python3.11/", 'x.py"}]}]}'),
    "a wrapped class": (_RECORD + '[{"exc_type": "A", "exc_value": "(', "a.", '"}, {"exc_type": "B"}]}'),
    "wrapped lines": ("", '{"log": "x", "stream": "stderr", "time": ""}\n', ""),
    "parts of a wrapped line": ("", "2026-01-31T12:00:00Z stderr P x\n", ""),
    "a wrapped line of numbers": ('{"_PID": 1, "MESSAGE": [', "1,", "1]}"),
    "a list of wrapped lines": ("[", '{"message": "{}", "ingestionTime": 1},', "{}]"),
    "a traceback somewhere": (
        '{"timestamp": "", "level": "", "event": "", "a": [',
        '"Traceback (most recent call last)",',
        '""]}',
    ),
}
PROGRAM = """
import sys
from datetime import datetime, UTC
from airflow_common_ai.evidence.logs.task_log import read_failure
start, unit, end = sys.argv[1:]
evidence = read_failure(start + unit * (2**20 // len(unit)) + end, datetime.now(UTC))
assert evidence is None or len(evidence.nodes) <= 64, len(evidence.nodes)
"""


@pytest.mark.parametrize(("start", "unit", "end"), HOSTILE.values(), ids=HOSTILE)
def test_a_megabyte_of_one_thing_is_read_in_linear_time(start: str, unit: str, end: str) -> None:
    subprocess.run(
        [sys.executable, "-c", PROGRAM, start, unit, end],
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S)),
    )
