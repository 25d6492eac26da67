"""What looks worth a retry, or not, only until the tries of the round are seen together."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import requests
from airflow.sdk.exceptions import AirflowException
from loopback.http_server import Answer, serving
from loopback.sockets import refused_port

from airflow_common_ai.policies import EvidenceRetryPolicy, FailureRule


class Store:
    """A task state store in memory."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def set(self, key: str, value: Any, *, retention: timedelta) -> None:
        self.values[key] = json.loads(json.dumps(value))

    def let_time_pass(self, time: timedelta) -> None:
        for attempt in self.values.get("ai_retry", {"attempts": []})["attempts"]:
            attempt["at"] = (datetime.fromisoformat(attempt["at"]) - time).isoformat()


Failing = Callable[[], object]


def round_of(
    failing: Failing,
    tries: int = 3,
    policy: EvidenceRetryPolicy | None = None,
    time_between: timedelta = timedelta(minutes=10),
) -> list[tuple[str, str]]:
    """Let a task fail in tries with retries to spare, and return what was decided about each, and why."""
    policy, store = policy or EvidenceRetryPolicy(), Store()
    for number in range(1, tries + 1):
        store.let_time_pass(time_between)
        try:
            failing()
        except Exception as error:
            policy.evaluate(error, number, tries + 1, {"task_state_store": store})  # type: ignore[typeddict-item]
    attempts = store.values["ai_retry"]["attempts"]
    return [(attempt["action"], attempt["reason"]) for attempt in attempts]


def actions(decided: list[tuple[str, str]]) -> list[str]:
    return [action for action, _ in decided]


def refuse() -> None:
    with refused_port() as port:
        requests.get(f"http://127.0.0.1:{port}", timeout=5)


def test_a_connection_that_is_refused_at_every_try_is_retried_to_the_end_and_the_reason_says_what_to_check() -> None:
    decided = round_of(refuse, tries=12, time_between=timedelta(hours=1))
    assert actions(decided) == ["retry"] * 12
    reasons = [reason for _, reason in decided]
    assert all(reason.startswith("os.econnrefused: ") for reason in reasons)
    assert reasons[-1].endswith("; the same at all 12 tries in 11 h: check that the address is right")
    assert not any("check that" in reason for reason in reasons[:2])


def test_a_restart_of_a_service_raises_no_suspicion() -> None:
    decided = round_of(refuse, tries=8, time_between=timedelta(minutes=1))
    assert not any("check that" in reason for _, reason in decided)


def test_a_connection_that_failed_in_another_way_before_raises_no_suspicion() -> None:
    failures = iter([lambda: answer(Answer(503)), *[refuse] * 7])
    decided = round_of(lambda: next(failures)(), tries=8)
    assert not any("check that" in reason for _, reason in decided)


def test_who_wants_to_fail_a_refused_connection_early_says_so() -> None:
    rule = FailureRule(signal="os.econnrefused", max_attempts=2)
    assert actions(round_of(refuse, 2, EvidenceRetryPolicy(rules=[rule]))) == ["retry", "fail"]


def answer(answer: Answer) -> None:
    with serving(answer) as server:
        requests.get(server.url, timeout=5).raise_for_status()


def expired() -> None:
    answer(Answer(401, "{}", {"WWW-Authenticate": 'Bearer error="invalid_token", error_description="expired"'}))


def over_the_time_limit() -> None:
    subprocess.run(["sleep", "5"], timeout=0.01, check=True)


def duplicate_key() -> None:
    with sqlite3.connect(":memory:") as database:
        database.execute("create table orders (id integer primary key)")
        database.execute("insert into orders values (1)")
        database.execute("insert into orders values (1)")


def fail_oddly() -> None:
    raise AirflowException("something odd")


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        (expired, ["retry", "fail"]),
        (over_the_time_limit, ["retry", "fail"]),
        (fail_oddly, ["default", "fail"]),
        (duplicate_key, ["fail", "fail"]),
    ],
)
def test_what_may_pass_once_is_retried_once(failing: Failing, expected: list[str]) -> None:
    assert actions(round_of(failing, tries=2)) == expected


def test_a_duplicate_key_is_not_retried_blindly_and_may_be_the_tasks_own_earlier_success() -> None:
    ((action, reason),) = round_of(duplicate_key, tries=1)
    assert action == "fail"
    assert reason.endswith("an earlier attempt may have written it")


def test_refused_access_is_not_tried_again_since_that_locks_accounts_but_the_reason_names_a_fresh_permission() -> None:
    ((action, reason),) = round_of(lambda: answer(Answer(403)), tries=1)
    assert action == "fail"
    assert reason.endswith("a permission granted just now may need some minutes")


def test_what_is_not_found_fails_but_the_reason_names_what_was_created_just_now() -> None:
    ((action, reason),) = round_of(lambda: answer(Answer(404)), tries=1)
    assert action == "fail"
    assert reason.endswith("what was created just now may not be visible yet")


def test_other_failures_in_a_row_are_not_one_failure_that_repeats() -> None:
    words = iter(["the first oddity", "quite another matter", "and now this"])

    def fail() -> None:
        raise AirflowException(next(words))

    assert actions(round_of(fail)) == ["default"] * 3


def test_a_failure_that_passes_now_and_then_is_not_the_same_twice_in_a_row() -> None:
    failures = iter([fail_oddly, refuse, fail_oddly])
    assert actions(round_of(lambda: next(failures)())) == ["default", "retry", "default"]
