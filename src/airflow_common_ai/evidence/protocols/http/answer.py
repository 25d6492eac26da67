"""Where Python's HTTP clients keep the answer that made them raise.

Duck typing over the attributes of some thirty libraries, none of which is imported. Nothing here does I/O: a body
is taken only where it lies in memory already, read from the instance's ``__dict__`` so that no property runs.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from airflow_common_ai.evidence.model import Fact
from airflow_common_ai.evidence.protocols.http.wait_headers import is_wait_header, parse_duration_s

__all__ = ["HttpAnswer", "find_answer", "is_broken_answer"]

_RESPONSES = ("response", "resp", "http_resp", "http_response", "meta")
_NESTED_RESPONSES = ("_internal_response", "internal_response", "_response")
"""azure-core wraps the response of requests or aiohttp."""
_STATUSES = ("status_code", "http_status", "http_status_code")
"""Attributes whose name alone says that they hold an HTTP status."""
_AMBIGUOUS_STATUSES = ("status", "response_code", "code")
"""``code`` is also SystemExit's exit code, a database's errno and a documentation link of SQLAlchemy."""
_BODIES = ("_content", "_body", "data", "content")
_EXCEPTION_BODIES = ("body", "http_body", "json_body", "response_body", "content", "data", "text", "_errors")
_CODES = ("error_code", "code", "type", "reason", "error")
_WAITS_S = ("retry_after", "retry_after_secs", "retry_after_seconds")
_OWN_WAITS_S = {"retry_after_secs": 1}
"""What a library puts there itself where no server asked. Source: databricks-sdk, ``errors/customizer.py``."""

_SPEAKS_HTTP = re.compile(
    r"HTTP|Http|(?<!DB)API|Api|Response|Request|REST|Rest(?![a-z])|StatusError|Salesforce|Databricks|Slack"
)
_STATUS_BY_CLASS = re.compile(r"GoogleAPICallError|HTTPException")
"""Base classes that keep the status on the class; elsewhere such a constant is none (AirflowException: always 500)."""

_HEADERS = frozenset({
    "content-type", "date", "x-should-retry", "x-ms-error-code", "x-ms-copy-source-error-code", "x-ms-substatus",
    "x-amzn-errortype", "cf-mitigated",
})  # fmt: skip
_MAX_HEADERS = 200
_MAX_VALUE_CHARS = 256
_DECIMAL = re.compile(r"\d{1,14}(?:\.\d{1,9})?", re.ASCII)
_CHALLENGE = re.compile(r"\s*([A-Za-z][\w-]{0,30})(?:.{0,200}?\berror=\"?([a-z_]{1,40}))?", re.DOTALL)


@dataclass(slots=True)
class HttpAnswer:
    """What was found, unjudged."""

    status: int | None = None
    method: str | None = None
    headers: dict[str, Fact] = field(default_factory=dict)
    """Whitelisted ones, by lower-case name."""
    is_cloudflare: bool = False
    bodies: list[object] = field(default_factory=list)
    """Bytes, text or parsed JSON, the rawest first."""
    codes: dict[str, str] = field(default_factory=dict)
    """The vendor's codes that the client itself put on the exception."""
    retry_after_s: float | None = None
    landed_on: str | None = None
    """The path that redirects led to."""
    has_spent_retries: bool = False
    """The client retried in the process already, and says so."""


def is_broken_answer(exception: BaseException) -> bool:
    """
    Whether aiohttp could not read the answer.

    Its parser's errors carry the code 400, which nobody sent: the answer was cut off or garbled.
    """
    return any(
        base.__name__ == "HttpProcessingError"
        for error in (exception, exception.__cause__)
        for base in type(error).__mro__
    )


