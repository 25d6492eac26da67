"""Which of the signals of a failure wins.

Within a node the better rank wins (:class:`~airflow_common_ai.evidence.model.Rank`), but a code that only says
"may pass" yields to conclusive words beside it that name another cause: an image that cannot be pulled because it
does not exist. Along explicit edges (causes, wrapped originals) a signal of ranks 1-4 beats a class name or words,
then the deepest wins: a wrapper knows less than what it wraps.

An implicit ``__context__`` only counts with ranks 1-4, since the deepest context is often an error that was handled.
It speaks for a wrapper that says nothing, and for a first error that failing clean-up masks. A look-up that missed
never outweighs what came after it, and no context fails a task against what points to a retry. A group fails if one
of its members must fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from airflow_common_ai.evidence.model import Edge, Rank, RedactedEvidence, Retry, Signal, Wait

__all__ = ["Conclusion", "conclude"]

_MAY_PASS = ("network", "transient")

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
        for index, node in enumerate(evidence.nodes):
            if node.parent is not None:
                self._children[node.parent].append(index)
        for signal in signals:
            self._signals[signal.node].append(signal)

    def settle(self, index: int, depth: int = 0, *, is_implicit: bool = False) -> _Found | None:
        """Return what the subtree below ``index`` comes to."""
        own = _best_of_node(self._signals[index])
        if own and is_implicit and own.rank > Rank.OS:
            own = None
        explicit = [_Found(own, depth)] if own else []
        members: list[_Found | None] = []
        context: _Found | None = None
        for child in self._children[index]:
            edge = self._nodes[child].edge
            found = self.settle(child, depth + 1, is_implicit=is_implicit or not edge.is_explicit)
            if edge is Edge.MEMBER:
                members.append(found)
            elif not edge.is_explicit:
                context = found
            elif found:
                explicit.append(found)
        if group := _settle_group(members):
            explicit.append(group)
        chosen = max(explicit, key=lambda found: found.weight, default=None)
        if context is None:
            return chosen
        return self._weigh_context(index, chosen, context)

    def _weigh_context(self, index: int, chosen: _Found | None, context: _Found) -> _Found | None:
        # Failing throws every retry away: not on an implicit word against an explicit one.
        if chosen is None:
            return None if context.fails and self._has_retry_hint(index) else context
        if context.is_missed_lookup or (context.fails and not chosen.fails):
            return chosen
        return context

    def _has_retry_hint(self, index: int) -> bool:
        explicit = [child for child in self._children[index] if self._nodes[child].edge.is_explicit]
        return any(s.retry is not Retry.NO for s in self._signals[index]) or any(
            self._has_retry_hint(child) for child in explicit
        )


def _best_of_node(signals: Iterable[Signal]) -> Signal | None:
    conclusive = [signal for signal in signals if signal.is_conclusive]
    if not conclusive:
        return None
    best = conclusive[0]
    if best.retry is Retry.DEPENDS and best.category in _MAY_PASS:
        words = (other for other in conclusive if other.rank is Rank.TEXT and other.retry is Retry.NO)
        return next((other for other in words if other.category not in _MAY_PASS), best)
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
