"""The facts of one failure: nodes of the exception chain and the signals that were read from them.

Everything here is frozen and goes to JSON and back. A failure seen in production and a failure replayed
from a recording are the same objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Any, Literal, NewType

Fact = str | int | float | bool
"""A whitelisted attribute of an exception, e.g. ``{"http.status": 429}``."""

RedactedText = NewType("RedactedText", str)
"""A string that went through the redaction wall, which alone makes these: what may be logged, stored and sent."""

NO_TEXT = RedactedText("")

CategoryName = Literal["rate_limit", "auth", "network", "data", "resource", "transient", "permanent"]
"""The seven categories of the Common AI provider, so that answers compare."""


class Edge(StrEnum):
    """How a node hangs on its parent."""

    ROOT = "root"
    """The exception that Airflow handed to the policy."""
    CAUSE = "cause"
    """``__cause__``: ``raise … from error``."""
    CONTEXT = "context"
    """``__context__``: raised while ``error`` was handled. The only *implicit* edge."""
    MEMBER = "member"
    """A member of an ``ExceptionGroup``."""
    WRAPPED = "wrapped"
    """Kept by a library in an attribute (``.orig``, ``.reason``, …) or in ``args``."""
    TRIGGER = "trigger"
    """The trigger's exception of a failed deferral, parsed from its traceback."""
    NESTED = "nested"
    """A traceback found in the words of a message or a log, parsed back into nodes."""

    @property
    def is_explicit(self) -> bool:
        """Whether somebody said that the child is why the parent was raised."""
        return self is not Edge.CONTEXT


@dataclass(frozen=True, slots=True)
class ExceptionNode:
    """One exception of a chain, as it was raised. Holds unredacted text: see :class:`RedactedNode`."""

    type_path: str
    """Where the class lives, e.g. ``requests.exceptions.HTTPError``."""
    base_paths: tuple[str, ...] = ()
    """The class's bases in method resolution order, without itself and ``object``; empty if only text is known."""
    message: str = ""
    notes: tuple[str, ...] = ()
    edge: Edge = Edge.ROOT
    parent: int | None = None
    """Index of the parent in :attr:`Evidence.nodes`; ``None`` for the root."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """Whitelisted attributes, named ``protocol.attribute``."""
    from_text: bool = False
    """Parsed from a traceback: there was no live exception, so no facts and no bases."""

    @property
    def class_name(self) -> str:
        """The last part of :attr:`type_path`."""
        return self.type_path.rpartition(".")[2]

    def is_a(self, *kinds: str) -> bool:
        """
        Whether the class or one of its bases is one of ``kinds``.

        :param kinds: ``Name`` for a built-in (``TimeoutError``), else ``root.Name`` with the *top* package
            (``requests.ConnectionError`` for ``requests.exceptions.ConnectionError``): names outlive modules.
        """
        return not {*map(kind_of, (self.type_path, *self.base_paths))}.isdisjoint(kinds)


@lru_cache(maxsize=1024)  # of some hundred characters at most: every reader asks for the same few
def root_of(type_path: str) -> str:
    """Return the top package of a class, ``builtins`` for a built-in."""
    module = type_path.rpartition(".")[0]
    return module.partition(".")[0] or "builtins"


@lru_cache(maxsize=1024)
def kind_of(type_path: str) -> str:
    """Return the class that lives at ``type_path`` as tables and :meth:`ExceptionNode.is_a` name it."""
    root, name = root_of(type_path), type_path.rpartition(".")[2]
    return name if root == "builtins" else f"{root}.{name}"


@dataclass(frozen=True, slots=True)
class RedactedNode(ExceptionNode):
    """A node whose every string went through the redaction wall. Only ``redaction`` makes these."""

    type_path: RedactedText
    base_paths: tuple[RedactedText, ...] = ()
    message: RedactedText = NO_TEXT
    notes: tuple[RedactedText, ...] = ()

    def text_of(self, fact: str) -> RedactedText:
        """Return one of :attr:`facts` as text, empty if it is not there."""
        return RedactedText(str(self.facts.get(fact, NO_TEXT)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was collected from a live exception. Holds secrets: nothing but the redaction wall accepts it."""

    nodes: tuple[ExceptionNode, ...]
    """The walk in order, parents before children; ``nodes[0]`` is the exception that Airflow handed over."""
    observed_at: datetime
    """When the failure was seen, UTC: what dates and epochs in headers are measured against."""
    is_truncated: bool = False
    """A bound on depth, nodes or text was hit."""


