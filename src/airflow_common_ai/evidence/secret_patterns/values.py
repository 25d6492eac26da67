"""Secrets that a name announces: ``password=…``, ``"api_key": "…"``, ``--token …``, ``Authorization: …``.

Words must survive: ``password authentication failed for user "x"`` and ``token: expired`` tell a reader what is
wrong. So a value is masked, never a name, and behind a colon, as in prose, only what does not read like prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.names import Name, kind_of_name
from airflow_common_ai.evidence.secret_patterns.shapes import (
    is_basic_credentials,
    is_placeholder,
    is_random,
    is_signature,
    is_uuid,
    reads_like_prose,
)
from airflow_common_ai.evidence.secret_patterns.spans import Span, places_of
from airflow_common_ai.evidence.secret_patterns.value_ends import ValueEnds
from airflow_common_ai.evidence.secret_patterns.words import words

__all__ = ["TELLING", "find_flags", "find_named_values", "is_secret"]

TELLING = (
    *("pass", "pw", "secret", "token", "key", "cred", "cookie", "certificate", "sig", "sess", "sid", "jwt", "otp"),
    *("auth", "bearer", "license", "webhook"),
)
"""What is in every name that :func:`kind_of_name` knows, in lower case."""

_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_MAX_NAME_CHARS = 64
_REST_OF_NAME = re.compile(r"[\w.\-]{2,96}")
_SEPARATOR = re.compile(
    r"(?P<close>\\{0,7}[\"'`]?[\])]?)"
    r"(?:[ ](?:provided|given|used|value))?"
    r"(?::[ ]?(?:str|bytes|secretstr)(?=[ ]?=))?"  # an annotated default in a line of source
    r"[ \t]{0,8}(?P<sign>=>|:=|={1,3}|:|,(?=[ ]?b?[\"']))[ \t]{0,8}"
)

_MAX_SHAPE_CHARS = 4096
"""What is judged by its looks is no longer than this."""
_VERDICTS = words(
    "absent bad blank bool bytes changed denied deprecated disabled empty enabled error expected expired failed "
    "failure found illegal incorrect int invalid malformed mismatch missing needed object ok opaque optional "
    "present refused rejected required revoked set str string success unauthorized unavailable unexpected unknown "
    "unset unsupported valid wrong"
)
"""What is said *about* a secret behind a colon."""
_CODE = re.compile(r"[A-Za-z_\-]{1,64}[.!?]?")
_CODE_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_WORD = re.compile(r"[A-Za-z]+(?:[-'’/][A-Za-z]+)*[.!?]?")
_MORE_WORDS = re.compile(r"[ \t]+(?![\w.\-]+[=:])[A-Za-z(\"']")
_AMOUNT = re.compile(r"[0-9][0-9.,]{0,8}[a-zµ%]{0,3}")
_SHORTEST_TOKEN = 8

_BETWEEN_SEMICOLONS = re.compile(r"[^;\r\n\"']{1,200}(?=;)")
_REST_OF_LINE = re.compile(r"[^\s;:=()\"']+(?: [^\s;:=()\"']+){1,8}$", re.MULTILINE)
_PORT = re.compile(r"\d{2,5}(?!\w)")
_ARN = re.compile(r"(?:^|[^a-z0-9])(?:arn|urn|crn):\S*$")
_PAIR = re.compile(r"[(\[]b?[\"']$")
_OTHER_KINDS_OF_TOKEN = ("expected ", "unexpected ", "illegal ", "unrecognized ", "mismatched ")

_SCHEME = re.compile(
    r"(?:(?P<many>digest|hawk|oauth|snowflake|sharedkey(?:lite)?|aws4-hmac-sha256|goog4-rsa-sha256)"
    r"|bearer|basic|token|negotiate|ntlm|apikey|api-key|key|splunk|genie ?key|bot|ssws|zoho-oauthtoken)"
    r"[ :]{1,4}(?:token=)?",
    re.IGNORECASE,
)
"""The scheme of an ``Authorization`` header; ``many`` are followed by several parameters."""
_CHALLENGE = re.compile(r"(?:realm|error|charset|scope|service)=", re.IGNORECASE)

_FLAG = re.compile(r"-(?<![\w\-]-)-?(?P<name>[a-z][\w.\-]{1,60})(?:[ \t]{1,4}|[\"'],[ ]{0,2}(?=[\"']))(?![\-\s])")
_WORDS_AFTER_FLAG = words(
    "and are argument cannot flag for has in instead is must not on option or parameter requires should to via was with"
)


def find_named_values(text: str, lowered: str) -> Iterator[Span]:
    """Find ``name=value`` and ``name: value`` in all the ways in which programs write them."""
    ends = ValueEnds(text)
    position = 0
    # Whole names are not looked for, since that would try one at every letter of a text.
    for telling in places_of(TELLING, lowered):
        rest = _REST_OF_NAME.match(lowered, telling) if telling >= position else None
        if rest is None:
            continue
        position = rest.end()
        separator = _SEPARATOR.match(lowered, position)
        if separator is None:
            continue
        start = _name_start(text, telling)
        name = text[start : rest.end()]
        if name.lower() == "key" and start and text[start - 1] == " ":  # API key: …
            name = text[_name_start(text, start - 1) : rest.end()]
        kind = kind_of_name(name)
        if kind is Name.HARMLESS or _is_part_of_something_else(text, lowered, start, separator):
            continue
        if name in ("PWD", "OLDPWD") and text.startswith(("/", "~"), separator.end()):  # where a shell is
            continue
        for span in _values(ends, start, kind, separator):
            yield span
            position = max(position, span[1])


def find_flags(text: str, lowered: str) -> Iterator[Span]:
    """Find ``--password …`` in a command line, written as one or as a list of arguments."""
    ends = ValueEnds(text)
    for match in _FLAG.finditer(lowered):
        kind = kind_of_name(text[match.start("name") : match.end("name")])
        if kind is Name.HARMLESS:
            continue
        span, _ = ends.value(match.end())
        value = text[slice(*span)]
        is_usage = value.isupper() and value.lower().replace("_", "-") in match["name"]  # --token TOKEN
        if is_usage or value.lower() in _WORDS_AFTER_FLAG or is_placeholder(value):
            continue
        if kind is not Name.PERHAPS or is_random(value):
            yield span


def _name_start(text: str, position: int) -> int:
    lowest = max(0, position - _MAX_NAME_CHARS)
    while position > lowest and text[position - 1] in _NAME_CHARS:
        position -= 1
    return position


def _is_part_of_something_else(text: str, lowered: str, start: int, separator: re.Match[str]) -> bool:
    """Whether the name ends an ARN, an image or a host before a port, is listed, or is a parser's token."""
    before = lowered[max(0, start - 80) : start]
    sign, close = separator["sign"], separator["close"]
    if sign == ":" and not close and separator.end() == separator.end("sign"):
        return before.endswith("/") or bool(_PORT.match(text, separator.end()) or _ARN.search(before))
    if sign == ",":  # a pair is a name and its value, a longer list is neither
        return not close.endswith(('"', "'")) or _PAIR.search(before) is None
    return before.endswith(_OTHER_KINDS_OF_TOKEN)


