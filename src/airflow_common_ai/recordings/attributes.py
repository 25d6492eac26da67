"""Attributes of a rebuilt exception, where its library keeps what the recording has facts about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from airflow_common_ai.evidence.model import Fact, RedactedNode, root_of
from airflow_common_ai.evidence.protocols.grpc.details import METADATA_KEY
from airflow_common_ai.recordings.grpc_status import status_details

__all__ = ["restore_attributes"]

_OS_ERROR = re.compile(r"\[Errno -?\d+\] (?P<words>[^:]*)(?:: '(?P<path>[^']*)')?")
_HEADER = "http.header."
_MAX_DOCUMENT_CHARS = 1024 * 1024
_CUT_WORD = "\\u0000"
"""An escape that may have been cut off anywhere."""
_LONGEST_DELAY_S = 366 * 86400
_STATUS_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("status_code",),
    "google": ("code",),
    "kubernetes": ("status",),
    "openai": ("status_code",),
    "urllib": ("code", "status"),
}
"""Beside the response, where the exception itself has the status; by top package."""

_PLAIN: Mapping[str, tuple[str, ...]] = {
    "amqp.code": ("reply_code",),
    "azure.code": ("error_code",),
    "azure.is_retryable": ("_retryable",),
    "azure.sub_status": ("sub_status",),
    "google.is_retryable": ("_retryable",),
    "kafka.code": ("errno",),
    "kafka.fatal": ("fatal",),
    "kafka.retriable": ("retriable",),
    "mongo.code": ("_OperationFailure__code",),
    "process.exit_code": ("returncode",),
    "process.stderr": ("stderr",),
    "process.stdout": ("output", "stdout"),
    "process.time_limit_s": ("timeout",),
    "sql.errno": ("errno",),
    "sql.name": ("sqlite_errorname", "error_name"),
    "sql.sqlstate": ("sqlstate", "pgcode"),
    "sql.type": ("error_type",),
    "tls.library": ("library",),
    "tls.reason": ("reason",),
    "tls.verify_code": ("verify_code",),
}
"""Facts that are the value of an attribute."""


def restore_attributes(exception: BaseException, node: RedactedNode) -> None:
    """Set what is known; through ``__dict__``, so that no property of a stranger's class runs."""
    facts = node.facts
    held = vars(exception)
    root = root_of(node.type_path)
    for name, attributes in _PLAIN.items():
        if name in facts:
            held.update(dict.fromkeys(attributes, facts[name]))
    for name, restore in _BUILT.items():
        if any(fact.startswith(name) for fact in facts):
            restore(exception, node, held)
    if "http.body.code" in facts and not {"http.body", "aws.code"} & facts.keys():
        held.setdefault("error_code", facts["http.body.code"])  # nobody kept the body that it stood in
    if "http.status" in facts:
        held.update(dict.fromkeys(_STATUS_ATTRIBUTES.get(root, ()), facts["http.status"]))
    if isinstance(exception, SystemExit):
        exception.code = int(node.message) if node.message.lstrip("-").isdecimal() else node.message or None


def _os_error(exception: BaseException, node: RedactedNode, held: dict[str, Any]) -> None:
    if not isinstance(exception, OSError):
        return
    number = node.facts.get("os.errno", node.facts.get("dns.code"))
    exception.errno = number if isinstance(number, int) else None
    if printed := _OS_ERROR.fullmatch(node.message):
        exception.strerror = printed["words"]
        if printed["path"] is not None:
            exception.filename = printed["path"]


def _json(exception: BaseException, node: RedactedNode, held: dict[str, Any]) -> None:
    """A document of the same length and start; of what stood in it nothing is known."""
    facts = node.facts
    position, length = facts.get("json.pos"), facts.get("json.doc_length")
    if isinstance(position, int) and isinstance(length, int) and length <= _MAX_DOCUMENT_CHARS:
        read = node.text_of("json.doc_start").ljust(min(position, length), "?")
        left = max(0, length - len(read))
        held.update(
            pos=position, doc=read + (_CUT_WORD[-left:] if facts.get("json.is_cut_word") and left else "?" * left)
        )


def _google(exception: BaseException, node: RedactedNode, held: dict[str, Any]) -> None:
    reasons = [node.facts[name] for name in ("google.reason", "google.info_reason") if name in node.facts]
    held["_errors"] = [{"reason": reason} for reason in reasons]


def _signal(exception: BaseException, node: RedactedNode, held: dict[str, Any]) -> None:
    number = node.facts["process.signal"]
    held["returncode"] = -number if isinstance(number, int) else None


def _grpc(exception: BaseException, node: RedactedNode, held: dict[str, Any]) -> None:
    facts = node.facts
    code, details = SimpleNamespace(name=facts["grpc.code"]), node.text_of("grpc.details")
    reason, delay_s = facts.get("grpc.reason"), facts.get("grpc.retry_delay_s")
    blob = status_details(
        reason if isinstance(reason, str) else None,
        delay_s if isinstance(delay_s, int | float) and 0 <= delay_s < _LONGEST_DELAY_S else None,
    )
    metadata = [(METADATA_KEY, blob)] if blob else []
    held["_state"] = SimpleNamespace(code=code, details=details, trailing_metadata=metadata)
    held.update(code=lambda: code, details=lambda: details, trailing_metadata=lambda: metadata)


def _botocore(exception: BaseException, node: RedactedNode, held: dict[str, Any]) -> None:
    facts = node.facts
    held["operation_name"] = facts.get("aws.operation")
    held["response"] = {
        "Error": {"Code": facts.get("aws.code", ""), "Message": facts.get("http.body.message", "")},
        "ResponseMetadata": {"HTTPStatusCode": facts.get("http.status"), "HTTPHeaders": _headers(node)},
    }
    if reasons := node.text_of("aws.cancellations").split():
        held["response"]["CancellationReasons"] = [{"Code": code} for code in reasons]


def _logs(exception: BaseException, node: RedactedNode, held: dict[str, Any]) -> None:
    held["logs"] = node.text_of("process.logs").split("\n")


def _response(exception: BaseException, node: RedactedNode, held: dict[str, Any]) -> None:
    if "aws.code" in node.facts:
        return  # botocore's response is there already
    body = node.text_of("http.body")
    held["response"] = SimpleNamespace(
        status_code=node.facts.get("http.status"),
        headers=_headers(node),
        text=body,
        _content=body.encode("utf-8", "replace"),
        request=SimpleNamespace(method=node.facts.get("http.method")),
    )


def _headers(node: RedactedNode) -> dict[str, str]:
    names = [name for name in node.facts if name.startswith(_HEADER)]
    return {name.removeprefix(_HEADER): _header(node.facts[name]) for name in names}


def _header(fact: Fact) -> str:
    """Return ``30`` for 30.0: headers that ask for a delay were read as numbers."""
    return str(int(fact)) if isinstance(fact, float) and fact.is_integer() else str(fact)


_BUILT: Mapping[str, Callable[[BaseException, RedactedNode, dict[str, Any]], None]] = {
    "aws.code": _botocore,
    "dns.": _os_error,
    "google.": _google,
    "grpc.code": _grpc,
    "http.": _response,
    "json.": _json,
    "os.": _os_error,
    "process.logs": _logs,
    "process.signal": _signal,
}
"""Facts, by how their names begin, that take more than one step."""
