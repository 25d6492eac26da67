"""AWS: the error code of a service, the classes of botocore that have none, and what a waiter saw last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Strength, Wait
from airflow_common_ai.evidence.protocols.aws.classes import CLASSES
from airflow_common_ai.evidence.protocols.aws.codes import CANCELLATION_REASONS, STOP_REASONS, find_aws_code
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.printed.code_table import NAMED_CODES
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["probe", "read"]

_WINDOW_CHARS = 8192
_MAX_CODE_CHARS = 100
_MAX_ITEMS = 32
_MAX_DEPTH = 6

_CALL = re.compile(
    r"An error occurred \((?P<code>\w[\w.:-]{1,99})\)(?: when calling the (?P<operation>\w{1,100}) operation)?"
    r"(?P<retries> \(reached max retries: [1-9]\d{0,3}\))?(?=:? ?(?P<message>[^\n]{0,1024}))"
)
"""``ClientError`` and, without an operation, ``WaiterError``."""
_CALL_IN_GO = re.compile(r"api error (?P<code>[A-Z]\w{2,99})(?=: (?P<message>[^\n]{0,1024}))")
_CANCELLATIONS = re.compile(r"specific reasons \[([\w, ]{1,1000})\]")
_STOPPED = re.compile(r"for code: ([A-Z][A-Z0-9_]{3,80}) with message\b")
"""How the Amazon provider prints EMR's reason."""
_ATHENA = re.compile(r"'AthenaError': \{[^{}]{0,500}?'Retryable': (True|False)")
"""Why a query failed, in its status printed as Python's ``repr``."""
_WAITED_TOO_LONG = "Max attempts exceeded"
_PROCESS_SAID_OTHERWISE = re.compile(r"from custom-process: (?:Unsupported version|Missing required key)")
"""The command gave something that is not what botocore reads."""
_WAITER_FAILED = "terminal failure state"

_ATHENA_SOURCE = "botocore 1.44.8, Athena AthenaError"
_WAITER = "botocore 1.44.8 waiter.py"
_WRONG_PROCESS = no("permanent", "the credential process does not print what the SDK reads", "botocore 1.44.8")
_WAITER_TIMEOUT = depends("permanent", Wait.SHORT, "it was not done when the waiter gave up", _WAITER)
_WAITER_FAILURE = depends("permanent", Wait.LONG, "what was waited for failed", _WAITER)
_ATHENA_FAILED = yes("transient", Wait.SHORT, "Athena says that the query may be run again", _ATHENA_SOURCE)
_ATHENA_REFUSED = no("data", "Athena says that the query fails again", _ATHENA_SOURCE)
_CANCELLED = depends("transient", Wait.SHORT, "the transaction was cancelled", "DynamoDB transactions", 3)


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the service's code out of a ``ClientError``, and what a waiter saw last."""
    facts: dict[str, Fact | None] = {}
    own = vars(exception)
    response = own.get("response")
    if not isinstance(response, Mapping):
        response = own.get("last_response")
        facts["aws.stop_reason"] = _stop_reason(response, _MAX_DEPTH)
    if isinstance(response, Mapping) and isinstance(error := response.get("Error"), Mapping):
        facts |= _error_facts(response, error)
        if isinstance(operation := own.get("operation_name"), str):
            facts["aws.operation"] = cut(operation, _MAX_CODE_CHARS)
    return {name: fact for name, fact in facts.items() if fact is not None}


def _error_facts(response: Mapping[str, Any], error: Mapping[str, Any]) -> dict[str, Fact | None]:
    facts: dict[str, Fact | None] = {}
    if isinstance(code := error.get("Code"), str) and code:
        facts["aws.code"] = cut(code, _MAX_CODE_CHARS)
    reasons = response.get("CancellationReasons")
    if isinstance(reasons, list):
        codes = dict.fromkeys(reason.get("Code") for reason in reasons[:100] if isinstance(reason, Mapping))
        facts["aws.cancellations"] = " ".join(code for code in codes if isinstance(code, str))
    return facts


def _stop_reason(value: object, depth: int) -> str | None:
    """Find why a resource stopped in the description of it that a waiter saw last."""
    if depth == 0:
        return None
    if isinstance(value, list):
        found = (_stop_reason(item, depth - 1) for item in value[:_MAX_ITEMS])
        return next(filter(None, found), None)
    if not isinstance(value, Mapping):
        return None
    change = value.get("StateChangeReason")
    codes = (value.get("ErrorCode"), change.get("Code") if isinstance(change, Mapping) else None, value.get("stopCode"))
    for code in codes:
        if isinstance(code, str) and code:
            return cut(code, _MAX_CODE_CHARS)
    found = (_stop_reason(item, depth - 1) for item in list(value.values())[:_MAX_ITEMS])
    return next(filter(None, found), None)


