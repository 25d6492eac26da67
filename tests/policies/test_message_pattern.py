"""An expression that would stall a decision is said when the Dag is parsed; one that is merely long is not."""

from __future__ import annotations

import logging
import re

import pytest

from airflow_common_ai.policies.message_pattern import compile_message


@pytest.mark.parametrize(
    "expression",
    [
        r"(a+)+$",
        r"(\w+\s?)+$",
        r"(.+,)+$",
        r"([a-z]+)*x",
        r"(?:\d+|\w+)+$",
        r"((a*)b?)*c",
        r"x(?:(?:ab)+)+y",
        r"(.*\n?)*end",
        r"(?:a{1,50})+b",
        r"(?:[A-Z]\w+)+;",
        r"(?P<words>(?:\S+ ?)*)!",
        r"(?=(a+)+b)a",
    ],
)
def test_a_repeat_inside_a_repeat_is_warned_about_with_the_fix(
    expression: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert compile_message(expression) is not None
    assert "repeats what can repeat by itself" in caplog.text
    assert "possessive" in caplog.text


@pytest.mark.parametrize(
    "expression",
    [
        r"partition .* is not ready",
        r"(\w+\.)+",
        r"(\w+\s)+x",
        r"(?:a++)+",
        r"(?>a+)+",
        r"(.*\n)*end",
        r"(a|b)+",
        r"(?:[A-Z]\w+ )+",
        r"(?:/\w+)*",
        r"a.*b.*c",
        r"(?:\d+,)*\d+",
        r"(\w+){1,3}",
        r"(?:key=\S+ )+",
        r"(?i)table \w+ (?:not|never) found",
        r"(?:\d{1,3}\.){3}\d+",
        r"(?:[^,\n]+,)*",
        r"(?:\d+[^\d,])+",
    ],
)
def test_an_expression_whose_rounds_cannot_be_told_apart_in_two_ways_is_not_warned_about(
    expression: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        compile_message(expression)
    assert caplog.text == ""


def test_what_the_warning_advises_really_ends() -> None:
    pattern = compile_message(r"(?:a++)+$")
    assert pattern is not None
    assert pattern.search("a" * 200 + "!") is None


def test_no_message_is_no_expression() -> None:
    assert compile_message(None) is None


@pytest.mark.parametrize("expression", ["(", "a{2,1}", "(?P<x>a)(?P<x>b)", "(" * 200 + "a" + ")" * 200 + "("])
def test_what_does_not_compile_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match=re.escape("Escape literal text with re.escape().")):
        compile_message(expression)
