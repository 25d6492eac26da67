"""Text as it reads once percent signs, backslashes and entities are undone, and what base64 in it says."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.spans import Span

__all__ = ["Decoded", "base64_texts", "decoded_forms", "holds_base64"]

_MAX_LEVELS = 3
"""A URL in a parameter of a URL in a JSON string."""

_ESCAPE = re.compile(
    r"%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+"
    r"|\\(?:[\"'\\/bfnrt]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})"
    r"|&(?:quot|apos|amp|lt|gt|\#[0-9]{2,5}|\#x[0-9A-Fa-f]{2,4});"
)
_COMMON = {
    **{form % code: chr(code) for code in range(128) for form in ("%%%02X", "%%%02x")},
    **{rf"\{letter}": letter for letter in "\"'\\/"},
    r"\b": "\b",
    r"\f": "\f",
    r"\n": "\n",
    r"\r": "\r",
    r"\t": "\t",
    "&quot;": '"',
    "&apos;": "'",
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
}
_STANDARD_ALPHABET = str.maketrans("-_", "+/")

_PRINTABLE_BASE64 = re.compile(r"(?:[I-Za-f][C-HS-Xi-nyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_\-]){3}")
"""Nine printable ASCII characters in base64: the bits that all of them share leave only these letters, which a
random text of this length has once in 3,000 places."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]{12,}={0,2}")


class Decoded:
    """A decoded text that can tell where its characters came from."""

    __slots__ = ("_outer", "_source", "_starts", "text")

    def __init__(self, text: str, source: str, outer: Decoded | None) -> None:
        self.text = text
        self._source = source
        self._outer = outer
        self._starts: list[int] = []

    def span_in_source(self, span: Span) -> Span:
        """Return what in the text that was not decoded at all became ``span``."""
        if not self._starts:
            self._starts = _starts(self._source)
        span = (self._starts[span[0]], self._starts[span[1]])
        return span if self._outer is None else self._outer.span_in_source(span)


def decoded_forms(text: str) -> Iterator[Decoded]:
    """Yield ``text`` decoded once, twice, …, as long as that changes anything."""
    outer: Decoded | None = None
    for _ in range(_MAX_LEVELS):
        if "%" not in text and "\\" not in text and "&" not in text:
            return
        decoded = _ESCAPE.sub(_undone, text)
        if decoded == text:
            return
        outer = Decoded(decoded, text, outer)
        yield outer
        text = decoded


def _undone(match: re.Match[str]) -> str:
    escape = match[0]
    common = _COMMON.get(escape)
    if common is not None:
        return common
    if escape[0] == "\\":
        return chr(int(escape[2:], 16))
    if escape[0] == "&":
        return chr(int(escape[3:-1], 16) if escape[2] in "xX" else int(escape[2:-1]))
    data = bytes.fromhex(escape.replace("%", ""))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _starts(source: str) -> list[int]:
    """Return for each character of the decoded text where it began in ``source``, and where that ends."""
    starts: list[int] = []
    position = 0
    for match in _ESCAPE.finditer(source):
        start, end = match.span()
        starts.extend(range(position, start))
        decoded = _undone(match)
        if len(decoded) == 1:
            starts.append(start)
        else:  # several bytes with a percent sign each
            encoding = "utf-8" if 3 * len(decoded.encode()) == end - start else "latin-1"
            for character in decoded:
                starts.append(start)
                start += 3 * len(character.encode(encoding))
        position = end
    starts.extend(range(position, len(source) + 1))
    return starts


def holds_base64(text: str) -> bool:
    """Whether some readable text is in there in base64."""
    return _PRINTABLE_BASE64.search(text) is not None


def base64_texts(text: str) -> Iterator[tuple[Span, str]]:
    """
    Yield the runs of base64 that hold readable text, with that text.

    A run is tried at all four places where the encoding may begin: ``token_`` before it is made of the same letters.
    """
    for match in _BASE64.finditer(text):
        if not _PRINTABLE_BASE64.search(match[0]):
            continue
        for offset in range(4):
            readable = _decode_base64(match[0][offset:].rstrip("="))
            if readable is not None:
                yield match.span(), readable


def _decode_base64(run: str) -> str | None:
    run = run[: len(run) - 1] if len(run) % 4 == 1 else run
    data = base64.b64decode(run.translate(_STANDARD_ALPHABET) + "=" * (-len(run) % 4))
    decoded = data.decode("utf-8", "replace")
    unreadable = sum(
        not (character.isprintable() or character in "\r\n\t") or character == "�" for character in decoded
    )
    return decoded if unreadable <= len(decoded) // 8 else None
