"""What base64, hexadecimal digits and the like say, where that is text."""

from __future__ import annotations

import binascii
import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from airflow_common_ai.evidence.secret_patterns.spans import Span

__all__ = ["ENCODINGS", "Encoding", "HiddenText", "hidden_text"]

_MAX_UNZIPPED_BYTES = 64 * 1024
_GZIP = b"\x1f\x8b\x08"
_SASL_PLAIN = re.compile(rb"[ -~]{0,64}\0[ -~]{1,64}\0(?P<secret>[ -~]{1,128})")
"""Source: RFC 4616."""
_STRETCH = re.compile(rb"[\t\n\r -~]{5,}")
"""Shorter ones come out of anything, and Airflow registers no shorter secret."""
_STANDARD_ALPHABET = str.maketrans("-_", "+/")
_BASE32_AS_DIGITS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdefghijklmnopqrstuv")
"""As ``int`` reads them in base 32: many times faster than ``b32decode``, and linear for a power of two."""
_BETWEEN_READINGS = "\n\n"
_FRACTION_STARTS = re.compile(r"\d\.$")


class Encoding(NamedTuple):
    """A way to write bytes in letters and digits."""

    name: str
    shape: bytes
    """Maps each character to its kind, those that cannot be part of a run to zero."""
    clue: bytes
    """What is in the shape of each run: to look for it is many times faster than to match at every letter."""
    decode: Callable[[str], Iterator[bytes]]
    """What a run may say: ``token_`` before it is made of the same letters, so that it may begin anywhere."""
    runs: re.Pattern[str] | None = None
    """The runs in a stretch of such characters, if it is not one run as a whole."""

    def find(self, text: str, raw: bytes) -> Iterator[Span]:
        """Find the runs in a text, given also with one byte for each of its characters."""
        shape = raw.translate(self.shape)
        place = shape.find(self.clue)
        while place >= 0:
            start = shape.rfind(b"\0", 0, place) + 1
            end = shape.find(b"\0", place)
            end = len(text) if end < 0 else end
            if self.runs is None:
                yield start, end
            else:
                yield from (match.span() for match in self.runs.finditer(text, start, end))
            place = shape.find(self.clue, end)


class HiddenText(NamedTuple):
    """What all encoded runs of a text say."""

    text: str
    starts: list[int]
    """Of what each run says."""
    runs: list[Span]

    def in_source(self, span: Span) -> list[Span]:
        """Return the runs that say what stands at ``span``."""
        first = bisect_right(self.starts, span[0]) - 1
        last = bisect_right(self.starts, max(span[0], span[1] - 1))
        return self.runs[max(0, first) : last]


def hidden_text(text: str) -> HiddenText | None:
    """Return what the encoded runs of ``text`` say, ``None`` if none says anything."""
    readings: list[str] = []
    starts: list[int] = []
    runs: list[Span] = []
    known: dict[tuple[str, str], list[str]] = {}
    position = 0
    raw = text.encode("ascii", "replace")
    for encoding in ENCODINGS:
        for span in encoding.find(text, raw):
            run = text[slice(*span)]
            if run.isdigit() and _FRACTION_STARTS.search(text, max(0, span[0] - 2), span[0]):
                continue  # the digits of a number such as 0.05000457400456071 say something by chance
            key = encoding.name, run
            if key not in known:
                known[key] = [said for data in encoding.decode(run) if (said := _readable(data))]
            for said in known[key]:
                readings.append(said)
                starts.append(position)
                runs.append(span)
                position += len(said) + len(_BETWEEN_READINGS)
    return HiddenText(_BETWEEN_READINGS.join(readings), starts, runs) if readings else None


def _readable(data: bytes) -> str:
    """Return what can be read in ``data``."""
    login = _SASL_PLAIN.fullmatch(data)
    if login is not None:
        return f"password={login['secret'].decode(errors='replace')}"
    zipped = data.find(_GZIP)
    if zipped >= 0:
        data = _unzipped(data[zipped:])
    if 4 * data.count(0) >= len(data):  # UTF-16: either byte may come first, and the first may not be of it
        orders = ("utf-16-le", "utf-16-be")
        data = b"\n".join(data[start:].decode(order, "ignore").encode() for start in range(2) for order in orders)
    try:
        return data.decode()
    except UnicodeDecodeError:
        stretches: list[bytes] = _STRETCH.findall(data)
    if 2 * sum(map(len, stretches)) >= len(data):
        return data.decode("utf-8", "ignore")
    return b"\n".join(stretches).decode()


