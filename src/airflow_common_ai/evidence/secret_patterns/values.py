"""Secrets that a name announces: ``password=…``, ``"api_key": "…"``, ``--token …``, ``Authorization: …``.

Words must survive: ``password authentication failed for user "x"`` and ``token: expired`` tell a reader what is
wrong. So a value is masked, never a name, and behind a colon, as in prose, only what does not read like prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from airflow_common_ai.evidence.cut import CUT_MARK
from airflow_common_ai.evidence.secret_patterns.names import Name, kind_of_name
from airflow_common_ai.evidence.secret_patterns.shapes import (
    is_basic_credentials,
    is_placeholder,
    is_random,
    is_signature,
    is_uuid,
    reads_like_prose,
)
from airflow_common_ai.evidence.secret_patterns.spans import Span
from airflow_common_ai.evidence.secret_patterns.words import words

__all__ = ["TELLING", "find_flags", "find_named_values", "is_secret", "value_span"]

TELLING = (
    *("pass", "pw", "secret", "token", "key", "cred", "cookie", "certificate", "sig", "sess", "sid", "jwt", "otp"),
    *("auth", "bearer", "license", "webhook"),
)
"""What is in every name that :func:`kind_of_name` knows, in lower case."""

_NAMED = re.compile(
    r"[\w.\-]{2,96}"
    r"(?P<close>\\{0,7}[\"'`]?[\])]?)"
    r"(?:[ ](?:provided|given|used|value))?"
    r"(?::[ ]?(?:str|bytes|secretstr)(?=[ ]?=))?"  # an annotated default in a line of source
    r"[ \t]{0,8}(?P<separator>=>|:=|={1,3}|:|,(?=[ ]?b?[\"']))[ \t]{0,8}"
)
"""From the telling part of a name to its value. What stands before it is looked up from there, see ``_name_start``:
to look for whole names would try one at every letter."""

_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_MAX_NAME_CHARS = 64

_OPENING = re.compile(r"(?P<list>[\[(]{0,2})(?:[bBuUrRfF]{1,2}(?=[\"']))?(?P<quote>\\{0,7}(?:\"\"\"|[\"'`]))")
_END_OF_BARE = re.compile(
    r"\s"
    r"|\\[nrt](?![A-Za-z0-9])"
    r"|\\{0,7}[\"'`](?=[\s,;:)\]}>\\]|$)"
    r"|[,;&|](?=\s|$|(?:amp;)?[\w.\-%]{1,64}\\{0,7}[\"']?\s?[=:])"
    r"|[)\]}>](?=[\s,;.)\]}>\"'`\\]|$)"
    rf"|<|{CUT_MARK}"
)
"""A password may hold any of these characters, so most end a value only where something else follows that reads
like the text around it."""
_END_OF_LINE = re.compile(rf"[\r\n]|\\[rn](?![A-Za-z0-9])|{CUT_MARK}")
_END_OF_HEADER = re.compile(rf"[\r\n]|\\[rn](?![A-Za-z0-9])|\\{{0,7}}[\"'`](?=[\s,;:)\]}}>\\]|$)|{CUT_MARK}")

_VERDICTS = words(
    "absent bad blank bool bytes changed denied deprecated disabled empty enabled error expected expired failed "
    "failure found illegal incorrect int invalid malformed mismatch missing needed object ok opaque optional "
    "present refused rejected required revoked set str string success unauthorized unavailable unexpected unknown "
    "unset unsupported valid wrong"
)
"""What is said *about* a secret behind a colon."""
_WORD = re.compile(r"[A-Za-z]+(?:[-'’/][A-Za-z]+)*[.!?]?")
_SHORTEST_TOKEN = 8
_MORE_WORDS = re.compile(r"[ \t]+(?![\w.\-]+[=:])[A-Za-z(\"']")

_AMOUNT = re.compile(r"[0-9][0-9.,]{0,8}[a-zµ%]{0,3}")
_PORT = re.compile(r"\d{2,5}(?!\w)")
_ARN = re.compile(r"(?:^|[^a-z0-9])(?:arn|urn|crn):\S*$")
_PAIR = re.compile(r"[(\[]b?[\"']$")
_OTHER_KINDS_OF_TOKEN = ("unexpected ", "illegal ", "unrecognized ", "mismatched ")

_SCHEME = re.compile(
    r"(?:(?P<many>digest|hawk|oauth|snowflake|sharedkey(?:lite)?|aws4-hmac-sha256|goog4-rsa-sha256)"
    r"|bearer|basic|token|negotiate|ntlm|apikey|api-key|key|splunk|genie ?key|bot|ssws|zoho-oauthtoken)"
    r"[ :]{1,4}(?:token=)?",
    re.IGNORECASE,
)
"""The scheme of an ``Authorization`` header; ``many`` are followed by several parameters."""
_CHALLENGE = re.compile(r"(?:realm|error|charset|scope|service)=", re.IGNORECASE)

_FLAG = re.compile(r"-(?<![\w\-]-)-?(?P<name>[a-z][\w.\-]{1,60})(?P<gap>[ \t]{1,4}|[\"'],[ ]{0,2}(?=[\"']))(?![\-\s])")
_WORDS_AFTER_FLAG = words(
    "and are argument cannot flag for has in instead is must not on option or parameter requires should to via was with"
)


def find_named_values(text: str, lowered: str) -> Iterator[Span]:
    """Find ``name=value`` and ``name: value`` in all the ways in which programs write them."""
    position = 0
    for telling in sorted({place for part in TELLING for place in _places(lowered, part)}):
        match = _NAMED.match(lowered, telling) if telling >= position else None
        if match is None:
            continue
        position = match.end()
        start = _name_start(text, match.start())
        name = text[start : match.start("close")]
        if name.lower() == "key" and start and text[start - 1] == " ":  # API key: …
            name = text[_name_start(text, start - 1) : match.start("close")]
        kind = kind_of_name(name)
        if name in ("PWD", "OLDPWD") and text.startswith(("/", "~"), position):  # where a shell is
            continue
        if kind is Name.HARMLESS or _is_part_of_something_else(text, lowered, start, match):
            continue
        for span in _values(text, start, kind, match):
            yield span
            position = max(position, span[1])


def find_flags(text: str, lowered: str) -> Iterator[Span]:
    """Find ``--password …`` in a command line, written as one or as a list of arguments."""
    for match in _FLAG.finditer(lowered):
        kind = kind_of_name(text[match.start("name") : match.end("name")])
        if kind is Name.HARMLESS:
            continue
        span, _ = value_span(text, match.end())
        value = text[slice(*span)]
        is_usage = value.isupper() and value.lower().replace("_", "-") in match["name"]  # --token TOKEN
        if is_usage or value.lower() in _WORDS_AFTER_FLAG or is_placeholder(value):
            continue
        if kind is not Name.PERHAPS or is_random(value):
            yield span


def value_span(text: str, start: int) -> tuple[Span, bool]:
    """Return where the value that begins at ``start`` stands, without its quotes, and whether it has some."""
    opening = _OPENING.match(text, start)
    if opening is None:
        return (start, _end_of_bare(text, start)), False
    return (opening.end(), _closing(text, opening.end(), opening["quote"])), True


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + len(part))


def _name_start(text: str, position: int) -> int:
    lowest = max(0, position - _MAX_NAME_CHARS)
    while position > lowest and text[position - 1] in _NAME_CHARS:
        position -= 1
    return position


def _is_part_of_something_else(text: str, lowered: str, start: int, match: re.Match[str]) -> bool:
    """Whether the name ends an ARN, an image or a host before a port, is listed, or is a parser's token."""
    before = lowered[max(0, start - 80) : start]
    separator, close = match["separator"], match["close"]
    if separator == ":" and not close and match.end() == match.end("separator"):
        return before.endswith("/") or bool(_PORT.match(text, match.end()) or _ARN.search(before))
    if separator == ",":  # a pair is a name and its value, a longer list is neither
        return not close.endswith(('"', "'")) or _PAIR.search(before) is None
    return before.endswith(_OTHER_KINDS_OF_TOKEN)


