"""What LLMRetryPolicy makes of a failure, with scripted models behind a real connection on loopback."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import BaseHook
from airflow.sdk.definitions.retry_policy import RetryAction, RetryDecision, RetryRule
from botocore.exceptions import ClientError
from loopback.llm_server import DECISION, hangs, refuses
from scripted_model import (
    API_KEY,
    CERTAIN,
    CONN_ID,
    STATING,
    UNHELD,
    Store,
    connected,
    evaluate,
    measured,
    saying,
    written,
)

from airflow_common_ai.policies import DEFAULT_CATEGORIES, FailureCategory, FailureRule, LLMRetryPolicy
from airflow_common_ai.policies.llm.trust import Precision

MISSING = FileNotFoundError(2, "No such file or directory", "/nowhere")
OPEN = RuntimeError("step 3 did not finish")
"""Nothing in it says whether another try helps."""
REFUSED_400: Any = {"Error": {"Code": "OddWidget", "Message": "x"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
HINTING = ClientError(REFUSED_400, "TurnWidget")
"""Its status hints that another try will not help, no more: nobody knows the code."""
HINTING_WORDS = RuntimeError("invalid input")


def trusting(folder: Path, changes: dict[str, Any] | None = None, **options: Any) -> LLMRetryPolicy:
    table = replace(measured(LLMRetryPolicy(CONN_ID, **options)), **(changes or {}))
    return LLMRetryPolicy(CONN_ID, trust=written(table, folder), **options)


# The model names, the table decides.


def test_a_retry_may_rest_on_the_model_alone_and_its_delay_is_a_hint() -> None:
    store = Store()
    with saying(category="network", suggested_delay_seconds=90, reasoning="the peer hung up"):
        decision = evaluate(LLMRetryPolicy(CONN_ID), OPEN, store)
    assert decision.action is RetryAction.RETRY
    assert decision.reason == "llm.network: a model says: the peer hung up"
    assert decision.retry_delay is not None
    assert timedelta(seconds=90) <= decision.retry_delay <= timedelta(seconds=99)
    assert store.attempts[0]["delay_steps"][0] == "the model suggests 90 s, a hint within the bounds"


@pytest.mark.parametrize(
    ("category", "suggested", "low", "high"),
    [
        ("network", 1, 5, 6),
        ("network", 86_400, 300, 300),
        ("rate_limit", 1, 60, 66),
        ("rate_limit", 86_400, 900, 900),
        ("network", 0, 5, 30),
    ],
)
def test_a_hint_cannot_leave_the_bounds_of_its_category(category: str, suggested: int, low: int, high: int) -> None:
    with saying(category=category, suggested_delay_seconds=suggested):
        decision = evaluate(LLMRetryPolicy(CONN_ID), OPEN)
    assert decision.retry_delay is not None
    assert timedelta(seconds=low) <= decision.retry_delay <= timedelta(seconds=high)


def test_a_delay_in_the_table_counts_and_the_hint_does_not() -> None:
    table = {"network": FailureCategory("x", delay=timedelta(seconds=40))}
    with saying(category="network", suggested_delay_seconds=90):
        decision = evaluate(LLMRetryPolicy(CONN_ID, categories=table), OPEN)
    assert decision.retry_delay is not None
    assert timedelta(seconds=40) <= decision.retry_delay <= timedelta(seconds=44)


def test_a_hint_never_exceeds_the_limit_of_the_policy() -> None:
    with saying(category="rate_limit", suggested_delay_seconds=800):
        decision = evaluate(LLMRetryPolicy(CONN_ID, max_delay=timedelta(seconds=100)), OPEN)
    assert decision.retry_delay == timedelta(seconds=100)


def test_an_answer_under_its_bar_leaves_the_failure_to_the_fallback_rules() -> None:
    store = Store()
    policy = LLMRetryPolicy(CONN_ID, fallback_rules=[RetryRule(RuntimeError, RetryAction.RETRY, timedelta(minutes=7))])
    with saying(STATING, category="network", confidence=55):
        decision = evaluate(policy, OPEN, store)
    assert decision.retry_delay == timedelta(minutes=7)
    assert store.consultation["unused"] == (
        "the model calls it network with a confidence of 0.55, under the bar of 0.60"
    )
    assert [vote["outcome"] for vote in store.attempts[0]["votes"]] == [
        "abstained",
        "abstained",
        "unsure",
        "abstained",
        "retry",
    ]


def test_under_the_bar_and_without_a_rule_the_task_is_left_to_airflow() -> None:
    with saying(STATING, category="network", confidence=55):
        assert evaluate(LLMRetryPolicy(CONN_ID), OPEN) == RetryDecision.default()


@pytest.mark.parametrize(("min_confidence", "action"), [(0.5, RetryAction.RETRY), (0.85, RetryAction.DEFAULT)])
def test_the_bar_of_the_policy_counts_where_a_category_has_none(min_confidence: float, action: RetryAction) -> None:
    with saying(STATING, category="network", confidence=55):
        assert evaluate(LLMRetryPolicy(CONN_ID, min_confidence=min_confidence), OPEN).action is action


def test_the_bar_of_the_policy_never_lowers_that_of_a_category_that_fails() -> None:
    bars = {name: row.bar for name, row in LLMRetryPolicy(CONN_ID, min_confidence=0.2).categories.items()}
    assert bars == {name: 0.2 if row.retry else 0.9 for name, row in DEFAULT_CATEGORIES.items()}


def test_a_category_of_the_users_own_is_asked_for_and_acted_on() -> None:
    table = {"queued": FailureCategory("The warehouse is busy.", delay=timedelta(minutes=2))}
    with saying(category="queued", should_retry=True) as server:
        decision = evaluate(LLMRetryPolicy(CONN_ID, categories=table), OPEN)
    assert decision.retry_delay is not None
    assert timedelta(minutes=2) <= decision.retry_delay <= timedelta(minutes=2.2)
    assert "- queued: The warehouse is busy." in json.dumps(server.requests)


# What it takes to fail a task.


def test_the_word_of_an_unmeasured_model_alone_fails_nothing() -> None:
    store = Store()
    with saying(category="auth"):
        assert evaluate(LLMRetryPolicy(CONN_ID), OPEN, store) == RetryDecision.default()
    assert store.consultation["category"] == "auth"
    assert store.consultation["confidence"] == 1.0
    assert store.consultation["trust"] == store.consultation["unused"].partition("auth, but ")[2]
    assert "the model is unmeasured" in store.attempts[0]["reason"]


def test_a_hint_that_points_the_same_way_makes_it_a_failure() -> None:
    with saying(category="data"):
        decision = evaluate(LLMRetryPolicy(CONN_ID), HINTING)
    assert decision.action is RetryAction.FAIL
    assert decision.reason == "llm.data: a model says: it is so"


def test_a_hint_in_words_that_the_model_has_read_as_well_is_no_agreement() -> None:
    with saying(category="data") as server:
        assert evaluate(LLMRetryPolicy(CONN_ID), HINTING_WORDS).action is RetryAction.DEFAULT
    assert server.requests


def test_the_agreement_of_a_model_that_nothing_holds_to_the_question_fails_nothing() -> None:
    for wire, action in ((STATING, RetryAction.FAIL), (UNHELD, RetryAction.DEFAULT)):
        with saying(wire, category="data", confidence=100):
            assert evaluate(LLMRetryPolicy(CONN_ID), HINTING).action is action


def test_a_hint_that_points_to_a_retry_speaks_against_it() -> None:
    error = ClientError(REFUSED_400, "TurnWidget")
    error.__cause__ = RuntimeError("timeout")
    with saying(category="data") as server:
        decision = evaluate(LLMRetryPolicy(CONN_ID), error)
    assert server.requests
    assert decision.action is RetryAction.DEFAULT


@pytest.mark.parametrize("wire", [CERTAIN, STATING, DECISION], ids=lambda wire: wire.name)
def test_a_model_that_was_measured_may_fail_a_task(wire: Any, tmp_path: Path) -> None:
    store = Store()
    with saying(wire, category="auth", confidence=100):
        decision = evaluate(trusting(tmp_path), OPEN, store)
    assert decision.action is RetryAction.FAIL
    assert store.consultation["trust"] == "measured to be right in at least 99.0% of 300 cases of auth"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"model": "another"}, "its trust table is void: measured with another model"),
        ({"conn_type": "pydanticai-azure"}, "its trust table is void: measured with another connection type"),
        ({"prompt_sha256": "0" * 64}, "its trust table is void: measured with another prompt"),
        ({"categories": {"data": Precision(300, 300)}}, "its trust table has no auth"),
        (
            {"categories": {"auth": Precision(59, 53)}},
            "it was measured to be right in at least 80.9% of 59 cases",
        ),
    ],
)
def test_a_trust_table_that_does_not_hold_is_void_and_the_record_says_so(
    changes: dict[str, Any], why: str, tmp_path: Path
) -> None:
    store = Store()
    with saying(category="auth"):
        assert evaluate(trusting(tmp_path, changes), OPEN, store).action is RetryAction.DEFAULT
    assert store.consultation["trust"].startswith(why)


def test_a_changed_instruction_voids_what_was_measured(tmp_path: Path) -> None:
    path = written(measured(LLMRetryPolicy(CONN_ID)), tmp_path)
    store = Store()
    with saying(category="auth"):
        decision = evaluate(LLMRetryPolicy(CONN_ID, trust=path, extra_instructions="More."), OPEN, store)
    assert decision.action is RetryAction.DEFAULT
    assert store.consultation["trust"] == "its trust table is void: measured with another prompt"


def test_a_void_table_is_named_in_the_record_of_a_retry_too_and_a_valid_one_is_not_needed(tmp_path: Path) -> None:
    store = Store()
    with saying(category="network"):
        evaluate(trusting(tmp_path, {"model": "another"}), OPEN, store)
        assert store.consultation["trust"] == "its trust table is void: measured with another model"
        evaluate(trusting(tmp_path), OPEN, store)
    assert "trust" not in store.consultation


def test_trust_does_not_make_up_for_a_confidence_under_the_bar(tmp_path: Path) -> None:
    with saying(STATING, category="auth", confidence=85):
        assert evaluate(trusting(tmp_path), OPEN).action is RetryAction.DEFAULT


def test_a_trusted_model_that_contradicts_itself_fails_nothing(tmp_path: Path) -> None:
    table = {"auth": FailureCategory("x", retry=False, min_confidence=0.0)}
    with saying(category="auth", should_retry=True):
        decision = evaluate(trusting(tmp_path, categories=table), OPEN)
    assert decision.action is RetryAction.DEFAULT


def test_a_contradiction_does_not_keep_a_task_from_its_retry() -> None:
    with saying(category="network", should_retry=False):
        assert evaluate(LLMRetryPolicy(CONN_ID), OPEN).action is RetryAction.RETRY


def test_no_model_fails_what_a_users_rule_retries(tmp_path: Path) -> None:
    rule = FailureRule(exception=RuntimeError, retry_delay=timedelta(minutes=3))
    with saying(category="permanent") as server:
        first = evaluate(trusting(tmp_path, rules=[rule]), OPEN)
        assert not server.requests
        last = evaluate(trusting(tmp_path, fallback_rules=[rule]), OPEN)
    assert server.requests
    assert first.action is last.action is RetryAction.RETRY
    assert first.retry_delay == last.retry_delay == timedelta(minutes=3)


def test_a_category_that_the_user_retries_is_retried_on_the_models_word() -> None:
    table = {"auth": FailureCategory("x", retry=True)}
    with saying(category="auth", should_retry=True):
        assert evaluate(LLMRetryPolicy(CONN_ID, categories=table), OPEN).action is RetryAction.RETRY


# No wasted call.


@pytest.mark.parametrize(
    ("error", "options", "try_number", "max_tries"),
    [
        (MISSING, {}, 1, 3),
        (ConnectionRefusedError(111, "x"), {}, 1, 3),
        (OPEN, {"rules": [FailureRule(exception=RuntimeError)]}, 1, 3),
        (OPEN, {}, 1, 0),
        (OPEN, {}, 4, 3),
        (OPEN, {"evidence_first": False}, 4, 3),
        (OPEN, {"evidence_first": False, "rules": [FailureRule(exception=RuntimeError)]}, 1, 3),
    ],
    ids=[
        "must fail",
        "must be retried",
        "a rule",
        "retries=0",
        "the last try",
        "last try, all asked",
        "rule, all asked",
    ],
)
def test_no_model_is_asked(error: Exception, options: dict[str, Any], try_number: int, max_tries: int) -> None:
    with saying() as server:
        evaluate(LLMRetryPolicy(CONN_ID, **options), error, Store(), try_number, max_tries)
    assert server.requests == []


def test_the_last_try_says_why_no_model_was_asked() -> None:
    store = Store()
    with saying():
        evaluate(LLMRetryPolicy(CONN_ID), OPEN, store, 4, 3)
    assert store.consultation["unused"] == "no model was asked, since no retry is left"


def test_fifty_times_the_same_failure_are_one_call() -> None:
    store = Store()
    policy = LLMRetryPolicy(CONN_ID)
    with saying(category="transient") as server:
        tries = range(1, 51)
        decisions = [evaluate(policy, RuntimeError(f"job {number} is odd"), store, number, 60) for number in tries]
    assert len(server.requests) == 1
    assert {decision.action for decision in decisions} == {RetryAction.RETRY}
    assert store.consultation["reused_age_s"] >= 0
    assert "milliseconds" not in store.consultation


def test_an_answer_that_may_not_fail_a_task_is_reused_too() -> None:
    store = Store()
    with saying(category="auth") as server:
        for number in (1, 2):
            evaluate(LLMRetryPolicy(CONN_ID), OPEN, store, number, 5)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("second", "options"),
    [
        (RuntimeError("step 4 has gone astray"), {}),
        (OPEN, {"extra_instructions": "Another question."}),
        (OPEN, {"model_id": "openai-chat:another-model"}),
    ],
    ids=["another failure", "another question", "another model"],
)
def test_what_is_not_the_same_is_asked_anew(second: Exception, options: dict[str, Any]) -> None:
    store = Store()
    with saying() as server:
        evaluate(LLMRetryPolicy(CONN_ID), OPEN, store, 1, 5)
        evaluate(LLMRetryPolicy(CONN_ID, **options), second, store, 2, 5)
    assert len(server.requests) == 2


def test_an_unsure_answer_is_asked_for_again() -> None:
    store = Store()
    with saying(STATING, confidence=20) as server:
        for number in (1, 2):
            evaluate(LLMRetryPolicy(CONN_ID), OPEN, store, number, 5)
    assert len(server.requests) == 2


def test_a_clear_asks_anew() -> None:
    store = Store()
    with saying() as server:
        evaluate(LLMRetryPolicy(CONN_ID), OPEN, store, 1, 3)
        evaluate(LLMRetryPolicy(CONN_ID), OPEN, store, 2, 5)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "forged",
    [
        {"category": "drop_table", "confidence": 1.0},
        {"category": "permanent", "confidence": 1.0},
        {"category": "network", "confidence": 1e9, "suggested_delay_s": 1e18},
        {"category": ["network"], "confidence": "sure", "tried": {"a": 1}, "reasoning": 7},
        "a text",
    ],
)
def test_a_forged_record_gets_nothing_that_an_answer_could_not_get(forged: Any) -> None:
    store = Store()
    policy = LLMRetryPolicy(CONN_ID, max_delay=timedelta(minutes=20))
    with saying():
        evaluate(policy, OPEN, store, 1, 5)
        kept = store.attempts[0]["consultation"]
        store.attempts[0]["consultation"] = {**kept, **forged} if isinstance(forged, dict) else forged
        decision = evaluate(policy, OPEN, store, 2, 5)
    assert decision.action is not RetryAction.FAIL
    assert decision.retry_delay is None or decision.retry_delay <= timedelta(minutes=20)


# Asked about all.


@pytest.mark.parametrize(
    ("error", "action"), [(MISSING, RetryAction.FAIL), (ConnectionResetError("x"), RetryAction.RETRY)]
)
def test_asked_about_all_failures_the_model_is_recorded_and_the_evidence_decides(
    error: Exception, action: RetryAction, tmp_path: Path
) -> None:
    store = Store()
    opposite = "network" if action is RetryAction.FAIL else "permanent"
    with saying(category=opposite) as server:
        decision = evaluate(trusting(tmp_path, evidence_first=False), error, store)
    assert len(server.requests) == 1
    assert decision.action is action
    assert (store.consultation["why"], store.consultation["category"]) == ("evidence_first=False", opposite)
    assert store.consultation["unused"] == "the model was asked, but the evidence is conclusive"


def test_asked_about_all_failures_the_model_decides_what_the_evidence_leaves_open() -> None:
    with saying(category="transient"):
        assert evaluate(LLMRetryPolicy(CONN_ID, evidence_first=False), OPEN).action is RetryAction.RETRY


# When no model answers.


def test_without_an_answer_the_fallback_rules_decide_and_the_record_says_what_happened(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Store()
    policy = LLMRetryPolicy(CONN_ID, fallback_rules=[FailureRule(exception=RuntimeError, action=RetryAction.FAIL)])
    with caplog.at_level(logging.DEBUG), connected(refuses(401, f"wrong key {API_KEY}")):
        decision = evaluate(policy, OPEN, store)
    assert decision.action is RetryAction.FAIL
    assert store.consultation["unused"] == "no model answered: HTTP 401"
    assert store.consultation["tried"] == ["scripted: HTTP 401"]
    assert API_KEY not in json.dumps(store.values) + caplog.text


def test_a_server_that_hangs_costs_its_limit_and_no_more() -> None:
    store = Store()
    with connected(hangs):
        assert evaluate(LLMRetryPolicy(CONN_ID, timeout=0.5), OPEN, store) == RetryDecision.default()
    assert store.consultation["unused"].startswith("no model answered: no answer within")


def test_a_connection_that_does_not_exist_costs_the_model_and_not_the_record() -> None:
    store = Store()
    assert evaluate(LLMRetryPolicy("nobody_made_it"), OPEN, store) == RetryDecision.default()
    assert store.calls == ["get", "set"]
    assert store.consultation["unused"] == "no model answered: there is no such connection"


def test_a_store_that_is_down_keeps_the_connections_from_being_asked_for() -> None:
    class Down(Store):
        def get(self, key: str) -> Any:
            super().get(key)
            raise RuntimeError("the API server is down")

    store = Down()
    with saying() as server:
        assert evaluate(LLMRetryPolicy(CONN_ID), OPEN, store) == RetryDecision.default()
    assert server.requests == []
    assert store.calls == ["get"]


def test_connections_that_airflow_cannot_hand_over_keep_the_store_from_being_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(conn_id: str) -> Any:
        raise PermissionError("the API server is down")

    monkeypatch.setattr(BaseHook, "get_connection", refuse)
    store = Store()
    assert evaluate(LLMRetryPolicy(CONN_ID), OPEN, store) == RetryDecision.default()
    assert store.calls == ["get"]


def test_our_own_fault_costs_the_models_word_and_not_the_rules_behind_it(caplog: pytest.LogCaptureFixture) -> None:
    policy = LLMRetryPolicy(CONN_ID, fallback_rules=[FailureRule(exception=RuntimeError, action=RetryAction.FAIL)])
    policy.max_exception_length = None  # type: ignore[assignment]  # a fault of ours, planted
    with saying():
        assert evaluate(policy, OPEN).action is RetryAction.FAIL
    assert "could not judge this failure (TypeError" in caplog.text


# What is kept.


def test_the_record_says_all_about_the_model_and_holds_no_prompt() -> None:
    store = Store()
    with saying(category="network", suggested_delay_seconds=30, reasoning="the peer hung up") as server:
        evaluate(LLMRetryPolicy(CONN_ID), RuntimeError("a canary that only a prompt holds"), store)
    said = store.consultation
    for number in ("milliseconds", "connection_milliseconds"):
        assert said.pop(number) >= 0
    assert len(said.pop("question")) == 16
    assert said == {
        "why": "the evidence leaves it open",
        "model": "a-model-as-served",
        "conn_id": CONN_ID,
        "conn_type": "pydanticai",
        "form": "json_schema",
        "category": "network",
        "confidence": 1.0,
        "confidence_source": "token_probabilities",
        "should_retry": True,
        "suggested_delay_s": 30.0,
        "reasoning": "the peer hung up",
        "input_tokens": 70,
        "output_tokens": 7,
    }
    assert "canary" in json.dumps(server.requests)
    assert "canary" not in json.dumps(store.values)


def test_what_was_sent_about_the_failure_is_kept_where_the_policy_says_so() -> None:
    store = Store()
    error = RuntimeError("a canary\nof two lines\x1b[2J, password=hunter2canary")
    with saying() as server:
        evaluate(LLMRetryPolicy(CONN_ID, store_prompt=True), error, store)
        evaluate(LLMRetryPolicy(CONN_ID, store_prompt=True), error, store, try_number=2)
    first, second = (attempt["consultation"] for attempt in store.attempts)
    sent = server.requests[0]["messages"][-1]["content"].splitlines()
    assert first["prompt"][0] == sent[0] == "A task failed."
    assert [line for line in first["prompt"] if "canary" in line] == [line for line in sent if "canary" in line]
    assert "hunter2" not in json.dumps(store.values)
    assert "prompt" not in second, "the first answer was used again"


@pytest.mark.parametrize("word", ["word", "word\n", "wörd"], ids=["one line", "many lines", "not ASCII"])
def test_a_prompt_that_is_kept_is_bounded(word: str) -> None:
    store = Store()
    with saying():
        policy = LLMRetryPolicy(CONN_ID, store_prompt=True, max_exception_length=10**6)
        evaluate(policy, RuntimeError(f"{word} " * 10**5), store)
    assert 3000 < len("\n".join(store.consultation["prompt"])) <= 8000


def test_a_prompt_is_kept_where_no_model_has_answered_too() -> None:
    store = Store()
    with connected(refuses(500)):
        evaluate(LLMRetryPolicy(CONN_ID, store_prompt=True), RuntimeError("a canary"), store)
    assert any("canary" in line for line in store.consultation["prompt"])


@pytest.mark.parametrize(
    ("wire", "source"), [(CERTAIN, "token_probabilities"), (STATING, "own_statement"), (DECISION, "decision_model")]
)
def test_the_record_says_where_the_confidence_came_from(wire: Any, source: str) -> None:
    store = Store()
    with saying(wire):
        assert evaluate(LLMRetryPolicy(CONN_ID), OPEN, store).action is RetryAction.RETRY
    assert store.consultation["confidence_source"] == source


def test_calls_of_a_model_are_counted_and_timed_where_airflow_has_metrics_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.providers.common.compat.sdk import Stats

    counted: list[tuple[str, Any]] = []
    monkeypatch.setattr(Stats, "incr", lambda name, *, tags: counted.append((name, tags)))
    monkeypatch.setattr(Stats, "timing", lambda name, value, *, tags: counted.append((name, value)))
    with saying():
        evaluate(LLMRetryPolicy(CONN_ID), OPEN)
    evaluate(LLMRetryPolicy(CONN_ID), MISSING)
    names = [name for name, _ in counted]
    assert names.count("common_ai_retry.decisions") == 2
    assert names.count("common_ai_retry.model_calls") == names.count("common_ai_retry.model_time") == 1
    assert dict(counted)["common_ai_retry.model_calls"]["used"] == "yes"


def test_shadow_mode_asks_and_records_and_obeys_nothing() -> None:
    store = Store()
    with saying() as server:
        assert evaluate(LLMRetryPolicy(CONN_ID, mode="shadow"), OPEN, store) == RetryDecision.default()
    assert server.requests
    assert (store.attempts[0]["action"], store.attempts[0]["mode"]) == ("retry", "shadow")


def test_frames_are_sent_where_they_are_wanted_and_redacted() -> None:
    def load() -> None:
        raise RuntimeError("odd")

    with saying() as server:
        for wanted in (False, True):
            try:
                load()  # password="hunter2canary"
            except RuntimeError as error:
                evaluate(LLMRetryPolicy(CONN_ID, include_traceback=wanted), error)
    without, with_frames = (request["messages"][-1]["content"] for request in server.requests)
    assert "in load: raise RuntimeError" not in without
    assert f"{Path(__file__).name}:" in with_frames
    assert "in load: raise RuntimeError" in with_frames
    assert "hunter2canary" not in with_frames


def test_it_works_inside_a_running_event_loop() -> None:
    async def inside() -> RetryDecision:
        return evaluate(LLMRetryPolicy(CONN_ID), OPEN)

    with saying():
        assert asyncio.run(inside()).action is RetryAction.RETRY


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_passes_through(interrupt: type[BaseException]) -> None:
    class Interrupted(FailureRule):
        pass

    def predicate(error: BaseException) -> bool:
        raise interrupt

    policy = LLMRetryPolicy(CONN_ID, fallback_rules=[Interrupted(predicate=predicate)])
    with connected(refuses(500)), pytest.raises(interrupt):
        evaluate(policy, OPEN)


# The object itself, and its arguments.


def test_a_policy_is_plain_data_that_is_truthy_and_deep_copies(tmp_path: Path) -> None:
    policy = trusting(tmp_path, fallback_rules=[FailureRule(exception=ValueError)], min_confidence=0.7)
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert other
        assert vars(other) == vars(policy)


def test_the_arguments_of_the_proposal_come_first_and_in_its_order() -> None:
    policy = LLMRetryPolicy("c", "openai:m", "Be brief.", [RetryRule(OSError)], 5, categories={})
    assert (policy.llm_conn_id, policy.model_id, policy.instructions, policy.timeout) == (
        "c",
        "openai:m",
        "Be brief.",
        5.0,
    )
    assert policy.fallback_rules == (RetryRule(OSError),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"llm_conn_id": ""}, r"LLMRetryPolicy\.llm_conn_id must be a text, got ''\. Use e\.g\. 'my_llm'"),
        ({"llm_conn_id": None}, "llm_conn_id must be a text"),
        ({"model_id": 5}, "model_id must be a text, got 5"),
        ({"instructions": ["x"]}, "instructions must be a text or None, got list"),
        ({"instructions": "x" * 20_000}, "instructions must have at most 16384 characters, got 20000"),
        ({"extra_instructions": b"x"}, "extra_instructions must be a text or None, got bytes"),
        (
            {"timeout": -1},
            r"timeout must be a positive number of seconds, at most an hour, got -1\. Use e\.g\. timeout=30",
        ),
        ({"timeout": 0}, "timeout must be a positive number"),
        ({"timeout": float("nan")}, "timeout must be a positive number"),
        ({"timeout": float("inf")}, "timeout must be a positive number"),
        ({"timeout": 7200}, "timeout must be a positive number"),
        ({"timeout": timedelta(seconds=3)}, "timeout must be a positive number of seconds"),
        ({"timeout": True}, "timeout must be a positive number"),
        ({"max_exception_length": 0}, "max_exception_length must be from 1, got 0"),
        ({"max_exception_length": "long"}, "max_exception_length must be a whole number"),
        ({"max_tokens": 5}, r"max_tokens must be between 64 and 16384, got 5\. Use e\.g\. 512"),
        ({"max_tokens": None}, "max_tokens must be a whole number"),
        ({"include_traceback": "yes"}, "include_traceback must be True or False"),
        ({"evidence_first": 1}, "evidence_first must be True or False"),
        ({"store_prompt": "no"}, "store_prompt must be True or False"),
        ({"redact_exception": 0}, "redact_exception must be True or False"),
        ({"redact_exception": False, "redactor": str.upper}, "contradict each other"),
        ({"redactor": "x"}, "redactor must be a function"),
        ({"min_confidence": 1.5}, "min_confidence must be between 0 and 1"),
        ({"min_confidence": "high"}, "min_confidence must be a number"),
        ({"min_confidence": float("nan")}, "min_confidence must be between 0 and 1"),
        ({"trust": 7}, "trust must be the path of a trust file"),
        ({"trust": "/nowhere/trust.json"}, "cannot be read"),
        ({"categories": {f"c{number}": FailureCategory("x") for number in range(60)}}, "at most 50, got 67"),
        ({"max_delay": 5}, "max_delay must be a timedelta"),
        ({"no_such_option": 1}, "no_such_option"),
    ],
)
def test_a_wrong_argument_fails_when_the_dag_is_parsed_with_the_fix(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        LLMRetryPolicy(**{"llm_conn_id": "my_llm", **options})


def test_what_is_asked_of_it_is_the_same_from_one_parse_to_the_next() -> None:
    first, second = (LLMRetryPolicy(CONN_ID, extra_instructions="x").questioner() for _ in range(2))
    assert first.hashes == second.hashes


def test_a_model_in_the_clock_of_its_own_cannot_age_an_answer_backwards() -> None:
    store = Store()
    with saying():
        evaluate(LLMRetryPolicy(CONN_ID), OPEN, store, 1, 5)
        store.attempts[0]["at"] = datetime(2999, 1, 1, tzinfo=UTC).isoformat()
        evaluate(LLMRetryPolicy(CONN_ID), OPEN, store, 2, 5)
    assert store.consultation["reused_age_s"] == 0.0
