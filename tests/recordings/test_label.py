from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_common_ai.recordings.agreement import is_agreed, merge, merge_all
from airflow_common_ai.recordings.label import Label, ShouldRetry, read_labels, write_labels


def label(should_retry: str = "yes", category: str = "rate_limit", **more: Any) -> Label:
    delay_s = None if should_retry == "no" else more.pop("delay_s", (30.0, 300.0))
    more = {"why": "the server asks for 30 s", "source": "RFC 9110, 10.2.3", **more}
    return Label("tests/case", category, ShouldRetry(should_retry), delay_s, **more)  # type: ignore[arg-type]


def test_what_was_written_is_read_back_the_same_and_sorted_by_id(tmp_path: Path) -> None:
    first = Label("a/b", "data", ShouldRetry.NO, None, "bad row", "reading", also=("permanent",))
    path = tmp_path / "labels.jsonl"

    write_labels(path, [label(), first])

    assert list(read_labels(path).values()) == [first, label()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"category": "throttling"}, "category must be one of rate_limit, auth, network"),
        ({"also": ["rate_limit"]}, "also must name other categories than 'rate_limit'"),
        ({"also": ["nonsense"]}, "also must hold words that match"),
        ({"should_retry": "maybe"}, "should_retry must be one of yes, no, either, got 'maybe'."),
        ({"should_retry": True}, "should_retry must be one of yes, no, either, got True."),
        ({"should_retry": "no"}, "delay_s must be [shortest, longest] where should_retry is yes or either, and null"),
        ({"delay_s": None}, "delay_s must be [shortest, longest] where should_retry is yes or either, and null"),
        ({"delay_s": [300, 30]}, "delay_s must be [shortest, longest] in seconds, got [300.0, 30.0]."),
        ({"delay_s": [30]}, "delay_s must be null or [shortest, longest] in seconds, e.g. [30, 300]."),
        ({"delay_s": [float("nan"), 1]}, "delay_s must be null or [shortest, longest] in seconds"),
        ({"why": ""}, "why must be a text of 1 to 2000 characters"),
        ({"decision": "retry"}, "a label has no field 'decision'. Remove it."),
    ],
)
def test_a_label_that_is_wrong_is_named_with_its_file_its_line_and_the_rule(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(label().to_json() | change) + "\n")

    with pytest.raises(ValueError, match=r"labels\.jsonl:1: ") as fault:
        read_labels(path)

    assert message in str(fault.value)


def test_a_failure_is_labelled_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{json.dumps(label().to_json())}\n" * 2)

    with pytest.raises(ValueError, match=r"labels.jsonl:2: ids must be sorted and each there once"):
        read_labels(path)


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        (label(), label(), label()),
        (label(), label(category="transient"), label(also=("transient",))),
        (label(delay_s=(30, 300)), label(delay_s=(60, 900)), label(delay_s=(60, 300))),
        (label(delay_s=(1, 5)), label(delay_s=(60, 900)), label(delay_s=(1, 900))),
        (label("no"), label("no"), label("no")),
        (label("yes", why="a"), label("no", why="b"), label("either", why="a / b")),
        (label("no", why="a"), label("either", why="b", delay_s=(5, 9)), label("either", why="a / b", delay_s=(5, 9))),
        (label(source="a"), label(source="b"), label(source="a / b")),
    ],
)
def test_two_judgements_become_the_label_that_both_can_accept(first: Label, second: Label, merged: Label) -> None:
    assert merge(first, second) == merged


def test_what_was_argued_stands_over_both_and_what_only_one_judged_is_no_label_yet() -> None:
    argued = label("no", category="permanent", why="the quota is monthly")
    first, second = {"tests/case": label("yes"), "tests/other": label()}, {"tests/case": label("no")}

    assert merge_all(first, second, {"tests/case": argued}) == {"tests/case": argued}


@pytest.mark.parametrize(
    ("second", "agreed"),
    [
        (label(), True),
        (label(category="transient"), False),
        (label(category="transient", also=("rate_limit",)), True),
        (label("no"), False),
    ],
)
def test_they_agree_if_they_want_the_same_for_reasons_that_both_accept(second: Label, agreed: bool) -> None:
    assert is_agreed(label(), second) is agreed
    assert is_agreed(second, label()) is agreed
