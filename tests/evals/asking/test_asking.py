"""One recorded failure, every kind of retry policy, and who in it decided."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.providers.common.ai.policies.retry import ClassifierRetryPolicy, ErrorCategory
from airflow.providers.common.ai.policies.retry import LLMRetryPolicy as TheirLLMRetryPolicy
from loopback.llm_server import DECISION, refuses
from policies.scripted_model import CONN_ID, connected, saying

from airflow_common_ai.evals.answer import Action, Answer, Outcome
from airflow_common_ai.evals.asking.asker import Asker
from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies import (
    ChainRetryPolicy,
    EvidenceRetryPolicy,
    ExceptionRetryPolicy,
    FailureRule,
    LLMRetryPolicy,
    RetryAction,
    RetryDecision,
    RetryPolicy,
    RetryRule,
)
from airflow_common_ai.policies.settings import read_settings
from airflow_common_ai.recordings.recording import Provenance, Recording

SETTINGS = read_settings()


def recorded(error: BaseException, name: str = "a-case") -> Recording:
    try:
        raise error
    except BaseException as raised:
        evidence = Redactor().redact(collect(raised, observed_at=datetime(2026, 11, 30, tzinfo=UTC)))
    return Recording.of(f"family/{name}", evidence, Provenance("test", "python", "3.11", "raise it"))


REFUSED = recorded(ConnectionRefusedError(111, "Connection refused"))
DENIED = recorded(PermissionError(13, "Permission denied"))
UNCLEAR = recorded(RuntimeError("the flux capacitor is misaligned"))


def asked(policy: RetryPolicy, recording: Recording = REFUSED, repeat: int = 1, **options: Any) -> Answer:
    return Asker(policy, SETTINGS, **options).ask(recording, repeat)


class Deciding(RetryPolicy):
    """Does what it is told."""

    def __init__(self, decide: Callable[[BaseException, Any], Any]) -> None:
        self.decide = decide

    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context: Any = None) -> Any:
        return self.decide(exception, context)


def raising(error: BaseException) -> RetryPolicy:
    def decide(exception: BaseException, context: Any) -> Any:
        raise error

    return Deciding(decide)


# ---- ours


def test_a_policy_of_ours_tells_all_that_its_record_has() -> None:
    answer = asked(EvidenceRetryPolicy())
    assert (answer.outcome, answer.action, answer.source) == (Outcome.DECIDED, Action.RETRY, "signals")
    assert (answer.code, answer.category) == ("os.econnrefused", "network")
    assert answer.votes[0] == {"tier": "rules", "outcome": "abstained"}
    assert answer.reason is not None
    assert answer.reason.startswith("os.econnrefused: ")


def test_what_nobody_settles_is_an_abstention_by_default() -> None:
    answer = asked(EvidenceRetryPolicy(), UNCLEAR)
    assert (answer.outcome, answer.action, answer.source, answer.category) == (
        Outcome.DECIDED,
        Action.DEFAULT,
        "default",
        None,
    )


def test_in_shadow_mode_counts_what_would_have_been_done() -> None:
    assert asked(EvidenceRetryPolicy(mode="shadow")).action is Action.RETRY


@pytest.mark.parametrize("is_registered", [False, True])
def test_secrets_that_only_this_machine_knows_are_masked_in_what_was_redacted_before(is_registered: bool) -> None:
    def masked(text: str) -> str:
        return text.replace("temporarily unavailable", "***")

    recording = recorded(RuntimeError("the service is temporarily unavailable"))
    policy = EvidenceRetryPolicy(classifier=False, redactor=None if is_registered else masked)
    answer = asked(policy, recording, mask_registered=masked if is_registered else None)

    assert asked(EvidenceRetryPolicy(classifier=False), recording).source == "signals"
    assert answer.source == "default"  # nothing that is masked decides


def test_rules_of_ours_and_of_airflow_look_at_the_rebuilt_exception() -> None:
    rule = RetryRule(ConnectionRefusedError, RetryAction.FAIL, reason="it is down for good")
    answer = asked(EvidenceRetryPolicy(rules=[rule]))
    assert (answer.action, answer.source) == (Action.FAIL, "rules")


def test_a_subclass_that_decides_in_tiers_is_judged_like_ours() -> None:
    class Stricter(EvidenceRetryPolicy):
        def tiers(self) -> Any:
            return super().tiers()[1:]

    assert asked(Stricter()).votes[0]["tier"] == "signals"


def test_a_subclass_that_decides_by_itself_is_believed_and_its_record_is_read() -> None:
    class Doubling(EvidenceRetryPolicy):
        def evaluate(self, *arguments: Any, **options: Any) -> RetryDecision:
            decision = super().evaluate(*arguments, **options)
            return RetryDecision.retry(timedelta(hours=3), decision.reason)

    answer = asked(Doubling())
    assert (answer.delay_s, answer.source, answer.code) == (10_800, "signals", "os.econnrefused")


def test_the_same_case_and_repeat_draw_the_same_jitter_and_others_another() -> None:
    policy = EvidenceRetryPolicy()
    delays = [asked(policy, repeat=repeat).delay_s for repeat in (1, 1, 2)]
    assert delays[0] == delays[1]
    assert delays[0] != delays[2]


def test_jitter_of_a_strangers_policy_is_the_same_each_time_too() -> None:
    import random

    policy = Deciding(lambda exception, context: RetryDecision.retry(timedelta(seconds=random.uniform(1, 100))))
    assert asked(policy).delay_s == asked(policy).delay_s
    assert asked(policy).delay_s != asked(policy, repeat=2).delay_s


def test_what_the_server_asked_for_is_told_whatever_policy_is_asked() -> None:
    import requests

    response = requests.Response()
    response.status_code, response.headers["Retry-After"] = 429, "120"
    recording = recorded(requests.HTTPError("429 Too Many Requests", response=response))
    for policy in (EvidenceRetryPolicy(), ExceptionRetryPolicy([]), raising(ValueError("no"))):
        assert asked(policy, recording).asked_delay_s == 120


# ---- Airflow's, and strangers'


@pytest.mark.parametrize(
    ("recording", "action", "source"), [(DENIED, Action.FAIL, "rules"), (REFUSED, Action.DEFAULT, "default")]
)
def test_of_airflows_own_a_rule_decides_or_nobody(recording: Recording, action: Action, source: str) -> None:
    answer = asked(ExceptionRetryPolicy([RetryRule(PermissionError, RetryAction.FAIL)]), recording)
    assert (answer.action, answer.source) == (action, source)


def test_a_strangers_policy_sees_the_exception_the_first_of_several_tries_and_a_store() -> None:
    seen: list[Any] = []

    class Looking(RetryPolicy):
        def evaluate(
            self, exception: BaseException, try_number: int, max_tries: int, context: Any = None
        ) -> RetryDecision:
            store = context["task_state_store"]
            store.set("key", {"seen": [1]}, retention=timedelta(days=1))
            seen.extend([type(exception), try_number, max_tries, store.get("key"), context["ti"].task_id])
            return RetryDecision.fail("no\nhope")

    answer = asked(Looking())
    assert seen == [ConnectionRefusedError, 1, 5, {"seen": [1]}, "a-case"]
    assert (answer.action, answer.source, answer.reason) == (Action.FAIL, "unknown", "no hope")


def test_secrets_and_escapes_in_a_reason_or_an_error_do_not_get_into_the_row() -> None:
    secret = "postgres://user:hunter2@db/x \x1b[31m"
    assert asked(Deciding(lambda *_: RetryDecision.fail(secret))).reason == "postgres://user:***@db/x \\x1b[31m"
    assert asked(raising(OSError(secret))).error == "builtins.OSError: postgres://user:***@db/x \\x1b[31m"


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), GeneratorExit(), BaseException("gone")])
def test_a_policy_that_raises_has_crashed(error: BaseException) -> None:
    answer = asked(raising(error))
    assert answer.outcome is Outcome.CRASHED
    assert answer.error is not None
    assert answer.error.startswith(f"builtins.{type(error).__name__}")


def test_somebody_who_wants_to_end_can() -> None:
    with pytest.raises(KeyboardInterrupt):
        asked(raising(KeyboardInterrupt()))


@pytest.mark.parametrize(
    ("returned", "words"),
    [(None, "it returned None instead of a RetryDecision"), (3, "it returned a value of type int instead of")],
)
def test_a_policy_that_returns_no_decision_has_crashed(returned: object, words: str) -> None:
    answer = asked(Deciding(lambda *_: returned))
    assert answer.outcome is Outcome.CRASHED
    assert words in (answer.error or "")


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        (timedelta(seconds=90), 90),
        (timedelta(seconds=-5), 0),
        (timedelta.max, 1e11),
        (None, None),
        ("soon", None),
    ],
)
def test_delays_are_seconds_within_what_a_row_can_hold(delay: Any, seconds: float | None) -> None:
    assert asked(Deciding(lambda *_: RetryDecision(RetryAction.RETRY, delay))).delay_s == seconds


# ---- chains


CHAINS: Sequence[Sequence[RetryPolicy]] = (
    [ExceptionRetryPolicy([RetryRule(PermissionError, RetryAction.FAIL)]), EvidenceRetryPolicy()],
    [EvidenceRetryPolicy(), ExceptionRetryPolicy([RetryRule(RuntimeError, RetryAction.FAIL)])],
    [raising(ValueError("no")), EvidenceRetryPolicy()],
    [Deciding(lambda *_: None), EvidenceRetryPolicy()],
    [ExceptionRetryPolicy([])],
)


@pytest.mark.parametrize("policies", CHAINS, ids=lambda policies: "+".join(type(one).__name__ for one in policies))
@pytest.mark.parametrize(
    "recording", [REFUSED, DENIED, UNCLEAR], ids=lambda recording: recording.evidence.nodes[0].message
)
def test_a_chain_decides_as_it_would_by_itself(policies: Sequence[RetryPolicy], recording: Recording) -> None:
    from airflow_common_ai.recordings.rebuild import rebuild

    chain = ChainRetryPolicy(policies)
    by_itself = chain.evaluate(rebuild(recording.evidence), 1, 5, None)
    assert asked(chain, recording).action.value == by_itself.action.value


def test_who_in_a_chain_decided_is_told_with_all_votes() -> None:
    answer = asked(ChainRetryPolicy(CHAINS[0]))
    assert (answer.source, answer.code, answer.category) == ("signals", "os.econnrefused", "network")
    assert [vote["tier"] for vote in answer.votes[:2]] == ["ExceptionRetryPolicy", "rules"]


def test_a_crash_within_a_chain_is_told_and_the_next_one_decides() -> None:
    answer = asked(ChainRetryPolicy(CHAINS[2]))
    assert (answer.outcome, answer.source) == (Outcome.DECIDED, "signals")
    assert answer.error == "builtins.ValueError: no"


def test_a_chain_that_is_interrupted_crashes_as_a_whole() -> None:
    assert asked(ChainRetryPolicy([raising(SystemExit()), EvidenceRetryPolicy()])).outcome is Outcome.CRASHED


# ---- models


def test_where_no_model_may_be_asked_the_model_tier_abstains_and_the_rest_decides() -> None:
    rules = [RetryRule(RuntimeError, RetryAction.FAIL)]
    policy = LLMRetryPolicy(CONN_ID, fallback_rules=rules)
    answer = asked(policy, UNCLEAR)
    assert (answer.action, answer.source, answer.calls) == (Action.FAIL, "fallback_rules", 0)
    assert {"tier": "llm", "outcome": "abstained", "code": "llm.no_answer"} in answer.votes
    assert policy.tiers()[-1].name == "fallback_rules", "the policy itself is as it was"


def test_what_our_model_tier_was_told_is_in_the_row() -> None:
    with saying(category="network"):
        answer = asked(LLMRetryPolicy(CONN_ID), UNCLEAR, asks_models=True)
    assert (answer.source, answer.category, answer.confidence) == ("llm", "network", 1.0)
    assert (answer.model, answer.input_tokens, answer.output_tokens, answer.calls) == ("a-model-as-served", 70, 7, 1)


def test_why_no_model_answered_is_an_error_and_the_default_decides() -> None:
    with connected(refuses(401)):
        answer = asked(LLMRetryPolicy(CONN_ID), UNCLEAR, asks_models=True)
    assert (answer.source, answer.model) == ("default", None)
    assert "401" in (answer.error or "")


def test_of_the_common_ai_providers_llm_policy_the_reason_tells_the_category() -> None:
    with saying(category="network", reasoning="it: is so"):
        answer = asked(TheirLLMRetryPolicy(CONN_ID))
    assert (answer.action, answer.source, answer.category) == (Action.RETRY, "llm", "network")


@pytest.mark.parametrize(
    ("rules", "action", "source"),
    [
        ([RetryRule(OSError, RetryAction.FAIL, reason="network: looks like a model's")], Action.FAIL, "fallback_rules"),
        ([], Action.DEFAULT, "default"),
    ],
)
def test_a_rule_that_stood_in_for_a_model_is_not_taken_for_one(
    rules: list[RetryRule], action: Action, source: str
) -> None:
    with connected(refuses(401)):
        answer = asked(TheirLLMRetryPolicy(CONN_ID, fallback_rules=rules))
    assert (answer.action, answer.source, answer.category) == (action, source, None)
    assert "401" in (answer.error or "")


def test_of_the_classifier_policy_the_reason_tells_category_and_confidence() -> None:
    with saying(DECISION, category="network"):
        answer = asked(ClassifierRetryPolicy(CONN_ID, min_confidence=0.8))
    assert (answer.action, answer.source, answer.category, answer.confidence) == (
        Action.RETRY,
        "classifier",
        "network",
        0.9,
    )


def test_an_unsure_classifier_has_a_vote_and_what_it_falls_back_on_decides() -> None:
    with saying(DECISION, category="network"):
        answer = asked(ClassifierRetryPolicy(CONN_ID, min_confidence=0.95))
    assert (answer.action, answer.source, answer.category) == (Action.DEFAULT, "default", None)
    assert answer.votes == ({"tier": "classifier", "outcome": "unsure", "category": "network", "confidence": 0.9},)


def test_a_classifier_that_hands_on_to_a_policy_of_ours_tells_what_ours_decided() -> None:
    with connected(refuses(500)):
        answer = asked(ClassifierRetryPolicy(CONN_ID, fallback_policy=EvidenceRetryPolicy()))
    assert (answer.action, answer.source, answer.code) == (Action.RETRY, "signals", "os.econnrefused")
    assert answer.reason is not None
    assert answer.reason.startswith("escalated (model_error); ")


def test_categories_with_spaces_are_read_whole() -> None:
    categories = {"net work = bad": ErrorCategory("network"), "other": ErrorCategory("other", retry=False)}
    with saying(DECISION, category="net work = bad"):
        answer = asked(ClassifierRetryPolicy(CONN_ID, categories=categories))
    assert answer.category == "net work = bad"


def test_an_answer_becomes_json() -> None:
    from airflow_common_ai.evals.cases import Case, row_of

    row = row_of(Case(REFUSED, None), 2, asked(EvidenceRetryPolicy()))
    assert json.loads(json.dumps(row.to_json()))["failure"] == [
        "ConnectionRefusedError: [Errno 111] Connection refused"
    ]
    assert row.key == ("family/a-case", 2)


# ---- when the same failure comes again


def test_later_tries_are_asked_with_the_memory_of_those_before_until_the_task_is_failed() -> None:
    worth_two = EvidenceRetryPolicy(rules=[FailureRule(ConnectionError, max_attempts=3)])
    for policy in (worth_two, ChainRetryPolicy([ExceptionRetryPolicy([]), worth_two])):
        answer = asked(policy, tries=5)
        assert [answer.action, *(later.action for later in answer.later)] == [Action.RETRY, Action.RETRY, Action.FAIL]


def test_a_strangers_policy_finds_its_own_memory_and_the_number_of_the_try() -> None:
    class Counting(RetryPolicy):
        def evaluate(
            self, exception: BaseException, try_number: int, max_tries: int, context: Any = None
        ) -> RetryDecision:
            store = context["task_state_store"]
            store.set("seen", [*store.get("seen", []), try_number])
            return RetryDecision.retry(timedelta(seconds=sum(store.get("seen"))))

    answer = asked(Counting(), tries=4)
    assert [answer.delay_s, *(later.delay_s for later in answer.later)] == [1, 3, 6, 10]


def test_a_policy_that_crashed_is_not_asked_again() -> None:
    assert asked(raising(ValueError("no")), tries=5).later == ()


def test_unless_told_so_only_the_first_try_is_asked_about() -> None:
    assert asked(EvidenceRetryPolicy()).later == ()
