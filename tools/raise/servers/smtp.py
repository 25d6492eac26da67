"""A real SMTP server, aiosmtpd's, in a thread: no sign-in, no TLS, small mails."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version

from aiosmtpd.controller import Controller  # type: ignore[import-not-found,unused-ignore]
from aiosmtpd.handlers import Sink  # type: ignore[import-not-found,unused-ignore]

from servers.port import free_port

__all__ = ["Smtp", "smtp"]

_LARGEST = 100_000


@dataclass(frozen=True)
class Smtp:
    """A running server."""

    port: int
    version: str
    name: str = "aiosmtpd"


@contextlib.contextmanager
def smtp() -> Iterator[Smtp]:
    """The server that the cases of a family share."""
    port = free_port()
    controller = Controller(Sink(), hostname="127.0.0.1", port=port, data_size_limit=_LARGEST)
    controller.start()
    try:
        yield Smtp(port, version("aiosmtpd"))
    finally:
        controller.stop()