def _values(text: str, name_start: int, kind: Name, match: re.Match[str]) -> Iterator[Span]:
    start, separator = match.end(), match["separator"]
    if kind is Name.AUTHORIZATION:
        yield from _credentials(text, name_start, start)
        return
    if match["close"].endswith(")") and text.startswith("(", start):  # PostgreSQL: Key (api_token)=(…)
        end = text.find(")", start)
        if end > start + 1 and kind is not Name.PERHAPS:
            yield start + 1, end
        return
    if text.startswith("{", start):
        if separator == "=" and kind is Name.SECRET:  # ODBC: PWD={…}
            yield start, _end_of_braces(text, start)
        return
    opening = _OPENING.match(text, start)
    if opening is None:
        end = _end_of_line(text, start) if kind is Name.COOKIE else _end_of_bare(text, start)
        if is_secret(text, (start, end), kind, separator, is_quoted=False):
            yield start, end
        return
    quote, position = opening["quote"], opening.end()
    while True:
        end = _closing(text, position, quote)
        if is_secret(text, (position, end), kind, separator, is_quoted=True):
            yield position, end
        another = re.compile(rf"{re.escape(quote)}, ?{re.escape(quote)}").match(text, end)
        if another is None or not opening["list"]:
            return
        position = another.end()


def _credentials(text: str, name_start: int, start: int) -> Iterator[Span]:
    """Find what stands behind the scheme in the value of an ``Authorization`` header."""
    opening = _OPENING.match(text, start)
    quote = opening["quote"] if opening else text[max(0, name_start - 1) : name_start]
    if opening is not None:
        start = opening.end()
    if opening is not None or quote in ("'", '"', "`"):  # the latter is curl -H "Authorization: …"
        end = many_end = _closing(text, start, quote)
    else:
        end, many_end = _first_end(_END_OF_HEADER, text, start), _end_of_line(text, start)
    scheme = _SCHEME.match(text, start, end)
    if scheme is not None:
        start = scheme.end()
    if scheme is not None and scheme["many"]:
        end = many_end
    elif opening is None:
        end = min(end, _end_of_bare(text, start))
    if scheme is None:
        is_told = is_secret(text, (start, end), Name.SECRET, ":", is_quoted=opening is not None)
    else:
        is_told = not (
            _CHALLENGE.match(text, start) or _is_word_of_prose(text, start, end) or is_placeholder(text[start:end])
        )
    if is_told:
        yield start, end


