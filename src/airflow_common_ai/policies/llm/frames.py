"""The frames of an exception chain, for ``include_traceback``: where it was raised, without any message."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from types import TracebackType

__all__ = ["frames_of"]

_MAX_EXCEPTIONS = 8
_MAX_FRAMES = 12
"""Of one exception, the innermost ones."""
_slots = vars(BaseException)


def frames_of(exception: BaseException) -> str:
    """Return the frames of the exception and of what it was raised from, outermost exception last."""
    lines: list[str] = []
    for one in reversed(list(_chain(exception))):
        tb = _slots["__traceback__"].__get__(one)
        if isinstance(tb, TracebackType):
            lines += [
                f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line or ''}"
                for frame in traceback.extract_tb(tb, limit=-_MAX_FRAMES)
            ]
    return "\n".join(lines)


def _chain(exception: BaseException) -> Iterator[BaseException]:
    one: BaseException | None = exception
    seen: set[int] = set()
    while one is not None and id(one) not in seen and len(seen) < _MAX_EXCEPTIONS:
        seen.add(id(one))
        yield one
        cause = _slots["__cause__"].__get__(one)
        is_hidden = _slots["__suppress_context__"].__get__(one)
        one = cause if cause is not None or is_hidden else _slots["__context__"].__get__(one)
