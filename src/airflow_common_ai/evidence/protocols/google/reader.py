"""Google: the reason in an error of its APIs, what a login that failed says, and a job of BigQuery that ended badly.

The status of a REST answer and the wait that it asks for are read by :mod:`.http`, as those of any answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.google.codes import find_reason
from airflow_common_ai.evidence.protocols.google.logins import LOGIN_CLASSES, login_meaning
from airflow_common_ai.evidence.protocols.grpc.codes import CODES as GRPC_CODES
from airflow_common_ai.evidence.protocols.grpc.reader import Call, judge
from airflow_common_ai.evidence.protocols.http.status import status_meaning
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, yes
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["probe", "read"]

_ROOTS = ("google", "googleapiclient")
_WINDOW_CHARS = 8192
_MAX_REASON_CHARS = 100
_MAX_DETAILS = 16
_MAX_DETAILS_CHARS = 2048

_REASON = re.compile(
    r"[\"']reason[\"']: [\"']([A-Za-z_]\w{2,99})[\"']"  # a JSON object, or the repr of one
    r"|[;,] reason: ([A-Za-z_]\w{2,99})(?=[,;]|$)"  # a job of BigQuery
)
_FAILED_JOB = re.compile(r"; reason: \w{1,100}, ")
_NAMES_GOOGLE = re.compile(r"bigquery|google|gcp", re.IGNORECASE)
_DISTINCTIVE = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+|[A-Z]+(?:_[A-Z]+)+")
"""What stands for nothing but a reason: ``quotaExceeded``, not ``invalid``."""
_NO_ZONE = re.compile(r"ZONE_RESOURCE_POOL_EXHAUSTED(?:_WITH_DETAILS)?\b")
_GRPC_CLASSES = {
    "".join(word.capitalize() for word in status.split("_")): status
    for status in GRPC_CODES
    # These classes stand for an HTTP status as well.
    if status not in ("NOT_FOUND", "INTERNAL", "UNAVAILABLE", "UNIMPLEMENTED")
}
_PRINTED_STATUS = re.compile(r"(?:<HttpError )?([2-5]\d\d) ")
_LAST_STATUS = re.compile(r"last exception: ([45]\d\d) ")

_JOB_NOT_THERE_YET = depends("resource", Wait.SHORT, "the job is not visible yet", "google-cloud-bigquery 3.47.0")
_UNKNOWN_REASON = depends(
    "transient", Wait.SHORT, "the job failed for a reason that its client did not know", "google-cloud-bigquery 3.47.0"
)
_THROTTLED = yes("rate_limit", Wait.MEDIUM, "rate limited; the service said when to come back", "google.rpc.RetryInfo")
_RETRIED = depends("transient", Wait.MEDIUM, "the client's own retries are spent", "google-api-core 2.44.0", 3)


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the reasons of an API's error and what Google's login library says about retrying."""
    if not any(base.__module__.partition(".")[0] in _ROOTS for base in type(exception).__mro__):
        return {}
    own = vars(exception)
    details = [*_items(own.get("error_details")), *_items(own.get("_details"))]
    facts: dict[str, Fact | None] = {
        "google.info_reason": _reason_of(own.get("_error_info")) or _error_info_reason(details),
        "google.reason": next(filter(None, map(_reason_of, [*_items(own.get("_errors")), *details])), None),
        # BigQuery's client makes an error of a job that failed, with a status that nobody sent.
        "google.is_made_up": True if "_response" in own and own["_response"] is None else None,
        "google.is_retryable": _flag(own.get("_retryable")),
        "google.login_error": _login_error(exception.args),
        "google.login_status": _login_status(exception.args),
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _reason_of(entry: object) -> str | None:
    reason = entry.get("reason") if isinstance(entry, Mapping) else getattr(entry, "reason", None)
    return cut(reason, _MAX_REASON_CHARS) if isinstance(reason, str) and reason else None


def _error_info_reason(details: Sequence[object]) -> str | None:
    for detail in details:
        if isinstance(detail, Mapping) and str(detail.get("@type", "")).endswith("google.rpc.ErrorInfo"):
            return _reason_of(detail)
    return None


def _items(value: object) -> list[object]:
    return list(value[:_MAX_DETAILS]) if isinstance(value, list | tuple) else []


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _login_error(arguments: Sequence[object]) -> str | None:
    """The OAuth error in what the token endpoint answered."""
    error = arguments[1].get("error") if len(arguments) > 1 and isinstance(arguments[1], Mapping) else None
    return cut(error, _MAX_REASON_CHARS) if isinstance(error, str) else None


def _login_status(arguments: Sequence[object]) -> int | None:
    """The status in the JSON body that the IAM service answered to an impersonation."""
    try:
        body = json.loads(arguments[1]) if len(arguments) > 1 and isinstance(arguments[1], str) else {}
        status = body["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return None
    return status if isinstance(status, int) else None


def read(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield what the reasons say, else the status of the gRPC call, else the class."""
    if not any(_is_googles(path) for path in (node.type_path, *node.base_paths)):
        yield from _read_words_of_others(node)
        return
    if signal := _login(node) or _reason(node) or _grpc(node) or _spent_retries(node):
        yield signal


def _is_googles(type_path: str) -> bool:
    return type_path.partition(".")[0] in _ROOTS


def _reason(node: RedactedNode) -> Signal | None:
    reasons = [node.facts.get(name) for name in ("google.info_reason", "google.reason", "http.body.reason")]
    if not any(reasons):
        reasons = list(_printed_reasons(both_ends(node.message, _WINDOW_CHARS)))
    names = [reason for reason in reasons if isinstance(reason, str)]
    for name in names:
        if name == "notFound" and "Not found: Job" in node.message:
            return _JOB_NOT_THERE_YET.signal("google.notFound.job", Rank.VENDOR_CODE)
        if meaning := find_reason(name, message=node.message, status=_status(node)):
            return _with_wait(node, meaning).signal(f"google.{name}", Rank.VENDOR_CODE)
    if names and (node.facts.get("google.is_made_up") or _FAILED_JOB.search(node.message)):
        return _UNKNOWN_REASON.signal("google.unknown_reason", Rank.VENDOR_CODE)
    return None


def _printed_reasons(text: str) -> Iterator[str]:
    for match in _REASON.finditer(text):
        yield match[1] or match[2]


def _with_wait(node: RedactedNode, meaning: Meaning) -> Meaning:
    is_asked = node.facts.get("http.body.retry_after_s") is not None
    return _THROTTLED if is_asked and meaning.category == "rate_limit" else meaning


def _status(node: RedactedNode) -> int | None:
    status = node.facts.get("http.status")
    if type(status) is int:
        return status
    printed = _PRINTED_STATUS.match(node.message)
    return int(printed[1]) if printed else None


def _grpc(node: RedactedNode) -> Signal | None:
    names = (path.rpartition(".")[2] for path in (node.type_path, *node.base_paths))
    status = next((_GRPC_CLASSES[name] for name in names if name in _GRPC_CLASSES), None)
    if status is None:
        return None
    asked = node.facts.get("http.body.retry_after_s")
    delay_s = float(asked) if isinstance(asked, int | float) and asked >= 0 else None
    # Google's status is its vendor code, more than the HTTP status that the library derives from it.
    return judge(Call(status, node.message[:_MAX_DETAILS_CHARS], retry_delay_s=delay_s), Rank.VENDOR_CODE)


def _login(node: RedactedNode) -> Signal | None:
    if not node.is_a(*LOGIN_CLASSES):
        return None
    detail, meaning, rank = login_meaning(node)
    return meaning.signal(f"google.{detail}", rank)


def _spent_retries(node: RedactedNode) -> Signal | None:
    if not node.is_a("google.RetryError"):
        return None
    if (last := _LAST_STATUS.search(node.message)) and (meaning := status_meaning(int(last[1]))):
        if meaning.wait in (Wait.NOW, Wait.SHORT):
            meaning = replace(meaning, wait=Wait.MEDIUM)
        return meaning.signal(f"http.{last[1]}", Rank.STATUS)
    return _RETRIED.signal("google.retries_spent", Rank.CLASS)


def _read_words_of_others(node: RedactedNode) -> Iterator[Signal]:
    """Yield what an operator or a log printed of an error of Google's."""
    text = both_ends(node.message, _WINDOW_CHARS)
    if zone := _NO_ZONE.search(text):
        meaning = find_reason(zone[0])
        if meaning is not None:
            yield meaning.signal(f"google.{zone[0]}", Rank.VENDOR_CODE)
    elif "reason" in text and _NAMES_GOOGLE.search(text):
        for reason in _printed_reasons(text):
            if _DISTINCTIVE.fullmatch(reason) and (found := find_reason(reason, message=text)):
                yield found.signal(f"google.{reason}", Rank.VENDOR_CODE)
                return
