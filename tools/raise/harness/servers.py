"""What a server is to a case."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["Server", "ServerUnavailable", "StartServer"]


class Server(Protocol):
    """A running server, as provenance names it. What else it has is between it and its cases."""

    @property
    def name(self) -> str:
        """E.g. ``PostgreSQL``."""

    @property
    def version(self) -> str | None: ...


StartServer = Callable[[], AbstractContextManager[Server]]


class ServerUnavailable(Exception):
    """A server cannot be had on this machine; the text says why and how to get it."""
