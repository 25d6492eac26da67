"""The condition language of ``FailureRule(signal=…)``: the code of a signal, or a test of one fact."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from airflow_common_ai.evidence.model import RedactedNode, Signal
from airflow_common_ai.policies.signal_names import (
    ALSO_CODES,
    FACTS,
    FLAGS,
    NUMBERS,
    PROTOCOLS,
    TEXTS,
    close_match,
    is_fact,
    is_header,
)

__all__ = ["SignalTest"]

_NAME = r"[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)+"
_CODE = re.compile(r"[a-z*][A-Za-z0-9_.*-]*")
_TEST = re.compile(rf"({_NAME})\s*(not\s+in|in|==|!=|<=|>=|<|>)\s*(.+)")

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "in": lambda fact, values: fact in values,
    "not in": lambda fact, values: fact not in values,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_KINDS: tuple[tuple[frozenset[str], tuple[type, ...], str], ...] = (
    (NUMBERS, (int, float), "a number"),
    (FLAGS, (bool, int), "True or False"),
    (TEXTS, (str,), "a text"),
)

_HELP = "Use the code of a signal ('http.429', 'os.*') or a test of a fact ('http.status in {403, 429}')."


@dataclass(frozen=True, slots=True)
class SignalTest:
    """A parsed condition; plain data, so that a policy deep-copies."""

    name: str
    """The code, with ``*`` as a wildcard, or the name of the fact."""
    comparison: str | None = None
    value: Any = None

    @classmethod
    def parse(cls, text: object) -> SignalTest:
        """
        Parse a condition.

        :raises ValueError: It is neither a code nor a test of a fact.
        """
        if not isinstance(text, str):
            raise ValueError(f"FailureRule.signal must be a text, got {text!r}. {_HELP}")
        if _CODE.fullmatch(text.strip()):
            _check_code(text.strip())
            return cls(text.strip())
        found = _TEST.fullmatch(text.strip())
        if not found:
            raise ValueError(f"FailureRule.signal {text!r} is not understood. {_HELP}")
        name, comparison, literal = found[1], " ".join(found[2].split()), found[3]
        if not is_fact(name):
            raise ValueError(f"FailureRule.signal {text!r}: there is no fact {name!r}.{_fact_help(name)}")
        try:
            value = ast.literal_eval(literal)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise ValueError(f"FailureRule.signal {text!r}: {literal!r} is not a literal value. {_HELP}") from None
        is_collection = isinstance(value, set | frozenset | list | tuple)
        if is_collection != comparison.endswith("in"):
            wanted = "a set such as {403, 429}" if comparison.endswith("in") else "one value such as 403"
            raise ValueError(f"FailureRule.signal {text!r}: {comparison!r} needs {wanted}, got {literal!r}.")
        if is_header(name):
            value = type(value)(map(_number, value)) if is_collection else _number(value)
        elif fault := _misfit(name, comparison, value if is_collection else (value,)):
            raise ValueError(f"FailureRule.signal {text!r}: {fault}")
        return cls(name, comparison, value)

    def holds(self, node: RedactedNode, signals: Sequence[Signal]) -> bool:
        """Return whether a node meets the condition; a fact that is not there meets none."""
        if self.comparison is None:
            return any(fnmatchcase(signal.code, self.name) for signal in signals)
        if self.name not in node.facts:
            return False
        fact = node.facts[self.name]
        try:
            return _OPERATORS[self.comparison](_number(fact) if is_header(self.name) else fact, self.value)
        except TypeError:
            return False


def _number(value: Any) -> Any:
    """Return what a header says as a number if it is one: readers keep some headers as they were sent."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _misfit(name: str, comparison: str, values: Iterable[object]) -> str | None:
    """Say what is wrong with a value that the fact can never have: the rule would never match, or always."""
    kinds, wanted = next(row[1:] for row in _KINDS if name in row[0])
    wrong = [value for value in values if not isinstance(value, kinds) or (isinstance(value, bool) and name in NUMBERS)]
    if not wrong:
        return None
    meant: object = None
    if name in NUMBERS and isinstance(wrong[0], str) and wrong[0].strip().isdecimal():
        meant = int(wrong[0])
    elif name in FLAGS and isinstance(wrong[0], str):
        meant = {"true": True, "false": False}.get(wrong[0].strip().lower())
    elif name in TEXTS and isinstance(wrong[0], int) and comparison not in ("<", "<=", ">", ">="):
        meant = str(wrong[0])
    fix = f" Use {meant!r} instead." if meant is not None else ""
    return f"{name} is {wanted} and is never {wrong[0]!r}.{fix}"


def _check_code(code: str) -> None:
    """Refuse a code that no signal can have; of those that begin well there are too many to know all."""
    protocol, dot, detail = code.partition(".")
    if "*" in protocol:
        return
    if protocol not in PROTOCOLS:
        close = close_match(protocol, PROTOCOLS)
        meant = f" Did you mean {f'{close}.{detail or chr(42)}'!r}?" if close else f" {_HELP}"
        raise ValueError(f"FailureRule.signal {code!r}: no code begins with {protocol!r}.{meant}")
    if not dot:
        raise ValueError(f"FailureRule.signal {code!r} is no whole code. Use {f'{code}.*'!r} for all of them.")
    if is_fact(code) and code not in ALSO_CODES:
        raise ValueError(f"FailureRule.signal {code!r} is a fact and no code: compare it, e.g. '{code} == …'. {_HELP}")


def _fact_help(name: str) -> str:
    protocol = name.partition(".")[0]
    siblings = frozenset(fact for fact in FACTS if fact.startswith(f"{protocol}."))
    if close := close_match(name, siblings or FACTS, 0.6 if siblings else 0.8):
        return f" Did you mean {close!r}?"
    if siblings:
        return f" Facts of {protocol!r} are {', '.join(sorted(siblings))}."
    return f" Facts begin with {', '.join(sorted({fact.partition('.')[0] for fact in FACTS}))}."
