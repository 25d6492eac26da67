"""The record: bounded, read with suspicion, and rounds that begin anew after a clear."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies import history
from airflow_common_ai.policies.attempt import Attempt, Consultation, Vote
from airflow_common_ai.policies.history import KEY, History

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)

ATTEMPT = Attempt(
    at=NOW,
    started_at=NOW - timedelta(minutes=5),
    try_number=1,
    max_tries=3,
    policy="EvidenceRetryPolicy-0a1b2c3d",
    fingerprint="0123456789abcdef",
    types=("requests.exceptions.HTTPError",),
    action="retry",
    code="http.429",
    reason="http.429: rate limited; the server asked for 120 s",
    tier="signals",
    category="rate_limit",
    delay_s=124.8,
    delay_steps=("the server asked for 120 s", "with jitter 125 s"),
    votes=(Vote("rules", "abstained"), Vote("signals", "retry", "http.429", "rate_limit")),
    milliseconds=0.7,
)


class Store:
    """A task state store in memory, with the two calls that are used."""

    def __init__(self, value: Any = None, fault: Exception | None = None) -> None:
        self.value = value
        self.fault = fault
        self.calls: list[str] = []

    def get(self, key: str) -> Any:
        self.calls.append("get")
        if self.fault:
            raise self.fault
        return self.value

    def set(self, key: str, value: Any, *, retention: timedelta) -> None:
        self.calls.append("set")
        if self.fault:
            raise self.fault
        json.dumps(value)
        self.value = value


def load(value: Any) -> History:
    return history.load({"task_state_store": Store(value)}, Redactor())


def test_a_record_goes_to_json_and_back() -> None:
    record = History((ATTEMPT,))
    assert load(json.loads(json.dumps(record.to_json()))) == record


def test_a_judgement_of_the_same_try_by_the_same_policy_replaces_the_earlier_one() -> None:
    record = History((ATTEMPT,)).with_attempt(replace(ATTEMPT, code="http.503"))
    assert [attempt.code for attempt in record.attempts] == ["http.503"]


def test_policies_of_a_chain_stand_side_by_side_but_count_as_one_try() -> None:
    undecided = replace(ATTEMPT, policy="other", action="default", code="undecided")
    record = History((undecided,)).with_attempt(ATTEMPT)
    assert len(record.attempts) == 2
    assert [attempt.code for attempt in record.tries] == ["http.429"]


def test_a_clear_begins_a_new_round_and_keeps_the_old_one_visible() -> None:
    record = History((ATTEMPT,)).with_attempt(replace(ATTEMPT, try_number=2, max_tries=5))
    assert len(record.attempts) == 2
    assert record.before(3, 5).tries == (record.attempts[1],)
    assert record.before(2, 5).tries == ()
    assert record.before(2, 3).tries == (ATTEMPT,)


def test_the_ring_keeps_the_last_twenty_attempts_in_less_than_32_kib() -> None:
    record = History()
    for number in range(1, 1001):
        record = record.with_attempt(
            replace(ATTEMPT, try_number=number, reason="ü" * 500, types=("t" * 300,) * 16, delay_steps=("s" * 300,) * 9)
        )
    stored = record.to_json()
    assert len(json.dumps(stored).encode()) <= 32 * 1024
    assert stored["attempts"][-1]["try_number"] == 1000


def test_prompts_give_way_before_any_attempt_does_the_oldest_first() -> None:
    record = History()
    for number in range(1, 21):
        asked = Consultation("the evidence leaves it open", prompt=(f"failure {number}", "x" * 4000))
        record = record.with_attempt(replace(ATTEMPT, try_number=number, consultation=asked))
    stored = record.to_json()
    assert len(json.dumps(stored).encode()) <= 32 * 1024
    assert [attempt["try_number"] for attempt in stored["attempts"]] == list(range(1, 21))
    kept = [attempt["try_number"] for attempt in stored["attempts"] if "prompt" in attempt["consultation"]]
    assert kept == list(range(21 - len(kept), 21))
    assert len(kept) >= 3
    assert load(stored).attempts[-1] == record.attempts[-1]


def test_no_more_of_a_strangers_prompt_is_read_than_is_ever_kept() -> None:
    stored = History((replace(ATTEMPT, consultation=Consultation("x")),)).to_json()
    stored["attempts"][0]["consultation"]["prompt"] = [5, "y" * 5000, None, *["z" * 900] * 10_000, "the end"]
    (attempt,) = load(stored).attempts
    assert attempt.consultation is not None
    assert 4000 < sum(map(len, attempt.consultation.prompt)) <= 8000


@pytest.mark.parametrize(
    "value",
    [
        "words",
        7,
        [],
        {},
        {"version": 99},
        {"version": 1},
        {"version": 1, "attempts": "x"},
        {"__airflow_state_ref__": "x"},
    ],
)
def test_a_foreign_value_is_set_aside(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert load(value) == History()
    assert KEY in caplog.text


@pytest.mark.parametrize(
    "damage",
    [
        {"at": "yesterday"},
        {"at": "2026-01-01T00:00:00"},
        {"try_number": "1"},
        {"max_tries": None},
        {"code": 5},
        {"action": ""},
        {"started_at": "never"},
    ],
)
def test_a_damaged_attempt_is_left_out_and_the_others_are_kept(damage: dict[str, Any]) -> None:
    stored = History((ATTEMPT, replace(ATTEMPT, try_number=2))).to_json()
    stored["attempts"][0].update(damage)
    assert [attempt.try_number for attempt in load(stored).attempts] == [2]


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("delay_s", 1e300, 366 * 86400),
        ("delay_s", -5, 0),
        ("delay_s", "5", None),
        ("try_number", 1e9, 1_000_000),
        ("milliseconds", float("nan"), 0),
        ("mode", 7, "enforce"),
        ("types", "ValueError", ()),
        ("votes", [5, {"tier": "x", "outcome": "y", "confidence": 99}], (Vote("x", "y", confidence=1),)),
    ],
)
def test_numbers_of_a_stranger_are_clamped_and_wrong_types_dropped(field: str, value: Any, expected: Any) -> None:
    stored = History((ATTEMPT,)).to_json()
    stored["attempts"][0][field] = value
    assert getattr(load(stored).attempts[0], field) == expected


def test_what_a_stranger_wrote_is_redacted_before_it_is_used() -> None:
    stored = History((ATTEMPT,)).to_json()
    stored["attempts"][0]["reason"] = "password=hunter2-canary"
    stored["attempts"][0]["delay_steps"] = ["hunter2-canary"]
    record = history.load(
        {"task_state_store": Store(stored)}, Redactor(lambda text: text.replace("hunter2-canary", "***"))
    )
    assert "hunter2-canary" not in repr(record)
    assert record.attempts[0].reason == "password=***"


def test_every_text_of_a_strangers_record_is_redacted_whatever_the_field() -> None:
    def planted(value: Any) -> Any:
        if isinstance(value, str):
            return value if value.startswith("2026-") else "hunter2canary"
        if isinstance(value, list):
            return [planted(item) for item in value]
        return {key: planted(item) for key, item in value.items()} if isinstance(value, dict) else value

    stored = {"version": 1, "attempts": [planted(ATTEMPT.to_json())]}
    redactor = Redactor(lambda text: text.replace("hunter2canary", "***"))
    record = history.load({"task_state_store": Store(stored)}, redactor)
    assert record.attempts[0].votes[0].tier == "***"
    assert "hunter2canary" not in repr(record) + json.dumps(record.to_json())


def test_what_acts_on_a_terminal_is_escaped_in_a_strangers_record() -> None:
    stored = History((replace(ATTEMPT, code="http.\x1b[31m429", reason="\u202ereversed"),)).to_json()
    (attempt,) = load(stored).attempts
    assert (attempt.code, attempt.reason) == ("http.\\x1b[31m429", "\\u202ereversed")


def test_our_own_words_survive_a_password_that_is_one_of_them() -> None:
    stored = History((replace(ATTEMPT, action="default", tier=None),)).to_json()

    def mask(text: str) -> str:
        return text.replace("default", "***").replace("2026", "***").replace("signals", "***")

    (attempt,) = history.load({"task_state_store": Store(stored)}, Redactor(mask)).attempts
    assert (attempt.action, attempt.at, attempt.fingerprint) == ("default", ATTEMPT.at, ATTEMPT.fingerprint)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values, st.dictionaries(st.sampled_from(sorted(ATTEMPT.to_json())), json_values))
def test_no_stored_value_is_fatal(value: Any, damage: dict[str, Any]) -> None:
    load(value)
    stored = History((ATTEMPT,)).to_json()
    stored["attempts"][0].update(damage)
    load(stored)


class TaskInstance:
    dag_id, run_id, task_id, map_index = "dag", "run", "task", None


def test_callbacks_read_the_judgement_of_this_process_where_the_store_no_longer_answers() -> None:
    store = Store()
    context: Any = {"ti": TaskInstance(), "task_state_store": store}
    history.remember(context, History((ATTEMPT,)))
    assert history.read(context).last == ATTEMPT
    assert store.calls == []


def test_reading_the_record_of_another_task_asks_the_store_and_survives_its_faults(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Other(TaskInstance):
        map_index = 3

    context: Any = {"ti": Other(), "task_state_store": Store(fault=ConnectionError("secret"))}
    assert history.read(context) == History()
    assert "could not be read: ConnectionError" in caplog.text
    assert "secret" not in caplog.text
