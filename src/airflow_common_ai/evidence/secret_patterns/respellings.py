"""A text as it reads once it is unescaped, or to the eye: without colours, with look-alikes as plain letters."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from airflow_common_ai.evidence.secret_patterns.spans import Span

__all__ = ["Respelled", "Spelling", "is_respelled", "respellings", "value_respellings", "value_spellings"]

_MAX_LEVELS = 3
"""A URL in a parameter of a URL in a JSON string."""

_ESCAPE = re.compile(
    r"%(?:[0-7][0-9A-Fa-f]|[89A-Fa-f][0-9A-Fa-f](?:%[89A-Fa-f][0-9A-Fa-f])*|u[0-9A-Fa-f]{4})"
    r"|\\(?:[bfnrt]|[ -/:-@\[-`{-~]|e(?=\[)|x[0-7][0-9A-Fa-f]|[01][0-7]{2}"
    r"|u(?:[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]{1,6}\})"
    r"|U[0-9A-Fa-f]{8}|x[89A-Fa-f][0-9A-Fa-f](?:\\x[89A-Fa-f][0-9A-Fa-f])*|[23][0-7]{2}(?:\\[23][0-7]{2})*)"
    r"|&(?:\#0{0,8}[0-9]{1,7};?|\#[xX]0{0,8}[0-9A-Fa-f]{1,6};?|[A-Za-z]{2,31};)"
)
"""Each kind begins with its sign, so that most of a text is passed over at once."""
_COMMON = {
    **{form % code: chr(code) for code in range(128) for form in ("%%%02X", "%%%02x")},
    **{rf"\{letter}": letter for letter in " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"},
    r"\b": "\b",
    r"\e": "\x1b",
    r"\f": "\f",
    r"\n": "\n",
    r"\r": "\r",
    r"\t": "\t",
}

_UNSEEN = re.compile(
    r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)|[ -/]{0,2}[0-~])"
    r"|(?:\^\[|\#033)?\[[0-9]{1,3}(?:;[0-9]{1,3}){0,8}m"  # colours that came through another sanitizer
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+|[^\x00-\x7f]+"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_UNUSUAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\u2025\u2027-\U0010ffff]")
"""Not the ellipsis, which stands in the mark of a cut."""
_INVISIBLE = re.compile(
    r"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\xad\u034f\u200b-\u200f\u2060-\u2064\ufeff]+"
)
_COLOUR = re.compile(r"\[[0-9;]{1,40}m")

_PLUS = re.compile(r"\+")
_PLUS_FOR_SPACE = re.compile(r"\+(?:(?<=[^\W\d]\+)\w|(?<=\w\+)[^\W\d])")
"""Not that of a time zone."""
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*")
_ENTITY = re.compile(r"&(?:\#[0-9]{1,7};?|\#[xX][0-9A-Fa-f]{1,6};?|[A-Za-z]{2,31};)")
_QUOTED_PRINTABLE = re.compile(r"=[0-9A-F]{2}(?:=[0-9A-F]{2})+")  # a sign first: many times faster
_DOUBLED = re.compile(r"''|\"\"|\}\}|'\\''|'\"'\"'")
"""A quote inside a literal of SQL, CSV, ODBC or a shell."""


class Spelling(NamedTuple):
    """One way in which a text is not written as it reads."""

    pattern: re.Pattern[str]
    undo: Callable[[re.Match[str]], str]
    widths: Callable[[re.Match[str], str], Iterable[tuple[int, int]]]
    """How many characters come out of how many, piece by piece."""


class Respelled:
    """A text as it reads, which can tell where its characters came from."""

    __slots__ = ("_edges", "_outer", "_source", "_spelling", "text")

    def __init__(self, source: str, spelling: Spelling, outer: Respelled | None) -> None:
        self.text = spelling.pattern.sub(spelling.undo, source)
        self._source = source
        self._spelling = spelling
        self._outer = outer
        self._edges: tuple[list[int], list[int]] | None = None

    def in_source(self, span: Span) -> Span:
        """Return what in the text as it is written reads like ``span``."""
        if self._edges is None:
            self._edges = _edges(self._source, self._spelling)
        starts, ends = self._edges
        span = (starts[span[0]], ends[span[1] - 1]) if span[0] < span[1] else (0, 0)
        return span if self._outer is None else self._outer.in_source(span)


def respellings(text: str) -> Iterator[Respelled]:
    """Yield ``text`` unescaped once, twice, …, and each of these as the eye reads it, where that changes anything."""
    outer: Respelled | None = None
    for _ in range(_MAX_LEVELS):
        if _is_unusual(text) or ("m" in text and "[" in text and _COLOUR.search(text)):
            seen = Respelled(text, _AS_SEEN, outer)
            if seen.text != text:
                yield seen
        if "%" not in text and "\\" not in text and "&" not in text:
            return
        outer = Respelled(text, _UNESCAPED, outer)
        if outer.text == text:
            return
        yield outer
        text = outer.text


def is_respelled(text: str) -> bool:
    """Whether ``text``, or a part of it, may read differently than it is written."""
    return "%" in text or "\\" in text or "&" in text or _is_unusual(text) or _COLOUR.search(text) is not None


def value_spellings(text: str) -> tuple[Spelling, ...]:
    """Return the ways in which values are written in ``text`` or in a part of it."""
    return tuple(
        spelling
        for clues, pattern, spelling in _VALUE_SPELLINGS
        if (any(clue in text for clue in clues) if clues else _is_unusual(text)) and pattern.search(text)
    )


def value_respellings(text: str, spellings: Iterable[Spelling]) -> Iterator[Respelled]:
    """Yield ``text`` with one way to write a value undone: what else is in there may be part of the value."""
    for spelling in spellings:
        respelled = Respelled(text, spelling, None)
        if respelled.text != text:
            yield respelled
            if "%" in respelled.text:
                yield Respelled(respelled.text, _UNESCAPED, respelled)


def _is_unusual(text: str) -> bool:
    return (_CONTROL if text.isascii() else _UNUSUAL).search(text) is not None


def _unescape(match: re.Match[str]) -> str:
    escape = match[0]
    common = _COMMON.get(escape)
    if common is not None:
        return common
    if escape[0] == "&":
        return _character(int(escape[3:].rstrip(";"), 16)) if escape[1:3] in ("#x", "#X") else html.unescape(escape)
    if escape[1] in "uU":
        if len(escape) == 12:
            return escape.encode().decode("unicode-escape").encode("utf-16", "surrogatepass").decode("utf-16")
        return _character(int(escape[2:].strip("{}"), 16))
    data = bytes(int(code, 8 if len(code) == 3 else 16) for code in re.split(r"[%=]|\\x|\\", escape)[1:])
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _character(code: int) -> str:
    return chr(code) if code <= 0x10FFFF else ""


def _escape_widths(match: re.Match[str], undone: str) -> Iterable[tuple[int, int]]:
    width = len(match[0])
    if len(undone) <= 1:
        return [(len(undone), width)]
    if match[0][0] == "&":
        return [(1, 0)] * (len(undone) - 1) + [(1, width)]
    unit = 4 if match[0][0] == "\\" else 3
    encoding = "utf-8" if unit * len(undone.encode(errors="surrogatepass")) == width else "latin-1"
    return [(1, unit * len(character.encode(encoding))) for character in undone]


class _Seen(dict[int, str]):
    """What a character looks like: one of ASCII, nothing, or itself. Filled as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = seen = _looks_like(character)
        return seen


