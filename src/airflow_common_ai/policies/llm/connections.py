"""The connections of a model and of its fallbacks, fetched at once, before the clock starts.

Airflow's supervisor may be asked from the main thread only, and a call to it cannot be interrupted. So everything that
asks it happens here; what reads a :class:`FetchedConnection` later, in another thread, never does.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from airflow.sdk.definitions.connection import Connection
from airflow.sdk.log import mask_secret  # here, since after the hand-over it would count within the limit

from airflow_common_ai.evidence.type_path import built_in_name

__all__ = ["FetchedConnection", "Link", "ModelChain", "fetch_chain"]

log = logging.getLogger(__name__)

MAX_LINKS = 8
"""Connections asked for one failure. Each costs a call to the supervisor that may take long."""

SLOW_FETCH_S = 5.0
"""A connection that is not found after so long: Airflow's API is down, and the others would take as long."""

_FALLBACKS_KEY = "fallback_conn_ids"
"""Where ``PydanticAIHook`` keeps the fallbacks of a connection: in its extra."""

_FIELDS = ("conn_type", "host", "schema", "login", "password", "port", "extra")


class FetchedConnection(Connection):
    """A connection as Airflow handed it over, secrets registered; reading it talks to nobody."""

    @property
    def extra_dejson(self) -> dict[str, Any]:
        """The extra, without registering it as a secret once more: that would ask the supervisor."""
        return _parsed(self.extra)

    def __repr__(self) -> str:
        return f"FetchedConnection({self.conn_id!r}, {self.conn_type!r})"


@dataclass(frozen=True)
class Link:
    """One connection of a chain."""

    conn_id: str
    connection: FetchedConnection | None
    problem: str = ""
    """Why there is no connection, in words for people."""
    is_airflow_fault: bool = False
    """Airflow itself failed, rather than that there is no such connection."""


@dataclass(frozen=True)
class ModelChain:
    """The connections to ask, in order; those that could not be fetched are kept with the reason."""

    links: tuple[Link, ...] = field(default=())
    model_id: str | None = None
    """The model that the policy names, for the first connection; it wins over the connection's own."""
    fetch_seconds: float = 0.0

    @property
    def has_airflow_failed(self) -> bool:
        """Whether a call to Airflow's supervisor failed: another one would take as long."""
        return any(link.is_airflow_fault for link in self.links)


def fetch_chain(llm_conn_id: str, model_id: str | None, *, clock: Callable[[], float] = time.monotonic) -> ModelChain:
    """
    Fetch ``llm_conn_id`` and its fallbacks from Airflow; call it on the main thread.

    The fallbacks are those that the first connection lists, as ``PydanticAIHook`` has it: lists of the fallbacks
    themselves are not followed. A connection that is missing does not lose the others; once Airflow itself fails,
    the rest is not asked for.

    :param model_id: What the policy was given; ``None`` takes the model of the connection.
    :return: The chain, never raises an Exception.
    """
    started = clock()
    links = [_fetch(llm_conn_id, clock)]
    for conn_id in _fallback_ids(links[0]):
        if links[-1].is_airflow_fault:
            links.append(Link(conn_id, None, "not fetched, since Airflow did not answer before", is_airflow_fault=True))
        else:
            links.append(_fetch(conn_id, clock))
    return ModelChain(tuple(links), model_id, clock() - started)


def _fetch(conn_id: str, clock: Callable[[], float]) -> Link:
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException

    asked_at = clock()
    try:
        found = BaseHook.get_connection(conn_id)
        fetched = FetchedConnection(conn_id=conn_id, **{name: getattr(found, name, None) for name in _FIELDS})
        _register_secrets(found, fetched)
    except AirflowNotFoundException:
        # What Airflow says too when its API is down, after all of its own retries.
        return Link(conn_id, None, "there is no such connection", is_airflow_fault=clock() - asked_at >= SLOW_FETCH_S)
    except Exception as error:  # noqa: BLE001 - whatever a secrets backend raises; its text may hold secrets
        problem = f"Airflow did not hand over the connection ({built_in_name(error)})"
        return Link(conn_id, None, problem, is_airflow_fault=True)
    return Link(conn_id, fetched)


def _register_secrets(found: Connection, fetched: FetchedConnection) -> None:
    """Register what Airflow has not: each value of the extra, and a password inside of the URL."""
    if fetched.extra_dejson:  # asked of unreadable JSON, Airflow logs it with the task's exception as its context
        _ = found.extra_dejson
    if secret := urlsplit(fetched.host or "").password:
        mask_secret(secret)


def _fallback_ids(first: Link) -> list[str]:
    listed = first.connection.extra_dejson.get(_FALLBACKS_KEY) if first.connection else None
    if listed is None:
        return []
    if not isinstance(listed, list) or not all(isinstance(conn_id, str) for conn_id in listed):
        log.warning("%s of the connection %r is no list of connection ids: ignored.", _FALLBACKS_KEY, first.conn_id)
        return []
    distinct = dict.fromkeys(conn_id.strip() for conn_id in listed)
    return [conn_id for conn_id in distinct if conn_id and conn_id != first.conn_id][: MAX_LINKS - 1]


def _parsed(extra: str | None) -> dict[str, Any]:
    try:
        parsed = json.loads(extra or "{}")
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
