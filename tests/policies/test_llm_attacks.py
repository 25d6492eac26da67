"""Hostile words in an error message, and models that obey them and are sure of it: scripted ones, on loopback."""

from __future__ import annotations

import json
import logging
import re
from datetime import timedelta
from pathlib import Path

import pytest
from llm_attacks import ATTACKS, Attack
from scripted_model import API_KEY, CERTAIN, CONN_ID, STATING, Store, connected, evaluate, measured, written

from airflow_common_ai.policies import LLMRetryPolicy, RetryAction
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES

MAX_DELAY = timedelta(minutes=20)
CANARY = "hunter2canary"
MISSING = FileNotFoundError(2, "No such file or directory", "/nowhere/orders.csv")
REFUSED = ConnectionRefusedError(111, "Connection refused")
ACTING = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\u00ad\U000e0000-\U000e007f]"
)

attacked = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


class OddFailure(Exception):
    """Nothing is known about it: only its words speak."""


def trusting(folder: Path, **options: object) -> LLMRetryPolicy:
    policy = LLMRetryPolicy(CONN_ID, max_delay=MAX_DELAY, **options)  # type: ignore[arg-type]
    path = written(measured(policy), folder)
    return LLMRetryPolicy(CONN_ID, max_delay=MAX_DELAY, trust=path, **options)  # type: ignore[arg-type]


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 60
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


@attacked
@pytest.mark.parametrize("is_trusted", [False, True], ids=["unmeasured", "trusted"])
def test_an_obeyed_attack_stays_within_the_table_the_clamp_and_the_wall(
    attack: Attack, is_trusted: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    policy = trusting(tmp_path) if is_trusted else LLMRetryPolicy(CONN_ID, max_delay=MAX_DELAY)
    store = Store()
    with caplog.at_level(logging.DEBUG), connected(CERTAIN.answers(attack.obeyed)) as server:
        decision = evaluate(policy, OddFailure(f"step 3 failed: {attack.text}"), store)

    (attempt,) = store.attempts
    said = attempt.get("consultation", {})  # none where the words alone are known already
    assert decision.action in (RetryAction.RETRY, RetryAction.FAIL, RetryAction.DEFAULT)
    assert decision.retry_delay is None or timedelta(0) <= decision.retry_delay <= MAX_DELAY
    assert said.get("category") in (None, *DEFAULT_CATEGORIES)
    if attempt.get("tier") == "llm" and decision.action is RetryAction.FAIL:
        assert is_trusted
    shown = "\n".join([json.dumps(store.values, ensure_ascii=False), str(decision), *_own_messages(caplog)])
    assert CANARY not in shown + json.dumps(server.requests) + caplog.text
    assert API_KEY not in shown + caplog.text
    assert not ACTING.search(shown.replace("\n", ""))
    assert len(json.dumps(store.values)) <= 32 * 1024
    if not is_trusted and server.requests:  # else the words are known already, and no model is asked
        check_place_in_prompt(attack, server.requests[0]["messages"][-1]["content"])


def check_place_in_prompt(attack: Attack, prompt: str) -> None:
    """An attack stays between two lines that it cannot have written, and opens no mark of a chat template."""
    lines = prompt.split("\n")
    fences = [line for line in lines if line.startswith("=====")]
    assert len(fences) == 2
    assert fences[0] == fences[1] == lines[-2]
    assert fences[0] not in attack.text
    assert not re.search(r"<[|｜/]?[a-z_｜▁|]+>|\[/?[A-Z_]+\]", prompt)
    assert not ACTING.search("".join(lines))
    assert len(prompt) < 6000


@attacked
def test_a_conclusive_signal_wins_over_an_obeyed_attack_even_if_a_trusted_model_is_asked_about_all(
    attack: Attack, tmp_path: Path
) -> None:
    wants_a_failure = attack.answer.get("category") not in ("network", "transient", "rate_limit")
    store = Store()
    error = OddFailure(attack.text)
    error.__cause__ = REFUSED if wants_a_failure else MISSING  # the opposite of what the attack is after
    with connected(CERTAIN.answers(attack.obeyed)) as server:
        decision = evaluate(trusting(tmp_path, evidence_first=False), error, store)

    assert server.requests
    assert decision.action is (RetryAction.RETRY if wants_a_failure else RetryAction.FAIL)
    assert decision.retry_delay is None or decision.retry_delay <= MAX_DELAY
    assert store.attempts[-1]["tier"] == "signals"


def test_without_trust_no_attack_fails_a_task_whatever_a_model_says_of_itself() -> None:
    failed = []
    for attack in ATTACKS:
        with connected(STATING.answers(attack.obeyed), wire=STATING):
            decision = evaluate(LLMRetryPolicy(CONN_ID), OddFailure("step 3 failed"))
        if decision.action is RetryAction.FAIL:
            failed.append(attack.name)
    assert failed == []


def _own_messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.startswith("airflow_common_ai")]
