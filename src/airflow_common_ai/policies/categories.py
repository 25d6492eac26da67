"""The table that decides: what is done about each category of failure."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.policies.signal_names import close_match

__all__ = ["DEFAULT_CATEGORIES", "FailureCategory", "check_categories"]

log = logging.getLogger(__name__)

FAIL_BAR = 0.9
"""Confidence that a verdict needs before it may fail a task: FAIL throws every remaining retry away."""

RETRY_BAR = 0.6
"""Confidence that a verdict needs before it may retry a task: a wrong retry costs one try."""


@dataclass(frozen=True)
class FailureCategory:
    """
    What is done about one category of failure.

    Fits where the Common AI provider takes an ``ErrorCategory``, which is accepted here too.

    :param description: What failures belong here, in a sentence. A model reads it.
    :param retry: Whether such a failure is retried or fails the task at once. A signal may know better about
        its own code (an expired token is ``auth`` and retried once) unless this differs from the default table.
    :param delay: The first backoff, doubled with each failure of the round. ``None``: as the evidence suggests.
    :param max_attempts: How many attempts of a round may end like this before the task is failed, the first
        included. ``None``: as many as the task's ``retries`` give.
    :param min_confidence: The bar for a verdict that is not certain. ``None``: 0.9 to fail, 0.6 to retry.
    :param wait: The class of backoff where neither the evidence nor ``delay`` says one.
    :raises TypeError: A field has the wrong type.
    :raises ValueError: A field is out of range.
    """

    description: str
    retry: bool = True
    delay: timedelta | None = None
    max_attempts: int | None = None
    min_confidence: float | None = None
    wait: Wait = Wait.SHORT

    def __post_init__(self) -> None:
        if not isinstance(self.description, str) or not self.description.strip():
            raise ValueError("FailureCategory.description must say in a sentence what belongs here, got an empty text.")
        if not isinstance(self.retry, bool):
            raise TypeError(f"FailureCategory.retry must be True or False, got {self.retry!r}.")
        if self.delay is not None:
            if not isinstance(self.delay, timedelta):
                raise TypeError(
                    f"FailureCategory.delay must be a timedelta or None, got {self.delay!r}. "
                    "Use e.g. timedelta(seconds=60)."
                )
            if self.delay < timedelta(0):
                raise ValueError(f"FailureCategory.delay must not be negative, got {self.delay!r}.")
            if not self.retry:
                raise ValueError("FailureCategory.delay is set but retry=False: a failed task has nothing to wait for.")
        if self.max_attempts is not None and (not _is_int(self.max_attempts) or self.max_attempts < 1):
            raise ValueError(
                f"FailureCategory.max_attempts must be a whole number of attempts from 1, got {self.max_attempts!r}."
            )
        if self.min_confidence is not None and not (
            isinstance(self.min_confidence, int | float) and 0 <= self.min_confidence <= 1
        ):
            raise ValueError(
                f"FailureCategory.min_confidence must be between 0 and 1, got {self.min_confidence!r}. Use e.g. 0.9."
            )

    @property
    def bar(self) -> float:
        """The confidence that a verdict for this category needs."""
        if self.min_confidence is not None:
            return self.min_confidence
        return RETRY_BAR if self.retry else FAIL_BAR


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


DEFAULT_CATEGORIES: Mapping[str, FailureCategory] = MappingProxyType(
    {
        "rate_limit": FailureCategory(
            "Too many requests, connections or jobs at once; counted, and freed by waiting.", wait=Wait.MEDIUM
        ),
        "auth": FailureCategory("Credentials wrong, expired or missing, or not allowed.", retry=False),
        "network": FailureCategory("The other side could not be reached, or the connection broke."),
        "data": FailureCategory("The input or the request itself is wrong; it fails again the same way.", retry=False),
        "resource": FailureCategory("The thing referred to does not exist: file, table, bucket, address.", retry=False),
        "transient": FailureCategory("A passing state of the service or the machine: overload, lock, restart."),
        "permanent": FailureCategory(
            "A person must change the code, the configuration, a limit or a bill.", retry=False
        ),
    }
)
"""The seven categories of the Common AI provider. Spread it to change an entry: ``{**DEFAULT_CATEGORIES, …}``."""


def check_categories(categories: Mapping[str, Any]) -> dict[str, FailureCategory]:
    """
    Return the user's table completed by the defaults, as plain data that can be deep-copied.

    :param categories: Category name to :class:`FailureCategory`, or to the Common AI provider's ``ErrorCategory``.
    :raises TypeError: Not a mapping, or an entry is something else.
    """
    if not isinstance(categories, Mapping):
        raise TypeError(
            f"categories must map names to FailureCategory, got {type(categories).__name__}. "
            "Use e.g. {**DEFAULT_CATEGORIES, 'auth': FailureCategory('…', retry=True)}."
        )
    table = dict(DEFAULT_CATEGORIES)
    for name, row in categories.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"categories must have names like 'rate_limit', got {name!r}.")
        if name not in DEFAULT_CATEGORIES and (meant := close_match(name, frozenset(DEFAULT_CATEGORIES), 0.8)):
            log.warning(
                "The category %r is none of the usual ones. If %r was meant, its row is not changed by this; "
                "a name of your own is used only where a rule or a model gives it.",
                name,
                meant,
            )
        table[name] = row if isinstance(row, FailureCategory) else _adopt(name, row)
    return table


def _adopt(name: str, row: Any) -> FailureCategory:
    """Read the provider's ``ErrorCategory`` by its fields: importing its class would load its whole model stack."""
    try:
        return FailureCategory(row.description, retry=row.retry, delay=row.delay, min_confidence=row.min_confidence)
    except AttributeError:
        raise TypeError(
            f"categories[{name!r}] must be a FailureCategory, got {type(row).__name__}. "
            "Use e.g. FailureCategory('what belongs here', retry=True)."
        ) from None
