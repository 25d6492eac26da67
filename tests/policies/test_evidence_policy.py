"""The policy without Airflow's runner: what it promises to whoever calls ``evaluate``."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests
from airflow.sdk.definitions.retry_policy import RetryAction, RetryDecision, RetryRule
from loopback.http_server import Answer, serving

from airflow_common_ai.policies import DEFAULT_CATEGORIES, EvidenceRetryPolicy, FailureCategory, FailureRule

MISSING = FileNotFoundError(2, "No such file or directory", "/nowhere")


class Store:
    def __init__(self, *, get_fault: BaseException | None = None, set_fault: BaseException | None = None) -> None:
        self.values: dict[str, Any] = {}
        self.retentions: list[timedelta] = []
        self.calls: list[str] = []
        self.get_fault = get_fault
        self.set_fault = set_fault

    def get(self, key: str) -> Any:
        self.calls.append("get")
        if self.get_fault:
            raise self.get_fault
        return self.values.get(key)

    def set(self, key: str, value: Any, *, retention: timedelta) -> None:
        self.calls.append("set")
        if self.set_fault:
            raise self.set_fault
        self.retentions.append(retention)
        self.values[key] = json.loads(json.dumps(value))


def answered(status: int, **headers: str) -> requests.HTTPError:
    with serving(Answer(status, "{}", {name.replace("_", "-"): value for name, value in headers.items()})) as server:
        try:
            requests.get(server.url, timeout=10).raise_for_status()
        except requests.HTTPError as error:
            return error
    raise AssertionError("the server was meant to answer with an error")


def evaluate(
    policy: EvidenceRetryPolicy, error: BaseException, store: Store | None = None, **numbers: int
) -> RetryDecision:
    context: Any = {"task_state_store": store} if store else None
    return policy.evaluate(error, numbers.get("try_number", 1), numbers.get("max_tries", 3), context)


def test_an_asked_delay_is_obeyed_and_named_in_the_reason() -> None:
    decision = evaluate(EvidenceRetryPolicy(), answered(429, Retry_After="120"))
    assert decision.action is RetryAction.RETRY
    assert decision.retry_delay is not None
    assert timedelta(seconds=120) <= decision.retry_delay <= timedelta(seconds=132)
    assert decision.reason == "http.429: rate limited; the server asked for 120 s"


@pytest.mark.parametrize(
    ("asked", "action"), [("90000", RetryAction.FAIL), ("1000000000", RetryAction.RETRY), ("-5", RetryAction.RETRY)]
)
def test_an_absurd_ask_is_never_obeyed(asked: str, action: RetryAction) -> None:
    decision = evaluate(EvidenceRetryPolicy(), answered(429, Retry_After=asked))
    assert decision.action is action
    assert decision.retry_delay is None or decision.retry_delay <= timedelta(minutes=15)


def test_an_ask_beyond_a_limit_of_the_policys_own_fails_with_that_reason_said_once() -> None:
    decision = evaluate(EvidenceRetryPolicy(max_server_delay=timedelta(minutes=1)), answered(503, Retry_After="120"))
    assert decision.action is RetryAction.FAIL
    assert (decision.reason or "").endswith("; the server asked for 120 s, longer than max_server_delay (60 s)")
    assert (decision.reason or "").count("asked for") == 1


def test_an_ask_that_was_ignored_is_said_to_be_implausible() -> None:
    decision = evaluate(EvidenceRetryPolicy(), answered(429, Retry_After="691200"))
    assert decision.reason == (
        "http.429: rate limited; the server asked for 8 days, which is implausible and was ignored"
    )


def test_an_ask_that_has_not_helped_before_is_said_to_be_overridden() -> None:
    store = Store()
    policy = EvidenceRetryPolicy()
    evaluate(policy, answered(429, Retry_After="2"), store, max_tries=2)
    decision = evaluate(policy, answered(429, Retry_After="2"), store, try_number=2, max_tries=2)
    assert decision.retry_delay is not None
    assert decision.retry_delay > timedelta(minutes=9)
    assert (decision.reason or "").endswith(
        "the server asked for 2 s, but such a wait has not helped before: it is longer now"
    )


def test_time_that_is_used_up_fails() -> None:
    class Ti:
        dag_id, run_id, task_id, map_index = "d", "r", "t", -1
        start_date = datetime.now(UTC) - timedelta(hours=2)

    context: Any = {"ti": Ti()}
    decision = EvidenceRetryPolicy(max_elapsed=timedelta(hours=1)).evaluate(ConnectionResetError("x"), 1, 3, context)
    assert decision.action is RetryAction.FAIL
    assert "max_elapsed" in (decision.reason or "")


def test_what_the_evidence_leaves_open_is_left_to_airflow() -> None:
    assert evaluate(EvidenceRetryPolicy(), RuntimeError("odd")) == RetryDecision.default()


def test_fallback_rules_decide_what_nobody_else_did() -> None:
    policy = EvidenceRetryPolicy(
        fallback_rules=[FailureRule(exception=RuntimeError, action=RetryAction.FAIL, name="odd")]
    )
    assert evaluate(policy, RuntimeError("odd")).reason == "fallback_rules.odd: the task's own rule odd matched"


def test_rules_win_over_signals_in_the_order_that_they_are_given() -> None:
    policy = EvidenceRetryPolicy(
        rules=[
            RetryRule(FileNotFoundError, RetryAction.RETRY, timedelta(minutes=7), "it will come"),
            FailureRule(exception=OSError, action=RetryAction.FAIL),
        ]
    )
    decision = evaluate(policy, MISSING)
    assert decision == RetryDecision.retry(timedelta(minutes=7), "rules.1: it will come")


def test_a_changed_table_changes_the_decision() -> None:
    policy = EvidenceRetryPolicy(
        categories={**DEFAULT_CATEGORIES, "resource": FailureCategory("Files.", retry=True, delay=timedelta(minutes=2))}
    )
    decision = evaluate(policy, MISSING)
    assert decision.action is RetryAction.RETRY
    assert decision.retry_delay is not None
    assert timedelta(minutes=2) <= decision.retry_delay <= timedelta(minutes=2.2)


def test_one_read_and_one_write_of_the_store_for_one_decision() -> None:
    store = Store()
    evaluate(EvidenceRetryPolicy(), ConnectionResetError("x"), store)
    assert store.calls == ["get", "set"]
    assert store.retentions == [timedelta(days=30)]


def test_the_record_outlives_the_longest_delay() -> None:
    store = Store()
    evaluate(EvidenceRetryPolicy(max_server_delay=timedelta(days=60)), ConnectionResetError("x"), store)
    assert store.retentions == [timedelta(days=61)]


def test_a_store_that_cannot_be_read_is_not_asked_a_second_time_and_costs_only_the_record(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Store(get_fault=RuntimeError("token=hunter2canary"))
    assert evaluate(EvidenceRetryPolicy(), ConnectionResetError("x"), store).action is RetryAction.RETRY
    assert store.calls == ["get"]
    assert "hunter2canary" not in caplog.text


def test_a_store_that_cannot_be_written_costs_only_the_record() -> None:
    store = Store(set_fault=RuntimeError("down"))
    assert evaluate(EvidenceRetryPolicy(), ConnectionResetError("x"), store).action is RetryAction.RETRY


def test_without_history_the_store_is_left_alone() -> None:
    store = Store()
    evaluate(EvidenceRetryPolicy(history=False), ConnectionResetError("x"), store)
    assert store.calls == []


def test_a_second_evaluation_of_the_same_try_counts_once() -> None:
    store = Store()
    policy = EvidenceRetryPolicy()
    for _ in range(3):
        evaluate(policy, RuntimeError("odd"), store)
    assert len(store.values["ai_retry"]["attempts"]) == 1
    assert evaluate(policy, RuntimeError("odd"), store, try_number=2).action is RetryAction.FAIL


def test_our_own_fault_is_logged_without_the_tasks_secrets_and_leaves_the_task_to_airflow(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy = EvidenceRetryPolicy()
    policy.categories = None  # type: ignore[assignment]  # a fault of ours, planted
    error = ValueError("password=hunter2canary")
    try:
        raise error
    except ValueError:
        decision = evaluate(policy, error)
    assert decision == RetryDecision.default()
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.exc_info is None
    assert "could not judge this failure" in caplog.text
    assert "judgement.py" in caplog.text
    assert "hunter2canary" not in caplog.text


def test_a_redactor_that_raises_withholds_all_words_and_still_decides() -> None:
    def broken(text: str) -> str:
        raise RuntimeError("hunter2canary")

    store = Store()
    decision = evaluate(EvidenceRetryPolicy(redactor=broken), ConnectionRefusedError(111, "hunter2canary"), store)
    assert decision.action is RetryAction.RETRY
    assert "hunter2canary" not in json.dumps(store.values) + str(decision)


def test_no_word_of_the_exception_reaches_the_reason_the_record_or_the_log_unredacted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Store()
    error = RuntimeError("postgresql://etl:hunter2canary@db/prod \x1b[31m connection refused")
    error.add_note("Authorization: Bearer hunter2canary.abcdefghijklmnop")
    with caplog.at_level(logging.DEBUG):
        decision = evaluate(EvidenceRetryPolicy(), error, store)
    assert "hunter2canary" not in json.dumps(store.values) + str(decision) + caplog.text
    assert "\x1b" not in caplog.text


def test_a_reason_fits_airflows_column() -> None:
    policy = EvidenceRetryPolicy(rules=[FailureRule(exception=ValueError, reason="why " * 400)])
    assert len(evaluate(policy, ValueError("x")).reason or "") < 500


def test_a_policy_is_plain_data_that_is_truthy_and_deep_copies() -> None:
    policy = EvidenceRetryPolicy(rules=[FailureRule(exception=ValueError)], max_delay=timedelta(minutes=1))
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert other
        assert vars(other) == vars(policy)


class Odd(BaseException):
    """No ``Exception``, as a library's way to unwind may be."""


