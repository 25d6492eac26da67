"""Passwords and tokens in URLs and connection strings: ``scheme://user:password@host``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.shapes import is_placeholder, is_random
from airflow_common_ai.evidence.secret_patterns.spans import Span

__all__ = ["find_url_credentials"]

_END = re.compile(r"(?=[\s<>\\\"'`])(?:[\s<>]|\\[\"'nrt]|[\"'`](?=[\s,;:)\]}>\\]|$))")
_SCHEME_AFTER = re.compile(r"[,;|]?[A-Za-z][A-Za-z0-9+.\-]{1,20}$")
"""In ``redis://:a@one,redis://:b@two`` the second scheme ends the first URL."""
_MAX_URL_CHARS = 4096

_IN_SCHEME = "abcdefghijklmnopqrstuvwxyz0123456789+.-*"
_SSH_SCHEMES = ("ssh", "git+ssh", "sftp")
_WEB_SCHEMES = ("http", "https", "git+http", "git+https", "ws", "wss", *_SSH_SCHEMES)
"""Their paths may hold an ``@``; a database's do not, but its passwords are written without escapes more often."""
_DATABASES = ("postgres", "mysql", "mariadb", "mongodb", "redis", "amqp", "mssql", "oracle", "snowflake", "clickhouse")

_MASKED = re.compile(r"[\w.+\-]{0,100}:\*\*\*@")
"""What was redacted before, as most URLs are when a text is looked through a second time."""
_USER = re.compile(r"[^:/?#]+")
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|[\w.\-*]*)(?P<port>:\d{1,5})?(?=[/?#;,:)\]}]|$)")
_CONVINCING_HOST = re.compile(r"\[|localhost|[\w\-]+\.[\w.\-]*\w|[\w\-]+:\d{2,5}")
_PORT = re.compile(r"\d{0,5}(?:[/?#,;)\]]|$)")
_GO_MYSQL = re.compile(r"(?:tcp|unix)\(")
_WHOLE_HOST = re.compile(
    r"(?:[\w\-]+\.)*[\w\-]+:\d{2,5}(?!\w)|(?:[\w\-]+\.)+[a-z]{2,24}(?![\w.])|\d{1,3}(?:\.\d{1,3}){3}(?!\w)"
)
"""With a port, a public name or an address: ``name:tag@version`` is something else."""
_BARE_PASSWORD = re.compile(r"[^\s:@/\"'<>]+")
_MAX_BARE_CHARS = 129
_BEFORE_COLON = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def find_url_credentials(text: str, lowered: str) -> Iterator[Span]:
    """Find passwords before the host, also such that hold ``@ : / #`` or ``%``, and lone tokens of web URLs."""
    slashes = lowered.find("://")
    while slashes >= 0:
        start = slashes + 3
        following = lowered.find("://", start)
        before = lowered[max(0, slashes - 32) : slashes]
        scheme = before[len(before.rstrip(_IN_SCHEME)) :]
        limit = min(len(text) if following < 0 else following, start + _MAX_URL_CHARS)
        masked = _MASKED.match(text, start, limit) if scheme in _WEB_SCHEMES else None
        if masked is not None and text.find("@", masked.end(), limit) < 0:
            slashes = following
            continue
        match = _END.search(text, start, limit)
        end = match.start() if match else limit
        if end == following and (next_scheme := _SCHEME_AFTER.search(text, max(start, end - 22), end)):
            end = next_scheme.start()
        span = _password(text, start, end, scheme)
        if span is not None and not is_placeholder(text[slice(*span)]):
            yield span
        slashes = following
    yield from _credentials_without_scheme(text)


def _password(text: str, start: int, end: int, scheme: str) -> Span | None:
    user = _USER.match(text, start, end)
    colon = start if user is None else user.end()
    first_at = text.find("@", start, colon)
    is_web = scheme in _WEB_SCHEMES
    has_password = colon < end and text[colon] == ":" and not (is_web and _PORT.match(text, colon + 1, end))
    if not has_password or (scheme in _SSH_SCHEMES and first_at >= 0):  # ssh://git@host:path is no password
        is_token = is_web and first_at > start and _is_token(text[start:first_at])
        return (start, first_at) if is_token else None
    at = _at_sign(text, colon + 1, end, is_web=is_web)
    if at < 0 and scheme.startswith(_DATABASES) and not _PORT.match(text, colon + 1, end):
        at = end  # whoever wrote it cut it before the host
    return None if at < 0 else (colon + 1, at)


def _is_token(userinfo: str) -> bool:
    """Whether a lone name before the host of a web URL is a token, not a user."""
    return is_random(userinfo) or (len(userinfo) >= 20 and any(map(str.isdigit, userinfo)))


def _at_sign(text: str, start: int, end: int, *, is_web: bool) -> int:
    """Return where the password ends, -1 if nowhere."""
    query = text.find("?", start, end)
    if query >= 0 and text.find("@", start, query) >= 0:
        end = query
    best = -1
    at = text.find("@", start, end)
    while at >= 0:
        host = _HOST.match(text, at + 1)
        if host is not None and not text.startswith(("sha256:", "sha512:"), at + 1) and text[at - 1] != "/":
            best = at
            if is_web and _CONVINCING_HOST.match(text, at + 1):
                return at
        at = text.find("@", at + 1, end)
    return best


def _credentials_without_scheme(text: str) -> Iterator[Span]:
    """Find ``user:password@tcp(host)`` and ``user:password@host:5432``."""
    at = text.find("@")
    while at >= 0:
        colon = text.rfind(":", max(0, at - _MAX_BARE_CHARS), at)
        if (
            colon > 0
            and not text.startswith("***@", colon + 1)
            and text[colon - 1] in _BEFORE_COLON
            and _BARE_PASSWORD.fullmatch(text, colon + 1, at)
            and (_WHOLE_HOST.match(text, at + 1) or _GO_MYSQL.match(text, at + 1))
            and not is_placeholder(text[colon + 1 : at])
        ):
            yield colon + 1, at
        at = text.find("@", at + 1)
