"""Codes that the clients of databases, brokers and servers keep on their exceptions, one protocol a module.

A ``code`` means something else in each library, so only the modules whose library the exception comes from are
asked. What a server prints unmistakably is read wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from airflow_common_ai.evidence.model import Fact, RedactedNode, Retry, Signal, Strength, kind_of, root_of
from airflow_common_ai.evidence.protocols.clients import (
    amqp,
    broker_classes,
    cassandra,
    elastic,
    graphql,
    hdfs,
    jsonrpc,
    kafka,
    ldap,
    mongo,
    mqtt,
    neo4j,
    redis,
    soap,
    ssh,
)

__all__ = ["probe", "read"]


class _Codes(Protocol):
    """The shape of a module that knows the codes of one kind of server."""

    @property
    def ROOTS(self) -> tuple[str, ...]:
        """Top packages of the libraries that keep its codes."""

    @property
    def PRINTED_MARKS(self) -> tuple[str, ...]:
        """What the server's errors are recognised by in any message."""

    def probe(self, exception: BaseException) -> dict[str, Fact]: ...

    def read(self, node: RedactedNode) -> Iterator[Signal]: ...


_MODULES: tuple[_Codes, ...] = (
    mongo, redis, kafka, amqp, cassandra, elastic, ldap, ssh, neo4j, mqtt, hdfs, graphql, soap, jsonrpc,
)  # fmt: skip
_BY_ROOT = {root: module for module in _MODULES for root in module.ROOTS}
_BY_MARK = {mark: module for module in _MODULES for mark in module.PRINTED_MARKS}


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the code that the exception's library keeps on it."""
    roots = [base.__module__.partition(".")[0] for base in type(exception).__mro__]
    module = next((_BY_ROOT[root] for root in roots if root in _BY_ROOT), None)
    return {} if module is None else module.probe(exception)


def read(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield what the code says, or else what the class says."""
    paths = (node.type_path, *node.base_paths)
    module = next((_BY_ROOT[root] for path in paths if (root := root_of(path)) in _BY_ROOT), None)
    if module is None:
        module = next((module for mark, module in _BY_MARK.items() if mark in node.message), None)
    found = list(module.read(node)) if module is not None else []
    yield from found or _read_class(node, paths)


def _read_class(node: RedactedNode, paths: tuple[str, ...]) -> Iterator[Signal]:
    root = root_of(node.type_path)
    for path in paths:
        if known := broker_classes.SIGNALS.get(kind_of(path)):
            # What somebody else derives from a class of a library may mean more than that.
            is_foreign = known.retry is Retry.NO and root not in broker_classes.ROOTS
            yield replace(known, strength=Strength.HINT) if is_foreign else known
            return
