"""What a real model answered about recorded failures, replayed through the real hook: no model, no network."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_common_ai.policies import LLMRetryPolicy
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES
from airflow_common_ai.recordings.recording import Recording
from tools.cassettes import CASSETTES, CassetteFile, StaleCassette, connected, replaying
from tools.llm_cases import LABELS, LONGEST_S, decide, read_cases
from tools.record_llm import COMMON_AI, replay

RECORDINGS = {case.recording.id: case.recording for case in read_cases()}
FILES = {path.stem: CassetteFile.read(path) for path in sorted(CASSETTES.glob("*.jsonl")) if path != LABELS}
OURS = [(form, name) for form, file in FILES.items() if form != COMMON_AI for name in file.lines]

LEAST = {"openai-chat": 40, "ollama": 40, "anthropic": 10, COMMON_AI: 10}
FORMS_OF_ANSWER = {"openai-chat": "json_schema", "ollama": "json_schema", "anthropic": "prompted"}
"""How each wire form is asked, where nothing is known about the model's name."""

MAX_BYTES = 5 * 1024 * 1024
SECRETS = re.compile(
    r"\bsk-\w|Bearer|://[^\s/:@\"\\]+:(?!\*\*\*)[^\s/@\"\\]+@|AKIA[0-9A-Z]{16}|set-cookie|api-key|organization", re.I
)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever wants to leave the machine fails."""
    connect: Callable[..., Any] = socket.socket.connect
    resolve: Callable[..., Any] = socket.getaddrinfo

    def connect_here(self: socket.socket, address: Any) -> Any:
        assert self.family == socket.AF_UNIX or address[0] == "127.0.0.1", f"a request left for {address}"
        return connect(self, address)

    def resolve_here(host: Any, *arguments: Any, **options: Any) -> Any:
        assert host in ("127.0.0.1", "localhost"), f"a name was looked up: {host}"
        return resolve(host, *arguments, **options)

    monkeypatch.setattr(socket.socket, "connect", connect_here)
    monkeypatch.setattr(socket, "getaddrinfo", resolve_here)


def replayed(form: str, name: str) -> Attempt:
    attempt = replay(FILES[form], RECORDINGS[name])
    assert isinstance(attempt, Attempt)
    return attempt


# ---- what was recorded


@pytest.mark.parametrize("form", LEAST)
def test_there_are_enough_cassettes_of_each_form(form: str) -> None:
    recorded = FILES[form].lines if form in FILES else {}

    assert len(recorded) >= LEAST[form], "run: make record-llm"


@pytest.mark.parametrize("form", FILES)
def test_a_file_says_which_server_and_model_answered_and_when(form: str) -> None:
    header = FILES[form].header

    assert header["server"] == "llama.cpp"
    assert re.search("qwen", header["model"], re.IGNORECASE)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", header["recorded_at"])


def test_there_is_nothing_secret_on_them_and_they_are_small() -> None:
    texts = {form: file.path.read_text("ascii") for form, file in FILES.items()}

    assert {form: found[0] for form, text in texts.items() if (found := SECRETS.search(text))} == {}
    assert sum(map(len, texts.values())) < MAX_BYTES


@pytest.mark.parametrize("form", FILES)
def test_of_headers_only_harmless_ones_are_kept_and_not_where_the_server_stood(form: str) -> None:
    interactions = [one for line in FILES[form].lines.values() for one in line["interactions"]]

    assert {name.lower() for one in interactions for name in one["request"]["headers"]} <= {"content-type"}
    assert {name for one in interactions for name in one["response"]["headers"]} <= {"content-type"}
    assert {one["request"]["uri"].split("/")[2] for one in interactions} <= {"the-model"}


# ---- what is decided with it


@pytest.mark.parametrize(("form", "name"), OURS)
def test_a_recorded_answer_is_read_as_it_was_given(form: str, name: str) -> None:
    said = replayed(form, name).consultation

    assert said is not None
    assert said.conn_type == "pydanticai"
    assert said.model == FILES[form].header["model"]
    assert said.form == FORMS_OF_ANSWER[form]
    assert said.category in DEFAULT_CATEGORIES
    assert said.confidence_source == ("own_statement" if form == "anthropic" else "token_probabilities")
    assert said.input_tokens
    assert said.output_tokens


@pytest.mark.parametrize("form", [form for form in FILES if form != COMMON_AI])
def test_an_unmeasured_model_fails_nothing_that_is_worth_a_retry(form: str) -> None:
    labels = {case.recording.id: case.label for case in read_cases()}
    failed = [name for name in FILES[form].lines if replayed(form, name).action == "fail"]

    assert [name for name in failed if labels[name].should_retry == "yes"] == []


@pytest.mark.parametrize("name", FILES[COMMON_AI].lines if COMMON_AI in FILES else ())
def test_what_the_provider_s_policy_was_answered_is_replayed_or_was_stopped(name: str) -> None:
    line = FILES[COMMON_AI].lines[name]

    if line.get("is_stopped"):
        assert line["seconds"] >= LONGEST_S
    else:
        assert replay(FILES[COMMON_AI], RECORDINGS[name]) in ("retry", "fail", "default")


# ---- what has changed since is no wrong answer, but no answer


@pytest.fixture
def one() -> tuple[CassetteFile, Recording]:
    file = FILES["openai-chat"]
    return file, RECORDINGS[next(iter(file.lines))]


@pytest.mark.parametrize(
    "options",
    [
        {"extra_instructions": "And be quick."},
        {"instructions": "Judge."},
        {"max_tokens": 400},
        {"model_id": "openai-chat:another"},
        {"max_exception_length": 10},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_changed_question_is_said_loudly_with_what_changed_and_how_to_record_again(
    one: tuple[CassetteFile, Recording], options: dict[str, Any]
) -> None:
    file, recording = one
    policy = LLMRetryPolicy("a_model", evidence_first=False, **options)

    with pytest.raises(StaleCassette) as raised, connected(file.wire, "a_model"), replaying(file, recording.id):
        decide(policy, recording)

    assert "make record-llm" in str(raised.value)
    assert "--- recorded" in str(raised.value)


def test_a_question_that_is_not_asked_any_more_is_said_loudly(one: tuple[CassetteFile, Recording]) -> None:
    file, recording = one
    with pytest.raises(StaleCassette, match="0 of the 1 recorded requests were made"), replaying(file, recording.id):
        pass


def test_a_failure_that_was_never_recorded_is_said_loudly(tmp_path: Path) -> None:
    with pytest.raises(StaleCassette, match="make record-llm"), replaying(CassetteFile(tmp_path / "x.jsonl"), "a/b"):
        pass
