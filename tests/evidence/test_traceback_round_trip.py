"""What is printed of an exception and read back is what `collect` finds on the live one."""

from __future__ import annotations

import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.logs.traceback_text import parse_tracebacks
from airflow_common_ai.evidence.model import Edge, ExceptionNode

Tree = tuple[str, str, Edge, tuple["Tree", ...]]


class CustomError(Exception):
    """At the top of a module."""


class Outer:
    class InnerError(CustomError):
        """Inside another class."""


def _local_class() -> type[Exception]:
    class LocalError(Exception):
        """Inside a function."""

    return LocalError


TYPES = [ValueError, RuntimeError, OSError, TimeoutError, CustomError, Outer.InnerError, _local_class()]


@dataclass
class Recipe:
    """How to make an exception, and which others hang on it."""

    cls: type[Exception]
    message: str
    notes: list[str]
    is_raised: bool
    is_suppressed: bool
    cause: Recipe | None
    context: Recipe | None
    members: list[Recipe]

    def make(self, hidden: set[str], numbers: Iterator[int]) -> Exception:
        """Return the exception; ``hidden`` collects the marks of those whose context is not printed."""
        mark = f"#{next(numbers)}#"
        members = [member.make(hidden, numbers) for member in self.members]
        message = self.message + mark
        exception = ExceptionGroup(message, members) if members else self.cls(message)
        for note in self.notes:
            exception.add_note(note)
        exception.__cause__ = self.cause.make(hidden, numbers) if self.cause else None
        exception.__context__ = self.context.make(hidden, numbers) if self.context else None
        exception.__suppress_context__ = self.is_suppressed
        if self.cause or self.is_suppressed:
            hidden.add(mark)
        return raised(exception) if self.is_raised else exception


def raised(exception: Exception) -> Exception:
    """Give an exception its traceback."""
    try:
        raise exception
    except Exception as caught:
        return caught


WORDS = st.text("abc éß|+-=:()[].,/\n\t", max_size=40)


def recipes(is_raised: st.SearchStrategy[bool]) -> st.SearchStrategy[Recipe]:
    def with_children(
        child: st.SearchStrategy[Recipe | None], members: st.SearchStrategy[list[Recipe]]
    ) -> st.SearchStrategy[Recipe]:
        return st.builds(
            Recipe,
            cls=st.sampled_from(TYPES),
            message=WORDS,
            notes=st.lists(WORDS, max_size=2),
            is_raised=is_raised,
            is_suppressed=st.booleans(),
            cause=child,
            context=child,
            members=members,
        )

    return st.recursive(
        with_children(st.none(), st.just([])),
        lambda below: with_children(st.none() | below, st.lists(below, max_size=3)),
        max_leaves=10,
    )


def tree_of(nodes: Sequence[ExceptionNode], hides_context: Callable[[str], bool] = lambda message: False) -> Tree:
    children: dict[int | None, list[int]] = defaultdict(list)
    for index, node in enumerate(nodes):
        children[node.parent].append(index)

    def tree(index: int) -> Tree:
        node = nodes[index]
        is_hidden = hides_context(node.message)
        below = [tree(child) for child in children[index] if not (is_hidden and nodes[child].edge is Edge.CONTEXT)]
        words = "\n".join((node.message, *node.notes))
        return node.type_path, "\n".join(words.splitlines()).rstrip(), node.edge, tuple(sorted(below))

    return tree(0)


@settings(deadline=None)
@given(recipe=recipes(st.booleans()))
def test_a_printed_exception_is_read_back_as_it_was(recipe: Recipe) -> None:
    hidden: set[str] = set()
    exception = raised(recipe.make(hidden, count()))

    parsed = parse_tracebacks("".join(traceback.format_exception(exception)))

    live = collect(exception).nodes
    assert tree_of(parsed) == tree_of(live, lambda message: any(mark in message for mark in hidden))


STAMP = "[2026-01-01, 10:00:{second:02d} UTC] {{subprocess.py:106}} INFO - "
DRESSES: dict[str, Callable[[str], str]] = {
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "colours": lambda text: "".join(f"\x1b[31;1m{line}\x1b[0m\n" for line in text.splitlines()),
    "a time in front of each line": lambda text: "".join(
        f"{STAMP.format(second=second % 60)}{line}\n" for second, line in enumerate(text.splitlines())
    ),
    "a name in front of each line": lambda text: "".join(f"worker-1 | {line}\n" for line in text.splitlines()),
    "a log record around it": lambda text: (
        f"{STAMP.format(second=1)}Task failed\n{STAMP.format(second=2)}{text}{STAMP.format(second=3)}Done\n"
    ),
    "an earlier try before it": lambda text: (
        f'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: first try\n\nAgain\n{text}'
    ),
    "escaped line ends": lambda text: "worker said: " + repr(text)[1:-1],
    "a pair of quotes and escapes": lambda text: f"{{'error': {text!r}}}",
}


@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
@settings(deadline=None)
@given(recipe=recipes(st.just(True)))
def test_what_a_log_adds_does_not_change_what_is_read(dress: Callable[[str], str], recipe: Recipe) -> None:
    printed = "".join(traceback.format_exception(raised(recipe.make(set(), count()))))

    assert tree_of(parse_tracebacks(dress(printed))) == tree_of(parse_tracebacks(printed))
