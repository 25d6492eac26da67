"""The frames of an exception chain, without any message."""

from __future__ import annotations

from pathlib import Path

from airflow_common_ai.policies.llm.frames import frames_of

HERE = Path(__file__).name


def raised(function: object, *arguments: object) -> BaseException:
    try:
        function(*arguments)  # type: ignore[operator]
    except BaseException as error:
        return error
    raise AssertionError("it was meant to raise")


def inner() -> None:
    raise KeyError("canary")


def outer() -> None:
    try:
        inner()
    except KeyError as error:
        raise RuntimeError("canary") from error


def hiding() -> None:
    try:
        inner()
    except KeyError:
        raise RuntimeError("canary") from None


def deep(left: int) -> None:
    if left == 0:
        inner()
    deep(left - 1)


def test_the_frames_of_the_cause_come_first_and_no_message_is_in_them() -> None:
    lines = frames_of(raised(outer)).splitlines()
    assert [line.split(" in ")[1].split(":")[0] for line in lines] == ["outer", "inner", "raised", "outer"]
    assert all(HERE in line for line in lines)


def test_what_was_hidden_on_purpose_stays_hidden() -> None:
    assert " in inner" not in frames_of(raised(hiding))


def test_of_a_deep_stack_the_innermost_frames_are_kept() -> None:
    lines = frames_of(raised(deep, 500)).splitlines()
    assert len(lines) == 12
    assert " in inner" in lines[-1]


def test_a_chain_that_bites_its_tail_ends() -> None:
    error = raised(outer)
    assert error.__cause__ is not None
    error.__cause__.__cause__ = error
    assert len(frames_of(error).splitlines()) == 4


def test_an_exception_that_was_never_raised_has_none() -> None:
    assert frames_of(ValueError("canary")) == ""


def test_a_class_that_lies_about_its_traceback_is_not_asked() -> None:
    class Lying(Exception):
        @property
        def __traceback__(self) -> object:  # type: ignore[override]
            raise SystemExit

    assert HERE in frames_of(raised(lambda: (_ for _ in ()).throw(Lying())))