def _looks_like(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cf", "Cc", "Mn", "Me"):
        return "\n" if character == "\x85" else ""
    if category[0] == "Z":
        return " " if category == "Zs" else "\n"
    plain = unicodedata.normalize("NFKD", character)
    plain = "".join(part for part in plain if unicodedata.category(part) != "Mn")
    return plain if len(plain) == 1 and plain.isascii() else character


_SEEN = _Seen(
    str.maketrans(
        {
            **dict(zip("АВЕЗКМНОРСТУХІЈЅаеорсухіјѕԁһӏԛԝ", "ABE3KMHOPCTYXIJSaeopcyxijsdhlqw", strict=True)),
            **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυ", "ABEZHIKMNOPTYXaikvoptu", strict=True)),
            **dict.fromkeys("“”„‟«»「」『』〝〞", '"'),
            **dict.fromkeys("‘’‚‛‹›′", "'"),
            **dict.fromkeys("‐‑‒–—―−", "-"),
            **dict.fromkeys("∶꞉։→⇒➜➡", ":"),
            **dict.fromkeys("═⹀゠", "="),
            **dict.fromkeys("│┃┆┊║╎", "|"),
            **dict.fromkeys("─━═╌", "-"),
            **dict.fromkeys("┼╪╬╋", "+"),
            **dict.fromkeys("\u2800", " "),
            **dict.fromkeys("\u115f\u1160\u3164\uffa0", ""),
        }
    )
)
"""Letters of other alphabets that are drawn like Latin ones, and signs in other shapes. Source: the Unicode
Consortium's confusables.txt, as far as names and separators are made of them."""


def _as_seen(match: re.Match[str]) -> str:
    return "" if match[0].isascii() else match[0].translate(_SEEN)


def _seen_widths(match: re.Match[str], undone: str) -> Iterable[tuple[int, int]]:
    if not undone:
        return [(0, len(match[0]))]
    return [(len(_SEEN[ord(character)]), 1) for character in match[0]]


def _one_width(match: re.Match[str], undone: str) -> Iterable[tuple[int, int]]:
    return [(1, len(match[0]))]


_UNESCAPED = Spelling(_ESCAPE, _unescape, _escape_widths)
_AS_SEEN = Spelling(_UNSEEN, _as_seen, _seen_widths)
_VALUE_SPELLINGS = (
    ((), _INVISIBLE, Spelling(_INVISIBLE, lambda match: "", _seen_widths)),
    (("+",), _PLUS_FOR_SPACE, Spelling(_PLUS, lambda match: " ", _one_width)),
    (("''", '""', "}}", "'\\''", "'\"'"), _DOUBLED, Spelling(_DOUBLED, lambda match: match[0][0], _one_width)),
    (("%",), _PERCENT, Spelling(_PERCENT, _unescape, _escape_widths)),
    (("&",), _ENTITY, Spelling(_ENTITY, _unescape, _escape_widths)),
    (("=",), _QUOTED_PRINTABLE, Spelling(_QUOTED_PRINTABLE, _unescape, _escape_widths)),
)
"""What a text must hold one of, and then what it must match, for each spelling to change anything."""


def _edges(source: str, spelling: Spelling) -> tuple[list[int], list[int]]:
    """Return for each character of the text as it reads where it begins and ends in ``source``."""
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for match in spelling.pattern.finditer(source):
        starts.extend(range(position, match.start()))
        ends.extend(range(position + 1, match.start() + 1))
        position = match.start()
        for characters, width in spelling.widths(match, spelling.undo(match)):
            starts.extend([position] * characters)
            position += width
            ends.extend([position] * characters)
    starts.extend(range(position, len(source)))
    ends.extend(range(position + 1, len(source) + 1))
    return starts, ends