def find_answer(exception: BaseException) -> HttpAnswer | None:
    """Return the answer that an exception carries, or ``None`` if it carries none."""
    if type(exception).__module__ == "builtins" and not _own(exception):
        return None  # nobody has hung anything on it
    answer = HttpAnswer()
    for name in _RESPONSES:
        # Not ``if response``: a response of requests is falsy for every error.
        if (response := _get(exception, name)) is not None:
            _read_response(response, answer)
    _read_exception(exception, answer)
    has_code = bool(answer.codes or answer.bodies) and _speaks_http(exception)
    return answer if answer.status is not None or answer.retry_after_s is not None or has_code else None


def _read_response(response: object, answer: HttpAnswer) -> None:
    if isinstance(response, Mapping) and "ResponseMetadata" in response:
        _read_botocore(response, answer)
        return
    answer.status = answer.status or _first_status(response, (*_STATUSES, *_AMBIGUOUS_STATUSES))
    headers = _get(response, "headers")
    _read_headers(headers if headers is not None else response, answer)
    request = _get(response, "request")
    answer.method = _method(_get(request, "method")) or _method(_get(response, "http_verb")) or answer.method
    if _get(response, "history"):
        answer.landed_on = _path(_get(response, "url"))
    own = _own(response)
    for holder in (own, *(_own(own.get(name)) for name in _NESTED_RESPONSES)):
        answer.bodies += [holder[name] for name in _BODIES if _is_body(holder.get(name))]


def _read_botocore(response: Mapping[Any, Any], answer: HttpAnswer) -> None:
    metadata, error = response.get("ResponseMetadata"), response.get("Error")
    if isinstance(metadata, Mapping):
        answer.status = _as_status(metadata.get("HTTPStatusCode"))
        answer.has_spent_retries = bool(metadata.get("RetryAttempts"))
        _read_headers(metadata.get("HTTPHeaders"), answer)
    if isinstance(error, Mapping):
        answer.bodies.append(error)


def _read_exception(exception: BaseException, answer: HttpAnswer) -> None:
    _read_headers(_get(exception, "headers"), answer)
    if answer.status is None:
        answer.status = _exception_status(exception, bool(answer.headers))
    request = _get(exception, "request_info") or _get(exception, "request")
    answer.method = answer.method or _method(_get(request, "method")) or _method(_get(exception, "method"))
    if _get(exception, "history"):
        answer.landed_on = answer.landed_on or _path(_get(request, "real_url"))
    own = _own(exception)
    answer.bodies += [own[name] for name in _EXCEPTION_BODIES if _is_body(own.get(name))]
    for holder in (own, _own(own.get("error"))):
        for name in _CODES:
            if isinstance(value := holder.get(name), str):
                answer.codes.setdefault("code" if name in ("error_code", "error") else name, str.__str__(value))
    for name in _WAITS_S:
        if isinstance(value := own.get(name), int | float) and value != _OWN_WAITS_S.get(name):
            answer.retry_after_s = float(value)
    _read_google(exception, own, answer)


def _read_google(exception: BaseException, own: Mapping[str, Any], answer: HttpAnswer) -> None:
    """google-api-core keeps the status of gRPC beside that of HTTP, and details as JSON or as protobuf."""
    if isinstance(details := own.get("_details"), list | tuple) and details:
        answer.bodies.append({"details": list(details)})
        answer.retry_after_s = _proto_delay_s(details)
    if isinstance(reason := _get(own.get("_error_info"), "reason"), str):
        answer.codes["reason"] = reason
    if isinstance(name := _get(_get(exception, "grpc_status_code"), "name"), str):
        answer.codes["status"] = name


def _exception_status(exception: BaseException, has_headers: bool) -> int | None:
    if (status := _first_status(exception, _STATUSES)) is not None:
        return status
    context = _own(exception).get("context")
    if isinstance(context, Mapping) and (status := _as_status(context.get("http-code"))) is not None:
        return status  # databricks-sql-connector
    if has_headers or _speaks_http(exception) or _get(exception, "url") is not None:
        return _first_status(exception, _AMBIGUOUS_STATUSES) or _long_status(_own(exception).get("code"))
    return None


