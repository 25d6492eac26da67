"""GraphQL: the code that a server puts into an error's ``extensions``, or its ``type``; the status is 200 for all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Wait
from airflow_common_ai.evidence.protocols.http.words import kind_of_code
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("gql", "sgqlc", "python_graphql_client", "graphql")
PRINTED_MARKS = ("'extensions': {", '"extensions": {', '"extensions":{')

_APOLLO = "Apollo Server error codes"
_HOSTED = "GraphQL Admin API of Shopify, GitHub GraphQL API, Linear API"
_LOGIN = "not signed in, or not allowed"
_MEDIUM = Wait.MEDIUM

_ROWS: tuple[tuple[str, Meaning], ...] = (
    ("UNAUTHENTICATED FORBIDDEN ACCESS_DENIED UNAUTHORIZED AUTHENTICATION_ERROR", no("auth", _LOGIN, _APOLLO)),
    (
        "BAD_USER_INPUT GRAPHQL_VALIDATION_FAILED GRAPHQL_PARSE_FAILED OPERATION_RESOLUTION_FAILURE BAD_REQUEST",
        no("data", "the query or its variables are wrong", _APOLLO),
    ),
    ("MAX_COST_EXCEEDED", no("data", "the query alone costs more than one query may", _HOSTED)),
    ("THROTTLED RATE_LIMITED RATELIMITED", yes("rate_limit", _MEDIUM, "rate limited", _HOSTED)),
    ("NOT_FOUND", no("resource", "there is no such thing", _HOSTED)),
    ("INTERNAL_SERVER_ERROR SERVICE_UNAVAILABLE", depends("transient", _MEDIUM, "the service failed", _APOLLO, 3)),
)
_MEANINGS: Mapping[str, Meaning] = {code: meaning for codes, meaning in _ROWS for code in codes.split()}
_MAX_ERRORS = 16
_MAX_CODE_CHARS = 60
_CODE = re.compile(r"[A-Z][A-Z0-9_]{2,59}")
_PRINTED = re.compile(
    r"[\"']extensions[\"']: ?\{[^{}]{0,300}?[\"']code[\"']: ?[\"']([A-Z][A-Z0-9_]{2,59})[\"']"
    r"|\{[\"']type[\"']: ?[\"']([A-Z][A-Z0-9_]{2,59})[\"'], ?[\"'](?:path|locations|message)[\"']"
)


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the codes of the errors."""
    errors = getattr(exception, "errors", None)
    if not isinstance(errors, list | tuple):
        return {}
    codes = dict.fromkeys(code for error in errors[:_MAX_ERRORS] if (code := _code_of(error)))
    return {"graphql.codes": " ".join(codes)} if codes else {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the worst code says: one error that stays is enough."""
    codes = node.text_of("graphql.codes").split()
    if not codes:
        codes = [first or second for first, second in _PRINTED.findall(node.message)[:_MAX_ERRORS]]
    found = [(code, meaning) for code in codes if (meaning := _meaning_of(code))]
    for code, meaning in sorted(found, key=lambda entry: entry[1].retry is not Retry.NO)[:1]:
        yield meaning.signal(f"graphql.{code}", Rank.VENDOR_CODE)


def _code_of(error: Any) -> str | None:
    """Return the code of an error as the server sent it, or of graphql-core's object of one."""
    kept = error if isinstance(error, Mapping) else getattr(error, "__dict__", {})
    extensions = kept.get("extensions")
    code = extensions.get("code") if isinstance(extensions, Mapping) else None
    code = kept.get("type") if code is None else code
    return cut(code, _MAX_CODE_CHARS) if isinstance(code, str) and _CODE.fullmatch(code) else None


def _meaning_of(code: str) -> Meaning | None:
    if known := _MEANINGS.get(code):
        return known
    kind = kind_of_code(code)
    return kind.meaning if kind else None
