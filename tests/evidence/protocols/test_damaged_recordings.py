"""A recording may have been written by anybody: facts of any type under any name break no reader."""

from __future__ import annotations

import pytest
from failure_reading import NOW

from airflow_common_ai.evidence.model import Fact, RedactedNode
from airflow_common_ai.evidence.protocols.process import reader as process
from airflow_common_ai.evidence.protocols.python import reader as python
from airflow_common_ai.evidence.protocols.system import reader as system

NAMES = """
    os.errno os.error os.has_path os.is_exec dns.code dns.error tls.reason tls.verify_code tls.library
    process.exit_code process.signal process.program process.stderr process.stdout process.time_limit_s
    json.pos json.doc_length json.doc_start json.is_cut_word json.is_http smtp.code
""".split()
VALUES: tuple[Fact, ...] = ("", "x", "111", -1, 0, 5, 10**18, 1.5, float("nan"), float("inf"), True)


@pytest.mark.parametrize("reader", [process, python, system])
@pytest.mark.parametrize("name", NAMES)
def test_no_fact_breaks_a_reader(name: str, reader: object) -> None:
    for value in VALUES:
        for others in ({}, dict.fromkeys(NAMES, 5)):
            node = RedactedNode(
                "json.decoder.JSONDecodeError",
                base_paths=("builtins.ValueError",),
                message="m",
                facts={**others, name: value},
            )
            list(reader.read(node, NOW))  # type: ignore[attr-defined]