def _long_status(code: object) -> int | None:
    """Tableau's ``401002`` is a 401 with three more digits."""
    is_long = isinstance(code, str) and re.fullmatch(r"[1-5]\d{5}", code, re.ASCII)
    return int(str(code)[:3]) if is_long else None


def _first_status(holder: object, names: Iterable[str]) -> int | None:
    for name in names:
        status = _as_status(_get(holder, name), accepts_text=name in _STATUSES)
        if status is not None and not (isinstance(holder, BaseException) and _is_class_constant(holder, name)):
            return status
    return None


def _as_status(value: object, *, accepts_text: bool = False) -> int | None:
    if accepts_text and isinstance(value, str) and re.fullmatch(r"[1-5]\d\d", value, re.ASCII):
        value = int(value)
    return int(value) if isinstance(value, int) and 100 <= value <= 599 else None


def _is_class_constant(holder: object, name: str) -> bool:
    if name in _own(holder):
        return False
    if any(_STATUS_BY_CLASS.fullmatch(base.__name__) for base in type(holder).__mro__):
        return False
    return isinstance(inspect.getattr_static(type(holder), name, None), int)


def _speaks_http(exception: BaseException) -> bool:
    # SQLAlchemy has an InvalidRequestError, whose code is the address of a page in its documentation.
    return any(
        _SPEAKS_HTTP.search(base.__name__)
        for base in type(exception).__mro__
        if base.__module__.partition(".")[0] not in ("builtins", "sqlalchemy", "smtplib", "aiosmtplib")
    )


def _read_headers(headers: object, answer: HttpAnswer) -> None:
    items = _get(headers, "items")
    if not callable(items):
        return
    for index, pair in enumerate(items()):
        if index == _MAX_HEADERS:
            return
        name, value = pair
        if isinstance(name, bytes):
            name = name.decode("latin-1")
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        if isinstance(name, str) and isinstance(value, str | int | float):
            _read_header(name.lower(), str(value)[:_MAX_VALUE_CHARS], answer)


def _read_header(name: str, value: str, answer: HttpAnswer) -> None:
    if name == "server":
        answer.is_cloudflare = value.lower() == "cloudflare"
    elif name == "www-authenticate":
        # Of a challenge only the scheme and RFC 6750's error word: the rest may name realms and nonces.
        if match := _CHALLENGE.match(value):
            answer.headers[name] = " ".join(part for part in match.groups() if part)
    elif name in _HEADERS or is_wait_header(name):
        # As numbers they pass redaction, which might take an epoch in milliseconds for a card number and the
        # ``6m0s`` of a header that is named after tokens for a token.
        number = float(value) if _DECIMAL.fullmatch(value) else parse_duration_s(value)
        answer.headers[name] = value if number is None else number


def _proto_delay_s(details: Iterable[object]) -> float | None:
    """``google.rpc.RetryInfo`` as a protobuf message."""
    for detail in details:
        delay = _get(detail, "retry_delay")
        seconds, nanos = _get(delay, "seconds"), _get(delay, "nanos")
        if isinstance(seconds, int) and isinstance(nanos, int):
            return seconds + nanos / 1e9
    return None


def _is_body(value: object) -> bool:
    return value is not None and isinstance(value, bytes | bytearray | str | Mapping | list) and bool(value)


def _method(value: object) -> str | None:
    return value.upper() if isinstance(value, str) and re.fullmatch(r"[A-Za-z]{3,10}", value) else None


def _path(url: object) -> str | None:
    try:
        return urlsplit(str(url)).path[-100:] or None
    except ValueError:
        return None


def _own(holder: object) -> Mapping[str, Any]:
    """The instance's own attributes: reading them runs no code of the library."""
    try:
        own = object.__getattribute__(holder, "__dict__")
    except AttributeError:
        return {}
    return own if isinstance(own, dict) else {}


def _get(holder: object, name: str) -> Any:
    try:
        return getattr(holder, name, None)
    except Exception:  # noqa: BLE001 - a property of a stranger's class may raise anything
        return None
