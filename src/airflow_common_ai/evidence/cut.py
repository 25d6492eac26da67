"""Shorten a text to its head and its tail."""

from __future__ import annotations

__all__ = ["CUT_MARK", "cut"]

CUT_MARK = "…[cut]…"
"""Stands where text was left out. It touches what is left of the words beside it, so that redaction can drop
those: half a secret is not recognised as one."""


def cut(text: str, limit_chars: int) -> str:
    """
    Return ``text`` if it is short enough, else its head and its tail around :data:`CUT_MARK`.

    The head says what failed, the tail holds the last and usually the most telling line of an output. Lone
    surrogates, which file names bring along and no database or socket takes, become question marks.
    """
    if len(text) > limit_chars:
        kept = max(0, limit_chars - len(CUT_MARK))
        head = kept // 2
        tail = kept - head
        return f"{_encodable(text[:head])}{CUT_MARK}{_encodable(text[len(text) - tail :])}"
    return _encodable(text)


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
