"""The Common AI provider's own ``ClassifierRetryPolicy`` on the embedded classifier, about raised exceptions."""

from __future__ import annotations

import copy
import json
import logging
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from airflow.providers.common.ai.hooks.pydantic_ai import PydanticAIHook
from airflow.providers.common.ai.policies.retry import ClassifierRetryPolicy, ErrorCategory
from airflow.sdk.definitions.retry_policy import RetryAction, RetryDecision, RetryPolicy, RetryRule
from evals.small_corpus import a_recording, written_corpus
from typer.testing import CliRunner

from airflow_common_ai.classifier import UnusableModel
from airflow_common_ai.classifier.classifier import SHIPPED
from airflow_common_ai.cli.run import app
from airflow_common_ai.decision_model import EmbeddedClassifierRetryPolicy
from airflow_common_ai.evals.runs.run_file import read_run
from airflow_common_ai.policies import EvidenceRetryPolicy


def refused() -> BaseException:
    """Wrapped as user code wraps; only the cause says what happened."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return raised_by(lambda: load_from(port))


def load_from(port: int) -> None:
    try:
        socket.create_connection(("127.0.0.1", port))
    except OSError as error:
        raise RuntimeError("load failed") from error


def missing() -> BaseException:
    return raised_by((Path(__file__).parent / "no_such_folder" / "orders.csv").read_text)


def undecodable() -> BaseException:
    return raised_by(lambda: json.loads("{not json"))


def empty() -> BaseException:
    def fail() -> None:
        raise RuntimeError

    return raised_by(fail)


def raised_by(work: Callable[[], object]) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one it is, is the policy's to find out
        work()
    return caught.value


def evaluate(policy: RetryPolicy, error: BaseException) -> RetryDecision:
    return policy.evaluate(error, 1, 3)


def test_it_is_the_providers_policy_and_only_its_hook_is_another() -> None:
    policy = EmbeddedClassifierRetryPolicy()

    assert isinstance(policy, ClassifierRetryPolicy)
    assert isinstance(policy._hook(), PydanticAIHook)
    assert type(policy).evaluate is ClassifierRetryPolicy.evaluate
    assert type(policy)._classify is ClassifierRetryPolicy._classify


def test_a_connection_that_was_refused_is_retried_as_the_table_says(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        decision = evaluate(EmbeddedClassifierRetryPolicy(min_confidence=0.8), refused())

    assert (decision.action, decision.retry_delay) == (RetryAction.RETRY, timedelta(seconds=10))
    assert decision.reason is not None
    assert decision.reason.startswith("category=network confidence=")
    assert "model=embedded-" in caplog.text


@pytest.mark.parametrize(("error", "category"), [(missing(), "resource"), (undecodable(), "data")])
def test_what_no_retry_helps_is_failed(error: BaseException, category: str) -> None:
    decision = evaluate(EmbeddedClassifierRetryPolicy(min_confidence=0.5), error)

    assert decision.action is RetryAction.FAIL
    assert decision.reason is not None
    assert decision.reason.startswith(f"category={category} ")


def test_under_the_bar_the_answer_is_not_applied() -> None:
    decision = evaluate(EmbeddedClassifierRetryPolicy(min_confidence=1.0), refused())

    assert decision.action is RetryAction.DEFAULT
    assert decision.reason == "classifier answer not applied (below_threshold); task retry settings apply"


def test_where_it_abstains_the_fallbacks_decide() -> None:
    rules = [RetryRule(exception=RuntimeError, action=RetryAction.RETRY, retry_delay=timedelta(seconds=7))]

    assert evaluate(EmbeddedClassifierRetryPolicy(), empty()).action is RetryAction.DEFAULT
    decision = evaluate(EmbeddedClassifierRetryPolicy(fallback_rules=rules), empty())
    assert (decision.action, decision.retry_delay) == (RetryAction.RETRY, timedelta(seconds=7))
    escalated = evaluate(
        EmbeddedClassifierRetryPolicy(min_confidence=1.0, fallback_policy=EvidenceRetryPolicy()), refused()
    )
    assert escalated.reason is not None
    assert escalated.reason.startswith("escalated (below_threshold); ")


def test_categories_of_the_author_are_obeyed() -> None:
    categories = {
        "network": ErrorCategory("The line is down.", delay=timedelta(minutes=5)),
        "data": ErrorCategory("Bad input.", retry=False),
    }

    assert evaluate(EmbeddedClassifierRetryPolicy(categories=categories), refused()).retry_delay == timedelta(minutes=5)


def test_it_can_be_copied_as_default_args_are_and_other_weights_are_another_policy(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_bytes(SHIPPED.read_bytes().replace(b'"seed"', b'"seen"'))
    policy = EmbeddedClassifierRetryPolicy(classifier=path)

    assert vars(copy.deepcopy(policy)) == vars(policy)
    assert policy.weights != EmbeddedClassifierRetryPolicy().weights
    assert evaluate(policy, refused()).action is RetryAction.RETRY


@pytest.mark.parametrize("content", [None, b"", SHIPPED.read_bytes()[:5000], b'{"schema": 1}'])
def test_a_model_that_cannot_be_used_is_refused_when_the_dag_is_parsed(content: bytes | None, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    if content is not None:
        model.write_bytes(content)
    with pytest.raises(UnusableModel, match=r"model\.json"):
        EmbeddedClassifierRetryPolicy(classifier=model)


def test_the_policies_never_load_it_or_pydantic_ai() -> None:
    program = (
        "import sys\n"
        "from airflow_common_ai.policies import EvidenceRetryPolicy, LLMRetryPolicy\n"
        "EvidenceRetryPolicy().evaluate(RuntimeError('connection refused by host'), 1, 3)\n"
        "import airflow_common_ai.decision_model\n"
        "print([name for name in sys.modules if name.startswith(('pydantic_ai', 'airflow_common_ai.decision_model.'))])"
    )

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed.splitlines()[-1] == "[]"


def test_the_command_that_evaluates_policies_runs_it(tmp_path: Path) -> None:
    recordings = [a_recording("refused", refused()), a_recording("missing", missing()), a_recording("empty", empty())]
    corpus = written_corpus(tmp_path / "corpus", recordings)
    policy = "airflow_common_ai.decision_model:EmbeddedClassifierRetryPolicy"

    result = CliRunner().invoke(app, ["run", str(corpus), "--policy", policy, "-o", str(tmp_path / "run.jsonl")])

    assert result.exit_code == 0, result.output
    decided = {row.id: row for row in read_run(tmp_path / "run.jsonl").rows}
    assert {name: (answer.action, answer.source, answer.category) for name, answer in decided.items()} == {
        "family/refused": ("retry", "classifier", "network"),
        "family/missing": ("fail", "classifier", "resource"),
        "family/empty": ("default", "default", None),
    }
