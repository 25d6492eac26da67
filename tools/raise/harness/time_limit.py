"""A limit on how long a case may take."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["CaseTimeout", "time_limit"]

_AGAIN_S = 1.0
"""Raised again and again: a library may swallow it."""


class CaseTimeout(BaseException):
    """A case took too long. No ``Exception``: libraries catch those and try again."""


@contextmanager
def time_limit(limit_s: float) -> Iterator[None]:
    """Raise :class:`CaseTimeout` in the block once it has taken ``limit_s`` seconds."""

    def ring(signal_number: int, frame: FrameType | None) -> None:
        raise CaseTimeout

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit_s, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
