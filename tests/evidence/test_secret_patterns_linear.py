"""No text makes a pattern slow: what is looked through comes from outside, and may be made for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HOSTILE = """
import re
import sys
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.evidence.secret_patterns import PATTERNS

SHAPES = (
    "{}", "{} ", "{}a", "{}=", "{}: ", "{}='", '{}="', "{}{}{}=\\\\\\"", "{}\\n", "-{} ", "<{}>", "'{}', ", "{}@", "://{}:",
    "{}: |\\n  the ", "| {} | x |\\n", "{} is ", "{},a\\n",
)
ENCODED = ("a", "password", "%25", "\\\\n", "&amp;", "aGVsbG8gd29ybGQ", "68656c6c6f", "\\x1b[1m", "\\u200b")
EVERYWHERE = ("a", "password", "://a:b@", "-----BEGIN PRIVATE KEY-----\\n", "4111 1111 ", "%41", "'")

def texts(parts, shapes, size):
    for part in parts:
        for shape in shapes:
            unit = shape.replace("{}", part)
            yield (unit * (size // len(unit) + 1))[:size]

def clues(pattern):
    found = [*pattern.prefixes, *(clue for group in pattern.clues for clue in group)]
    return found[:: max(1, len(found) // 3)][:3]

for size in (1 << 12, 1 << 16, 1 << 20):
    for pattern in PATTERNS:
        print(size, pattern.name, flush=True)
        if size == 1 << 20:
            parts, shapes = (clues(pattern) or EVERYWHERE)[:1], SHAPES[:4:3]
        else:
            is_token = bool(pattern.prefixes)
            parts, shapes = [*clues(pattern), *(() if is_token else EVERYWHERE)], SHAPES[:4] if is_token else SHAPES
        for text in texts(parts, shapes, size):
            if pattern.screen is not None:
                re.search(pattern.screen, text)
            sum(1 for _ in pattern.find(text, text.lower()))
    print(size, "the wall", flush=True)
    redactor = Redactor(lambda text: text.replace("s3cr3t", "***"))
    for text in texts(ENCODED, SHAPES[:2], min(size, 1 << 16)):
        redactor.text(text)
"""

LIMIT_S = 600
"""Never comes near on any machine: a pattern that takes the square of its time would need days."""


def test_every_pattern_gets_through_a_megabyte_of_hostile_text() -> None:
    source = Path(__file__).parent.parent.parent / "src"
    finished = subprocess.run(
        [sys.executable, "-c", HOSTILE],
        env={"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )

    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines()[-1].endswith("the wall")
