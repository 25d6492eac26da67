"""Secrets in parameters of URLs, forms and requests whose name may mean anything: ``?code=``, ``&key=``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.shapes import is_opaque, is_random, is_uuid
from airflow_common_ai.evidence.secret_patterns.spans import Span, places_of

__all__ = ["SIGNS_OF_PARAMETERS", "find_random_parameters", "find_webhook_paths"]

SIGNS_OF_PARAMETERS = (
    *("key", "code", "auth", "sid", "sig", "ticket", "appid", "app_id", "app-id", "hmac", "cred", "licen"),
    *("hash", "state", "nonce", "refresh", "assertion", "samlre"),
)
"""What is in each of the names, in lower case."""

_PARAMETER = re.compile(
    r"(?:[?&](?:amp;)?(?P<name>[a-z][\w\-]{0,40})=|[\"'](?P<quoted>[a-z][\w\-]{0,40})[\"'][:,][ ]?b?[\"'])"
    r"(?P<secret>[\w\-.%~/+]{10,2048}={0,2})"
)
_CREDENTIALS = re.compile(
    r"(?:app|user|client|oauth|api|access|my)?[_\-]?(?:key|auth|sig|sign|sid|ticket|app[_\-]?id|hmac|credentials?|creds?"
    r"|licen[cs]e|code)"
    r"|(?:auth|authz|authorization|device|verification|activation|reset|invite|login|access|one[_\-]?time)[_\-]?code"
    r"|code_verifier"
)
"""Names under which services take a key: a mixed value is one, ``code=404`` and ``key=orders`` are none."""
_OTHERS = re.compile(r"hash|state|nonce|refresh|assertion|saml(?:response|request|art)")
"""Names under which digests and words are as common: only what is long and random is taken for a secret."""
_QUOTED = re.compile(r"app[_\-]?id|code|code_verifier|(?:auth|authorization|device)[_\-]?code")
"""In a dictionary; what else is announced by a name there is found by that name."""

_HOOK = re.compile(
    r"(?:hook[\w\-]{0,20}|with/key)/(?P<path>[\w\-.~@/]{0,400})"
    r"(?:\?(?:[\w\-]{1,40}=[^\s&]{0,100}&){0,4}key=(?P<key>[\w\-]{10,200}))?"
)


def find_random_parameters(text: str, lowered: str) -> Iterator[Span]:
    """Find values that look like keys under names that may mean anything."""
    for match in _PARAMETER.finditer(lowered):
        name, value = match["name"] or match["quoted"], text[slice(*match.span("secret"))]
        if match["quoted"] and not _QUOTED.fullmatch(name):
            continue
        if is_random(value) if _OTHERS.fullmatch(name) else _CREDENTIALS.fullmatch(name) and is_opaque(value):
            yield match.span("secret")


def find_webhook_paths(text: str, lowered: str) -> Iterator[Span]:
    """Find what only those know who may post: ``/webhook/3f2a91d4-…``, but not ``/repos/x/y/hooks/42``."""
    for place in places_of(["hook", "with/key"], lowered):
        match = _HOOK.match(lowered, place)
        if match is None:
            continue
        start, end = match.span("path")
        while start < end:
            stop = text.find("/", start, end)
            stop = end if stop < 0 else stop
            if any(is_opaque(part) or is_uuid(part) for part in text[start:stop].split("@")):
                yield start, end
                break
            start = stop + 1
        if match["key"] and is_uuid(match["key"]):
            yield match.span("key")
