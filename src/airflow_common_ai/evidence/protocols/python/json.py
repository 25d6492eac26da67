"""Why JSON could not be read: an HTML page or nothing came instead of it, it was cut short, or it is bad data.

Only what went wrong on the way is worth another try, and not many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import number_in, settle
from airflow_common_ai.evidence.protocols.meaning import depends, no

__all__ = ["probe", "read"]

_SOURCE = "RFC 8259; whether to retry is judgement"


def _on_the_way(detail: str, sentence: str) -> Signal:
    return depends("network", Wait.SHORT, sentence, _SOURCE, 3).signal(f"json.{detail}", Rank.CLASS)


_EMPTY = _on_the_way("empty", "the answer is empty instead of JSON")
_HTML = _on_the_way("html", "an HTML page came instead of JSON, such as an error or a login page")
_CUT = _on_the_way("cut", "the JSON ends in the middle: it was cut short on its way")
_NOT_JSON = _on_the_way("not_json", "the server's answer is not JSON at all")
_HTML_OR_EMPTY = _on_the_way("html_or_empty", "an HTML page or nothing came instead of JSON")
_INVALID = no("data", "the data is not valid JSON", _SOURCE).signal("json.invalid", Rank.CLASS)
_UNREADABLE = depends(
    "data", Wait.SHORT, "the data is not valid JSON; another try tells whether it was cut short", _SOURCE
).signal("json.unreadable", Rank.CLASS)

_CLASSES = (
    "json.JSONDecodeError",
    "simplejson.JSONDecodeError",
    "orjson.JSONDecodeError",
    "ujson.JSONDecodeError",
    "rapidjson.JSONDecodeError",
    "requests.JSONDecodeError",
)

# Where there is no position to look at: the words of json and simplejson, orjson, msgspec, ujson, serde (pydantic and
# everything else in Rust), Go and JavaScript. The first that is found counts.
_WORDS: tuple[tuple[Signal, tuple[str, ...]], ...] = (
    (_EMPTY, ("EOF while parsing a value at line 1 column 0", "zero-length, empty document")),
    (
        _CUT,
        (
            "Unterminated string starting at",
            "unexpected end of data: line",
            "EOF while parsing",
            "nexpected end of JSON input",
            "Input data was truncated",
            "Unmatched ''\"' when when decoding",
        ),
    ),
    (_HTML, ("invalid character '<' looking for beginning of value", "Unexpected token < in", "Unexpected token '<'")),
    (
        _HTML_OR_EMPTY,
        (
            "expected value at line 1 column 1 ",
            "invalid character (byte 0)",
            "Expected object or value",
        ),
    ),
    (_INVALID, ("Extra data: line", "Invalid control character at", "Invalid \\escape", "Invalid \\uXXXX escape")),
)
_AT_THE_START_MARK = "column 1 (char "
_AT_THE_START = re.compile(r"(?:Expecting value|unexpected character): line \d column 1 \(char \d\)")
"""A few blank lines may come before a page."""
_SHOWN_HTML = "input_value='<"
"""pydantic shows how the text begins."""

_CUT_WORD = re.compile(r"-|\.|[eE][+-]?|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|\\?u?[0-9A-Fa-f]{0,4}")
"""Cut in the middle of a number, a word or an escaped character, the reader stops a few characters before the end."""
_MAX_CUT_CHARS = 6
_CUT_STRING = "Unterminated string"
_MAX_BLANKS = 1024

_HTTP_CLIENTS = frozenset({"aiohttp", "httpx", "httpx2", "requests", "urllib3"})
_MAX_FRAMES = 50


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy where the reader stopped, how long the text is and its first two characters, but not the text."""
    document, position = getattr(exception, "doc", None), getattr(exception, "pos", None)
    if not isinstance(exception, ValueError) or not isinstance(document, str) or type(position) is not int:
        return {}
    length = len(document.rstrip())
    return {
        "json.pos": position,
        "json.doc_length": length,
        "json.doc_start": document[:_MAX_BLANKS].lstrip("\ufeff \t\r\n")[:2],
        "json.is_cut_word": _is_cut_word(document[position : min(length, position + _MAX_CUT_CHARS + 1)]),
        "json.is_http": _is_read_by_http_client(exception),
    }


def _is_cut_word(rest: str) -> bool:
    return len(rest) <= _MAX_CUT_CHARS and _CUT_WORD.fullmatch(rest) is not None


def _is_read_by_http_client(exception: BaseException) -> bool:
    """Whether an HTTP client was reading its answer; else the text may be a file of ours."""
    roots = [type(exception).__module__.partition(".")[0]]
    traceback: TracebackType | None = exception.__traceback__
    while traceback is not None and len(roots) < _MAX_FRAMES:
        roots.append(str(traceback.tb_frame.f_globals.get("__name__")).partition(".")[0])
        traceback = traceback.tb_next
    return not _HTTP_CLIENTS.isdisjoint(roots)


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield why JSON could not be read, if that is what failed."""
    position, length = number_in(node, "json.pos"), number_in(node, "json.doc_length")
    if position is not None and length is not None:
        yield _judge(node, position, length)
        return
    found = settle(_find(node.message), node.message)
    if node.is_a(*_CLASSES):
        yield from found or (_UNREADABLE,)
    elif node.is_a("ValueError", "pydantic_core.ValidationError", "msgspec.DecodeError"):
        yield from found
    else:
        yield from (replace(signal, rank=Rank.TEXT) for signal in found)


def _judge(node: RedactedNode, position: int, length: int) -> Signal:
    start = str(node.facts.get("json.doc_start", ""))
    if not start:
        return _EMPTY
    if start.startswith("<"):
        return _HTML
    if position >= length or node.facts.get("json.is_cut_word") or node.message.startswith(_CUT_STRING):
        return _CUT
    if position == 0 and node.facts.get("json.is_http"):
        return _NOT_JSON
    return _INVALID


def _find(message: str) -> Iterator[Signal]:
    for signal, phrases in _WORDS:
        is_at_start = signal is _HTML_OR_EMPTY and _AT_THE_START_MARK in message and _AT_THE_START.search(message)
        if is_at_start or any(map(message.__contains__, phrases)):
            yield _HTML if signal is _HTML_OR_EMPTY and _SHOWN_HTML in message else signal
            return
