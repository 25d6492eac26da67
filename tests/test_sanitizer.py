"""No stranger's words act on a terminal, a log or a table."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_common_ai.sanitizer import sanitize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, ünïcode and a\ttab", "plain, ünïcode and a\ttab"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]8;;http://evil\x07click\x1b]8;;\x07", "\\x1b]8;;http://evil\\x07click\\x1b]8;;\\x07"),
        ("\x9b31m C1 control", "\\x9b31m C1 control"),
        ("\u202eexe.txt", "\\u202eexe.txt"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("lone \ud800 surrogate", "lone \\ud800 surrogate"),
    ],
)
def test_what_could_act_stands_escaped(text: str, expected: str) -> None:
    assert sanitize(text) == expected


@given(st.text())
def test_nothing_that_acts_is_left_and_a_second_pass_changes_nothing(text: str) -> None:
    clean = sanitize(text)
    assert sanitize(clean) == clean
    assert not any(unicodedata.category(char) in ("Cc", "Cs") and char != "\t" for char in clean)
    acting = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert acting.isdisjoint(unicodedata.bidirectional(char) for char in clean)
    clean.encode()
