"""The regular expression of a rule: compiled at parse, and looked at for what would stall a decision."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from re import _constants as op  # type: ignore[attr-defined]  # private, but what `re` itself compiles with
from re import _parser  # type: ignore[attr-defined]  # the same
from typing import Any

__all__ = ["compile_message"]

log = logging.getLogger(__name__)

_ALPHABET = frozenset(map(chr, range(128))) | {"é", "Ω", "中", "\u00a0", "٣"}
"""Of what characters can do: all of ASCII, and one of each kind beyond it."""
_CATEGORIES = {
    op.CATEGORY_DIGIT: re.compile(r"\d"),
    op.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    op.CATEGORY_SPACE: re.compile(r"\s"),
    op.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    op.CATEGORY_WORD: re.compile(r"\w"),
    op.CATEGORY_NOT_WORD: re.compile(r"\W"),
}
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT)
_FEW = 8
"""A repeat that ends after so many rounds ends in time."""

_Item = tuple[Any, Any]


def compile_message(message: str | None) -> re.Pattern[str] | None:
    """
    Compile the regular expression of a rule.

    ``re`` cannot be stopped, and a repeat inside a repeat such as ``(a+)+`` takes twice as long for every further
    character that it fails on: 30 are enough for minutes. Such an expression is warned about. That no message is
    longer than 16 KiB does not help it; it does help expressions such as ``a.*b.*c``, which are not warned about.

    :param message: The expression; ``None`` for none.
    :raises ValueError: It does not compile.
    """
    if message is None:
        return None
    if not isinstance(message, str) or not message:
        raise ValueError(
            f"FailureRule.message must be a regular expression as text, got {message!r}. Use e.g. 'not ready'."
        )
    try:
        pattern = re.compile(message)
        is_slow = _is_slow(_parser.parse(message))
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(
            f"FailureRule.message must be a regular expression, got {message!r}: {error}. "
            "Escape literal text with re.escape()."
        ) from None
    if is_slow:
        log.warning(
            "FailureRule.message %r repeats what can repeat by itself: a message that nearly matches can keep the "
            "task busy for hours. Repeat once ('a+' for '(a+)+'), or use a possessive repeat ('(?:a++)+').",
            message,
        )
    return pattern


def _is_slow(items: Iterable[_Item]) -> bool:
    """Whether a repeat holds a body that a single round and several rounds can match alike."""
    for name, argument in items:
        if name in _REPEATS and argument[1] > _FEW and _is_ambiguous(list(argument[2])):
            return True
        if any(_is_slow(inner) for inner in _inner(name, argument)):
            return True
    return False


def _inner(name: Any, argument: Any) -> Iterator[Sequence[_Item]]:
    """Yield the expressions inside one; what is possessive or atomic gives nothing back, so it is looked into alone."""
    if name is op.SUBPATTERN:
        yield argument[3]
    elif name is op.BRANCH:
        yield from argument[1]
    elif name in (*_REPEATS, op.POSSESSIVE_REPEAT):
        yield argument[2]
    elif name is op.ATOMIC_GROUP:
        yield argument
    elif name in (op.ASSERT, op.ASSERT_NOT):
        yield argument[1]
    elif name is op.GROUPREF_EXISTS:
        yield from filter(None, argument[1:])


def _is_ambiguous(body: Sequence[_Item]) -> bool:
    """Whether a body holds an open repeat whose characters can stand for all that must be matched beside it."""
    for alternative in _alternatives(body):
        flat = list(_flat(alternative))
        for at, (name, argument) in enumerate(flat):
            if name not in _REPEATS or argument[1] <= _FEW:
                continue
            repeated = _characters(argument[2])
            beside = [item for index, item in enumerate(flat) if index != at and not _can_be_empty(item)]
            if repeated and all(_characters([item]) & repeated for item in beside):
                return True
    return False


def _alternatives(body: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    if len(body) == 1 and body[0][0] is op.SUBPATTERN:
        yield from _alternatives(list(body[0][1][3]))
    elif len(body) == 1 and body[0][0] is op.BRANCH:
        for branch in body[0][1][1]:
            yield from _alternatives(list(branch))
    else:
        yield body


def _flat(body: Iterable[_Item]) -> Iterator[_Item]:
    for name, argument in body:
        if name is op.SUBPATTERN:
            yield from _flat(argument[3])
        else:
            yield name, argument


def _can_be_empty(item: _Item) -> bool:
    name, argument = item
    if name in (*_REPEATS, op.POSSESSIVE_REPEAT):
        return bool(argument[0] == 0)
    return name in (op.AT, op.ASSERT, op.ASSERT_NOT)


def _characters(items: Iterable[_Item]) -> frozenset[str]:
    """Return the characters of the alphabet that an expression may match somewhere."""
    found: frozenset[str] = frozenset()
    for name, argument in items:
        if name is op.LITERAL:
            found |= {chr(argument)}
        elif name is op.NOT_LITERAL:
            found |= _ALPHABET - {chr(argument)}
        elif name is op.ANY:
            found |= _ALPHABET - {"\n"}
        elif name is op.IN:
            found |= _in_set(argument)
        elif name not in (op.ASSERT, op.ASSERT_NOT):
            for inner in _inner(name, argument):
                found |= _characters(inner)
    return found


def _in_set(items: Sequence[_Item]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for name, argument in items:
        if name is op.LITERAL:
            found |= {chr(argument)}
        elif name is op.RANGE:
            found |= {character for character in _ALPHABET if argument[0] <= ord(character) <= argument[1]}
        elif name is op.CATEGORY:
            found |= {character for character in _ALPHABET if _CATEGORIES[argument].match(character)}
    return _ALPHABET - found if items[0][0] is op.NEGATE else found
