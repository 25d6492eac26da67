"""Secrets that a name announces: ``password=…``, ``"api_key": "…"``, ``--token …``, ``Authorization: …``.

Words must survive: ``password authentication failed for user "x"`` and ``token: expired`` tell a reader what is
wrong. So a value is masked, never a name, and behind a colon, as in prose, only what does not read like prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from airflow_common_ai.evidence.secret_patterns.names import Name, kind_of_name
from airflow_common_ai.evidence.secret_patterns.separators import Separator, separator_at
from airflow_common_ai.evidence.secret_patterns.shapes import (
    is_basic_credentials,
    is_login,
    is_made_up,
    is_placeholder,
    is_random,
    is_signature,
    is_uuid,
    reads_like_prose,
)
from airflow_common_ai.evidence.secret_patterns.spans import MASK, Span, places_of
from airflow_common_ai.evidence.secret_patterns.value_ends import ValueEnds
from airflow_common_ai.evidence.secret_patterns.words import words

__all__ = ["TELLING", "find_flags", "find_named_values", "is_secret", "is_verdict", "telling_places"]

TELLING = (
    *("pass", "pw", "secret", "token", "key", "cred", "cookie", "certificate", "sig", "sess", "sid", "jwt", "otp"),
    *("auth", "bearer", "license", "webhook", "userinfo", "user_info"),
)
"""What is in every name that :func:`kind_of_name` knows, in lower case."""

_MASKED = f"={MASK}"
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_MAX_NAME_CHARS = 64
_REST_OF_NAME = re.compile(r"[\w.\-]{2,96}")
_IN_PROSE = re.compile(
    r"(?:[\"'`]?\]?[ \t]{1,40}(?P<verb>(?:(?:for|of) (?:user )?[^\s:'\"]{1,60} )?"
    r"(?:(?:is|was)(?: now| set to)?|set to|changed to):?[ \t]{1,8})?"
    r"(?=[\"'`](?![\s,;.])|[^\s0-9!@#$%^&*+=~|]{0,40}[0-9!@#$%^&*+=~])|(?P<bracket>[(\[])(?=[^\s()\[\]\"',=]{6,64}[)\]]))"
)
"""``password hunter2``, ``the token was "…"``, ``password(…)``: only what does not look like one more word."""
_BEFORE_PROSE = frozenset(" \t\"'`([")
_NEXT_LINE = re.compile(r"(?P<block>[|>][+\-0-9]{0,2})?[ \t]{0,40}\r?\n(?P<indent>[ \t]{0,40})(?=\S)")
_BEFORE_NEXT_LINE = frozenset("\r\n|>")
_BLOCK = r"[^\r\n]*(?:\r?\n(?:[ \t]*(?=\r?\n)|{indent}[^\r\n]*))*"
_MAX_BLOCK_CHARS = 4096
_ALONE = re.compile(r"[ \t]{0,40}(?:[\r\n]|$)")
_CHANGED_TO = re.compile(r"[\"'`]?[ ]{1,4}->[ ]{1,4}(?=[\"'`])")
_CLOSING_BRACKET = re.compile(r"[)\]]")
_NAMES_OF_THINGS = frozenset({"secret", "secrets", "token", "tokens"})
"""In prose the name of a secret follows: ``secret db-creds-2 not found``."""

_LABEL = re.compile(r"(?:\A|[\n.,;(] ?)Secrets?: ?\Z")
_NUMBERED_NAME = re.compile(r"[a-z][a-z0-9]{0,30}(?:-[a-z][a-z0-9]{0,30}){0,6}-[0-9]{1,3}")
"""``Secret: prod-db-2``: which one, as Kubernetes and Docker name theirs, and not what is in it."""

_MAX_SHAPE_CHARS = 4096
"""What is judged by its looks is no longer than this."""
_VERDICTS = words(
    "absent bad blank bool bytes changed denied deprecated disabled empty enabled error expected expired failed "
    "failure found illegal incorrect int invalid malformed mismatch missing needed object ok opaque optional pending "
    "present refused rejected required revoked set str string success unauthorized unavailable unexpected unknown "
    "unset unsupported valid wrong"
)
"""What is said *about* a secret behind a colon."""
_CODE = re.compile(r"[A-Za-z_\-]{1,64}[.!?:]?")
_CODE_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_WORD = re.compile(r"[A-Za-z]+(?:[-'’/][A-Za-z]+)*[.!?]?")
_FIRST_WORD = re.compile(rf"{_WORD.pattern}(?:\s|$)")
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
    r"(?:(?P<many>digest|hawk|oauth|snowflake|sharedkey(?:lite)?|sharedaccesssignature|discogs|aws4-hmac-sha256|goog4-rsa-sha256)"
    r"|bearer|basic|token|negotiate|ntlm|apikey|api-key|key|splunk|genie ?key|bot|ssws|zoho-oauthtoken)"
    r"[ :]{1,4}(?:token=)?",
    re.IGNORECASE,
)
"""The scheme of an ``Authorization`` header; ``many`` are followed by several parameters."""
_OTHER_SCHEME = re.compile(r"(?!(?:bearer|basic)\b)[A-Za-z][A-Za-z0-9\-]{1,40}(?:[ ]{1,4}|=)(?=[^\s=])", re.IGNORECASE)
"""Services make up their own; what follows is told from prose by its first word."""
_CHALLENGE = re.compile(r"(?:realm|error|charset|scope|service)=", re.IGNORECASE)

_FLAG = re.compile(r"-(?<![\w\-]-)-?(?P<name>[a-z][\w.\-]{1,60})(?:[ \t]{1,4}|[\"'],[ ]{0,2}(?=[\"']))(?![\-\s])")
_WORDS_AFTER_FLAG = words(
    "and are argument cannot flag for has in instead is must not on option or parameter requires should to via was with"
)


@lru_cache(maxsize=1)
def telling_places(lowered: str) -> list[int]:
    """Return where a name may be that announces a secret; several patterns ask for those of one text."""
    return places_of(TELLING, lowered)


def find_named_values(text: str, lowered: str) -> Iterator[Span]:
    """Find ``name=value`` and ``name: value`` in all the ways in which programs write them."""
    ends = ValueEnds(text)
    position = 0
    # Whole names are not looked for, since that would try one at every letter of a text.
    for telling in telling_places(lowered):
        rest = _REST_OF_NAME.match(lowered, telling) if telling >= position else None
        if rest is None:
            continue
        position = rest.end()
        if text.startswith(_MASKED, position) and _is_all_masked(text, _name_start(text, telling), position):
            continue
        separator = separator_at(lowered, position)
        prose = None
        if separator is None:
            prose = _IN_PROSE.match(text, position) if text[position : position + 1] in _BEFORE_PROSE else None
            if prose is None:
                continue
        start = _name_start(text, telling)
        name = text[start : rest.end()]
        if name.lower() == "key" and start and text[start - 1] == " ":  # API key: …
            name = text[_name_start(text, start - 1) : rest.end()]
        kind = kind_of_name(name)
        if kind is Name.HARMLESS:
            continue
        if separator is None:
            span = _value_in_prose(ends, name, kind, prose) if prose is not None else None
            if span is not None:
                yield span
                position = span[1]
            continue
        if _is_part_of_something_else(text, lowered, start, separator):
            continue
        if name in ("PWD", "OLDPWD") and text.startswith(("/", "~"), separator.end):  # where a shell is
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


def _is_all_masked(text: str, start: int, end: int) -> bool:
    """Whether ``=***`` behind the name is all that is to be masked there, as in what was redacted before."""
    follows = text[end + len(_MASKED) : end + len(_MASKED) + 1]
    if (follows and not follows.isspace()) or text[max(0, start - 1) : start] == ";":
        return False
    return kind_of_name(text[start:end]) not in (Name.AUTHORIZATION, Name.COOKIE)


def _name_start(text: str, position: int) -> int:
    lowest = max(0, position - _MAX_NAME_CHARS)
    return lowest + len(text[lowest:position].rstrip(_NAME_CHARS))


def _is_part_of_something_else(text: str, lowered: str, start: int, separator: Separator) -> bool:
    """Whether the name ends an ARN, an image or a host before a port, is listed, or is a parser's token."""
    sign, close = separator.sign, separator.close
    if separator.whose and not lowered.startswith(("pass", "pw"), start):  # a token for somebody is named
        return True
    before = lowered[max(0, start - 80) : start]
    if sign == ":" and not close and not separator.has_space:
        if before.endswith((" /", "'/", '"/')):  # an option in Windows
            return False
        return before.endswith("/") or bool(_PORT.match(text, separator.end) or _ARN.search(before))
    if sign == "," and not close:  # a pair of Scala
        return not (before.endswith("(") and is_made_up(text[separator.end : text.find(")", separator.end)]))
    if sign == ",":  # a pair is a name and its value, a longer list is neither
        return not close.endswith(('"', "'")) or _PAIR.search(before) is None
    return before.endswith(_OTHER_KINDS_OF_TOKEN)


