"""The wall is a type: mypy refuses what did not go through it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from mypy import api

_ROOT = Path(__file__).parent.parent.parent

_PREAMBLE = """
from __future__ import annotations

from datetime import datetime

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.fingerprint import fingerprint
from airflow_common_ai.evidence.model import Evidence, ExceptionNode, RedactedEvidence, RedactedNode
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor, from_json


def store(evidence: RedactedEvidence) -> None: ...
def show(node: RedactedNode) -> None: ...


"""

_ACCEPTED = {
    "evidence behind the wall": """
        def record(error: BaseException) -> None:
            store(Redactor().redact(collect(error)))
        """,
    "its nodes": """
        def record(evidence: Evidence) -> None:
            for node in Redactor().redact(evidence).nodes:
                show(node)
        """,
    "what was read from JSON": """
        def record(data: object) -> None:
            store(from_json(data, Redactor()))
        """,
    "signals of redacted evidence": """
        def signals(evidence: Evidence) -> None:
            read_signals(Redactor().redact(evidence))
        """,
    "filters from strings to strings": """
        Redactor(mask_registered=str.lower, extra=lambda text: text)
        """,
}

_REFUSED = {
    "collected evidence": """
        def record(error: BaseException) -> None:
            store(collect(error))  # wrong
        """,
    "evidence": """
        def record(evidence: Evidence) -> None:
            store(evidence)  # wrong
        """,
    "a node of evidence": """
        def record(evidence: Evidence) -> None:
            for node in evidence.nodes:
                show(node)  # wrong
        """,
    "unredacted nodes in redacted evidence": """
        def record(evidence: Evidence, now: datetime) -> None:
            store(RedactedEvidence(evidence.nodes, now))  # wrong
        """,
    "signals of evidence": """
        def signals(evidence: Evidence) -> None:
            read_signals(evidence)  # wrong
        """,
    "a fingerprint of evidence": """
        def identify(evidence: Evidence) -> None:
            fingerprint(evidence)  # wrong
        """,
    "a filter that returns no string": """
        Redactor(mask_registered=len)  # wrong
        """,
}


def _errors(body: str, folder: Path) -> list[int]:
    """Return the numbers of the lines that mypy refuses."""
    snippet = folder / "snippet.py"
    snippet.write_text(_PREAMBLE + textwrap.dedent(body), encoding="utf-8")
    configuration = ("--config-file", str(_ROOT / "pyproject.toml"), "--cache-dir", str(_ROOT / ".mypy_cache"))
    out, err, _ = api.run([*configuration, "--no-error-summary", str(snippet)])
    assert not err, err
    return [int(line.split(":")[1]) for line in out.splitlines() if ": error:" in line]


@pytest.mark.parametrize("case", _ACCEPTED)
def test_mypy_accepts(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYPYPATH", str(_ROOT / "src"))

    assert _errors(_ACCEPTED[case], tmp_path) == []


@pytest.mark.parametrize("case", _REFUSED)
def test_mypy_refuses(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYPYPATH", str(_ROOT / "src"))
    lines = (_PREAMBLE + textwrap.dedent(_REFUSED[case])).splitlines()
    wrong = [number for number, line in enumerate(lines, 1) if line.endswith("# wrong")]

    assert _errors(_REFUSED[case], tmp_path) == wrong
