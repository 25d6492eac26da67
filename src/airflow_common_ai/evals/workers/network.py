"""No request leaves this process any more: for evaluations that say that they asked nobody."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["NetworkBlocked", "block_network", "blocked_since"]

_ADDRESSED = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
"""Audit events whose second argument is an address."""
_LOOK_UPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
"""Audit events whose first argument is a name. Source: docs.python.org/3/library/audit_events.html."""

_MAX_KEPT = 100

_attempts: list[str] = []


class NetworkBlocked(OSError):
    """What whoever opens a connection gets instead."""


def block_network() -> None:
    """
    Refuse, from now on and for ever, whatever opens a connection through Python's sockets, in children as well.

    Libraries in C that speak to the network by themselves are not seen; sockets of the file system are harmless.
    """
    sys.addaudithook(_refuse)


def blocked_since() -> list[str]:
    """Return where somebody wanted to go since this was asked last."""
    attempts = _attempts.copy()
    _attempts.clear()
    return attempts


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _ADDRESSED:
        address = arguments[1]
        if not isinstance(address, tuple):
            return
        place = ":".join(str(part) for part in address[:2])
    elif event in _LOOK_UPS:
        place = f"{arguments[0]}:{arguments[1]}" if event == "socket.getaddrinfo" else f"{arguments[0]}:"
    else:
        return
    if len(_attempts) < _MAX_KEPT:
        _attempts.append(place)
    raise NetworkBlocked(f"the network is blocked in this evaluation: {place} was not asked")