def _values(ends: ValueEnds, name_start: int, kind: Name, separator: Separator) -> Iterator[Span]:
    text, start, sign = ends.text, separator.end, separator.sign
    if kind is Name.AUTHORIZATION:
        yield from _credentials(ends, name_start, start)
        return
    if separator.close.endswith(")") and text.startswith("(", start):  # PostgreSQL: Key (api_token)=(…)
        end = text.find(")", start, start + _MAX_SHAPE_CHARS)
        if end > start + 1 and kind is not Name.PERHAPS:
            yield start + 1, end
        return
    following = _NEXT_LINE.match(text, start) if text[start : start + 1] in _BEFORE_NEXT_LINE else None
    if following is not None:
        yield from _value_below(ends, kind, following)
        return
    if text.startswith("{", start):
        if sign == "=" and kind is Name.SECRET:  # ODBC: PWD={…}
            yield start, ends.of_braces(start)
        return
    opening = ends.opening(start)
    if opening is None:
        end = ends.of_line(start) if kind is Name.COOKIE else ends.of_bare(start)
        further = _end_behind_spaces(text, name_start, start, sign) if kind is Name.SECRET else end
        names_it = (
            sign == ":"
            and _NUMBERED_NAME.fullmatch(text, start, end)
            and _LABEL.search(text[max(0, name_start - 2) : start])
        )
        if not names_it and (further > end or is_secret(text, (start, end), kind, sign, is_quoted=False)):
            yield start, max(end, further)
        return
    quote, position = opening["quote"], opening.end()
    while True:
        end = ends.of_quoted(position, quote)
        if is_secret(text, (position, end), kind, sign, is_quoted=True):
            yield position, end
        following = _another(quote).match(text, end) if opening["list"] else _CHANGED_TO.match(text, end)
        if following is None:
            return
        position = following.end() if opening["list"] else following.end() + len(quote)


