"""Find the failure in an Airflow task log: JSON lines as Airflow 3 writes them, or the plain text of a traceback."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_common_ai.evidence.exception_line import built_in_exception
from airflow_common_ai.evidence.exception_tree import pruned
from airflow_common_ai.evidence.model import Edge, ExceptionNode
from airflow_common_ai.evidence.traceback_text import parse_tracebacks
from airflow_common_ai.evidence.type_path import base_paths, type_path

__all__ = ["read_failure"]

_MAX_LINE_CHARS = 4 * 1024 * 1024
_MAX_STACKS = 256

_PACKAGE = re.compile(r"/(?:site-packages|dist-packages|python3\.\d+)/(?!site-packages|dist-packages)([A-Za-z_]\w*)")

_SHADOWED = {
    "ConnectionError": {"elastic_transport", "elasticsearch", "redis", "requests"},
    "TimeoutError": {"redis", "sqlalchemy", "urllib3"},
}
"""Libraries with a class named like a built-in one. Source: the installed packages."""


def read_failure(text: str) -> list[ExceptionNode]:
    """
    Return the last failure of a log as nodes, root first; empty if there is none.

    JSON lines carry the exception in ``error_detail``, without the modules of its classes: those are told by the
    file that raised. Lines without it are searched for tracebacks in their words, like any other text.

    :param text: A task log, a part of one, or a printed traceback.
    """
    records = list(_records(text))
    for record in reversed(records):
        stacks = record.get("error_detail") or record.get("exception")
        if isinstance(stacks, list) and (nodes := _nodes(stacks)):
            return pruned(nodes)
    if records:
        text = "\n".join(str(record.get("event", "")) for record in records)
    return parse_tracebacks(text)


def _records(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{") and len(line) <= _MAX_LINE_CHARS:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, Mapping):
                yield record


def _nodes(stacks: list[Any]) -> list[ExceptionNode]:
    nodes: list[ExceptionNode] = []
    waiting: list[tuple[list[Any], int | None]] = [(stacks, None)]
    while waiting and len(nodes) < _MAX_STACKS:
        chain, parent = waiting.pop(0)
        edge = Edge.ROOT if parent is None else Edge.MEMBER
        for stack in chain[: _MAX_STACKS - len(nodes)]:
            if not isinstance(stack, Mapping) or not isinstance(stack.get("exc_type"), str):
                break
            if parent is not None and edge is not Edge.MEMBER:
                edge = Edge.CAUSE if stack.get("is_cause") is True else Edge.CONTEXT
            nodes.append(_node(stack, parent, edge))
            parent, edge = len(nodes) - 1, Edge.CAUSE
            members = [member for member in _list(stack.get("exceptions")) if isinstance(member, Mapping)]
            waiting.extend((_list(member.get("stacks")), parent) for member in members)
    return nodes


def _node(stack: Mapping[str, Any], parent: int | None, edge: Edge) -> ExceptionNode:
    name = stack["exc_type"]
    package = _raising_package(stack)
    built_in = built_in_exception(name)
    if built_in and package not in _SHADOWED.get(name, ()):
        path, bases = type_path(built_in), base_paths(built_in)
    else:
        if package is None and name.startswith("Airflow"):
            package = "airflow"
        path, bases = f"{package}.{name}" if package else name, ()
    message = stack.get("exc_value")
    return ExceptionNode(
        type_path=path,
        base_paths=bases,
        message=message if isinstance(message, str) else "",
        notes=tuple(note for note in _list(stack.get("exc_notes")) if isinstance(note, str)),
        edge=edge,
        parent=parent,
        from_text=True,
    )


def _raising_package(stack: Mapping[str, Any]) -> str | None:
    """Return the top package of the file that raised."""
    frames = _list(stack.get("frames"))
    filename = frames[-1].get("filename") if frames and isinstance(frames[-1], Mapping) else None
    found = _PACKAGE.search(filename) if isinstance(filename, str) else None
    return found[1] if found else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
