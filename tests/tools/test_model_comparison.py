"""What ``benchmarks/models.py`` makes of recorded answers: here, of a model that calls everything ``network``."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback.llm_server import OPENAI, Json, serving_llm

from benchmarks.models import compare
from tools import record_llm
from tools.cassettes import CassetteFile
from tools.llm_cases import read_cases

NETWORK: Json = {
    "reasoning": "it is so",
    "category": "network",
    "confidence": 95,
    "should_retry": True,
    "suggested_delay_seconds": 0,
}
WORTH_A_RETRY_AND_OPEN = "aws_json/ecr-registry-it-pulls-through-cannot-be-reached"
HOPELESS_AND_OPEN = "aws_json/ecs-account-that-is-blocked"
HOPELESS_AND_KNOWN = "requests_http/status-401"


def test_evidence_spares_calls_and_is_right_where_the_model_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = (WORTH_A_RETRY_AND_OPEN, HOPELESS_AND_OPEN, HOPELESS_AND_KNOWN)
    cases = [case for case in read_cases() if case.recording.id in names]
    monkeypatch.setattr(record_llm, "CASSETTES", tmp_path)
    monkeypatch.setattr(record_llm, "read_cases", lambda: cases)
    with serving_llm(OPENAI.answers(NETWORK)) as server:
        record_llm.main(["--url", server.url, "--form", "openai-chat", "--form", "common-ai", "--every", "1"])

    asked, theirs = (CassetteFile.read(tmp_path / f"{form}.jsonl") for form in ("openai-chat", "common-ai"))
    ours = compare(cases, asked)
    first, classifier, alone, common_ai = compare(cases, asked, theirs)

    assert [score.row for score in ours] == [first.row, classifier.row, alone.row]
    actions = {score.name: [one.action for one in score.said] for score in (first, alone, common_ai)}
    assert list(actions.values()) == [["retry", "retry", "fail"], ["retry"] * 3, ["retry"] * 3]
    assert [sum(one.calls for one in score.said) for score in (first, alone, common_ai)] == [2, 3, 3]
    assert [score.row[1] for score in (first, alone, common_ai)] == ["2/3 = 67%", "1/3 = 33%", "1/3 = 33%"]