def is_secret(text: str, span: Span, kind: Name, separator: str, *, is_quoted: bool) -> bool:
    """Whether what stands at ``span`` is a secret, behind a name of this kind."""
    value = text[slice(*span)].strip()
    if not value or is_placeholder(value):
        return False
    if kind is Name.PERHAPS:
        return is_random(value) or is_basic_credentials(value)
    if kind is Name.SIGNATURE:
        return is_signature(value)
    if kind is Name.IDENTIFIER:
        return is_uuid(value)
    if kind is Name.COOKIE:
        return "=" in value
    if kind in (Name.SESSION, Name.TOKEN) and _AMOUNT.fullmatch(value):
        return False
    if separator not in (":", ","):
        return True
    if value.lower().rstrip(".!?") in _VERDICTS:
        return False
    if separator == ",":
        return _WORD.fullmatch(value) is None
    if is_quoted:
        return not reads_like_prose(value) and (kind is not Name.TOKEN or len(value) > 2)
    if kind is Name.TOKEN and len(value) < _SHORTEST_TOKEN and _WORD.fullmatch(value):
        return False
    if (len(value) < 4 and value.isdigit()) or not any(map(str.isalnum, value)):
        return False
    return not _is_word_of_prose(text, *span)


def _is_word_of_prose(text: str, start: int, end: int) -> bool:
    """Whether a plain word stands there and others follow it: ``password: must be longer``."""
    return _WORD.fullmatch(text, start, end) is not None and _MORE_WORDS.match(text, end) is not None


@lru_cache(maxsize=64)
def _closer(quote: str) -> re.Pattern[str]:
    escapes = "" if quote.startswith("\\") else r"(?:\\\\)*"
    return re.compile(rf"(?<!\\){escapes}(?P<quote>{re.escape(quote)})|[\r\n]")


def _closing(text: str, start: int, quote: str) -> int:
    """Return where the string that ``quote`` opened ends; if not on its line, then with it."""
    match = _closer(quote).search(text, start)
    return _end_of_line(text, start) if match is None or not match["quote"] else match.start("quote")


def _first_end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.search(text, start)
    return len(text) if match is None else match.start()


def _end_of_bare(text: str, start: int) -> int:
    return _first_end(_END_OF_BARE, text, start)


def _end_of_line(text: str, start: int) -> int:
    return _first_end(_END_OF_LINE, text, start)


def _end_of_braces(text: str, start: int) -> int:
    end = text.find("}", start)
    while end >= 0 and text.startswith("}}", end):
        end = text.find("}", end + 2)
    return _end_of_line(text, start) if end < 0 else end + 1
