"""The embedded classifier in the ladder: with a model of made-up words, whose probabilities are known."""

from __future__ import annotations

import copy
import logging
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.definitions.retry_policy import RetryAction, RetryDecision
from scripted_model import Store

from airflow_common_ai.classifier.model import CATEGORIES, HEADS, HOPELESS, Bars, LinearModel
from airflow_common_ai.policies import DEFAULT_CATEGORIES, EvidenceRetryPolicy, FailureCategory, FailureRule

FIRM, LEANING = 30.0, 2.0
"""Weights: of a word that makes the model certain, and of one that leaves it in doubt."""


def weights(category: str, retry: float, strength: float = FIRM) -> list[float]:
    heads = [0.0] * HEADS
    heads[CATEGORIES.index(category)] = strength
    heads[-1] = retry
    return heads


WORDS = {
    "flurb": weights("network", FIRM),
    "glarg": weights("data", -FIRM),
    "mumbl": weights("data", -LEANING),
    "hesit": weights("network", LEANING / 8),
    "torn": weights("auth", FIRM),
    "wobbl": weights("transient", 0.0, strength=0.5),
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    bars = Bars(dict.fromkeys(HOPELESS, 0.75), dict.fromkeys(CATEGORIES, 0.6))
    made = LinearModel.of(list(WORDS), list(WORDS.values()), [0.0] * HEADS, (1.0, 0.0), bars, {})
    path.write_bytes(made.to_bytes())
    return path


def vote(store: Store, tier: str) -> dict[str, Any]:
    """Of the newest attempt."""
    found: dict[str, Any] = next(vote for vote in store.attempts[-1]["votes"] if vote["tier"] == tier)
    return found


def failed(words: str) -> RuntimeError:
    return RuntimeError(words)


def evaluate(policy: EvidenceRetryPolicy, error: BaseException, store: Store, try_number: int = 1) -> RetryDecision:
    context: Any = {"task_state_store": store}
    return policy.evaluate(error, try_number, 5, context)


def test_what_the_signals_leave_open_is_decided_with_the_words_as_the_reason(model: Path) -> None:
    store = Store()
    decision = evaluate(EvidenceRetryPolicy(classifier=model), failed("flurb wobbl"), store)
    assert decision.action is RetryAction.RETRY
    assert decision.reason is not None
    assert decision.reason.startswith("classifier.network: reads like network (1.00): 'flurb'")
    assert store.attempts[-1]["tier"] == "classifier"
    assert decision.retry_delay is not None, "the row of the category says how long"


def test_a_failure_that_no_try_mends_is_failed(model: Path) -> None:
    decision = evaluate(EvidenceRetryPolicy(classifier=str(model)), failed("glarg wobbl"), Store())
    assert decision.action is RetryAction.FAIL


def test_failing_takes_more_certainty_than_retrying(model: Path) -> None:
    store = Store()
    policy = EvidenceRetryPolicy(classifier=model)
    assert evaluate(policy, failed("mumbl wobbl"), store).action is RetryAction.DEFAULT
    said = vote(store, "classifier")
    assert said["outcome"] == "unsure"
    assert 0.6 < said["confidence"] < 0.9, "enough to retry, not to fail"


def test_a_category_that_the_table_treats_otherwise_than_the_model_would_is_not_named(model: Path) -> None:
    store = Store()
    decision = evaluate(EvidenceRetryPolicy(classifier=model), failed("torn wobbl"), store)
    assert decision.action is RetryAction.RETRY
    assert store.attempts[-1]["category"] in ("rate_limit", "network", "transient"), "the table would fail auth"


def test_a_row_that_the_user_changed_is_obeyed(model: Path) -> None:
    policy = EvidenceRetryPolicy(
        classifier=model, categories={**DEFAULT_CATEGORIES, "data": FailureCategory("Late files.", retry=True)}
    )
    store = Store()
    decision = evaluate(policy, failed("glarg wobbl"), store)
    assert decision.action is RetryAction.RETRY
    assert store.attempts[-1]["category"] == "data"


@pytest.mark.parametrize("is_wanted", [True, False])
def test_its_vote_stands_in_the_record_where_a_rule_decided_unless_it_is_switched_off(
    model: Path, is_wanted: bool
) -> None:
    store = Store()
    rule = FailureRule(message="flurb", action=RetryAction.FAIL)
    policy = EvidenceRetryPolicy(rules=[rule], classifier=model, vote_always=is_wanted)
    assert evaluate(policy, failed("flurb wobbl"), store).action is RetryAction.FAIL
    tiers = [vote["tier"] for vote in store.attempts[-1]["votes"]]
    assert tiers == (["rules", "classifier"] if is_wanted else ["rules"])


def test_a_conclusive_signal_wins_over_it(model: Path) -> None:
    store = Store()
    decision = evaluate(EvidenceRetryPolicy(classifier=model), ConnectionRefusedError(111, "glarg"), store)
    assert decision.action is RetryAction.RETRY
    assert store.attempts[-1]["tier"] == "signals"


def test_it_can_be_switched_off(model: Path) -> None:
    store = Store()
    assert evaluate(EvidenceRetryPolicy(classifier=False), failed("flurb wobbl"), store).action is RetryAction.DEFAULT
    assert "classifier" not in [vote["tier"] for vote in store.attempts[-1]["votes"]]


def test_the_same_unsure_failure_is_not_failed_while_the_model_leans_to_a_retry(model: Path) -> None:
    policy, store = EvidenceRetryPolicy(classifier=model), Store()
    for try_number in (1, 2):
        assert evaluate(policy, failed("hesit wobbl"), store, try_number).action is RetryAction.DEFAULT
    policy, store = EvidenceRetryPolicy(classifier=model), Store()
    assert evaluate(policy, failed("mumbl wobbl"), store, 1).action is RetryAction.DEFAULT
    assert evaluate(policy, failed("mumbl wobbl"), store, 2).action is RetryAction.FAIL


def test_a_model_that_is_gone_on_the_worker_costs_its_vote_only(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    policy = EvidenceRetryPolicy(classifier=model)
    model.unlink()
    store = Store()
    with caplog.at_level(logging.WARNING):
        assert evaluate(policy, failed("no such thing"), store).action is RetryAction.DEFAULT
        assert evaluate(policy, FileNotFoundError(2, "gone"), store).action is RetryAction.FAIL
    assert "cannot be read: No such file or directory. Check the path. Decided without the classifier." in caplog.text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"not json", "is damaged: it is no JSON. Train it again"),
        (b'{"schema": 99}', "has schema '99', this version reads"),
        (b"[]", "has schema"),
    ],
)
def test_a_file_that_holds_no_model_is_refused_when_the_dag_is_parsed(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"EvidenceRetryPolicy\.classifier: The model .* ") as refused:
        EvidenceRetryPolicy(classifier=path)
    assert problem in str(refused.value)


def test_an_absent_file_and_a_wrong_type_are_refused_when_the_dag_is_parsed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot be read: No such file or directory\. Check the path"):
        EvidenceRetryPolicy(classifier=tmp_path / "none.json")
    with pytest.raises(TypeError, match="classifier must be True, False or the path of a model, got 7"):
        EvidenceRetryPolicy(classifier=7)  # type: ignore[arg-type]


def test_a_policy_holds_the_path_and_not_the_model(model: Path) -> None:
    policy = EvidenceRetryPolicy(classifier=model)
    assert copy.deepcopy(policy).classifier == str(model)
    assert not any(isinstance(value, LinearModel) for value in vars(policy).values())


def test_the_shipped_model_is_used_unless_it_is_switched_off() -> None:
    store = Store()
    evaluate(EvidenceRetryPolicy(), ConnectionRefusedError(111, "Connection refused"), store)
    said = vote(store, "classifier")
    assert said["category"] == "network"
    assert 0.5 < said["confidence"] <= 1