@dataclass(frozen=True, slots=True)
class RedactedEvidence:
    """The same facts behind the redaction wall; all that stores, logs, recordings and models may see."""

    nodes: tuple[RedactedNode, ...]
    observed_at: datetime
    is_truncated: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; :func:`~airflow_common_ai.evidence.redaction.from_json` reads it back."""
        return {
            "observed_at": self.observed_at.isoformat(),
            "is_truncated": self.is_truncated,
            "nodes": [_node_to_json(node) for node in self.nodes],
        }


def _node_to_json(node: RedactedNode) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": node.type_path, "edge": node.edge.value}
    if node.parent is not None:
        entry["parent"] = node.parent
    if node.base_paths:
        entry["bases"] = list(node.base_paths)
    if node.message:
        entry["message"] = node.message
    if node.notes:
        entry["notes"] = list(node.notes)
    if node.facts:
        entry["facts"] = dict(sorted(node.facts.items()))
    if node.from_text:
        entry["from_text"] = True
    return entry


class Retry(StrEnum):
    """Whether a failure of this kind is worth another try."""

    YES = "yes"
    NO = "no"
    DEPENDS = "depends"
    """Worth a try, but not many: such a signal carries a cap on attempts."""


class Wait(StrEnum):
    """How long to wait when the server did not say, as classes of backoff."""

    NONE = "none"
    """Not retried."""
    NOW = "now"
    """0–5 s with jitter: a deadlock, a lost race, a damaged transfer."""
    SHORT = "short"
    """5–30 s, doubling, at most 5 min."""
    MEDIUM = "medium"
    """60 s, doubling, at most 15 min."""
    LONG = "long"
    """10–30 min: capacity, quotas, permissions that are still spreading."""
    RESET = "reset"
    """Until the window that the service names resets."""


class Rank(IntEnum):
    """The order of evidence: the smaller, the closer to what the service itself said."""

    VERDICT = 1
    """The SDK's own verdict on the object, e.g. ``x-should-retry``."""
    VENDOR_CODE = 2
    """The vendor's code: AWS ``Error.Code``, SQLSTATE, a Kubernetes reason."""
    STATUS = 3
    """HTTP or gRPC status and headers."""
    OS = 4
    """errno, resolver code, TLS reason, exit code."""
    CLASS = 5
    """The name of the exception class."""
    TEXT = 6
    """Words in a message."""


class Strength(StrEnum):
    """How far a signal alone carries."""

    CONCLUSIVE = "conclusive"
    """Settles what the failure is."""
    HINT = "hint"
    """Points somewhere; a later tier weighs it."""


@dataclass(frozen=True, slots=True)
class Signal:
    """What one node says about retrying and waiting."""

    code: str
    """Stable name of the finding, ``protocol.detail``, e.g. ``http.429``."""
    category: CategoryName
    retry: Retry
    wait: Wait
    rank: Rank
    sentence: str
    """What an on-call engineer should read, without the code, e.g. ``rate limited``."""
    source: str
    """Where this is documented: an RFC section, a vendor page, a library's version, or ``judgement``."""
    strength: Strength = Strength.CONCLUSIVE
    asked_delay_s: float | None = None
    """Seconds, from ``observed_at``, that the server asked to be left alone; never negative."""
    max_attempts: int | None = None
    """How many attempts may end like this before the task is failed, this one included; 2 is *retry once*."""
    node: int = 0
    """Index of the node that it was read from."""

    def __post_init__(self) -> None:
        if self.retry is Retry.DEPENDS and self.max_attempts is None:
            raise ValueError(f"signal {self.code!r}: 'depends' needs max_attempts, e.g. 2 to retry once")

    @property
    def protocol(self) -> str:
        """The reader that found it."""
        return self.code.partition(".")[0]

    @property
    def is_conclusive(self) -> bool:
        return self.strength is Strength.CONCLUSIVE