def _unzipped(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(31).decompress(data, _MAX_UNZIPPED_BYTES)
    except zlib.error:
        return b""


def _from_base64(run: str) -> Iterator[bytes]:
    run = run.rstrip("=").translate(_STANDARD_ALPHABET)
    for offset in range(4):
        length = len(run) - offset
        yield binascii.a2b_base64(f"{run[offset : len(run) - (length % 4 == 1)]}==")


def _from_lines_of_base64(run: str) -> Iterator[bytes]:
    return _from_base64("".join(run.split()))


def _from_hex(run: str) -> Iterator[bytes]:
    for offset in range(2):
        length = len(run) - offset
        yield bytes.fromhex(run[offset : len(run) - length % 2])


def _from_separate_hex(run: str) -> Iterator[bytes]:
    yield bytes.fromhex(re.sub("[ :-]", "", run))


def _from_base32(run: str) -> Iterator[bytes]:
    run = run.rstrip("=")
    size, left_over = divmod(5 * len(run), 8)
    if left_over < 5:  # a run of a wrong length is none
        yield (int(run.translate(_BASE32_AS_DIGITS), 32) >> left_over).to_bytes(size, "big")


def _from_numbers(run: str) -> Iterator[bytes]:
    numbers = [int(number) for number in run.split(",")]
    if max(numbers) < 256:
        yield bytes(numbers)


_SMALL = b"abcdefghijklmnopqrstuvwxyz"
_CAPITALS = _SMALL.upper()
_DIGITS = b"0123456789"
_HEX_DIGITS = _DIGITS + b"abcdefABCDEF"


def _shape(kinds: Mapping[bytes, bytes]) -> bytes:
    """Return a table for ``bytes.translate`` that maps each kind of character to its sign."""
    signs = {character: sign for characters, sign in kinds.items() for character in characters}
    return b"".join(signs.get(code, b"\0") for code in range(256))


ENCODINGS: tuple[Encoding, ...] = (
    Encoding(
        "base64",
        _shape({_SMALL + _DIGITS + b"+/-_": b"a", _CAPITALS: b"A", b"=": b"="}),
        b"aA",  # in all base64 of some length; names, words and paths mostly have none
        _from_base64,
        re.compile(r"[A-Za-z0-9+/_\-]{7,}={0,2}"),
    ),
    Encoding(
        "base64 in lines",
        _shape({_SMALL + _CAPITALS + _DIGITS + b"+/=": b"a", b"\r\n": b"|", b" \t": b" "}),
        b"a" * 20 + b"|",
        _from_lines_of_base64,
        re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{20,}+[ \t]{0,4}\r?\n[ \t]{0,8})++[A-Za-z0-9+/]{2,}={0,2}"),
    ),
    Encoding(
        "base32",
        _shape({_CAPITALS + b"234567": b"A", b"=": b"="}),
        b"A" * 8,
        _from_base32,
        re.compile(r"[A-Z2-7]{8,}={0,6}"),
    ),
    Encoding("hexadecimal", _shape({_HEX_DIGITS: b"0"}), b"0" * 10, _from_hex),
    Encoding(
        "hexadecimal, byte by byte",
        _shape({_HEX_DIGITS: b"0", b" :-": b":"}),
        b"00:00:00:00:00",
        _from_separate_hex,
        re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{2}(?:[ :\-][0-9A-Fa-f]{2}){4,}(?![0-9A-Za-z])"),
    ),
    Encoding(
        "numbers of bytes",
        _shape({_DIGITS: b"0", b",": b",", b" ": b" "}),
        b"00, 00",
        _from_numbers,
        re.compile(r"(?<![\d.])\d{2,3}(?:, \d{2,3}){4,}(?![\d.])"),
    ),
)
