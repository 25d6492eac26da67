"""The wall is a type: mypy refuses what did not go through it."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from mypy import api

_ROOT = Path(__file__).parent.parent.parent

_PREAMBLE = """
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.fingerprint import fingerprint
from airflow_common_ai.evidence.model import Evidence, ExceptionNode, RedactedEvidence, RedactedNode, RedactedText
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor, from_json
from airflow_common_ai.policies import history, telemetry
from airflow_common_ai.policies.attempt import Attempt, Consultation, Vote
from airflow_common_ai.policies.history import History
from airflow_common_ai.policies.llm.question import Questioner
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.policies.stored_texts import StoredTexts
from airflow_common_ai.sanitizer import sanitize


"""

_ACCEPTED = {
    "evidence behind the wall": """
        def redacted(error: BaseException) -> RedactedEvidence:
            return Redactor().redact(collect(error))
        """,
    "what was read from JSON": """
        def redacted(data: object) -> RedactedEvidence:
            return from_json(data, Redactor())
        """,
    "signals of redacted evidence": """
        def signals(evidence: Evidence) -> None:
            read_signals(Redactor().redact(evidence))
        """,
    "an attempt of texts behind the wall": """
        def judged(attempt: Attempt, evidence: RedactedEvidence, text: str) -> Attempt:
            redactor = Redactor()
            return replace(
                attempt,
                reason=sanitize(redactor.text(text), 499),
                code=redactor.name(text),
                types=tuple(node.type_path for node in evidence.nodes),
                delay_steps=redactor.texts([text]),
                fingerprint=fingerprint(evidence),
                votes=(Vote(redactor.name(text), redactor.name(text), code=redactor.name(text)),),
            )
        """,
    "a question about redacted evidence": """
        def ask(questioner: Questioner, evidence: RedactedEvidence, frames: str) -> None:
            wall = Redactor()
            questioner.question(evidence, (), RetryRound(), operator=wall.name("x"), frames=wall.text(frames))
        """,
    "what is done with an attempt": """
        def keep(context: Mapping[str, Any], attempt: Attempt) -> None:
            record = History((attempt,))
            history.remember(context, record)
            history.save(context, record, timedelta(days=1))
            telemetry.emit(attempt)
            telemetry.announce(attempt)
        """,
    "a record that was read back through the wall": """
        def back(data: object) -> None:
            telemetry.announce(History.from_json(data, Redactor()).attempts[0])
        """,
    "filters from strings to strings": """
        Redactor(mask_registered=str.lower, extra=lambda text: text)
        """,
}

_TEXTS = ("policy", "fingerprint", "action", "code", "reason", "tier", "category")
"""Of an attempt."""

_REFUSED = {
    "collected evidence": """
        def redacted(error: BaseException) -> RedactedEvidence:
            return collect(error)  # wrong
        """,
    "unredacted nodes in redacted evidence": """
        def redacted(evidence: Evidence, now: datetime) -> RedactedEvidence:
            return RedactedEvidence(evidence.nodes, now)  # wrong
        """,
    "a redacted node of unredacted texts": """
        def node(path: RedactedText, error: BaseException) -> RedactedNode:
            return RedactedNode(path, message=str(error))  # wrong
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
    "unredacted texts in an attempt": "\ndef judged(attempt: Attempt, error: BaseException) -> None:\n"
    + "".join(f"    replace(attempt, {name}=str(error))  # wrong\n" for name in _TEXTS),
    "unredacted lists of texts in an attempt": """
        def judged(attempt: Attempt, node: ExceptionNode, error: BaseException) -> None:
            replace(attempt, types=(node.type_path,))  # wrong
            replace(attempt, delay_steps=(str(error),))  # wrong
            replace(attempt, mode=str(error))  # wrong
        """,
    "unredacted texts in a vote": """
        def vote(tier: RedactedText, text: str) -> None:
            Vote(text, tier)  # wrong
            Vote(tier, text)  # wrong
            Vote(tier, tier, code=text)  # wrong
            Vote(tier, tier, category=text)  # wrong
        """,
    "a text that was put together from redacted ones and others": """
        def judged(attempt: Attempt, error: BaseException) -> None:
            replace(attempt, reason=f"{attempt.code}: {error}")  # wrong
        """,
    "a text that was only sanitized": """
        def judged(attempt: Attempt, error: BaseException) -> None:
            replace(attempt, reason=sanitize(str(error)))  # wrong
        """,
    "a question about evidence": """
        def ask(questioner: Questioner, evidence: Evidence) -> None:
            questioner.question(evidence, (), RetryRound())  # wrong
        """,
    "unredacted texts in a question": """
        def ask(questioner: Questioner, evidence: RedactedEvidence, text: str) -> None:
            questioner.question(evidence, (), RetryRound(), operator=text)  # wrong
            questioner.question(evidence, (), RetryRound(), frames=text)  # wrong
        """,
    "unredacted words of a model": """
        def consulted(said: Consultation, text: str) -> None:
            replace(said, reasoning=text)  # wrong
            replace(said, unused=text)  # wrong
            replace(said, tried=(text,))  # wrong
        """,
    "an unredacted text for the store": """
        def keep(context: Mapping[str, Any], error: BaseException) -> None:
            history.save(context, str(error), timedelta(days=1))  # wrong
            history.save(context, History((str(error),)), timedelta(days=1))  # wrong
            history.save(context, {"attempts": [str(error)]}, timedelta(days=1))  # wrong
        """,
    "an unredacted text for the callbacks of the process": """
        def keep(context: Mapping[str, Any], error: BaseException) -> None:
            history.remember(context, str(error))  # wrong
        """,
    "an unredacted text for metrics and spans": """
        def count(error: BaseException) -> None:
            telemetry.emit(str(error))  # wrong
        """,
    "an unredacted text for the task's log": """
        def write(error: BaseException) -> None:
            telemetry.announce(str(error))  # wrong
        """,
    "a record that was read back without the wall": """
        def back(data: object) -> None:
            History.from_json(data)  # wrong
            Attempt.from_json({}, str)  # wrong
        """,
}

