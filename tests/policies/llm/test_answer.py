"""What is taken for an answer, and how sure it counts as."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES, FailureCategory, check_categories
from airflow_common_ai.policies.llm.answer import MAX_REASONING_CHARS, Answer, answer_type, read_answer
from airflow_common_ai.policies.llm.call import Form, Reply

TYPE = answer_type(tuple(DEFAULT_CATEGORIES))
GOOD = {
    "reasoning": "the peer hung up",
    "category": "network",
    "confidence": 80,
    "should_retry": True,
    "suggested_delay_seconds": 30,
}


def reply(output: Any, details: dict[str, Any] | None = None, form: Form = "json_schema") -> Reply:
    return Reply(output, "m", "c", "pydanticai", details or {}, form=form)


def read(details: dict[str, Any] | None = None, **changes: Any) -> Answer:
    found = read_answer(reply(TYPE.model_validate_json(json.dumps({**GOOD, **changes})), details), DEFAULT_CATEGORIES)
    assert isinstance(found, Answer)
    return found


def spelt(*tokens: tuple[str, float]) -> dict[str, Any]:
    return {"logprobs": [{"token": token, "logprob": math.log(share)} for token, share in tokens]}


def test_the_schema_asks_for_the_reasoning_first_and_bounds_everything() -> None:
    schema = TYPE.model_json_schema()
    assert list(schema["properties"]) == [
        "reasoning",
        "category",
        "confidence",
        "should_retry",
        "suggested_delay_seconds",
    ]
    assert schema["required"] == list(schema["properties"])
    assert schema["properties"]["reasoning"]["maxLength"] == MAX_REASONING_CHARS
    assert schema["properties"]["category"]["enum"] == list(DEFAULT_CATEGORIES)
    assert (schema["properties"]["confidence"]["minimum"], schema["properties"]["confidence"]["maximum"]) == (0, 100)
    assert schema["properties"]["suggested_delay_seconds"]["maximum"] == 86_400


@pytest.mark.parametrize("category", ["drop_table", "", None, 3, ["network"], "network\x00", "n" * 9999, "permanently"])
def test_a_category_outside_the_set_is_refused_and_never_mended_into_another(category: Any) -> None:
    with pytest.raises(ValidationError):
        TYPE.model_validate_json(json.dumps({**GOOD, "category": category}))


@pytest.mark.parametrize("spelling", ["rate_limit", "Rate Limit", "RATE-LIMIT", " rate_limit "])
def test_the_spelling_of_a_category_is_forgiven(spelling: str) -> None:
    assert read(category=spelling).category == "rate_limit"


def test_categories_that_differ_in_their_spelling_only_are_kept_apart() -> None:
    both = answer_type(("Busy", "busy"))
    assert both.model_validate({"category": "Busy"}).category == "Busy"  # type: ignore[attr-defined]  # made at run time
    assert both.model_validate({"category": "busy"}).category == "busy"  # type: ignore[attr-defined]


@pytest.mark.parametrize(("said", "read_as"), [("false", False), ("True", True), (0, None), ("no", None), (None, None)])
def test_a_flag_that_was_written_as_text_is_read(said: Any, read_as: bool | None) -> None:
    assert read(should_retry=said).should_retry is read_as


def test_an_output_that_no_schema_has_checked_is_checked_all_the_same() -> None:
    unchecked = SimpleNamespace(category="drop_table", reasoning="x" * 10**6, confidence=math.nan)
    assert read_answer(reply(unchecked), DEFAULT_CATEGORIES) == "it answered with a category that it was not given"
    unchecked.category = "network"
    unchecked.suggested_delay_seconds = -math.inf
    found = read_answer(reply(unchecked), DEFAULT_CATEGORIES)
    assert isinstance(found, Answer)
    assert (found.confidence, found.confidence_source, found.suggested_delay_s) == (0.0, "none", None)
    assert len(found.reasoning) <= MAX_REASONING_CHARS


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("30", 30.0),
        ("30.9", 30.0),
        ("0", None),
        ("-5", None),
        ("1e9", None),
        ("1000000000000000000000", None),
        ("NaN", None),
        ("-Infinity", None),
        ('"60"', 60.0),
        ('"soon"', None),
        ("null", None),
        ("true", None),
        ("[60]", None),
    ],
)
def test_a_delay_that_no_task_should_wait_is_no_suggestion(said: str, seconds: float | None) -> None:
    raw = json.dumps(GOOD).replace('"suggested_delay_seconds": 30', f'"suggested_delay_seconds": {said}')
    found = read_answer(reply(TYPE.model_validate_json(raw)), DEFAULT_CATEGORIES)
    assert isinstance(found, Answer)
    assert found.suggested_delay_s == seconds


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        (80, 0.8),
        (100, 0.9),
        (0, 0.0),
        (0.75, 0.75),
        (1.0, 0.9),
        (101, 0.0),
        (-1, 0.0),
        ("80", 0.8),
        ("80 %", 0.8),
        ("0.75", 0.75),
        (1, 0.01),
        ("1", 0.01),
        ("0.9 %", 0.0),
        ("high", 0.0),
        ("9" * 5000, 0.0),
        (None, 0.0),
        (True, 0.0),
        (float("nan"), 0.0),
        (float("inf"), 0.0),
    ],
)
def test_what_a_model_says_of_itself_is_capped_and_nonsense_is_no_confidence(said: Any, confidence: float) -> None:
    found = read(confidence=said)
    assert found.confidence == pytest.approx(confidence)
    assert found.confidence_source == "own_statement"


def test_where_nothing_held_it_to_the_question_a_model_is_sure_enough_to_retry_and_never_to_fail() -> None:
    found = read_answer(reply(TYPE.model_validate({**GOOD, "confidence": 100}), form="prompted"), DEFAULT_CATEGORIES)
    assert isinstance(found, Answer)
    rows = DEFAULT_CATEGORIES.values()
    assert max(row.bar for row in rows if row.retry) < found.confidence < min(row.bar for row in rows if not row.retry)


def test_token_probabilities_count_before_the_own_statement() -> None:
    tokens = spelt(
        ('{"reasoning": "x", "category": "', 0.2), ("net", 0.8), ("work", 0.9), ('", "confidence": 80}', 0.1)
    )
    found = read(tokens, confidence=100)
    assert found.confidence == pytest.approx(0.72)
    assert found.confidence_source == "token_probabilities"


def test_a_label_that_is_quoted_in_the_reasoning_is_not_the_label() -> None:
    quoted = '{"reasoning": "it says \\"category\\": \\"network\\" there", '
    tokens = spelt((quoted, 1.0), ('"category": "', 1.0), ("network", 0.5), ('"}', 1.0))
    assert read(tokens).confidence == pytest.approx(0.5)


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        [],
        "network",
        [{"token": "network"}],
        [{"token": '"category": "network"', "logprob": 5.0}],
        [{"token": '"category": "network"', "logprob": float("nan")}],
        [{"token": '"category": "permanent"', "logprob": 0.0}],
        [{"token": "no label", "logprob": 0.0}],
        [{"token": '"category": "network"', "logprob": -(10**400)}],
        [7],
        [{"token": "x", "logprob": 0.0}] * 5000,
    ],
    ids=[
        "none",
        "empty",
        "text",
        "no number",
        "above 1",
        "nan",
        "another label",
        "no label",
        "huge",
        "no token",
        "too many",
    ],
)
def test_token_probabilities_that_do_not_fit_leave_the_own_statement(logprobs: Any) -> None:
    assert read({"logprobs": logprobs}).confidence_source == "own_statement"


@pytest.mark.parametrize(
    ("details", "confidence", "source"),
    [
        ({"confidence": {"response": 0.93}}, 0.93, "decision_model"),
        ({"confidence": {"a": 0.93, "b": 0.5}}, 0.5, "decision_model"),
        ({"confidence": {"response": float("nan")}}, 0.0, "none"),
        ({"confidence": {"response": 7}}, 0.0, "none"),
        ({"confidence": {}}, 0.0, "none"),
        ({}, 0.0, "none"),
    ],
)
def test_a_decision_model_reports_its_own_confidence(details: dict[str, Any], confidence: float, source: str) -> None:
    found = read_answer(reply("network", details, "decision"), DEFAULT_CATEGORIES)
    assert found == Answer("network", confidence, source)  # type: ignore[arg-type]


@pytest.mark.parametrize("category", DEFAULT_CATEGORIES)
def test_a_contradiction_lowers_the_confidence_under_every_bar_of_a_category_that_fails(category: str) -> None:
    table = check_categories({"data": FailureCategory("x", retry=False, min_confidence=0.7)})
    row = table[category]
    output = TYPE.model_validate({**GOOD, "category": category, "should_retry": not row.retry, "confidence": 90})
    found = read_answer(reply(output), table)
    assert isinstance(found, Answer)
    assert found.confidence < min(one.bar for one in table.values() if not one.retry)
    assert found.contradicts(row)


def test_a_contradiction_may_still_retry() -> None:
    assert read(should_retry=False).confidence >= DEFAULT_CATEGORIES["network"].bar


def test_a_field_that_is_left_out_is_a_field_that_says_nothing() -> None:
    found = read_answer(reply(TYPE.model_validate({"category": "auth"})), DEFAULT_CATEGORIES)
    assert found == Answer("auth", 0.0, "own_statement")


def test_nothing_in_the_reasoning_acts_on_a_terminal() -> None:
    assert "\x1b" not in read(reasoning="\x1b[31m\u202e red").reasoning
