"""Ports on 127.0.0.1."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

__all__ = ["free_port", "refused_port"]


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def refused_port() -> Iterator[int]:
    """A port that refuses connections and stays so: it is bound, but nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])
