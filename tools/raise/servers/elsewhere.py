"""For clients whose host is fixed: a session that takes what they ask of the world to a server on this machine."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit, urlunsplit

__all__ = ["session_to"]


def session_to(url: str, timeout_s: float = 1) -> Any:
    """Return a session of requests for clients that accept one. In what they raise, the host is still theirs."""
    import requests  # type: ignore[import-untyped, unused-ignore]
    from requests.adapters import HTTPAdapter  # type: ignore[import-untyped, unused-ignore]

    place = urlsplit(url)

    class Elsewhere(HTTPAdapter):  # type: ignore[misc, unused-ignore]
        def send(self, request: Any, *arguments: Any, **options: Any) -> Any:
            there = request.copy()
            there.url = urlunsplit((*place[:2], *urlsplit(request.url)[2:]))
            response = super().send(there, *arguments, **{**options, "timeout": timeout_s})
            response.url, response.request = request.url, request
            return response

    session = requests.Session()
    session.mount("https://", Elsewhere())
    return session
