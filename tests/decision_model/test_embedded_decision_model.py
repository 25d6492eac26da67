"""The embedded classifier as a decision model: what it answers, and where it does not."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic_ai import Agent, AgentRunResult
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.test import TestModel

from airflow_common_ai.classifier import Classifier, UnusableModel
from airflow_common_ai.classifier.classifier import SHIPPED
from airflow_common_ai.classifier.version import version_of
from airflow_common_ai.decision_model import Abstained, EmbeddedDecisionModel
from airflow_common_ai.decision_model.prompt import evidence_of
from airflow_common_ai.evidence.redaction import Redactor

CATEGORIES = ("rate_limit", "auth", "network", "data", "resource", "transient", "permanent")
REFUSED = "ConnectionError: could not connect to the server: connection refused"


def ask(text: str, *options: str, model: Model | None = None) -> AgentRunResult[Any]:
    output_type: Any = Literal[options or CATEGORIES]
    return Agent(model or EmbeddedDecisionModel(), output_type=output_type).run_sync(text)


def details(result: AgentRunResult[Any]) -> dict[str, Any]:
    assert result.response.provider_details is not None
    return result.response.provider_details


def test_it_names_the_category_with_probabilities_that_add_up_to_one() -> None:
    result = ask(REFUSED)

    assert result.output == "network"
    assert details(result)["confidence"]["response"] > 0.8
    assert details(result)["probabilities"]["response"].keys() == set(CATEGORIES)
    assert sum(details(result)["probabilities"]["response"].values()) == pytest.approx(1)


def test_its_name_tells_which_weights_answered() -> None:
    response = ask(REFUSED).response

    assert (response.model_name, response.provider_name) == (f"embedded-{version_of(SHIPPED)}", "airflow-common-ai")
    assert response.usage.total_tokens == 0


def test_among_few_categories_it_names_one_of_them_and_strange_ones_get_nothing() -> None:
    result = ask(REFUSED, "network", "data", "weather")

    assert result.output == "network"
    assert details(result)["probabilities"]["response"]["weather"] == 0


def test_where_the_right_category_is_not_offered_it_is_unsure_of_the_others() -> None:
    sure = details(ask(REFUSED))["confidence"]["response"]
    unsure = details(ask(REFUSED, "rate_limit", "transient"))

    assert sum(unsure["probabilities"]["response"].values()) == pytest.approx(1)
    assert unsure["confidence"]["response"] < 0.2 < sure


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: ",
        "RuntimeError: Die Verbindung zum Rechner wurde von der Gegenstelle unerwartet abgelehnt",
        "AirflowException: Bash command failed. The command returned a non-zero exit code 1.",
        f"RuntimeError: {'connection refused ' * 1000}",
    ],
)
def test_it_abstains_where_the_classifier_does_and_the_next_model_is_asked(text: str) -> None:
    with pytest.raises(Abstained, match="knows too few words"):
        ask(text)

    assert ask(text, model=FallbackModel(EmbeddedDecisionModel(), TestModel())).response.model_name == "test"


def test_of_a_conversation_it_says_nothing() -> None:
    first = ask(REFUSED)
    agent = Agent(EmbeddedDecisionModel(), output_type=bool)

    with pytest.raises(Abstained, match="not a conversation"):
        agent.run_sync(REFUSED, message_history=first.all_messages(), instructions="Well?")


def test_a_category_that_is_failed_is_named_only_where_the_classifier_would_fail_it_alone() -> None:
    """Somebody who sets no bar acts on any answer."""
    vague = "RuntimeError: the upstream table was not updated before the deadline"
    said = Classifier.load().predict(Redactor().redact(evidence_of(vague)), ())
    assert said is not None
    assert said.should_retry is not False

    assert ask(vague).output in ("rate_limit", "network", "transient")
    with pytest.raises(Abstained, match="not sure enough to name a category that is failed"):
        ask(vague, "auth", "data", "permanent")


def test_other_questions_are_refused_with_what_it_answers() -> None:
    agent = Agent(EmbeddedDecisionModel(), output_type=bool, instructions="Is it bad?")

    for question in (lambda: agent.run_sync(REFUSED), lambda: ask(REFUSED, "red", "green")):
        with pytest.raises(UserError, match="only answers which category a failure is, out of rate_limit, auth"):
            question()


def test_a_file_that_holds_no_model_is_refused() -> None:
    with pytest.raises(UnusableModel, match="no JSON"):
        EmbeddedDecisionModel(__file__)


@pytest.mark.parametrize(
    ("text", "types", "message"),
    [
        (REFUSED, ["builtins.ConnectionError"], "could not connect to the server: connection refused"),
        ("KubernetesJobFailed: two\nlines: of text", ["KubernetesJobFailed"], "two\nlines: of text"),
        ("it broke", ["builtins.Exception"], "it broke"),
        ("KeyError: ", ["builtins.KeyError"], ""),
        (
            "Traceback (most recent call last):\n"
            '  File "/a.py", line 1, in f\n    g()\n'
            "ConnectionRefusedError: [Errno 111] Connection refused\n\n"
            "The above exception was the direct cause of the following exception:\n\n"
            "Traceback (most recent call last):\n"
            '  File "/b.py", line 2, in h\n    f()\n'
            "vendor.errors.LoadError: no rows",
            ["vendor.errors.LoadError", "builtins.ConnectionRefusedError"],
            "no rows",
        ),
        (
            '(truncated) ...e 1, in f\n    g()\n  File "/a.py", line 3, in g\n    raise TimeoutError("late")\n'
            "TimeoutError: late",
            ["builtins.TimeoutError"],
            "late",
        ),
    ],
)
@pytest.mark.parametrize("lead", ["", "Classify this error from a data pipeline task (attempt 1 of 4):\n\n"])
def test_the_failure_is_read_back_from_the_prompt(lead: str, text: str, types: list[str], message: str) -> None:
    nodes = evidence_of(lead + text).nodes

    assert [node.type_path for node in nodes] == types
    assert nodes[0].message == message