ODDITIES = [asyncio.CancelledError("hunter2canary"), Odd("hunter2canary"), GeneratorExit(), RuntimeError("x")]
INTERRUPTS = [KeyboardInterrupt(), SystemExit(3)]


class Raising(logging.Handler):
    def __init__(self, fault: BaseException) -> None:
        super().__init__()
        self.fault = fault

    def emit(self, record: logging.LogRecord) -> None:
        raise self.fault


class FaultyPlace:
    """Somewhere in a deployment that raises while a failure is judged."""

    def __init__(self, fault: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fault = fault
        self.monkeypatch = monkeypatch

    def raises(self, *args: object, **kwargs: object) -> bool:
        raise self.fault

    def store_read(self) -> RetryDecision:
        return evaluate(EvidenceRetryPolicy(), MISSING, Store(get_fault=self.fault))

    def store_write(self) -> RetryDecision:
        return evaluate(EvidenceRetryPolicy(), MISSING, Store(set_fault=self.fault))

    def logging_handler(self) -> RetryDecision:
        logger = logging.getLogger("airflow_common_ai")
        handler = Raising(self.fault)
        logger.addHandler(handler)
        try:
            return evaluate(EvidenceRetryPolicy(), MISSING, Store(get_fault=RuntimeError("down")))
        finally:
            logger.removeHandler(handler)

    def metrics(self) -> RetryDecision:
        from airflow.providers.common.compat.sdk import Stats

        self.monkeypatch.setattr(Stats, "incr", self.raises)
        return evaluate(EvidenceRetryPolicy(), MISSING)

    def predicate(self) -> RetryDecision:
        rule = FailureRule(predicate=self.raises, action=RetryAction.RETRY)
        return evaluate(EvidenceRetryPolicy(rules=[rule]), MISSING)

    def redactor(self) -> RetryDecision:
        return evaluate(EvidenceRetryPolicy(redactor=self.raises), MISSING)  # type: ignore[arg-type]


PLACES = ["store_read", "store_write", "logging_handler", "metrics", "predicate", "redactor"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fault", ODDITIES, ids=lambda fault: type(fault).__name__)
def test_whatever_a_part_of_the_deployment_raises_the_decision_stands(
    place: str, fault: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        decision = getattr(FaultyPlace(fault, monkeypatch), place)()
    assert decision.action is RetryAction.FAIL
    assert "hunter2canary" not in caplog.text + str(decision)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fault", INTERRUPTS, ids=lambda fault: type(fault).__name__)
def test_an_interrupt_passes_through(place: str, fault: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(type(fault)):
        getattr(FaultyPlace(fault, monkeypatch), place)()


def test_our_own_fault_that_is_no_exception_leaves_the_task_to_airflow(caplog: pytest.LogCaptureFixture) -> None:
    policy = EvidenceRetryPolicy()
    policy.tiers = FaultyPlace(Odd("hunter2canary"), pytest.MonkeyPatch()).raises  # type: ignore[method-assign, assignment]
    assert evaluate(policy, MISSING) == RetryDecision.default()
    assert "could not judge this failure (BaseException in " in caplog.text
    assert "hunter2canary" not in caplog.text


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), asyncio.CancelledError()])
def test_exceptions_that_are_no_exceptions_are_judged_and_not_raised(error: BaseException) -> None:
    assert isinstance(evaluate(EvidenceRetryPolicy(), error), RetryDecision)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"max_delay": 60},
            r"EvidenceRetryPolicy\.max_delay must be a timedelta or None, got 60\. Use e\.g\. timedelta",
        ),
        ({"max_delay": timedelta(0)}, "must be longer than zero"),
        ({"max_delay": timedelta.max}, "at most a year"),
        ({"max_server_delay": timedelta(seconds=-1)}, "must be longer than zero"),
        ({"max_elapsed": "1h"}, "max_elapsed must be a timedelta"),
        ({"mode": "dry-run"}, "mode must be 'enforce', 'shadow' or None, got 'dry-run'"),
        ({"redactor": "x"}, "redactor must be a function from text to text"),
        ({"history": "yes"}, "history must be True or False"),
        ({"rules": FailureRule(exception=OSError)}, r"EvidenceRetryPolicy\.rules must be a list of rules"),
        ({"fallback_rules": [OSError]}, r"EvidenceRetryPolicy\.fallback_rules\[0\] must be a RetryRule"),
        ({"categories": []}, "categories must map names to FailureCategory"),
    ],
)
def test_a_wrong_argument_fails_when_the_dag_is_parsed_with_the_fix(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        EvidenceRetryPolicy(**options)


def test_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="positional"):
        EvidenceRetryPolicy([])  # type: ignore[misc]


