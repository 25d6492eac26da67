"""Make a redacted text fit: cut it to head and tail, and leave no half word at a cut."""

from __future__ import annotations

import re

from airflow_common_ai.evidence.cut import CUT_MARK

__all__ = ["MAX_MESSAGE_BYTES", "drop_halves", "fit"]

MAX_MESSAGE_BYTES = 16 * 1024
"""What one string may take in UTF-8."""

_HEAD_BYTES = 10 * 1024
_TAIL_BYTES = MAX_MESSAGE_BYTES - _HEAD_BYTES - len(f" {CUT_MARK} ".encode())

_LONGEST_WORD = 1024
"""Beyond this a word is no word but JSON or the like without spaces: then a half ends at its punctuation."""
_WORD = re.compile(rf"\S{{0,{_LONGEST_WORD}}}")
_PUNCTUATION = re.compile(r"[\s,;&|\"'<>{}()\[\]]")


def drop_halves(text: str) -> str:
    """Drop the words that touch a cut: half a secret is not recognised as one."""
    if CUT_MARK not in text:
        return text
    first, *others = text.split(CUT_MARK)
    pieces = [_without_last_word(first)]
    for index, piece in enumerate(others):
        whole = _without_first_word(piece)
        pieces.append(whole if index == len(others) - 1 else _without_last_word(whole))
    return CUT_MARK.join(pieces)


def fit(text: str) -> str:
    """Return ``text`` if it is short enough, else its head and its tail, without the words that the cut touches."""
    if len(text) * 4 <= MAX_MESSAGE_BYTES or _size(text) <= MAX_MESSAGE_BYTES:
        return text
    head, mark, _ = text.partition(CUT_MARK)
    tail = text.rpartition(CUT_MARK)[2] if mark else text
    return drop_halves(f"{_first_bytes(head, _HEAD_BYTES)}{CUT_MARK}{_last_bytes(tail, _TAIL_BYTES)}")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _first_bytes(text: str, limit: int) -> str:
    head = text[:limit]
    return head if head.isascii() else head.encode(errors="surrogatepass")[:limit].decode(errors="ignore")


def _last_bytes(text: str, limit: int) -> str:
    tail = text[-limit:]
    return tail if tail.isascii() else tail.encode(errors="surrogatepass")[-limit:].decode(errors="ignore")


def _without_last_word(text: str) -> str:
    """Return ``text`` up to where a word ends; behind it a space, that tells it from one that the cut touches."""
    start = len(text)
    if text and not text[-1].isspace():
        start -= len(text[-_LONGEST_WORD:].rsplit(maxsplit=1)[-1])
    while start and not _PUNCTUATION.match(text, start - 1):
        start -= 1
    return text[:start] if not start or text[start - 1].isspace() else f"{text[:start]} "


def _without_first_word(text: str) -> str:
    end = _WORD.match(text).end()  # type: ignore[union-attr]  # it matches anything
    punctuation = _PUNCTUATION.search(text, end)
    if punctuation is None:
        return ""
    rest = text[punctuation.start() :]
    return rest if rest[0].isspace() else f" {rest}"
