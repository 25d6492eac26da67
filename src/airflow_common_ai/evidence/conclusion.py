"""Which of the signals of a failure wins.

Within a node the better rank wins (:class:`~airflow_common_ai.evidence.model.Rank`), with two exceptions. A code that
only says "may pass" yields to conclusive words beside it that name another cause: an image that cannot be pulled
because it does not exist. A code that only says "the request is wrong" yields to words that name a passing cause: a
bad request "due to concurrent update". Along explicit edges (causes, wrapped originals) a signal of ranks 1-4 beats a
class name or words, then the deepest wins: a wrapper knows less than what it wraps. A group fails if one of its
members must fail.

An implicit ``__context__`` may be the first error, masked by clean-up that failed, or one that was handled before
something else went wrong; :class:`_Chooser` says who speaks then. The rule behind it: failing a task throws every
retry away, so it takes more than an error on top of another one whose cause is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from airflow_common_ai.evidence.model import Edge, Rank, RedactedEvidence, Retry, Signal, Wait

__all__ = ["Conclusion", "conclude"]

_CLEAN_UP = re.compile(
    r"\b(?:already|is|was|been) closed\b|\bnot (?:connected|open)\b|connect\(\) first", re.IGNORECASE
)
_LOOKED_AT_CHARS = 500

_MAY_PASS = ("network", "transient")
_REQUEST_IS_WRONG = ("data",)
_SAYS_ITS_OWN_WORDS = ("os",)
"""The words beside an error number are its own: those of a local socket that is gone speak of a missing file."""

_WAITS_BY_LENGTH = (Wait.NONE, Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG, Wait.RESET)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the signals of one failure come to."""

    signal: Signal | None
    """The conclusive signal that won; ``None`` if the evidence leaves it open."""
    others: tuple[Signal, ...] = ()
    """The signals that lost, hints among them."""
    asked_delay_s: float | None = None
    """The longest that any signal was asked to wait."""

    @property
    def hints_at_retry(self) -> bool:
        """Whether there are hints and every one of them points to another try."""
        hints = [signal for signal in self.others if not signal.is_conclusive]
        return bool(hints) and all(hint.retry is not Retry.NO for hint in hints)


@dataclass(frozen=True, slots=True)
class _Found:
    signal: Signal
    depth: int

    @property
    def is_strong(self) -> bool:
        return self.signal.rank <= Rank.OS

    @property
    def fails(self) -> bool:
        return self.signal.retry is Retry.NO

    @property
    def is_missed_lookup(self) -> bool:
        return self.signal.category == "resource"

    @property
    def weight(self) -> tuple[bool, int]:
        return (self.is_strong, self.depth)


def conclude(evidence: RedactedEvidence, signals: Sequence[Signal]) -> Conclusion:
    """
    Choose the signal that settles a failure.

    :param evidence: The failure.
    :param signals: Every signal that was read from it, in the order of nodes and, within one, of rank.
    :return: The winner, or ``None`` where the evidence leaves it open, with the losing signals beside it.
    """
    winner = _Chooser(evidence, signals).settle(0) if evidence.nodes else None
    signal = winner.signal if winner else None
    asked = [
        other.asked_delay_s for other in signals if other.asked_delay_s is not None and other.retry is not Retry.NO
    ]
    return Conclusion(
        signal=signal,
        others=tuple(other for other in signals if other is not signal),
        asked_delay_s=max(asked, default=None),
    )