@lru_cache(maxsize=64)
def _another(quote: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(quote)}, ?{re.escape(quote)}")


def _value_below(ends: ValueEnds, kind: Name, following: re.Match[str]) -> Iterator[Span]:
    """Find a value on the line below its name, or as a block of lines in YAML."""
    text, start = ends.text, following.end()
    if kind not in (Name.SECRET, Name.TOKEN):
        return
    if following["block"]:
        first_line = text[start : min(ends.of_line(start), start + _MAX_BLOCK_CHARS)]
        if following["indent"] and not is_placeholder(first_line.strip()) and not reads_like_prose(first_line):
            block = re.compile(_BLOCK.replace("{indent}", following["indent"]))
            yield from (match.span() for match in [block.match(text, start, start + _MAX_BLOCK_CHARS)] if match)
        return
    span, is_quoted = ends.value(start)
    if not _ALONE.match(text, span[1] + is_quoted):
        return
    value = text[slice(*span)]
    if is_quoted:
        if is_secret(text, span, kind, ":", is_quoted=True):
            yield span
    elif value[-1:] != ":" and is_made_up(value):
        yield span


def _value_in_prose(ends: ValueEnds, name: str, kind: Name, prose: re.Match[str]) -> Span | None:
    """Find what follows a name behind a space, an ``is`` or a bracket, if it is no word of the sentence."""
    if kind not in (Name.SECRET, Name.TOKEN) or name.lower() == "pass":  # a verb
        return None
    text, start = ends.text, prose.end()
    if prose["bracket"]:
        span = start, _CLOSING_BRACKET.search(text, start).start()  # type: ignore[union-attr]
        return span if kind is Name.SECRET and is_made_up(text[slice(*span)]) else None
    span, is_quoted = ends.value(start)
    if is_quoted and text[span[1] : span[1] + 1] in ("", "\r", "\n"):  # nothing closes the quote
        span = span[0], min(span[1], ends.of_bare(span[0]))
    value = text[slice(*span)]
    is_name = name.lower() in _NAMES_OF_THINGS and not (prose["verb"] and is_made_up(value))
    if is_name or (prose["verb"] and is_quoted and kind is Name.SECRET):
        is_told = is_random(value) if is_name else is_secret(text, span, kind, ":", is_quoted=True)
    else:
        is_told = is_made_up(value) or is_random(value)
    return (span[0], span[0] + len(value.rstrip(".:,;!?"))) if is_told else None


