"""What a model has to have earned before its word alone may fail a task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from evals.replayed_run import label, row, run_of

from airflow_common_ai.evals.runs.run_file import Row, Run
from airflow_common_ai.evals.trust import measure_trust
from airflow_common_ai.evals.unmeasurable import Unmeasurable
from airflow_common_ai.policies import LLMRetryPolicy
from airflow_common_ai.policies.llm.trust import Precision, precision_lower, read_trust

QUESTION = LLMRetryPolicy("a_model").questioner().hashes


def said(number: int, category: str, judged: Any, **changes: Any) -> Row:
    """A model names a category; nothing rests on it, since it is unmeasured so far."""
    vote = {"tier": "llm", "outcome": "unsure", "category": category, "confidence": 0.9}
    fields = {"votes": (vote,), "calls": 1, "model": "a-model-1", **changes}
    return row(number, "default", judged, **fields)


def measured(rows: Sequence[Row], **changes: Any) -> Run:
    header: dict[str, Any] = {
        "question": {"prompt": QUESTION.prompt, "schema": QUESTION.schema, "categories": QUESTION.categories},
        "conn_type": "pydanticai",
        "measured_at": datetime(2026, 11, 30, 12, tzinfo=UTC),
        **changes,
    }
    run = run_of(rows)
    return Run(replace(run.header, **header), run.rows)


AUTH = [said(number, "auth", label("no", "auth")) for number in range(80)]
WRONG = [said(number, "auth", label("yes", "network")) for number in range(80, 82)]
FEW = [said(number, "data", label("no", "data")) for number in range(90, 100)]


def test_the_table_is_read_by_the_policy_that_was_measured(tmp_path: Path) -> None:
    found = measure_trust(measured(AUTH + FEW))
    path = tmp_path / "trust.json"
    path.write_text(json.dumps(found.table.to_json()), "utf-8")
    table = read_trust(path)
    assert table == found.table
    assert table.categories == {"auth": Precision(80, 80)}, "of data there are too few for any bound"
    assert table.voids("a-model-1", "pydanticai", QUESTION) is None
    assert table.voids("a-model-2", "pydanticai", QUESTION) is not None
    assert LLMRetryPolicy("a_model", trust=path).trust == table


def test_each_category_says_what_it_earned_and_what_it_lacks() -> None:
    rows = [*AUTH, *WRONG, *FEW, said(200, "network", label("yes", "network"))]
    found = {one.category: one for one in measure_trust(measured(rows)).earned}
    assert (found["auth"].precision, found["auth"].lower) == (Precision(82, 80), precision_lower(80, 82))
    assert found["auth"].may_fail
    assert (found["data"].missing_cases, found["data"].may_fail) == (49, False)
    assert (found["network"].bar, found["network"].may_fail) == (None, False)


def test_too_many_wrong_answers_keep_a_model_under_the_bar() -> None:
    wrong = [said(number, "auth", label("yes", "network")) for number in range(80, 90)]
    (found,) = measure_trust(measured(AUTH + wrong)).earned
    assert found.lower < 0.9
    assert not found.may_fail


def test_copies_and_repeats_of_a_failure_are_one_case_and_right_only_each_time() -> None:
    copies = [said(number, "auth", label("no", "auth"), fingerprint="copied") for number in range(100, 140)]
    repeats = [said(150, "auth", label("yes", "network"), repeat=1), said(150, "auth", label("no", "auth"), repeat=2)]
    (found,) = measure_trust(measured([*AUTH, *copies, *repeats])).earned
    assert found.precision == Precision(82, 81)


def test_what_a_model_is_worth_on_the_split_that_prompts_are_written_from_says_nothing() -> None:
    dev = [replace(one, split="dev") for one in AUTH]
    with pytest.raises(Unmeasurable, match="no model named a category"):
        measure_trust(measured(dev))
    assert measure_trust(measured(dev), split="dev").table.categories["auth"].cases == 80


def test_a_batch_that_asked_the_model_alone_names_categories_in_its_rows() -> None:
    rows = [row(number, "fail", label("no", "auth"), category="auth", model="a-model-1") for number in range(60)]
    assert measure_trust(measured(rows, level="model")).table.categories == {"auth": Precision(60, 60)}
    with pytest.raises(Unmeasurable, match="no model named a category"):
        measure_trust(measured(rows))


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (measured([row(1)]), "no model named a category in the run"),
        (measured(FEW), "no category was named for 59 distinct failures, at most for 10: take more cases"),
        (measured([*AUTH, said(99, "auth", label("no", "auth"), model="b")]), "several models answered: a-model-1, b"),
        (measured(AUTH, question={}), "the run does not say the hashes of the question: run LLMRetryPolicy again"),
        (measured(AUTH, conn_type=None), "does not say the type of the connection"),
        (measured(AUTH, measured_at=None), "does not say when it was measured"),
        (measured(AUTH, corpus="our corpus"), "the run does not say the SHA-256 of its corpus"),
    ],
)
def test_what_is_no_measurement_makes_no_table(run: Run, reason: str) -> None:
    with pytest.raises(Unmeasurable, match=reason):
        measure_trust(run)


def test_what_was_earned_is_told_to_programs() -> None:
    data = measure_trust(measured(AUTH)).to_json()
    assert (data["version"], data["table"]["model"]) == (1, "a-model-1")
    assert data["earned"][0]["may_fail"] is True
