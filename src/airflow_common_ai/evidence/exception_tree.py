"""The exceptions of one failure as a tree, and what is left of one that is too big.

A tree is two lists beside each other: for each exception the index of its parent, parents before children,
and the edge that it hangs on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from airflow_common_ai.evidence.model import Edge, ExceptionNode

__all__ = ["MAX_DEPTH", "MAX_NODES", "Place", "distances_from_an_end", "prune", "pruned"]

MAX_NODES = 64
MAX_DEPTH = 16
"""Exceptions on the way from the root to a leaf, both counted."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an exception that was kept hangs now."""

    index: int
    """Where it stood in the tree before."""
    parent: int | None
    """Index of its parent among those that were kept."""
    edge: Edge


def distances_from_an_end(parents: Sequence[int | None]) -> list[int]:
    """Return how far each exception is from the nearer end: 0 for the root and for everything innermost."""
    depths = [0] * len(parents)
    heights = [0] * len(parents)
    for index, parent in enumerate(parents):
        if parent is not None:
            depths[index] = depths[parent] + 1
    for index in range(len(parents) - 1, 0, -1):
        parent = parents[index]
        if parent is not None:
            heights[parent] = max(heights[parent], heights[index] + 1)
    return [min(depth, height) for depth, height in zip(depths, heights, strict=True)]


def prune(parents: Sequence[int | None], edges: Sequence[Edge]) -> list[Place]:
    """
    Leave out the middle of long chains and of big trees.

    What failed for the user is at the root and why is at the far end, so both ends of every chain are kept and
    what lies between them goes first. A kept exception whose parent went hangs on the next one that stayed.
    """
    distances = distances_from_an_end(parents)
    # Distances shrink by one at each step towards either end: no way down holds more than MAX_DEPTH of these.
    near = [index for index, distance in enumerate(distances) if distance < MAX_DEPTH // 2]
    # Of what is as near, members come last: there may be so many of them that nothing else is left.
    near.sort(key=lambda index: (distances[index], edges[index] is Edge.MEMBER))
    kept = sorted(near[:MAX_NODES])
    new_index = {old: new for new, old in enumerate(kept)}
    places = []
    for index in kept:
        parent, edge = parents[index], edges[index]
        while parent is not None and parent not in new_index:
            edge = _joined(edges[parent], edge)
            parent = parents[parent]
        places.append(Place(index, None if parent is None else new_index[parent], edge))
    return places


def pruned(nodes: Sequence[ExceptionNode]) -> list[ExceptionNode]:
    """Return the nodes that :func:`prune` keeps, each on its new parent."""
    places = prune([node.parent for node in nodes], [node.edge for node in nodes])
    return [_placed(nodes[place.index], place) for place in places]


def _placed(node: ExceptionNode, place: Place) -> ExceptionNode:
    is_there = (node.parent, node.edge) == (place.parent, place.edge)
    return node if is_there else replace(node, parent=place.parent, edge=place.edge)


def _joined(upper: Edge, lower: Edge) -> Edge:
    """Return the edge that stands for two: one implicit link makes it implicit, a member stays a member."""
    if Edge.CONTEXT in (upper, lower):
        return Edge.CONTEXT
    return Edge.MEMBER if Edge.MEMBER in (upper, lower) else lower