class Hostile(type):
    """A metaclass whose classes have no name that can be read."""

    __name__ = property(lambda cls: 1 / 0)  # type: ignore[assignment]


class Nameless(Exception, metaclass=Hostile):
    pass


class Refusing(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        raise RuntimeError("the deployment's own filter")


@pytest.mark.parametrize(
    "context", [[], "context", object(), {"ti": object()}, {"task_state_store": Store(get_fault=Nameless())}]
)
def test_a_context_that_is_none_costs_at_most_the_record(context: Any) -> None:
    decision = EvidenceRetryPolicy().evaluate(MISSING, 1, 3, context)
    assert decision.action is RetryAction.FAIL


def test_a_logging_filter_that_raises_does_not_turn_a_decision_around() -> None:
    logger = logging.getLogger("airflow_common_ai.policies.telemetry")
    refusing = Refusing()
    logger.addFilter(refusing)
    try:
        decision = evaluate(EvidenceRetryPolicy(), MISSING)
    finally:
        logger.removeFilter(refusing)
    assert decision.action is RetryAction.FAIL


def test_a_redactor_object_that_refers_to_itself_is_no_fault_of_ours() -> None:
    class Redacts:
        def __init__(self) -> None:
            self.me = self

        def __call__(self, text: str) -> str:
            return text

    policy = EvidenceRetryPolicy(redactor=Redacts())
    assert evaluate(policy, MISSING).action is RetryAction.FAIL


def test_names_made_at_run_time_do_not_reach_a_log(caplog: pytest.LogCaptureFixture) -> None:
    made = type("password=hunter2canary\x1b[31m", (Exception,), {})
    evaluate(EvidenceRetryPolicy(), ConnectionResetError("x"), Store(get_fault=made()))
    assert "could not be read: Exception" in caplog.text
    assert "hunter2canary" not in caplog.text


def test_a_task_with_an_endless_retry_delay_is_judged() -> None:
    class Task:
        retry_delay, retry_exponential_backoff, max_retry_delay = timedelta.max, 10**400, None

    context: Any = {"task": Task(), "task_state_store": Store()}
    assert EvidenceRetryPolicy().evaluate(ConnectionResetError("x"), 1, 3, context).action is RetryAction.RETRY
