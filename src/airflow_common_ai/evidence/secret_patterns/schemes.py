"""Credentials behind the scheme that they are for, in prose and in headers: ``Bearer …``, ``token …``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.shapes import is_basic_credentials, is_random
from airflow_common_ai.evidence.secret_patterns.spans import Span, places_of

__all__ = ["find_schemes"]

_SCHEMES = ("bearer", "basic", "token", "negotiate", "ntlm", "password", "secret", "key")
_CREDENTIALS = re.compile(r"[ ]{1,4}(?P<secret>[a-z0-9\-._~+/]{8,4096}={0,2})")
_SHORTEST_TICKET = 24
_KEY_OWNER = re.compile(r"(?:api|access|secret|private)[ _-]?$")


def find_schemes(text: str, lowered: str) -> Iterator[Span]:
    """Find ``Bearer …`` and ``token …`` where ``Bearer authentication`` and ``token expired`` may be meant."""
    for scheme in _SCHEMES:
        for place in places_of([f"{scheme} "], lowered):
            match = _CREDENTIALS.match(lowered, place + len(scheme))
            if match is not None and _are_credentials(scheme, text[slice(*match.span("secret"))], lowered, place):
                yield match.span("secret")


def _are_credentials(scheme: str, value: str, lowered: str, place: int) -> bool:
    if scheme == "basic":
        return is_basic_credentials(value)
    if scheme == "bearer":
        return any(map(str.isdigit, value))
    if scheme in ("negotiate", "ntlm"):
        return len(value) >= _SHORTEST_TICKET
    if scheme == "key" and _KEY_OWNER.search(lowered, max(0, place - 8), place) is None:
        return False
    return is_random(value)
