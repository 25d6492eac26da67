"""A megabyte of hostile text does not keep the parser busy.

No time is asserted: each text is read in a process that is killed after a processor time in which any quadratic
step over a million characters would still be at its beginning.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

CPU_LIMIT_S = 300

HOSTILE = {
    "headers": "'Traceback (most recent call last):\\n'",
    "headers in one line": "'Traceback (most recent call last): '",
    "half headers": "'Traceback (most recent '",
    "groups": "'  + Exception Group Traceback (most recent call last):\\n'",
    "members": "'  +-+---------------- 1 ----------------\\n'",
    "dashes": "'+-'",
    "margins": "'  | '",
    "separators": "'The above exception was the direct cause of the following exception:\\n'",
    "blocks": "'Traceback (most recent call last):\\nE: x\\n\\nDuring handling of the above exception, another "
    "exception occurred:\\n\\n'",
    "line ends": "'\\n'",
    "blanks": "' '",
    "tabs": "'\\t'",
    "letters": "'a'",
    "capitals and dots": "'A.'",
    "colons": "'a: '",
    "digits": "'1'",
    "times": "'10:00:00 '",
    "dates": "'2026-01-01 10:00:00'",
    "escapes": "'\\x1b['",
    "long escapes": "'\\x1b[' + '1' * 500",
    "titles": "'\\x1b]'",
    "escaped line ends": "'\\\\n'",
    "quotes": "'\"'",
    "files": "'File \"'",
    "frames": "'  File \"a\", line 1, in f\\n'",
    "java causes": "'Caused by: '",
    "java classes": "'Caused by: ' + 'a.' * 100",
    "java frames": "' at a'",
    "java heads": "'a.B: x\\n\\tat a.B.c(D)\\n'",
    "java packages": "'com.'",
    "java exceptions": "'com.a.BException: '",
    "java exceptions in brackets": "'com.a.BException(com.a.BException)'",
    "java exceptions of their own line": "'com.a.BException\\n'",
    "java threads": "'Exception in thread \"'",
    "surrogates": "'\\udc80'",
}
PROGRAM = """
from airflow_common_ai.evidence.logs.traceback_text import parse_tracebacks
starts = ("", "Traceback (most recent call last):\\n", "  + Exception Group Traceback (most recent call last):\\n",
          "Traceback (most recent call last):\\nE: ", "[2026-01-01 10:00:00] Traceback (most recent call last):\\n",
          "Caused by: a.B: x\\n")
unit = {unit}
for start in starts:
    text = start + unit * (2**20 // len(unit))
    nodes = parse_tracebacks(text)
    assert len(nodes) <= 64, len(nodes)
"""


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_a_megabyte_of_one_thing_is_read_in_linear_time(unit: str) -> None:
    subprocess.run(
        [sys.executable, "-c", PROGRAM.format(unit=unit)],
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S)),
    )
