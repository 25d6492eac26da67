"""The same words say the same in every process, although each has its own order of sets."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from datetime import UTC, datetime
from airflow_common_ai.evidence.model import RedactedNode
from airflow_common_ai.evidence.protocols.text.reader import read

node = RedactedNode("builtins.Exception", message=sys.argv[1])
print(*(signal.code for signal in read(node, datetime.now(UTC))))
"""


def codes_in_a_process(message: str, hash_seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    command = [sys.executable, "-c", PROGRAM, message]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    ("message", "codes"),
    [
        ("Connection refused. Connection aborted.", "text.connection_refused text.connection_lost"),
        ("Connection aborted. Connection refused.", "text.connection_lost text.connection_refused"),
    ],
)
def test_of_phrases_that_weigh_the_same_the_first_comes_first(message: str, codes: str) -> None:
    assert {codes_in_a_process(message, seed) for seed in range(1, 6)} == {codes}
