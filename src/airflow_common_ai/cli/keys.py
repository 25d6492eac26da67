"""One answer a key: from a terminal as it is pressed, from anything else one a line."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

__all__ = ["KeyReader", "keys_of_standard_input"]

KeyReader: TypeAlias = Callable[[], str | None]
"""Returns the next key; ``None`` if no more come. What is no key of one character comes as it is, or empty."""

_MAX_LINE_CHARS = 1000
_END_OF_INPUT = "\x04"
"""Ctrl-D, which a terminal hands on."""
_ESCAPE = "\x1b"


@contextmanager
def keys_of_standard_input() -> Iterator[KeyReader]:
    """Read keys; a terminal is set back to what it was in the end, whatever happens."""
    if sys.stdin is None or not sys.stdin.isatty():
        yield _key_in_line
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield lambda: _pressed_key(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _key_in_line() -> str | None:
    line = sys.stdin.readline(_MAX_LINE_CHARS) if sys.stdin else ""
    return line.strip() if line else None


def _pressed_key(descriptor: int) -> str | None:
    pressed = os.read(descriptor, 1).decode("ascii", "replace")
    if pressed == _ESCAPE:
        # The rest of what an arrow or a function key sends holds letters and digits.
        while select.select([descriptor], [], [], 0)[0] and os.read(descriptor, 1):
            pass
    return None if pressed in ("", _END_OF_INPUT) else pressed
