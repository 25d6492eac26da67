"""Walk a live exception once and write down what it says."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice

from airflow_common_ai.evidence.cut import CUT_MARK, cut
from airflow_common_ai.evidence.exception_tree import Place, distances_from_an_end, prune, pruned
from airflow_common_ai.evidence.live_exception import facts_of, guarded, message_of, notes_of
from airflow_common_ai.evidence.logs.log_line import lines_of
from airflow_common_ai.evidence.logs.traceback_text import holds_traceback, parse_tracebacks
from airflow_common_ai.evidence.model import Edge, Evidence, ExceptionNode
from airflow_common_ai.evidence.text_budget import fit
from airflow_common_ai.evidence.type_path import base_paths, type_path
from airflow_common_ai.evidence.walk import Walk, walk

__all__ = ["CUT_MARK", "collect", "complete"]

log = logging.getLogger(__name__)

_MAX_EXTRA_TRACEBACKS = 4
_MAX_TEXT_CHARS = 32 * 1024
"""Of one text that is searched for tracebacks, before it is cut to what is kept of it."""
_MAX_PARSED_CHARS = 64 * 1024
"""Of all such texts of one failure."""
_MAX_PARSED_LINES = 1000
_OUTPUT_FACTS = "process."
"""What a command printed may hold a traceback of ours. A web server's error page may hold one too, but that is
the server's failure, and its exception says nothing about this task."""


def collect(
    exception: BaseException, *, extra_tracebacks: Sequence[str] = (), observed_at: datetime | None = None
) -> Evidence:
    """
    Return an exception and everything that hangs together with it, as plain and bounded facts.

    Never raises, but for a ``KeyboardInterrupt`` or ``SystemExit`` that comes up meanwhile. Reads no stack frames
    and no local variables. At most 64 exceptions are kept, and at most 16 on the way to any of them: the
    outermost, which say what failed, and the innermost, which say why.

    :param exception: What the task raised; any ``BaseException``.
    :param extra_tracebacks: Text of the trigger's traceback if the task failed in its deferral; at most four.
    :param observed_at: When the failure was seen, a naive time being UTC; now, if ``None``.
    :return: Evidence that still holds secrets; if all else fails, with just the type of the exception.
    """
    observed_at = observed_at or datetime.now(UTC)
    observed_at = observed_at.astimezone(UTC) if observed_at.tzinfo else observed_at.replace(tzinfo=UTC)
    try:
        return _collect(exception, extra_tracebacks, observed_at)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as fault:  # noqa: BLE001 - a failure that cannot be read must still be decided upon
        # Without a stack: it would print the task's exception, unredacted, as the context.
        log.warning("An exception could not be read, only its type is known: %s", type_path(type(fault)))
        return Evidence((ExceptionNode(type_path(type(exception))),), observed_at, is_truncated=True)


def complete(
    nodes: Sequence[ExceptionNode],
    observed_at: datetime,
    *,
    extra_tracebacks: Sequence[str] = (),
    is_truncated: bool = False,
) -> Evidence:
    """
    Add the failures that stand in the words of others, and bring all of it to size.

    :param nodes: Exceptions whose messages are known exactly; those of a printed traceback may hold what follows it.
    :param extra_tracebacks: Text of the trigger's traceback if the task failed in its deferral; at most four.
    :param is_truncated: A bound was hit already.
    """
    grown = list(nodes)
    texts = _TextReader()
    for text in islice(extra_tracebacks, _MAX_EXTRA_TRACEBACKS):
        _graft(grown, guarded(partial(texts.read, text), []), 0, Edge.TRIGGER)
    distances = distances_from_an_end([node.parent for node in grown])
    for index in sorted(range(len(nodes)), key=lambda index: distances[index]):
        for words in _words_of(grown[index]):
            _graft(grown, texts.read(words), index, Edge.NESTED)
    kept = pruned(grown)
    fitted, is_cut = fit(kept)
    return Evidence(tuple(fitted), observed_at, is_truncated or len(kept) < len(grown) or is_cut)


def _collect(exception: BaseException, extra_tracebacks: Sequence[str], observed_at: datetime) -> Evidence:
    walked = walk(exception)
    places = prune([found.parent for found in walked.found], [found.edge for found in walked.found])
    is_truncated = walked.is_truncated or len(places) < len(walked.found)
    nodes = _live_nodes(walked, places)
    return complete(nodes, observed_at, extra_tracebacks=extra_tracebacks, is_truncated=is_truncated)


def _live_nodes(walked: Walk, places: Sequence[Place]) -> list[ExceptionNode]:
    nodes = [_node(walked.found[place.index].exception, place.parent, place.edge) for place in places]
    parents = {place.parent for place in places}
    for index, place in enumerate(places):
        missed = walked.missed_lookups.get(place.index)
        if missed is None or index in parents:
            continue
        # A failure of the system or of a service speaks for itself. Bare words may stand for the look-up.
        is_bare = not nodes[index].facts and not issubclass(type(walked.found[place.index].exception), OSError)
        if is_bare:
            nodes.append(_node(missed, index, Edge.CONTEXT))
    return nodes


def _node(exception: BaseException, parent: int | None, edge: Edge) -> ExceptionNode:
    cls = type(exception)
    return ExceptionNode(
        type_path=type_path(cls),
        base_paths=base_paths(cls),
        # At once: 64 exceptions with a megabyte each need not be held at the same time.
        message=message_of(exception, _MAX_TEXT_CHARS),
        notes=tuple(notes_of(exception)),
        edge=edge,
        parent=parent,
        facts=facts_of(exception),
    )


def _words_of(node: ExceptionNode) -> Iterator[str]:
    """Yield the texts of an exception in which others may stand."""
    yield node.message
    yield from (note for note in node.notes if holds_traceback(note))
    for name, fact in node.facts.items():
        if name.startswith(_OUTPUT_FACTS) and isinstance(fact, str) and holds_traceback(fact):
            yield fact


class _TextReader:
    """Parses texts until enough was read."""

    def __init__(self) -> None:
        self._chars_left = _MAX_PARSED_CHARS
        self._lines_left = _MAX_PARSED_LINES

    def read(self, text: str) -> list[ExceptionNode]:
        if self._chars_left <= len(CUT_MARK) or self._lines_left <= 0:
            return []
        text = cut(text, min(_MAX_TEXT_CHARS, self._chars_left))
        self._chars_left -= len(text)
        lines = lines_of(text)[-self._lines_left :]
        self._lines_left -= len(lines)
        return parse_tracebacks("\n".join(lines))


def _graft(nodes: list[ExceptionNode], parsed: Sequence[ExceptionNode], parent: int, edge: Edge) -> None:
    """Hang what was read from a text below a node; what is there already is not added again."""
    new_index: list[int] = []
    for node in parsed:
        known = next((index for index, other in enumerate(nodes) if _is_same(other, node)), None)
        if known is not None:
            new_index.append(known)
            continue
        above, how = (parent, edge) if node.parent is None else (new_index[node.parent], node.edge)
        new_index.append(len(nodes))
        nodes.append(replace(node, parent=above, edge=how))


def _is_same(node: ExceptionNode, printed: ExceptionNode) -> bool:
    """Whether a printed exception is one that is known; a print leaves out ``__main__`` and sets notes below."""
    if printed.type_path not in (node.type_path, node.class_name):
        return False
    return printed.message.rstrip() in (node.message.rstrip(), "\n".join((node.message, *node.notes)).rstrip())
