"""Rules of the Dag author, checked when the Dag is parsed."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from airflow.sdk.definitions.retry_policy import RetryAction, RetryRule

from airflow_common_ai.evidence.model import Edge, RedactedEvidence, RedactedNode, Signal
from airflow_common_ai.evidence.type_path import built_in_name, type_path
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES
from airflow_common_ai.policies.class_path import check_class_path, loaded_class_path
from airflow_common_ai.policies.message_pattern import compile_message
from airflow_common_ai.policies.own_fault import INTERRUPTS, say
from airflow_common_ai.policies.signal_names import close_match
from airflow_common_ai.policies.signal_test import SignalTest

__all__ = ["FailureRule", "check_rules"]

log = logging.getLogger(__name__)

MAX_NAME_CHARS = 60
"""Of a rule's name and category: they stand in every record."""

ExceptionSpec = type[BaseException] | str

MAX_RULE_DELAY = timedelta(days=7)
"""The longest delay that a rule may fix; the scheduler fails on absurd ones."""


@dataclass(frozen=True)
class FailureRule:
    """
    What to do about a kind of failure. All conditions that are given must hold, on the same exception of the chain.

    .. code-block:: python

        FailureRule(exception="requests.exceptions.HTTPError", signal="http.status in {403}", action=RetryAction.FAIL)
        FailureRule(message=r"partition .* is not ready", retry_delay=timedelta(minutes=10), max_attempts=3)

    :param exception: A class, its dotted path, or a list of them; subclasses count. Paths are compared by name, so
        the module need not be importable where the Dag is parsed.
    :param message: A regular expression, searched in the redacted message and notes, of at most 16 KiB each. Nothing
        can stop one that backtracks without end: a repeat inside a repeat, ``(a+)+``, is warned about at parse, but
        not every slow expression is found.
    :param signal: The code of a signal (``http.429``, ``os.*``) or a test of one fact: ``http.status in {403, 429}``,
        ``os.errno == 28``, ``process.exit_code >= 64``.
    :param predicate: A function of one argument, the live, outermost exception; one that raises does not match.
    :param match: Which exceptions of the chain are looked at: ``anywhere``, ``outermost`` or ``innermost``.
    :param action: What to do, ``RetryAction.RETRY`` by default.
    :param retry_delay: The wait before the retry; ``None`` for what the server asked, else the category's backoff,
        else the task's own ``retry_delay``.
    :param max_attempts: How many attempts of a round this rule may retry, the first included; then it fails.
    :param category: The category to record, and whose backoff to use.
    :param reason: The sentence to record.
    :param name: A short name for the record; by default the rule's number.
    :raises TypeError: A field has the wrong type.
    :raises ValueError: A field is out of range, or no condition is given.
    """

    exception: ExceptionSpec | Sequence[ExceptionSpec] | None = None
    message: str | None = None
    signal: str | None = None
    predicate: Callable[[BaseException], bool] | None = None
    match: Literal["anywhere", "outermost", "innermost"] = "anywhere"
    action: RetryAction = RetryAction.RETRY
    retry_delay: timedelta | None = None
    max_attempts: int | None = None
    category: str | None = None
    reason: str | None = None
    name: str | None = None
    _paths: frozenset[str] = field(default=frozenset(), init=False, repr=False)
    _message: re.Pattern[str] | None = field(default=None, init=False, repr=False)
    _signal: SignalTest | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        conditions = (self.exception, self.message, self.signal, self.predicate)
        if all(condition is None for condition in conditions):
            raise ValueError(
                "FailureRule needs a condition: exception, message, signal or predicate. "
                "Use e.g. FailureRule(exception=ConnectionError)."
            )
        if self.match not in ("anywhere", "outermost", "innermost"):
            raise ValueError(f"FailureRule.match must be 'anywhere', 'outermost' or 'innermost', got {self.match!r}.")
        _check_predicate(self.predicate)
        if self.max_attempts is not None:
            if isinstance(self.max_attempts, bool) or not isinstance(self.max_attempts, int) or self.max_attempts < 1:
                raise ValueError(
                    f"FailureRule.max_attempts must be a whole number of attempts from 1, got {self.max_attempts!r}."
                )
            if self.action is not RetryAction.RETRY:
                raise ValueError("FailureRule.max_attempts only goes with action=RetryAction.RETRY.")
        for name in ("category", "reason", "name"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise TypeError(f"FailureRule.{name} must be a text or None, got {value!r}.")
            if value is not None and name != "reason" and len(value) > MAX_NAME_CHARS:
                raise ValueError(f"FailureRule.{name} must have at most {MAX_NAME_CHARS} characters, got {len(value)}.")
        _check_action_and_delay("FailureRule", self.action, self.retry_delay)
        if self.retry_delay is not None and self.action is not RetryAction.RETRY:
            raise ValueError("FailureRule.retry_delay only goes with action=RetryAction.RETRY.")
        object.__setattr__(self, "_paths", frozenset(_path(spec) for spec in _specs(self.exception)))
        object.__setattr__(self, "_message", compile_message(self.message))
        if self.signal is not None:
            object.__setattr__(self, "_signal", SignalTest.parse(self.signal))

    def matches(self, exception: BaseException, evidence: RedactedEvidence, signals: Sequence[Signal]) -> bool:
        """Return whether one exception of the chain meets every condition that is given."""
        paths = {loaded_class_path(path) for path in self._paths}
        positions = _positions(evidence, self.match)
        return any(
            self._meets(evidence.nodes[index], paths, [signal for signal in signals if signal.node == index])
            for index in positions
        ) and self._is_predicted(exception)

    def _is_predicted(self, exception: BaseException) -> bool:
        try:
            return self.predicate is None or bool(self.predicate(exception))
        except INTERRUPTS:
            raise
        except BaseException as error:  # noqa: BLE001 - a stranger's function must not fail the task in our name
            say(
                log,
                logging.WARNING,
                "The predicate of a FailureRule raised %s; the rule does not match.",
                built_in_name(error),
            )
            return False

    def _meets(self, node: RedactedNode, paths: set[str], signals: Sequence[Signal]) -> bool:
        if paths and paths.isdisjoint((node.type_path, *node.base_paths)):
            return False
        if self._message and not any(self._message.search(text) for text in (node.message, *node.notes)):
            return False
        return self._signal is None or self._signal.holds(node, signals)


def check_rules(
    rules: Iterable[object], field_name: str, categories: Collection[str] = DEFAULT_CATEGORIES
) -> tuple[FailureRule | RetryRule, ...]:
    """
    Return the rules as a tuple.

    :param field_name: The constructor argument, for the error text.
    :param categories: The names of the policy's table.
    :raises TypeError: Not a list of ``RetryRule`` and :class:`FailureRule`.
    :raises ValueError: A rule names a category that is not in the table.
    """
    if rules is None:
        return ()
    if isinstance(rules, RetryRule | FailureRule | str) or not isinstance(rules, Iterable):
        raise TypeError(f"{field_name} must be a list of rules, got {type(rules).__name__}. Use e.g. [{rules!r}].")
    checked: list[FailureRule | RetryRule] = []
    for number, rule in enumerate(rules):
        if isinstance(rule, RetryRule):
            for spec in _specs(rule.exception):
                _path(spec)
            _check_action_and_delay(f"{field_name}[{number}]", rule.action, rule.retry_delay)
        elif not isinstance(rule, FailureRule):
            raise TypeError(
                f"{field_name}[{number}] must be a RetryRule or a FailureRule, got {type(rule).__name__}. "
                "Use e.g. FailureRule(exception=ConnectionError)."
            )
        elif rule.category is not None and rule.category not in categories:
            close = close_match(rule.category, frozenset(categories))
            raise ValueError(
                f"{field_name}[{number}].category must be one of the policy's categories, got {rule.category!r}. "
                + (f"Did you mean {close!r}?" if close else f"Use one of {', '.join(categories)}, or add it to them.")
            )
        checked.append(rule)
    return tuple(checked)


def _specs(exception: object) -> Sequence[ExceptionSpec]:
    if exception is None:
        return ()
    if exception == []:
        raise ValueError("a rule's exception must not be an empty list. Use e.g. [ConnectionError].")
    if isinstance(exception, tuple):
        raise TypeError(
            f"a rule's exception must be a class, a dotted path or a *list* of them, got the tuple {exception!r}. "
            f"Use {list(exception)!r}."
        )
    return exception if isinstance(exception, list) else [exception]  # type: ignore[list-item]  # checked in _path


def _path(spec: object) -> str:
    """Return the dotted path of a class; a path is checked without importing anything."""
    if isinstance(spec, str):
        check_class_path(spec)
        return spec
    if isinstance(spec, type) and issubclass(spec, BaseException):
        return type_path(spec)
    raise TypeError(
        f"a rule's exception must be an exception class or its dotted path, got {spec!r}. "
        "Use e.g. ConnectionError or 'requests.exceptions.Timeout'."
    )


def _check_action_and_delay(owner: str, action: object, delay: object) -> None:
    if not isinstance(action, RetryAction):
        raise TypeError(f"{owner}.action must be a RetryAction, got {action!r}. Use e.g. RetryAction.FAIL.")
    if delay is None:
        return
    if not isinstance(delay, timedelta):
        raise TypeError(
            f"{owner}.retry_delay must be a timedelta or None, got {delay!r}. Use e.g. timedelta(seconds=60)."
        )
    if not timedelta(0) <= delay <= MAX_RULE_DELAY:
        raise ValueError(
            f"{owner}.retry_delay must be between 0 and 7 days, got {delay.total_seconds():g} s. "
            "Use e.g. timedelta(seconds=60)."
        )


def _check_predicate(predicate: object) -> None:
    if predicate is None:
        return
    if not callable(predicate) or (isinstance(predicate, type) and issubclass(predicate, BaseException)):
        raise TypeError(
            f"FailureRule.predicate must be a function of the exception, got {predicate!r}. "
            "Use e.g. lambda error: error.args == (5,); a class goes in FailureRule.exception."
        )
    if inspect.iscoroutinefunction(predicate):
        raise TypeError(f"FailureRule.predicate must not be async, got {predicate!r}. Use a plain function.")
    try:
        signature = inspect.signature(predicate)
    except (TypeError, ValueError):
        return  # a function in C that does not say what it takes
    try:
        signature.bind(None)
    except TypeError as error:
        raise TypeError(
            f"FailureRule.predicate is called with the exception alone, which {predicate!r} does not take: {error}. "
            "Use e.g. lambda error: error.args == (5,)."
        ) from None


def _positions(evidence: RedactedEvidence, match: str) -> Sequence[int]:
    """Return the indexes of the nodes that a rule looks at; the innermost is the end of the explicit chain."""
    if match == "anywhere":
        return range(len(evidence.nodes))
    if match == "outermost":
        return (0,)
    parents = {node.parent for node in evidence.nodes if node.edge is not Edge.CONTEXT}
    innermost = [
        index
        for index, node in enumerate(evidence.nodes)
        if index not in parents and (index == 0 or node.edge is not Edge.CONTEXT)
    ]
    return innermost or (0,)
