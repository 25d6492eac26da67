from __future__ import annotations

import math

import pytest
from classified_failures import BASES, failure, redacted, wrapped

from airflow_common_ai.classifier.features import features_of
from airflow_common_ai.classifier.words import words_of_name, words_of_text
from airflow_common_ai.evidence.model import Edge, ExceptionNode
from airflow_common_ai.evidence.protocols import read_signals


def _stems(text: str) -> list[str]:
    return [stem for stem, _ in words_of_text(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the connection was refused", "the connection was refusing"),
        ("table orders_7 locked", "table orders_93 locked"),
        ("cannot reach 10.1.2.3:5432", "cannot reach db.internal:443"),
        ("couldn't connect", "could not connect"),
        ("ResourceExhausted", "RESOURCE_EXHAUSTED"),
    ],
)
def test_what_says_the_same_has_the_same_words(one: str, other: str) -> None:
    assert _stems(one) == _stems(other)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NoSuchKeyError", ["no", "such", "key", "error"]),
        ("HTTPStatusError", ["http", "status", "error"]),
        ("ER_LOCK_DEADLOCK", ["er", "lock", "deadlock"]),
    ],
)
def test_a_name_of_code_is_split_into_its_words(name: str, words: list[str]) -> None:
    assert [word for _, word in words_of_name(name)] == words


def test_an_endless_word_is_cut_to_one_that_nobody_knows() -> None:
    assert all(len(stem) < 30 for stem in _stems("あ" * 5_000))


def test_the_weights_are_of_length_one_together() -> None:
    weights = features_of(failure("the table is locked by another session"), ()).weights

    assert math.isclose(sum(weight**2 for weight in weights.values()), 1)


def test_the_innermost_exception_weighs_more_than_what_wraps_it() -> None:
    weights = features_of(wrapped("pipeline stopped", "replica lagged"), ()).weights

    assert weights["replica"] > weights["pipelin"] > 0


def test_what_was_being_handled_weighs_less_than_a_cause() -> None:
    cause = features_of(wrapped("pipeline stopped", "replica lagged"), ()).weights
    context = features_of(wrapped("pipeline stopped", "replica lagged", Edge.CONTEXT), ()).weights

    assert context["replica"] / context["pipelin"] < cause["replica"] / cause["pipelin"]


def test_the_name_of_a_library_is_no_feature() -> None:
    one = features_of(failure("gone", "onelibrary.errors.NotThere"), ())
    other = features_of(failure("gone", "otherlibrary.exceptions.NotThere"), ())

    assert one.weights == other.weights


def test_notes_and_what_a_service_said_are_read_too() -> None:
    node = ExceptionNode(
        "vendor.Failure",
        BASES,
        "it failed",
        notes=("the standby lagged",),
        facts={"grpc.details": "quorum missing", "http.header.server": "nginx", "http.status": 503},
    )

    words = features_of(redacted(node), ()).words

    assert {"standby", "quorum"} <= words.keys()
    assert "nginx" not in words


def test_a_hint_is_a_feature() -> None:
    evidence = failure("command exited with status 1")
    signals = read_signals(evidence)

    assert signals
    assert not any(signal.is_conclusive for signal in signals)
    assert features_of(evidence, signals).weights["hint:" + signals[0].code] > 0


def test_a_signal_that_decides_is_no_feature() -> None:
    evidence = redacted(ExceptionNode("builtins.ConnectionRefusedError", BASES, "refused", facts={"os.errno": 111}))
    signals = read_signals(evidence)

    assert any(signal.is_conclusive for signal in signals)
    hints = {signal.code for signal in signals if not signal.is_conclusive}
    found = {name.removeprefix("hint:") for name in features_of(evidence, signals).weights if name.startswith("hint:")}
    assert found.isdisjoint({signal.code for signal in signals} - hints)
