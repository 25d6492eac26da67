"""The exceptions of a JSON log: a list of stacks, outermost first, as structlog writes and Airflow stores it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from airflow_common_ai.evidence.logs.class_home import class_home
from airflow_common_ai.evidence.logs.exception_line import built_in_exception
from airflow_common_ai.evidence.model import Edge, ExceptionNode
from airflow_common_ai.evidence.type_path import base_paths

__all__ = ["Stack", "nodes_of"]

Stack: TypeAlias = Mapping[str, Any]
"""One exception: ``exc_type``, ``exc_value``, ``exc_notes``, ``frames``, ``is_cause`` (else it was only being handled),
``exceptions`` of a group. Source: structlog 26.1.0, ``tracebacks.Stack``."""

_MAX_STACKS = 1024
_MAX_NAME_CHARS = 300
_MAX_FRAMES = 64


def nodes_of(stacks: object) -> list[ExceptionNode]:
    """Return the exceptions, root first, each after its parent; empty if these are no stacks."""
    nodes: list[ExceptionNode] = []
    waiting: deque[tuple[object, int | None]] = deque([(stacks, None)])
    while waiting and len(nodes) < _MAX_STACKS:
        chain, parent = waiting.popleft()
        edge = Edge.ROOT if parent is None else Edge.MEMBER
        for stack in _list(chain)[: _MAX_STACKS - len(nodes)]:
            if not isinstance(stack, Mapping) or not isinstance(stack.get("exc_type"), str):
                break
            if edge is Edge.CAUSE and stack.get("is_cause") is not True:
                edge = Edge.CONTEXT
            message_above = "" if parent is None else nodes[parent].message
            nodes.append(_node(stack, parent, edge, message_above))
            parent, edge = len(nodes) - 1, Edge.CAUSE
            waiting.extend((member, parent) for member in _list(stack.get("exceptions")))
    return nodes


def _node(stack: Stack, parent: int | None, edge: Edge, message_above: str) -> ExceptionNode:
    name = stack["exc_type"][:_MAX_NAME_CHARS]
    path = class_home(name, _files(stack), message_above=message_above)
    built_in = built_in_exception(name) if path == f"builtins.{name}" else None
    message = stack.get("exc_value")
    return ExceptionNode(
        type_path=path,
        base_paths=base_paths(built_in) if built_in else (),
        message=message if isinstance(message, str) else "",
        notes=tuple(note for note in _list(stack.get("exc_notes")) if isinstance(note, str)),
        edge=edge,
        parent=parent,
        from_text=True,
    )


def _files(stack: Stack) -> Sequence[str]:
    frames = [frame for frame in _list(stack.get("frames"))[-_MAX_FRAMES:] if isinstance(frame, Mapping)]
    return [file for frame in frames if isinstance(file := frame.get("filename"), str)]


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
