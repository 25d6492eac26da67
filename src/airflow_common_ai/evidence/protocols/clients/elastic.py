"""Elasticsearch and OpenSearch: what the answer's status does not tell.

A bulk request answers 200 and says of each item how it went, and a tripped circuit breaker says whether it will
recover by itself. All else is HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Wait
from airflow_common_ai.evidence.protocols.http.status import status_meaning
from airflow_common_ai.evidence.protocols.http.vendor_codes import find_vendor_code
from airflow_common_ai.evidence.protocols.http.words import kind_of_code
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("elasticsearch", "elasticsearch8", "elasticsearch7", "elastic_transport", "opensearchpy")
PRINTED_MARKS = ()

_BREAKERS = "Elasticsearch circuit breaker errors, field durability"
_DURABLE = depends("permanent", Wait.LONG, "the request alone needs more memory than the node may use", _BREAKERS)
_MAX_ITEMS = 1000
_MAX_KINDS = 16
_STATUS_DIGITS = 3
_TYPE = re.compile(r"[a-z_]{3,80}")
_DURABILITY = re.compile(r"['\"]durability['\"]: ?['\"](PERMANENT|TRANSIENT)['\"]")
_PRINTED_ITEM = re.compile(r"'status': (\d{3}), 'error': \{'type': '([a-z_]{3,80})'")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy status and error type of the items that failed, and the durability of a tripped breaker; no document."""
    facts: dict[str, Fact] = {}
    errors = getattr(exception, "errors", None)
    if isinstance(errors, list | tuple):
        kinds = dict.fromkeys(kind for item in errors[:_MAX_ITEMS] if (kind := _kind_of_item(item)))
        if kinds:
            facts["elastic.items"] = " ".join(list(kinds)[:_MAX_KINDS])
    body = getattr(exception, "body", None) or getattr(exception, "info", None)
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(error, Mapping) and error.get("durability") in ("PERMANENT", "TRANSIENT"):
        facts["elastic.durability"] = error["durability"]
    return facts


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the worst item says; a breaker that will not recover."""
    durability = node.facts.get("elastic.durability")
    if durability is None and (match := _DURABILITY.search(node.message)):
        durability = match[1]
    if durability == "PERMANENT":
        yield _DURABLE.signal("elastic.circuit_breaker", Rank.VERDICT)
    items = str(node.facts.get("elastic.items", "")).split()
    if not items and node.is_a("elasticsearch.BulkIndexError", "opensearchpy.BulkIndexError"):
        items = [f"{status}:{error_type}" for status, error_type in _PRINTED_ITEM.findall(node.message)[:_MAX_ITEMS]]
    found = [(item, meaning) for item in items if (meaning := _meaning_of_item(item))]
    # One item that cannot succeed fails the whole request.
    for item, meaning in sorted(found, key=lambda entry: entry[1].retry is not Retry.NO)[:1]:
        yield meaning.signal(f"elastic.item.{item.partition(':')[2] or item.partition(':')[0]}", Rank.VENDOR_CODE)


def _kind_of_item(item: Any) -> str | None:
    """Return ``429:es_rejected_execution_exception`` of ``{"index": {"status": 429, "error": {"type": …}}}``."""
    action, result = next(iter(item.items()), (None, None)) if isinstance(item, Mapping) else (None, None)
    if not isinstance(result, Mapping) or type(status := result.get("status")) is not int:
        return None
    if (action, status) == ("create", 409):
        return "409:document_exists"  # no race that another try may win
    error = result.get("error")
    error_type = error.get("type") if isinstance(error, Mapping) else None
    is_known = isinstance(error_type, str) and _TYPE.fullmatch(error_type)
    return f"{status}:{error_type}" if is_known else f"{status}:"


def _meaning_of_item(item: str) -> Meaning | None:
    number, _, error_type = item.partition(":")
    status = int(number) if number.isdecimal() and len(number) == _STATUS_DIGITS else 0
    if found := find_vendor_code(error_type, status):
        return found[1]
    if status >= 500 or status == 429:
        return status_meaning(status)
    kind = kind_of_code(error_type, status)
    return kind.meaning if kind else status_meaning(status)
