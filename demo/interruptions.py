"""Ctrl-C, SIGTERM and a closed terminal, at a moment that suits."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """Somebody wants this process to end. A ``KeyboardInterrupt``, so that it ends pytest and other hosts too."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


class Interruptions:
    """
    A context manager in which these signals raise :class:`Interrupted`, but never where held.

    Signals reach the main thread only; in another thread it does nothing.
    """

    def __init__(self) -> None:
        self._previous: dict[int, Any] = {}
        self._is_held = False
        self._pending: int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._receive) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Raise nothing inside; what came meanwhile is raised at the end of the block."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        self._raise_pending()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self._pending = number
        if not self._is_held:
            self._raise_pending()

    def _raise_pending(self) -> None:
        number, self._pending = self._pending, None
        if number is not None:
            raise Interrupted(number)