class _Chooser:
    """One walk over the tree of nodes; holds the indexes that the walk needs."""

    def __init__(self, evidence: RedactedEvidence, signals: Sequence[Signal]) -> None:
        self._nodes = evidence.nodes
        self._children: list[list[int]] = [[] for _ in evidence.nodes]
        self._signals: list[list[Signal]] = [[] for _ in evidence.nodes]
        self._settled: dict[tuple[int, bool], _Found | None] = {}
        for index, node in enumerate(evidence.nodes):
            if node.parent is not None:
                self._children[node.parent].append(index)
        for signal in signals:
            self._signals[signal.node].append(signal)

    def settle(self, index: int, depth: int = 0, *, is_strong_only: bool = False) -> _Found | None:
        """Return what the subtree below ``index`` comes to, by ranks 1-4 alone if ``is_strong_only``."""
        key = (index, is_strong_only)
        if key not in self._settled:
            self._settled[key] = self._settle(index, depth, is_strong_only)
        return self._settled[key]

    def _settle(self, index: int, depth: int, is_strong_only: bool) -> _Found | None:
        own = _best_of_node(self._signals[index])
        if own and is_strong_only and own.rank > Rank.OS:
            own = None
        explicit = [_Found(own, depth)] if own else []
        members: list[_Found | None] = []
        context: int | None = None
        for child in self._children[index]:
            edge = self._nodes[child].edge
            if not edge.is_explicit:
                context = child
                continue
            found = self.settle(child, depth + 1, is_strong_only=is_strong_only)
            if edge is Edge.MEMBER:
                members.append(found)
            elif found:
                explicit.append(found)
        if group := _settle_group(members):
            explicit.append(group)
        chosen = max(explicit, key=lambda found: found.weight, default=None)
        if context is None:
            return chosen
        strong = self.settle(context, depth + 1, is_strong_only=True)
        if strong:
            return self._weigh(index, chosen, strong)
        return chosen if is_strong_only else self._weigh_weak(chosen, self.settle(context, depth + 1))

    def _weigh(self, index: int, chosen: _Found | None, context: _Found) -> _Found | None:
        """Choose between what an exception says and a code, a status or an errno in its context."""
        if chosen is None:
            return None if context.fails and self._has_retry_hint(index) else context
        is_same_event = any(signal.code == chosen.signal.code for signal in self._signals[context.signal.node])
        if is_same_event:
            return context  # a hook that restates the status of the answer that it handles
        if context.is_missed_lookup:
            return chosen  # handled every day
        if context.fails and not chosen.fails:
            # `connection already closed` on top of a 401 is clean-up; a second way that was refused is not.
            is_clean_up = _CLEAN_UP.search(self._nodes[chosen.signal.node].message[:_LOOKED_AT_CHARS])
            return context if is_clean_up else chosen
        return context

    def _weigh_weak(self, chosen: _Found | None, context: _Found | None) -> _Found | None:
        """Choose between what an exception says and a context that has a class or words at most."""
        if chosen is None:
            return None if context is None or context.fails else context
        if not chosen.fails or chosen.signal.rank <= Rank.STATUS:
            return chosen
        if context is not None:
            return chosen if context.fails else context
        # `'NoneType' has no attribute 'close'`, or a temporary file that is not there, on top of an open cause.
        return chosen if chosen.signal.rank is Rank.TEXT else None

    def _has_retry_hint(self, index: int) -> bool:
        explicit = [child for child in self._children[index] if self._nodes[child].edge.is_explicit]
        return any(signal.retry is not Retry.NO for signal in self._signals[index]) or any(
            self._has_retry_hint(child) for child in explicit
        )


def _best_of_node(signals: Iterable[Signal]) -> Signal | None:
    conclusive = [signal for signal in signals if signal.is_conclusive]
    if not conclusive:
        return None
    best = conclusive[0]
    words = [signal for signal in conclusive if signal.rank is Rank.TEXT]
    if best.retry is Retry.DEPENDS and best.category in _MAY_PASS and best.protocol not in _SAYS_ITS_OWN_WORDS:
        return next((other for other in words if other.retry is Retry.NO and other.category not in _MAY_PASS), best)
    if best.retry is Retry.NO and (best.category in _REQUEST_IS_WRONG or best.rank is Rank.CLASS):
        return next((other for other in words if other.retry is Retry.YES), best)
    return best


def _settle_group(members: Iterable[_Found | None]) -> _Found | None:
    """One member that cannot succeed fails the group; otherwise the member with the longest wait speaks for it."""
    found = [member for member in members if member]
    failing = [member for member in found if member.fails]
    if failing:
        return max(failing, key=lambda member: member.weight)
    return max(found, key=lambda member: _wait_length(member.signal), default=None)


def _wait_length(signal: Signal) -> tuple[float, int]:
    return (signal.asked_delay_s or 0.0, _WAITS_BY_LENGTH.index(signal.wait))
