"""Read a failure from JSON that anybody may have written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime

from airflow_common_ai.evidence.model import Edge, Evidence, ExceptionNode, Fact

__all__ = ["read_evidence"]

_MAX_NODES = 64
_MAX_ITEMS = 64
"""Notes, bases or facts of one node."""
_MAX_TEXT_CHARS = 64 * 1024
_MAX_NAME_CHARS = 1024
_MAX_INTEGER = 2**63

_EVIDENCE_FIELDS = frozenset({"observed_at", "is_truncated", "nodes"})
_NODE_FIELDS = frozenset({"type", "edge", "parent", "bases", "message", "notes", "facts", "from_text"})


def read_evidence(data: object) -> Evidence:
    """
    Return the failure that :meth:`RedactedEvidence.to_json` wrote; its strings are to be redacted again.

    :raises ValueError: with the field, the rule and what was found instead; never with a text from ``data``.
    """
    fields = _object("evidence", data, _EVIDENCE_FIELDS)
    nodes = _list("nodes", fields.get("nodes"), _MAX_NODES)
    if not nodes:
        raise ValueError("nodes must hold at least the exception that Airflow handed over, got none.")
    return Evidence(
        nodes=tuple(_node(index, node) for index, node in enumerate(nodes)),
        observed_at=_moment(fields.get("observed_at")),
        is_truncated=_flag("is_truncated", fields.get("is_truncated", False)),
    )


def _node(index: int, data: object) -> ExceptionNode:
    at = f"nodes[{index}]"
    fields = _object(at, data, _NODE_FIELDS)
    return ExceptionNode(
        type_path=_text(f"{at}.type", fields.get("type"), _MAX_NAME_CHARS),
        base_paths=tuple(
            _text(f"{at}.bases", base, _MAX_NAME_CHARS)
            for base in _list(f"{at}.bases", fields.get("bases", []), _MAX_ITEMS)
        ),
        message=_text(f"{at}.message", fields.get("message", "")),
        notes=tuple(_text(f"{at}.notes", note) for note in _list(f"{at}.notes", fields.get("notes", []), _MAX_ITEMS)),
        edge=_edge(index, fields.get("edge")),
        parent=_parent(index, fields.get("parent")),
        facts=_facts(f"{at}.facts", fields.get("facts", {})),
        from_text=_flag(f"{at}.from_text", fields.get("from_text", False)),
    )


def _edge(index: int, value: object) -> Edge:
    edges = [edge.value for edge in Edge]
    if not isinstance(value, str) or value not in edges:
        raise ValueError(f"nodes[{index}].edge must be one of {', '.join(edges)}, got {_what(value)}.")
    if (value == Edge.ROOT.value) != (index == 0):
        raise ValueError(f"nodes[{index}].edge must be 'root' for the first node and for no other.")
    return Edge(value)


def _parent(index: int, value: object) -> int | None:
    if index == 0:
        if value is not None:
            raise ValueError(f"nodes[0].parent must be left out, since the first node is the root, got {_what(value)}.")
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < index:
        raise ValueError(f"nodes[{index}].parent must be the index of an earlier node, got {_what(value)}.")
    return value


def _facts(at: str, value: object) -> Mapping[str, Fact]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{at} must be an object, got {_what(value)}.")
    if len(value) > _MAX_ITEMS:
        raise ValueError(f"{at} may hold at most {_MAX_ITEMS} entries, got {len(value)}.")
    return {_text(f"the name in {at}", key, _MAX_NAME_CHARS): _fact(at, fact) for key, fact in value.items()}


def _fact(at: str, value: object) -> Fact:
    if isinstance(value, str):
        return _text(at, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= _MAX_INTEGER:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"{at} must hold strings, booleans and finite numbers up to 2**63, got {_what(value)}.")


def _moment(value: object) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) and len(value) <= 64 else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(
            f"observed_at must be an ISO 8601 time with an offset, e.g. 2026-01-31T12:00:00+00:00, got {_what(value)}."
        )
    return moment.astimezone(UTC)


def _object(at: str, value: object, allowed: frozenset[str]) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{at} must be an object, got {_what(value)}.")
    unknown = sum(key not in allowed for key in value)
    if unknown:
        raise ValueError(f"{at} may only have the fields {', '.join(sorted(allowed))}; {unknown} others were found.")
    return value


def _list(at: str, value: object, limit: int) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{at} must be a list, got {_what(value)}.")
    if len(value) > limit:
        raise ValueError(f"{at} may hold at most {limit} items, got {len(value)}.")
    return value


def _text(at: str, value: object, limit: int = _MAX_TEXT_CHARS) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{at} must be a string, got {_what(value)}.")
    if len(value) > limit:
        raise ValueError(f"{at} may be at most {limit} characters long, got {len(value)}.")
    return value


def _flag(at: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{at} must be true or false, got {_what(value)}.")
    return value


def _what(value: object) -> str:
    """Name a value without showing a string: it may be a secret."""
    if value is None:
        return "nothing"
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) <= _MAX_INTEGER):
        return str(value)
    return f"a value of type {type(value).__name__}"
