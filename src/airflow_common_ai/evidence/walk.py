"""Walk from a live exception to every other one that it hangs together with."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from airflow_common_ai.evidence.live_exception import MAX_LINKS, links_of
from airflow_common_ai.evidence.model import Edge

__all__ = ["Found", "Walk", "walk"]

_MAX_LINKS_IN_ALL = 1024
"""Far more than the exceptions that are kept: the innermost one is worth a long way."""

_LOOP_ENDS = (StopIteration, StopAsyncIteration, GeneratorExit)
_LOOKUPS = (KeyError, IndexError, AttributeError, LookupError)


@dataclass(frozen=True, slots=True)
class Found:
    """An exception and where it hangs."""

    exception: BaseException
    parent: int | None
    """Index in :attr:`Walk.found`."""
    edge: Edge


@dataclass(frozen=True, slots=True)
class Walk:
    """What was found, parents before children."""

    found: list[Found]
    missed_lookups: Mapping[int, BaseException]
    """By index of the exception that it was the context of: a look-up error that was left out."""
    is_truncated: bool


def walk(root: BaseException) -> Walk:
    """
    Find each exception once.

    What somebody said to be the reason (``from``, a member, a wrapped original) is followed to its end before
    anything implicit, so that an exception reached both ways hangs where somebody put it.

    A context is whatever was being handled at the time, and not all of it is evidence:

    * ``StopIteration``, ``StopAsyncIteration`` and ``GeneratorExit`` are how Python ends its loops: every JSON
      decoding error has one behind it. They are always left out.
    * A plain ``KeyError``, ``IndexError``, ``AttributeError`` or ``LookupError`` is most often a cache that missed
      or a default that was looked for, before the real work was tried and failed. It is left out, but remembered:
      where the exception in front of it has nothing else to say, ``except KeyError: raise RuntimeError("bad
      configuration")``, the look-up is what failed. A *subclass* of these was made to be told apart, and stays.
    * Everything else stays, also errors that are often handled (``FileNotFoundError``, ``ImportError``): as often
      they are the reason that somebody translated without ``from``. How little an implicit link proves is for
      the reader of the tree to weigh; what is left out here is lost.

    What lies behind an exception that was left out is followed all the same, as a context. All of them stay
    where somebody named them as the reason.
    """
    found: list[Found] = []
    left_out: list[BaseException] = []  # kept alive: the id of a freed exception would be used again
    seen: set[int] = set()
    passed: set[int] = set()
    missed_lookups: dict[int, BaseException] = {}
    said = [Found(root, None, Edge.ROOT)]
    implied: deque[Found] = deque()
    is_truncated = False
    links_seen = 0
    while said or implied:
        if links_seen > _MAX_LINKS_IN_ALL:
            is_truncated = True
            break
        step = said.pop() if said else implied.popleft()
        if id(step.exception) in seen:
            continue
        links = links_of(step.exception)
        links_seen += len(links)
        is_truncated |= len(links) == MAX_LINKS
        if step.edge is Edge.CONTEXT and step.parent is not None and _is_control_flow(step.exception):
            if id(step.exception) in passed:
                continue
            passed.add(id(step.exception))
            left_out.append(step.exception)
            if _is_lookup(step.exception):
                missed_lookups.setdefault(step.parent, step.exception)
            implied.extend(Found(exception, step.parent, Edge.CONTEXT) for _, exception in links)
            continue
        index = len(found)
        seen.add(id(step.exception))
        found.append(step)
        children = [Found(exception, index, edge) for edge, exception in links]
        said.extend(child for child in reversed(children) if child.edge.is_explicit)
        implied.extend(child for child in children if not child.edge.is_explicit)
    return Walk(found, missed_lookups, is_truncated)


def _is_control_flow(exception: BaseException) -> bool:
    return issubclass(type(exception), _LOOP_ENDS) or _is_lookup(exception)


def _is_lookup(exception: BaseException) -> bool:
    return any(type(exception) is lookup for lookup in _LOOKUPS)  # not `in`: a metaclass may define equality