_MAKERS = {
    "classifier/classifier.py": "words of a redacted text, put together again",
    "classifier/features.py": "words of a redacted text",
    "evidence/fingerprint.py": "digits of a digest",
    "evidence/model.py": "the empty text, and facts of a redacted node",
    "evidence/redaction.py": "the wall itself",
    "policies/llm/question.py": "digits of a digest",
}
"""Who may say that a string is redacted, and of which."""


def test_nobody_but_the_wall_says_that_a_text_is_redacted() -> None:
    package = _ROOT / "src" / "airflow_common_ai"
    makers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("RedactedText", "cast")
        if "RedactedText" in ast.unparse(node)
    }
    assert makers <= _MAKERS.keys()


@pytest.fixture(scope="module")
def refused_lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """The numbers of the lines that mypy refuses, of each case; one run for all of them."""
    folder = tmp_path_factory.mktemp("snippets")
    names = {f"case_{number}": case for number, case in enumerate({**_ACCEPTED, **_REFUSED})}
    for name, case in names.items():
        (folder / f"{name}.py").write_text(_source(case), encoding="utf-8")
    configuration = ("--config-file", str(_ROOT / "pyproject.toml"), "--cache-dir", str(_ROOT / ".mypy_cache"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("MYPYPATH", str(_ROOT / "src"))
        out, err, _ = api.run([*configuration, "--no-error-summary", *(str(folder / f"{name}.py") for name in names)])
    assert not err, err
    refused: dict[str, list[int]] = {case: [] for case in names.values()}
    for line in out.splitlines():
        if ": error:" in line:
            path, number, *_ = line.split(":")
            if Path(path).stem in names:
                refused[names[Path(path).stem]].append(int(number))
    return refused


def _source(case: str) -> str:
    return _PREAMBLE + textwrap.dedent({**_ACCEPTED, **_REFUSED}[case])


@pytest.mark.parametrize("case", _ACCEPTED)
def test_mypy_accepts(case: str, refused_lines: dict[str, list[int]]) -> None:
    assert refused_lines[case] == []


@pytest.mark.parametrize("case", _REFUSED)
def test_mypy_refuses(case: str, refused_lines: dict[str, list[int]]) -> None:
    lines = _source(case).splitlines()
    assert refused_lines[case] == [number for number, line in enumerate(lines, 1) if line.endswith("# wrong")]
