"""A trust file is what an evaluation run wrote, or it is refused when the Dag is parsed."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from airflow_common_ai.policies.llm.question import Hashes
from airflow_common_ai.policies.llm.trust import MIN_CASES, Precision, TrustTable, precision_lower, read_trust

HASHES = Hashes("a" * 64, "b" * 64, "c" * 64)
TABLE = TrustTable(
    "a-model",
    "pydanticai",
    HASHES.prompt,
    HASHES.schema,
    HASHES.categories,
    "d" * 64,
    datetime(2026, 11, 30, tzinfo=UTC),
    {"auth": Precision(59, 59), "data": Precision(300, 290)},
)


def write(folder: Path, data: object) -> Path:
    path = folder / "trust.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    assert read_trust(write(tmp_path, TABLE.to_json())) == TABLE
    assert read_trust(str(write(tmp_path, TABLE.to_json()))) == TABLE


@pytest.mark.parametrize(("right", "cases"), [(59, 59), (58, 59), (290, 300), (150, 300), (1, 100), (9_990, 10_000)])
def test_the_lower_bound_is_the_exact_one(right: int, cases: int) -> None:
    exact = binomtest(right, cases, alternative="greater").proportion_ci(0.95, method="exact").low
    assert precision_lower(right, cases) == pytest.approx(exact, abs=1e-6)


def test_so_many_right_answers_without_a_wrong_one_bound_the_precision_at_95_percent() -> None:
    assert precision_lower(MIN_CASES, MIN_CASES) >= 0.95 > precision_lower(MIN_CASES - 1, MIN_CASES - 1)


def changed(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda data: {**data, **fields}


def with_row(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda data: {**data, "categories": {"auth": {**data["categories"]["auth"], **fields}}}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (changed(version=2), "version must be 1"),
        (changed(version=True), "version must be 1"),
        (changed(more=1), "its fields must be"),
        (lambda data: {name: data[name] for name in data if name != "model"}, "its fields must be"),
        (changed(model=""), "model must be a name"),
        (changed(model="m" * 201), "model must be a name"),
        (changed(conn_type=3), "conn_type must be a name"),
        (changed(prompt_sha256="A" * 64), "prompt_sha256 must be 64 hexadecimal digits"),
        (changed(corpus_sha256=None), "corpus_sha256 must be 64 hexadecimal digits"),
        (changed(measured_at="yesterday"), "Invalid isoformat"),
        (changed(measured_at="2026-11-30T00:00:00"), "must have a zone"),
        (changed(measured_at=5), "measured_at must be a time"),
        (changed(categories={}), "categories must name"),
        (changed(categories=[]), "categories must name"),
        (changed(categories={"no name": {}}), "must have cases, right and precision_lower"),
        (with_row(more=1), "must have cases, right and precision_lower"),
        (with_row(cases=58, right=58), "was measured on 58 cases: at least 59 are needed"),
        (with_row(right=60), "must count right answers and cases"),
        (with_row(right=-1), "must count right answers and cases"),
        (with_row(cases=59.0), "must count right answers and cases"),
        (with_row(cases=10**9, right=10**9), "must count right answers and cases"),
        (with_row(precision_lower=0.999), "does not follow from its cases"),
        (with_row(precision_lower="0.95"), "does not follow from its cases"),
        (lambda data: json.dumps(data).replace("0.95", "NaN", 1), "NaN is no number"),
        (lambda data: json.dumps(data).replace('{"version"', '{"version": 1, "version"', 1), "a field stands twice"),
        (lambda data: [data], "version must be 1"),
        (lambda data: "not JSON", "Expecting value"),
        (lambda data: "[" * 60_000, "is not valid"),
        (lambda data: json.dumps(data) + " " * 65_536, "more than 64 KiB"),
    ],
)
def test_a_file_that_is_damaged_is_refused_with_the_field_and_the_fix(
    damage: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path, damage(TABLE.to_json()))
    with pytest.raises(ValueError, match=message) as refused:
        read_trust(path)
    assert "Write it again with the evaluation command" in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_trust(tmp_path / "none.json")


def test_a_table_holds_for_the_very_model_and_question() -> None:
    assert TABLE.voids("a-model", "pydanticai", HASHES) is None


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (("another-model", "pydanticai", HASHES), "measured with another model"),
        (("a-model", "pydanticai-azure", HASHES), "measured with another connection type"),
        (("a-model", "pydanticai", replace(HASHES, prompt="e" * 64)), "measured with another prompt"),
        (("a-model", "pydanticai", replace(HASHES, schema="e" * 64)), "measured with another schema"),
        (("", "pydanticai", replace(HASHES, categories="")), "measured with another model and categories"),
    ],
)
def test_anything_else_makes_it_void(found: tuple[str, str, Hashes], why: str) -> None:
    assert TABLE.voids(*found) == why


def test_a_table_is_plain_data() -> None:
    assert copy.deepcopy(TABLE) == pickle.loads(pickle.dumps(TABLE)) == TABLE
