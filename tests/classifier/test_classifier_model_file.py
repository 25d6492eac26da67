from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from airflow_common_ai.classifier import Classifier, UnusableModel
from airflow_common_ai.classifier.classifier import SHIPPED
from airflow_common_ai.classifier.model import CATEGORIES, HEADS, HOPELESS, MAX_MODEL_BYTES, Bars, LinearModel

BARS = Bars(fail=dict.fromkeys(sorted(HOPELESS), 0.8), retry=dict.fromkeys(CATEGORIES, 0.6))
MODEL = LinearModel.of(
    ["locked", "missing", "never"],
    [[0.5] * HEADS, [-2.0, *[1.0] * (HEADS - 1)], [0.0] * HEADS],
    [0.1] * HEADS,
    (1.0, 0.0),
    BARS,
    {"seed": 7},
)


def _changed(**fields: object) -> bytes:
    return json.dumps({**json.loads(MODEL.to_bytes()), **fields}).encode()


def test_what_was_written_is_read_back() -> None:
    read = LinearModel.from_bytes(MODEL.to_bytes())

    assert read == MODEL
    assert read.to_bytes() == MODEL.to_bytes()


def test_a_feature_without_weights_is_left_out() -> None:
    assert list(MODEL.rows) == ["locked", "missing"]


def test_weights_are_kept_within_half_a_step() -> None:
    assert MODEL.weights_of("missing") == pytest.approx([-2.0, *[1.0] * (HEADS - 1)], abs=0.01)
    assert MODEL.weights_of("not in it") == [0.0] * HEADS


def test_scores_are_linear_in_the_weights_of_the_features() -> None:
    once, twice = MODEL.scores({"locked": 1.0, "unknown": 5.0}), MODEL.scores({"locked": 2.0})

    assert [2 * (score - 0.1) for score in once] == pytest.approx([score - 0.1 for score in twice])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no JSON"),
        (b"\x80\x04pickle", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "has schema 'None'"),
        (_changed(schema=99), "has schema '99', this version reads"),
        (_changed(categories=["network"]), "other categories"),
        (_changed(steps="!"), "damaged"),
        (_changed(steps="AAAA"), "do not fit"),
        (_changed(features=7), "damaged"),
        (_changed(features="one\none"), "do not fit"),
        (_changed(intercepts=[0.0]), "do not fit"),
        (_changed(step_sizes=[float("nan")] * HEADS), "do not fit"),
        (_changed(intercepts=["x"] * HEADS), "damaged"),
        (_changed(bars={"fail": 0.1, "retry": 0.6}), "damaged"),
        (_changed(bars={"fail": BARS.fail, "retry": {**BARS.retry, "data": 0.1}}), "do not fit"),
        (_changed(bars={"fail": {"auth": 0.8}, "retry": BARS.retry}), "do not fit"),
        (_changed(bars={"fail": BARS.fail, "retry": {**BARS.retry, "weather": 0.6}}), "do not fit"),
        (_changed(confidence=[1.0]), "damaged"),
        (_changed(confidence=[float("inf"), 0.0]), "do not fit"),
        (_changed(bars=None), "damaged"),
        (_changed(about=[1]), "damaged"),
        (b" " * (MAX_MODEL_BYTES + 1), "larger than"),
    ],
)
def test_what_is_no_model_is_refused_with_the_reason_and_the_fix(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "weights.json"
    path.write_bytes(data)

    with pytest.raises(UnusableModel) as refused:
        Classifier.load(path)

    assert said in str(refused.value)
    assert str(path) in str(refused.value)
    assert "Train it again" in str(refused.value)


def test_a_path_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableModel, match=r"cannot be read: No such file or directory\. Check the path\."):
        Classifier.load(tmp_path / "none.json")


def test_a_refused_model_is_a_value_error() -> None:
    assert issubclass(UnusableModel, ValueError)


def test_a_classifier_can_be_copied_as_default_args_are() -> None:
    classifier = Classifier(MODEL)

    assert copy.deepcopy(classifier).model == MODEL


def test_the_shipped_file_is_small_and_plain_text() -> None:
    data = SHIPPED.read_bytes()

    assert len(data) < 1024 * 1024
    assert json.loads(data)["categories"] == list(CATEGORIES)