def _values(ends: ValueEnds, name_start: int, kind: Name, separator: re.Match[str]) -> Iterator[Span]:
    text, start, sign = ends.text, separator.end(), separator["sign"]
    if kind is Name.AUTHORIZATION:
        yield from _credentials(ends, name_start, start)
        return
    if separator["close"].endswith(")") and text.startswith("(", start):  # PostgreSQL: Key (api_token)=(…)
        end = text.find(")", start, start + _MAX_SHAPE_CHARS)
        if end > start + 1 and kind is not Name.PERHAPS:
            yield start + 1, end
        return
    if text.startswith("{", start):
        if sign == "=" and kind is Name.SECRET:  # ODBC: PWD={…}
            yield start, ends.of_braces(start)
        return
    opening = ends.opening(start)
    if opening is None:
        end = ends.of_line(start) if kind is Name.COOKIE else ends.of_bare(start)
        further = _end_behind_spaces(text, name_start, start, sign) if kind is Name.SECRET else end
        if further > end or is_secret(text, (start, end), kind, sign, is_quoted=False):
            yield start, max(end, further)
        return
    quote, position = opening["quote"], opening.end()
    another = re.compile(rf"{re.escape(quote)}, ?{re.escape(quote)}")
    while True:
        end = ends.of_quoted(position, quote)
        if is_secret(text, (position, end), kind, sign, is_quoted=True):
            yield position, end
        following = another.match(text, end) if opening["list"] else None
        if following is None:
            return
        position = following.end()


