"""Recording what a model answers, from servers on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loopback.llm_server import ANTHROPIC, OPENAI, Json, refuses, serving_llm

from tools import record_llm
from tools.cassettes import CassetteFile
from tools.llm_cases import read_cases
from tools.record_llm import main, replay

API_KEY = "k3y-0f-the-recorded-model"
CASES = read_cases()[:3]
ANSWER: Json = {
    "reasoning": "it is so",
    "category": "network",
    "confidence": 95,
    "should_retry": True,
    "suggested_delay_seconds": 0,
}


@pytest.fixture(autouse=True)
def _three_cases_in_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_llm, "CASSETTES", tmp_path)
    monkeypatch.setattr(record_llm, "read_cases", lambda: CASES)


@pytest.mark.parametrize(("form", "wire"), [("openai-chat", OPENAI), ("ollama", OPENAI), ("anthropic", ANTHROPIC)])
def test_what_was_recorded_is_replayed_without_the_server(form: str, wire: object, tmp_path: Path) -> None:
    assert isinstance(wire, type(OPENAI))
    with serving_llm(wire.answers(ANSWER)) as server:
        assert main(["--url", server.url, "--form", form, "--server", "a test"]) == 0

    file = CassetteFile.read(tmp_path / f"{form}.jsonl")
    assert file.header["server"] == "a test"
    assert file.header["model"] == "local-as-served"
    assert len(file.lines) == len(server.requests) == (1 if form == "anthropic" else 3)
    attempt = replay(file, CASES[0].recording)
    assert attempt.consultation.category == "network"


def test_what_the_provider_s_policy_asks_is_recorded_too(tmp_path: Path) -> None:
    with serving_llm(OPENAI.answers(ANSWER)) as server:
        main(["--url", server.url, "--form", "common-ai", "--every", "1"])

    file = CassetteFile.read(tmp_path / "common-ai.jsonl")
    assert [replay(file, case.recording) for case in CASES] == ["retry"] * 3


def test_only_what_has_no_current_answer_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "openai-chat.jsonl"
    with serving_llm(OPENAI.answers(ANSWER)) as server:
        arguments = ["--url", server.url, "--form", "openai-chat"]
        main(arguments)
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:2], lines[2].replace("You judge", "You ponder"), *lines[3:]]) + "\n")
        main(arguments)
        assert len(server.requests) == 3 + 1
        main([*arguments, "--all"])
        assert len(server.requests) == 3 + 1 + 3


def test_answers_of_two_models_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "openai-chat.jsonl"
    with serving_llm(OPENAI.answers(ANSWER)) as server:
        arguments = ["--url", server.url, "--form", "openai-chat"]
        main(arguments)
        header, *lines = path.read_text().splitlines()
        path.write_text("\n".join([header.replace("local-as-served", "another"), *lines[1:]]) + "\n")
        with pytest.raises(SystemExit, match="holds answers of another, and local-as-served answers now"):
            main(arguments)


def test_any_connection_can_be_recorded_and_its_key_and_address_stay_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_llm(OPENAI.answers(ANSWER)) as server:
        connection = {
            "conn_type": "pydanticai",
            "host": f"{server.url}/v1",
            "password": API_KEY,
            "extra": {"model": "openai-chat:a-model"},
        }
        monkeypatch.setenv("AIRFLOW_CONN_A_MODEL", json.dumps(connection))
        main(["--conn-id", "a_model", "--form", "a-model"])

    text = (tmp_path / "a-model.jsonl").read_text()
    assert API_KEY in server.headers[0]
    assert API_KEY not in text
    assert server.url not in text
    assert replay(CassetteFile.read(tmp_path / "a-model.jsonl"), CASES[0].recording).consultation.category


def test_without_an_answer_nothing_is_kept_and_it_stops(tmp_path: Path) -> None:
    with serving_llm(refuses(500)) as server, pytest.raises(SystemExit, match="no answer from the server"):
        main(["--url", server.url, "--form", "openai-chat"])

    assert not (tmp_path / "openai-chat.jsonl").exists()
