"""The connections of the models that a policy asks: what they look like, and stand-ins for a replay."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from airflow.sdk.definitions.retry_policy import RetryPolicy

from airflow_common_ai.policies.llm.connections import FetchedConnection, fetch_chain

__all__ = ["Reached", "connections_of", "define_missing", "model_ids_of"]

_KEPT_EXTRA = ("model", "fallback_conn_ids", "api_version", "location", "region_name", "vertexai")
"""What tells how a model is asked; nothing that opens a door."""
_INNER = ("policies", "fallback_policy")
"""Where policies keep other policies: those of a chain, and what the Common AI provider's classifier falls back on."""
_NOBODY = "http://127.0.0.1:9"
"""A host for a connection that is never used: all requests are replayed, or blocked."""
_MAX_DEPTH = 8


def connections_of(policy: RetryPolicy) -> list[str]:
    """Return the ids of the connections that a policy, and whatever policies it holds, names."""
    named = (getattr(one, "llm_conn_id", None) for one in _policies_in(policy))
    return list(dict.fromkeys(conn_id for conn_id in named if isinstance(conn_id, str)))


def model_ids_of(policy: RetryPolicy) -> list[str]:
    """Return the models that it names beside those of its connections."""
    named = (getattr(one, "model_id", None) for one in _policies_in(policy))
    return list(dict.fromkeys(model for model in named if isinstance(model, str)))


@dataclass(frozen=True)
class Reached:
    """The connections of some policy and their fallbacks."""

    shapes: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What they look like, without secrets and without the server's name, by id."""
    missing: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()
    """The servers' names."""

    @classmethod
    def of(cls, conn_ids: list[str]) -> Reached:
        links = [link for conn_id in conn_ids for link in fetch_chain(conn_id, None).links]
        found = {link.conn_id: link.connection for link in links if link.connection is not None}
        return cls(
            {conn_id: _shape(connection) for conn_id, connection in found.items()},
            tuple(conn_id for conn_id in conn_ids if conn_id not in found),
            frozenset(host for one in found.values() if (host := urlsplit(one.host or "").hostname)),
        )


def _shape(connection: FetchedConnection) -> dict[str, Any]:
    return {
        "conn_type": connection.conn_type,
        "host": _NOBODY + urlsplit(connection.host).path.rstrip("/") if connection.host else None,
        "extra": {name: value for name, value in connection.extra_dejson.items() if name in _KEPT_EXTRA},
    }


def define_missing(shapes: Mapping[str, Mapping[str, Any]]) -> None:
    """Define the connections in the environment that it does not define already."""
    for conn_id, shape in shapes.items():
        kept = {name: shape.get(name) for name in ("conn_type", "host", "extra")}
        os.environ.setdefault(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps({**kept, "password": "none"}))


def _policies_in(policy: object, depth: int = 0) -> Iterator[object]:
    yield policy
    for name in _INNER if depth < _MAX_DEPTH else ():
        inner = getattr(policy, name, None)
        for one in inner if isinstance(inner, list | tuple) else [inner]:
            if isinstance(one, RetryPolicy):
                yield from _policies_in(one, depth + 1)