def _end_behind_spaces(text: str, name_start: int, start: int, sign: str) -> int:
    """Return where a value without quotes ends that holds spaces: between semicolons, or alone on a line of YAML."""
    if sign == "=" and text[max(0, name_start - 1) : name_start] == ";":
        between = _BETWEEN_SEMICOLONS.match(text, start)
        return start if between is None else between.end()
    line = text[max(0, name_start - _MAX_NAME_CHARS) : name_start].rpartition("\n")[2]
    if sign == ":" and not line.strip(" -") and text[name_start].islower():
        rest = _REST_OF_LINE.match(text, start)
        return start if rest is None or reads_like_prose(rest[0]) else rest.end()
    return start


def _credentials(ends: ValueEnds, name_start: int, start: int) -> Iterator[Span]:
    """Find what stands behind the scheme in the value of an ``Authorization`` header."""
    text = ends.text
    opening = ends.opening(start)
    quote = opening["quote"] if opening else text[max(0, name_start - 1) : name_start]
    if opening is not None:
        start = opening.end()
    if opening is not None or quote in ("'", '"', "`"):  # the latter is curl -H "Authorization: …"
        end = last = ends.of_quoted(start, quote)
    else:
        end, last = ends.of_header(start), ends.of_line(start)
    scheme = _SCHEME.match(text, start, end)
    if scheme is not None:
        start = scheme.end()
    if scheme is not None and scheme["many"]:
        end = last
    elif opening is None:
        end = min(end, ends.of_bare(start))
    if scheme is None:
        is_told = is_secret(text, (start, end), Name.SECRET, ":", is_quoted=opening is not None)
    else:
        is_told = not (
            _CHALLENGE.match(text, start) or _is_word_of_prose(text, start, end) or is_placeholder(text[start:end])
        )
    if is_told:
        yield start, end


def is_secret(text: str, span: Span, kind: Name, sign: str, *, is_quoted: bool) -> bool:
    """Whether what stands at ``span`` is a secret, behind a name of this kind and ``=``, ``:`` or ``,``."""
    if kind in (Name.PERHAPS, Name.SIGNATURE, Name.IDENTIFIER) and span[1] - span[0] > _MAX_SHAPE_CHARS:
        return False
    if kind is Name.COOKIE:
        return text.find("=", span[0], min(span[1], span[0] + _MAX_SHAPE_CHARS)) >= 0
    value = text[slice(*span)].strip()
    if not value or is_placeholder(value):
        return False
    if kind is Name.PERHAPS:
        return is_random(value) or is_basic_credentials(value)
    if kind is Name.SIGNATURE:
        return is_signature(value)
    if kind is Name.IDENTIFIER:
        return is_uuid(value)
    if kind in (Name.SESSION, Name.TOKEN) and _AMOUNT.fullmatch(value):
        return False
    return "=" in sign or _reads_like_a_value(text, span, value, kind, sign, is_quoted=is_quoted)


def _reads_like_a_value(text: str, span: Span, value: str, kind: Name, sign: str, *, is_quoted: bool) -> bool:
    """Whether what stands behind a colon, or in a pair, is not said about a secret."""
    if _is_verdict(value):
        return False
    if sign == ",":
        return _WORD.fullmatch(value) is None
    if is_quoted:
        return not reads_like_prose(value) and (kind is not Name.TOKEN or len(value) > 2)
    if kind is Name.TOKEN and len(value) < _SHORTEST_TOKEN and _WORD.fullmatch(value):
        return False
    if (len(value) < 4 and value.isdigit()) or not any(map(str.isalnum, value)):
        return False
    return not _is_word_of_prose(text, *span)


def _is_verdict(value: str) -> bool:
    """Whether something is said about a secret: ``expired``, ``invalid_grant``, ``AccessDenied``."""
    parts = [part.lower() for part in _CODE_PARTS.findall(value)] if _CODE.fullmatch(value) else []
    return bool(parts) and (parts[0] in _VERDICTS or parts[-1] in _VERDICTS)


def _is_word_of_prose(text: str, start: int, end: int) -> bool:
    """Whether a plain word stands there and others follow it: ``password: must be longer``."""
    return _WORD.fullmatch(text, start, end) is not None and _MORE_WORDS.match(text, end) is not None
