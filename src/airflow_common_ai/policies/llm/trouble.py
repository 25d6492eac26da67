"""What went wrong with a model, in words for people. An SDK's own text may quote the API key or the whole prompt."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.evidence.type_path import built_in_name
from airflow_common_ai.policies.airflow_context import mask_registered_secrets
from airflow_common_ai.policies.llm.connections import FetchedConnection
from airflow_common_ai.policies.llm.response_guard import AnswerTooLarge, Redirected
from airflow_common_ai.sanitizer import sanitize

__all__ = ["in_words"]

_MAX_CHARS = 200
_MAX_READ_CHARS = 4096
"""More than is kept, so that no secret is cut in half before it is seen."""

_MAX_CAUSES = 16
_HIDDEN = "***"

_EXPLAINED_STATUSES = frozenset({400, 404, 422})
"""The server's own words help: no such model, no such parameter. Of a refused key it says what the key was."""

_BY_CAUSE: tuple[tuple[type[BaseException], str], ...] = (
    (AnswerTooLarge, "the answer was larger than any answer can be"),
    (Redirected, "the server redirects elsewhere; set the connection's host to where it points"),
    (ConnectionRefusedError, "connection refused"),
    (socket.gaierror, "the host name did not resolve"),
    (ssl.SSLError, "TLS failed"),
    (ConnectionError, "the connection broke off"),
    (TimeoutError, "the connection timed out"),
)

_BY_CAUSE_NAME = {
    "ConnectTimeout": "the connection timed out",
    "RemoteProtocolError": "the connection broke off",
    "TooManyRedirects": "too many redirects",
}
"""Classes of httpx, of which there are two."""


def in_words(error: Exception, connection: FetchedConnection | None = None) -> str:
    """
    Return what went wrong in a few redacted words.

    :param connection: Whose secrets must not be in it, beside those that are registered or look like one.
    """
    if isinstance(error, ImportError):
        return f"a package is missing: {_redacted(str(error), connection)}"
    for cause in _causes(error):
        for kind, words in _BY_CAUSE:
            if isinstance(cause, kind):
                return words
        if words := _BY_CAUSE_NAME.get(type(cause).__name__, ""):
            return words
    return _of_pydantic_ai(error, connection) or _of_configuration(error, connection)


def _of_pydantic_ai(error: Exception, connection: FetchedConnection | None) -> str:
    from pydantic_ai import exceptions

    if isinstance(error, exceptions.ModelHTTPError):
        said = _message(error.body) if error.status_code in _EXPLAINED_STATUSES else ""
        return f"HTTP {error.status_code}" + (f": {_redacted(said, connection)}" if said else "")
    if isinstance(error, exceptions.OutputTokenLimitExceeded):
        return "the answer was longer than the token cap"
    if isinstance(error, exceptions.ContentFilterError):
        return "the provider's content filter stopped the answer"
    if isinstance(error, exceptions.UnexpectedModelBehavior):
        return "the answer does not fit the question"
    if isinstance(error, exceptions.ModelRequestTimeout):
        return "no answer in time"
    if isinstance(error, exceptions.ModelAPIError):
        return "no usable answer from the server"
    return ""


def _of_configuration(error: Exception, connection: FetchedConnection | None) -> str:
    """The hook's and pydantic-ai's own texts name the field to mend."""
    if isinstance(error, ValueError | TypeError | RuntimeError):
        return _redacted(str(error), connection)
    return built_in_name(error)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return
        yield cause
        inner = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else None
        cause = inner or cause.__cause__ or cause.__context__


def _message(body: object) -> str:
    """Return the message in an error body: ``{"message": …}``, ``{"error": …}`` or ``{"error": {"message": …}}``."""
    for _ in range(3):
        if isinstance(body, Mapping):
            body = body.get("message") or body.get("error")
    return body if isinstance(body, str) else ""


def _redacted(text: str, connection: FetchedConnection | None) -> str:
    text = cut(text, _MAX_READ_CHARS)
    for secret in _secrets_of(connection):
        text = text.replace(secret, _HIDDEN)
    return sanitize(cut(Redactor(mask_registered_secrets).text(text), _MAX_CHARS))


def _secrets_of(connection: FetchedConnection | None) -> list[str]:
    """Return the password and what the extra holds but for the model's name, longest first."""
    if connection is None:
        return []
    extra = {name: value for name, value in connection.extra_dejson.items() if name != "model"}
    found = {connection.password or "", *_strings(extra)}
    return sorted((secret for secret in found if len(secret) > 2), key=len, reverse=True)


def _strings(value: Any, depth: int = 4) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(item, depth - 1)