def _end_behind_spaces(text: str, name_start: int, start: int, sign: str) -> int:
    """Return where a value without quotes ends that holds spaces: between semicolons, or alone on a line of YAML."""
    if sign == "=":
        is_behind_semicolon = text[max(0, name_start - 1) : name_start] == ";"
        between = _BETWEEN_SEMICOLONS.match(text, start) if is_behind_semicolon else None
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
    listed = text.find("]", start) if opening is None and text.startswith("[", start) else -1
    start += listed >= 0  # Java and Go list the values of a header without quotes
    quote = opening["quote"] if opening else text[max(0, name_start - 1) : name_start]
    if opening is not None:
        start = opening.end()
    if opening is not None or quote in ("'", '"', "`"):  # the latter is curl -H "Authorization: …"
        end = last = ends.of_quoted(start, quote)
    else:
        end, last = ends.of_header(start), ends.of_line(start)
        if listed >= 0:
            end = last = min(end, listed)
    scheme = _SCHEME.match(text, start, end)
    other = _OTHER_SCHEME.match(text, start, end) if scheme is None else None
    if scheme is None and other is None:
        end = end if opening is not None else min(end, ends.of_bare(start))
        if is_secret(text, (start, end), Name.SECRET, ":", is_quoted=opening is not None):
            yield start, end
        return
    if scheme is not None:
        start = scheme.end()
        end = last if scheme["many"] else end if opening is not None else min(end, ends.of_bare(start))
        is_word = _is_word_of_prose(text, start, end)
    else:
        start = other.end()  # type: ignore[union-attr]
        is_word = reads_like_prose(text[start:end]) or _FIRST_WORD.match(text, start, end) is not None
    if not (is_word or _CHALLENGE.match(text, start) or is_placeholder(text[start:end])):
        yield start, end


def is_secret(text: str, span: Span, kind: Name, sign: str, *, is_quoted: bool) -> bool:
    """Whether what stands at ``span`` is a secret, behind a name of this kind and ``=``, ``:`` or ``,``."""
    if kind in (Name.PERHAPS, Name.LOGIN, Name.SIGNATURE, Name.IDENTIFIER) and span[1] - span[0] > _MAX_SHAPE_CHARS:
        return False
    if kind is Name.COOKIE:
        return text.find("=", span[0], min(span[1], span[0] + _MAX_SHAPE_CHARS)) >= 0
    value = text[slice(*span)].strip()
    if not value or is_placeholder(value):
        return False
    if kind in (Name.PERHAPS, Name.LOGIN):
        is_password_seen = kind is Name.LOGIN or is_made_up(value.rpartition(":")[2])
        return is_random(value) or is_basic_credentials(value) or (is_password_seen and is_login(value))
    if kind is Name.SIGNATURE:
        return is_signature(value)
    if kind is Name.IDENTIFIER:
        return is_uuid(value)
    if kind in (Name.SESSION, Name.TOKEN) and _AMOUNT.fullmatch(value):
        return False
    return "=" in sign or _reads_like_a_value(text, span, value, kind, sign, is_quoted=is_quoted)


def _reads_like_a_value(text: str, span: Span, value: str, kind: Name, sign: str, *, is_quoted: bool) -> bool:
    """Whether what stands behind a colon, or in a pair, is not said about a secret."""
    if is_verdict(value):
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


def is_verdict(value: str) -> bool:
    """Whether something is said about a secret: ``expired``, ``invalid_grant``, ``AccessDenied``."""
    parts = [part.lower() for part in _CODE_PARTS.findall(value)] if _CODE.fullmatch(value) else []
    return bool(parts) and (parts[0] in _VERDICTS or parts[-1] in _VERDICTS)


def _is_word_of_prose(text: str, start: int, end: int) -> bool:
    """Whether a plain word stands there and others follow it: ``password: must be longer``."""
    return _WORD.fullmatch(text, start, end) is not None and _MORE_WORDS.match(text, end) is not None