def read(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield what the code says, live or printed, else what the class of botocore says."""
    code = node.facts.get("aws.code") or _header_code(node)
    if node.is_a("botocore.WaiterError") and _WAITED_TOO_LONG in node.message:
        # Whatever it saw last, an error too, is what it was ready to wait through.
        yield _WAITER_TIMEOUT.signal("aws.waiter_timeout", Rank.VENDOR_CODE)
        return
    text = both_ends(node.message, _WINDOW_CHARS)
    found = _live(node, code) if isinstance(code, str) else _printed(text)
    signals = _settle([*_athena(text), *found, *_stopped(node, text)])
    yield from signals
    if not signals and code is None:
        yield from _read_class(node)


def _live(node: RedactedNode, code: str) -> Iterator[Signal]:
    printed, status = _CALL.search(node.message), node.facts.get("http.status")
    message = printed["message"] if printed else ""
    operation, reasons = _text(node, "aws.operation"), _text(node, "aws.cancellations")
    meaning = _meaning(code, operation, message, reasons, status if type(status) is int else None)
    if meaning is not None:
        yield _signal(code, meaning, has_retried=bool(node.facts.get("http.retries_spent")))


def _printed(text: str) -> Iterator[Signal]:
    if " error " not in text:
        return
    for match in (*_CALL.finditer(text), *_CALL_IN_GO.finditer(text)):
        named = match.groupdict()
        reasons = _CANCELLATIONS.search(named["message"])
        words = reasons[1].replace(",", " ") if reasons else ""
        meaning = _meaning(named["code"], named.get("operation") or "", named["message"], words, None)
        if meaning is not None:
            yield _signal(named["code"], meaning, has_retried=bool(named.get("retries")))


def _meaning(code: str, operation: str, message: str, reasons: str, status: int | None) -> Meaning | None:
    if code.startswith("TransactionCancel"):
        known = [CANCELLATION_REASONS[reason] for reason in reasons.split() if reason in CANCELLATION_REASONS]
        if known:
            return next((meaning for meaning in known if meaning.is_final), known[0])
        return _CANCELLED
    return find_aws_code(code, operation=operation, message=message, status=status)


def _signal(code: str, meaning: Meaning, *, has_retried: bool) -> Signal:
    if has_retried and meaning.wait in (Wait.NOW, Wait.SHORT):
        # botocore has tried for some seconds already.
        meaning = replace(meaning, wait=Wait.MEDIUM)
    return meaning.signal(f"aws.head_{code}" if code.isdecimal() else f"aws.{code}", Rank.VENDOR_CODE)


def _stopped(node: RedactedNode, text: str) -> Iterator[Signal]:
    printed = _STOPPED.search(text)
    reason = _text(node, "aws.stop_reason") or (printed[1] if printed else "")
    if reason and (found := STOP_REASONS.find(reason)):
        yield found.signal(f"aws.{reason}", Rank.VENDOR_CODE)
    elif reason in NAMED_CODES:
        name, meaning = NAMED_CODES[reason]
        yield meaning.signal(name, Rank.VENDOR_CODE)


def _athena(text: str) -> Iterator[Signal]:
    if match := _ATHENA.search(text):
        if match[1] == "True":
            yield _ATHENA_FAILED.signal("aws.athena_retryable", Rank.VERDICT)
        else:
            yield _ATHENA_REFUSED.signal("aws.athena_not_retryable", Rank.VERDICT)


def _settle(signals: list[Signal]) -> list[Signal]:
    """Errors that disagree about retrying settle nothing: a log shows those that somebody handled, too."""
    signals = list(dict.fromkeys(signals))
    if {Retry.YES, Retry.NO} <= {signal.retry for signal in signals}:
        return [replace(signal, strength=Strength.HINT) for signal in signals]
    return signals


def _read_class(node: RedactedNode) -> Iterator[Signal]:
    if node.is_a("botocore.WaiterError") and _WAITER_FAILED in node.message:
        yield _WAITER_FAILURE.signal("aws.waiter_failure", Rank.CLASS)
        return
    if node.is_a("botocore.CredentialRetrievalError") and _PROCESS_SAID_OTHERWISE.search(node.message[:1024]):
        yield _WRONG_PROCESS.signal("aws.credential_process", Rank.CLASS)
        return
    for path in (node.type_path, *node.base_paths):
        root, name = path.partition(".")[0], path.rpartition(".")[2]
        if meaning := CLASSES.get(f"{root}.{name}"):
            yield meaning.signal(f"aws.{name}", Rank.CLASS)
            return


def _header_code(node: RedactedNode) -> str | None:
    """The code that a service's answer has in its headers, for clients that are not botocore."""
    code = node.facts.get("http.header.x-amzn-errortype")
    return code.partition(":")[0].rpartition("#")[2] if isinstance(code, str) else None


def _text(node: RedactedNode, fact: str) -> str:
    value = node.facts.get(fact)
    return value if isinstance(value, str) else ""
