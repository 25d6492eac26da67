"""What the body of an error says: the service's own codes, its message and the wait that it names.

JSON bodies differ in shape, not in kind: a code, a reason, a message, somewhere near the top. They are looked for
under the names that services use, innermost first, because ``error.errors[0].reason`` says more than ``status``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airflow_common_ai.evidence.cut import CUT_MARK, cut
from airflow_common_ai.evidence.model import Fact
from airflow_common_ai.evidence.protocols.http.status import PHRASES
from airflow_common_ai.evidence.protocols.http.vendor_codes import squash
from airflow_common_ai.evidence.protocols.http.wait_headers import parse_duration_s

__all__ = ["body_facts", "is_vendor_code", "printed_body_facts", "without_phrase"]

_MAX_JSON_CHARS = 65_536
_MAX_SCAN_CHARS = 65_536
_MAX_EXCERPT_CHARS = 2048
"""Head and tail: an error page says what it is in its first lines, JSON its message anywhere."""
_MAX_MESSAGE_CHARS = 500

_INNER = ("error", "Error", "fault", "errors", "detail", "extensions", "innererror", "response")
"""Where services nest an error inside an error; a list stands for its first item."""
_MAX_DEPTH = 4

_NAMES: Mapping[str, tuple[str, ...]] = {
    "code": ("error_code", "errorCode", "errorcode", "errcode", "ErrorCode", "code", "Code", "__type", "error"),
    "type": ("type", "error_type", "errorType", "exception"),
    "reason": ("reason", "errorReason"),
    "status": ("status",),
    "sqlstate": ("sqlState", "sqlstate"),
    "message": (
        "message", "error_description", "description", "detail", "title", "msg", "Message", "errorMessage",
        "faultstring", "reason", "error",
    ),
}  # fmt: skip
"""Fact after fact, the keys that it goes by, the most telling first."""

_WAIT_S = ("retry_after", "retryAfter", "retry_after_seconds", "retryAfterSeconds", "retry_after_secs", "retryDelay")
_WAIT_MS = ("retry_after_ms", "retryAfterMs")

_CODE = re.compile(r"[A-Za-z_][\w.:#/-]{0,99}", re.ASCII)
_SQLSTATE = re.compile(r"[0-9A-Z]{5}", re.ASCII)
_NO_CODES = frozenset({"error", "errors", "fail", "failed", "failure", "false", "true", "none", "null", "aboutblank"})
_CLOUDFLARE_CODE = re.compile(r"(?:error code: |cf-error-code\">|\"error_code\":\s*|Error )(1\d{3})\b", re.ASCII)
_PASSWORD_FIELD = re.compile(r"type\s*=\s*[\"']?password", re.IGNORECASE)

_XML = re.compile(r"<(Code|Message|ErrorCode)>([^<>]{1,500})</\1>")
"""S3, Google Cloud Storage and Azure Storage answer in XML."""

_TEXT_CODE = re.compile(
    r"[\"'](error_code|errorCode|code|type|reason|status|error)[\"']:\s*[\"']([A-Za-z_][\w.:#/-]{0,99})[\"']", re.ASCII
)
_TEXT_WAIT_S = re.compile(
    r"[\"'](?:retry_after|retryAfterSeconds|retryDelay)[\"']:\s*[\"']?(\d{1,9}(?:\.\d{1,9})?)s?\b"
    r"|\bretry_delay \{\s*seconds: (\d{1,9})",
    re.ASCII,
)


def body_facts(body: object, *, is_cloudflare: bool = False) -> dict[str, Fact]:
    """
    Return what a body says, as ``http.body…`` facts.

    :param body: Bytes or text as received, or JSON that the client has parsed; anything else says nothing.
    :param is_cloudflare: The answer came through Cloudflare, so that a 1xxx number in a page is its error code.
    """
    facts: dict[str, Fact] = {}
    if isinstance(body, bytes | bytearray):
        is_whole = len(body) <= _MAX_SCAN_CHARS
        body = bytes(body[:_MAX_SCAN_CHARS]).decode("utf-8", errors="replace") + ("" if is_whole else CUT_MARK)
    if isinstance(body, str):
        text = cut(body, _MAX_SCAN_CHARS)
        if text.strip():
            facts["http.body"] = cut(text, _MAX_EXCERPT_CHARS)
        if _PASSWORD_FIELD.search(text):
            facts["http.body.has_password_field"] = True
        if is_cloudflare and (match := _CLOUDFLARE_CODE.search(text)):
            facts["http.body.cloudflare_code"] = int(match[1])
        body = _parse_json(text) or {"error": dict(_XML.findall(text))}
    facts.update(_json_facts(body))
    return facts


def printed_body_facts(text: str) -> dict[str, Fact]:
    """Return the codes and waits of a JSON body, or of the ``repr`` of one, that was printed into a message."""
    text = text[:_MAX_SCAN_CHARS]
    facts: dict[str, Fact] = {}
    for name, value in _TEXT_CODE.findall(text):
        key = "code" if name in ("error_code", "errorCode", "error") else name
        if is_vendor_code(value):
            facts.setdefault(f"http.body.{key}", _bare_code(value))
    if match := _TEXT_WAIT_S.search(text):
        facts["http.body.retry_after_s"] = float(match[1] or match[2])
    return facts


def is_vendor_code(value: object) -> bool:
    """Whether a value looks like a code that a program can branch on, not like a sentence or a number."""
    return isinstance(value, str) and bool(_CODE.fullmatch(value)) and squash(value) not in _NO_CODES


def without_phrase(code: str, status: int | None) -> str | None:
    """Return the code, or ``None`` if it only says the status again: ``Forbidden`` with a 403."""
    phrase = squash(PHRASES.get(status or 0, ""))
    return None if squash(code) in (phrase, f"{phrase}error", f"{phrase}exception", str(status)) else code


def _parse_json(text: str) -> object:
    if len(text) < _MAX_JSON_CHARS and text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    return None


def _json_facts(document: object) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    for level in _levels(document, _MAX_DEPTH):
        for name, keys in _NAMES.items():
            for key in keys:
                value = level.get(key)
                if name == "message":
                    if isinstance(value, Mapping):
                        value = value.get("value")  # OData 3: `{"lang": "en-US", "value": "No such …"}`
                    if isinstance(value, str) and " " in value:
                        facts.setdefault("http.body.message", cut(value, _MAX_MESSAGE_CHARS))
                elif name == "sqlstate":
                    if isinstance(value, str) and _SQLSTATE.fullmatch(value):
                        facts.setdefault("http.body.sqlstate", value)
                elif isinstance(value, str) and is_vendor_code(value):
                    facts.setdefault(f"http.body.{name}", _bare_code(value))
        if (wait_s := _wait_s(level)) is not None:
            facts.setdefault("http.body.retry_after_s", wait_s)
    return facts


def _levels(document: object, depth: int) -> Iterator[Mapping[str, Any]]:
    """The objects of a body that speak of the error, the innermost first."""
    if isinstance(document, Sequence) and not isinstance(document, str):
        document = next((item for item in document[:4] if isinstance(item, Mapping)), None)
    if not isinstance(document, Mapping) or depth == 0:
        return
    for key in _INNER:
        yield from _levels(document.get(key), depth - 1)
    details = document.get("details")
    for detail in details[:8] if isinstance(details, list) else [details]:
        if isinstance(detail, Mapping):
            # Of details only what is unmistakable: their ``type`` and ``code`` name fields and resources.
            wanted = ("reason", "error_code", *_WAIT_S, *_WAIT_MS)
            yield {key: detail[key] for key in wanted if key in detail}
    yield document


def _wait_s(level: Mapping[str, Any]) -> float | None:
    for keys, unit_s in ((_WAIT_S, 1.0), (_WAIT_MS, 1e-3)):
        for key in keys:
            value = level.get(key)
            if isinstance(value, int | float | str) and (seconds := parse_duration_s(value)) is not None:
                return seconds * unit_s
    return None


def _bare_code(code: str) -> str:
    """``com.amazonaws.dynamodb#ThrottlingException`` and ``https://vendor/probs/out-of-credit`` end in the code."""
    code = code.rpartition("#")[2]
    return code.rstrip("/").rpartition("/")[2] if "/" in code else code
