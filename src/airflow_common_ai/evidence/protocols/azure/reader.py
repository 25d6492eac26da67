"""Azure: the error code of a service, Cosmos DB's sub-status, and the classes of its libraries that have no code.

AADSTS numbers of Entra ID stand in messages only and are read by :mod:`.printed_codes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait, kind_of
from airflow_common_ai.evidence.protocols.azure.classes import CLASSES, CONDITIONS, LOGIN, OTHERS_SAY_MORE
from airflow_common_ai.evidence.protocols.azure.codes import COSMOS, ENVELOPES, find_azure_code
from airflow_common_ai.evidence.protocols.meaning import depends, yes
from airflow_common_ai.evidence.protocols.system import reader as system
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["probe", "read"]

_ROOTS = ("azure", "msrest", "msrestazure")
_WINDOW_CHARS = 8192
_MAX_CODE_CHARS = 100
_MAX_DETAILS = 8

_CODE_HEADERS = ("http.header.x-ms-error-code", "http.header.x-ms-copy-source-error-code")
_PRINTED_CODE = re.compile(
    r"(?m)^\s*(?:Error)?Code: ?([A-Za-z]\w{2,99})\s*$|^\(([A-Za-z]\w{2,99})\) |^\s+\"code\": \"([A-Za-z]\w{2,99})\""
)
_PRINTED_ANYWHERE = re.compile(r"(?m)ErrorCode:([A-Z]\w{2,99})$")
"""The last line but some of a storage error, whoever printed it."""
_PRINTED_SUB_STATUS = re.compile(r"^Status code: (\d{3})\b.*?\bSub[ -][Ss]tatus: (\d{1,5})\b", re.DOTALL)
_PRINTED_CONDITION = re.compile(
    r"Error condition: (?:ErrorCondition\.\w+: )?[\"'b]{0,2}((?:amqp|com\.microsoft):[\w:-]{3,60})"
)
_NO_METADATA_SERVICE = re.compile(r"(?i)^ManagedIdentityCredential .{0,80}no response from the IMDS endpoint")
_LOST_ON_THE_WAY = re.compile(r"(?i)max retries exceeded|timed out|connection (?:aborted|reset|refused)|temporar")
_MANY_CREDENTIALS = "Attempted credentials:"
"""A list of all that were attempted always has one that found nobody."""

_RETRYABLE = yes("transient", Wait.SHORT, "the messaging service failed for now", "azure-servicebus 7.15.0")
_LOGIN_NOT_REACHED = yes("network", Wait.SHORT, "the login service could not be reached", "azure-identity 1.27.0")
_NO_ANSWER_FROM_IMDS = depends("auth", Wait.SHORT, "the metadata service did not answer", "azure-identity 1.27.0")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the codes of a service's error, and Cosmos DB's and Service Bus's own marks."""
    if not any(base.__module__.partition(".")[0] in _ROOTS for base in type(exception).__mro__):
        return {}
    own = vars(exception)
    error = own.get("error")
    inner = getattr(error, "innererror", None)
    details = getattr(error, "details", None) or []
    codes = [_code(getattr(detail, "code", None)) for detail in list(details)[:_MAX_DETAILS]]
    codes.append(_code(inner.get("code")) if isinstance(inner, Mapping) else None)
    sub_status, retryable = own.get("sub_status"), own.get("_retryable")
    facts: dict[str, Fact | None] = {
        "azure.code": _code(own.get("error_code")) or _code(getattr(error, "code", None)) or _code(own.get("code")),
        "azure.detail_codes": " ".join(filter(None, codes)) or None,
        "azure.sub_status": sub_status if isinstance(sub_status, int) else None,
        "azure.is_retryable": retryable if isinstance(retryable, bool) else None,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _code(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    value = getattr(value, "value", value)  # an enum of storage's
    return value[:_MAX_CODE_CHARS] if isinstance(value, str) and re.fullmatch(r"\w+", value) else None


def read(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield what the sub-status or the code says, live or printed, else what the class says."""
    is_azures = any(path.partition(".")[0] in _ROOTS for path in (node.type_path, *node.base_paths))
    of_class = (_by_condition, _by_class) if is_azures else ()
    signal = _cosmos(node) or _by_code(node, is_azures=is_azures)
    if signal := signal or next(filter(None, (read_class(node) for read_class in of_class)), None):
        yield signal


def _cosmos(node: RedactedNode) -> Signal | None:
    status = node.facts.get("http.status")
    sub_status = node.facts.get("azure.sub_status", node.facts.get("http.header.x-ms-substatus"))
    if printed := _PRINTED_SUB_STATUS.match(both_ends(node.message, 1024)):
        status, sub_status = int(printed[1]), int(printed[2])
    if not isinstance(status, int) or not isinstance(sub_status, int | float):
        return None
    if (meaning := COSMOS.get((status, int(sub_status)))) is None:
        return None
    return meaning.signal(f"azure.cosmos.{status}.{int(sub_status)}", Rank.VENDOR_CODE)


def _by_code(node: RedactedNode, *, is_azures: bool) -> Signal | None:
    found = node.facts.get("http.status")
    status = found if type(found) is int else None
    codes = list(_codes(node, is_azures=is_azures))
    known = {
        code: meaning
        for code in codes
        if (meaning := find_azure_code(code, message=node.message, status=status)) is not None
    }
    if not known:
        return None
    # What is inside an envelope says why; there, what no retry mends decides.
    inside = [code for code in known if code not in ENVELOPES] or list(known)
    decisive = inside[0]
    if codes[0] in ENVELOPES:
        decisive = next((code for code in inside if known[code].is_final), decisive)
    return known[decisive].signal(f"azure.{decisive}", Rank.VENDOR_CODE)


def _codes(node: RedactedNode, *, is_azures: bool) -> Iterator[str]:
    facts = [node.facts.get(name) for name in ("azure.code", *_CODE_HEADERS)]
    found = [fact for fact in facts if isinstance(fact, str)]
    details = node.facts.get("azure.detail_codes")
    if isinstance(details, str):
        found += details.split()
    if not found:
        form = _PRINTED_CODE if is_azures else _PRINTED_ANYWHERE
        text = both_ends(node.message, _WINDOW_CHARS)
        found = [next(filter(None, match.groups())) for match in form.finditer(text)]
    yield from found


def _by_condition(node: RedactedNode) -> Signal | None:
    printed = _PRINTED_CONDITION.search(both_ends(node.message, 2048))
    meaning = CONDITIONS.get(printed[1]) if printed else None
    return meaning.signal(f"azure.{printed[1]}", Rank.VENDOR_CODE) if printed and meaning else None


def _by_class(node: RedactedNode) -> Signal | None:
    kinds = (kind_of(path) for path in (node.type_path, *node.base_paths))
    kind = next((kind for kind in kinds if kind in CLASSES), None)
    if kind is None:
        # Its flag is for its own loop: where the class says more, the flag says too little.
        is_retryable = node.facts.get("azure.is_retryable") is True
        return _RETRYABLE.signal("azure.retryable", Rank.VERDICT) if is_retryable else None
    meaning = CLASSES[kind]
    words = both_ends(node.message, 2048)
    if meaning in OTHERS_SAY_MORE and any(signal.retry is not meaning.retry for signal in system.read_words(words)):
        return None
    if meaning is LOGIN and _MANY_CREDENTIALS not in words and _LOST_ON_THE_WAY.search(words):
        return _LOGIN_NOT_REACHED.signal("azure.login_not_reached", Rank.CLASS)
    if meaning is LOGIN and _NO_METADATA_SERVICE.search(words):
        meaning = _NO_ANSWER_FROM_IMDS
    return meaning.signal(kind, Rank.CLASS)
