"""gRPC: the status of a call, with its details and what they ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Strength, Wait
from airflow_common_ai.evidence.protocols.google.codes import find_reason
from airflow_common_ai.evidence.protocols.grpc.codes import CODES
from airflow_common_ai.evidence.protocols.grpc.details import METADATA_KEY, StatusDetails, read_status_details
from airflow_common_ai.evidence.protocols.http.body import printed_body_facts
from airflow_common_ai.evidence.protocols.http.words import kind_of_message
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.system import reader as system
from airflow_common_ai.evidence.protocols.text.asked_delay import read_asked_delay
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["Call", "judge", "probe", "read"]

_WINDOW_CHARS = 8192
_MAX_DETAILS_CHARS = 1024
_MAX_METADATA = 64

_STATUSES = (
    re.compile(r"Status(?:Code)?\.(?<!HTTPStatus\.)([A-Z_]{2,30})\b"),  # grpcio; grpclib
    re.compile(r"code = ([A-Z][A-Za-z]{1,30}) desc = "),  # Go
    re.compile(r"^[1-5]\d\d ([A-Z_]{5,30})\b"),  # google-genai
)
"""Each on its own: an alternation of them would be looked for letter by letter."""
_DETAILS = re.compile(r'details = "(.{0,1024}?)"\n', re.DOTALL)
_GO_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")

_CLIENT = "grpcio 1.85.3"
_LOST = yes("network", Wait.SHORT, "the connection broke while the call was under way", _CLIENT)
_TOO_LARGE = no("data", "the message is larger than the channel takes", _CLIENT)
_THROTTLED = yes("rate_limit", Wait.MEDIUM, "rate limited; the service said when to come back", "google.rpc.RetryInfo")
_FULL = depends("transient", Wait.LONG, "the server is short of disk or memory", "google.rpc.Code", 3)

_BROKEN_STREAM = re.compile(r"RST_STREAM|Stream removed|GOAWAY|Socket closed|Connection reset|Broken pipe|transport")
_RAISED_IN_CODE = re.compile(r"Exception (?:calling application|iterating responses): ")
"""grpcio's server says so of anything that the code behind it raised: a fault in it, or a database that was away."""
_LARGER_THAN = re.compile(r"message larger than max|larger than (?:the )?limit|message too large", re.IGNORECASE)
_RUNS_FULL = re.compile(r"\b(?:disk|storage|memory|space)\b", re.IGNORECASE)

_WORDS: Mapping[str, tuple[int, frozenset[str]]] = {
    "RESOURCE_EXHAUSTED": (429, frozenset({"throttled", "daily", "spent", "too_large", "contended"})),
    "PERMISSION_DENIED": (403, frozenset({"throttled", "daily", "account_quota", "expired"})),
    "FAILED_PRECONDITION": (400, frozenset({"throttled", "contended", "wrong_state", "unavailable"})),
    "INVALID_ARGUMENT": (400, frozenset({"throttled", "contended", "unavailable"})),
}
"""By status: the HTTP status whose words its details may use, and which of them say more than the status."""


@dataclass(frozen=True, slots=True)
class Call:
    """What is known of a call that failed."""

    status: str
    """The status's name."""
    details: str = ""
    """The server's, or the client's own, words."""
    reason: str | None = None
    retry_delay_s: float | None = None


def probe(exception: BaseException) -> dict[str, Fact]:
    """
    Copy the status of a call that has ended.

    The exception of a streaming call is the call itself, and to ask it for its status would wait for its end. So
    its state is looked at, not asked.
    """
    bases = [base for base in type(exception).__mro__ if base.__name__ in ("RpcError", "GRPCError")]
    if not bases:
        return {}
    own = vars(exception)
    held = vars(own["_state"]) if "_state" in own else {name.lstrip("_"): value for name, value in own.items()}
    code = held.get("code") or held.get("status")
    if code is None and not hasattr(exception, "done"):
        # A class of somebody's own, which is no call.
        code = getattr(exception, "code", lambda: None)()
    name = getattr(code, "name", None)
    if not isinstance(name, str) or name not in CODES:
        return {}
    found = _status_details(held.get("trailing_metadata"))
    facts: dict[str, Fact | None] = {
        "grpc.code": name,
        "grpc.details": _text(held.get("details")) or _text(held.get("message")),
        "grpc.reason": found.reason,
        "grpc.retry_delay_s": found.retry_delay_s,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _text(value: object) -> str | None:
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    return cut(value, _MAX_DETAILS_CHARS) if isinstance(value, str) else None


def _status_details(metadata: object) -> StatusDetails:
    if isinstance(metadata, Iterable):
        for index, pair in enumerate(metadata):
            if index == _MAX_METADATA:
                break
            key, value = pair
            if key == METADATA_KEY and isinstance(value, bytes):
                return read_status_details(value)
    return StatusDetails()


def read(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield what the status says, live or printed."""
    signals = [judge(call, Rank.STATUS) for call in _calls(node, observed_at)]
    is_divided = {Retry.YES, Retry.NO} <= {signal.retry for signal in signals}
    for signal in dict.fromkeys(signals):
        # A log shows the calls that somebody handled, too: if they disagree, they settle nothing.
        yield replace(signal, strength=Strength.HINT) if is_divided else signal


def judge(call: Call, rank: Rank) -> Signal:
    """
    Return what a failed call says.

    :param rank: Of the status. A reason beside it always counts as the vendor's code.
    """
    delay_s = call.retry_delay_s
    if call.reason and (meaning := find_reason(call.reason, message=call.details)):
        if meaning.category == "rate_limit" and delay_s is not None:
            meaning = _THROTTLED
        return meaning.signal(f"google.{call.reason}", Rank.VENDOR_CODE, delay_s)
    return _explained(call).signal(f"grpc.{call.status}", rank, delay_s)


def _explained(call: Call) -> Meaning:
    """What the status means beside its details."""
    meaning, details = CODES[call.status], call.details
    if call.status in ("INTERNAL", "UNKNOWN") and _BROKEN_STREAM.search(details):
        return _LOST
    if call.status in ("UNAVAILABLE", "UNKNOWN", "INTERNAL"):
        # A certificate or a name that no retry mends: the readers of those decide.
        is_said_better = _RAISED_IN_CODE.match(details) is not None or any(
            signal.retry is not Retry.YES for signal in system.read_words(details)
        )
        return replace(meaning, strength=Strength.HINT) if is_said_better else meaning
    if call.status == "RESOURCE_EXHAUSTED":
        if _LARGER_THAN.search(details):
            return _TOO_LARGE
        if call.retry_delay_s is not None:
            return _THROTTLED
    if call.status in _WORDS:
        status, names = _WORDS[call.status]
        kind = kind_of_message(details, status)
        if kind is not None and kind.name in names:
            is_guess = meaning.is_final and kind.meaning.retry is Retry.YES and kind.name != "throttled"
            return replace(kind.meaning, retry=Retry.DEPENDS, max_attempts=3) if is_guess else kind.meaning
    if call.status == "RESOURCE_EXHAUSTED" and _RUNS_FULL.search(details):
        return _FULL
    return meaning


def _calls(node: RedactedNode, observed_at: datetime) -> Iterator[Call]:
    name, delay_s = node.facts.get("grpc.code"), node.facts.get("grpc.retry_delay_s")
    if isinstance(name, str) and name in CODES:
        details, reason = node.facts.get("grpc.details"), node.facts.get("grpc.reason")
        yield Call(
            name,
            details if isinstance(details, str) else "",
            reason if isinstance(reason, str) else None,
            float(delay_s) if isinstance(delay_s, int | float) and delay_s >= 0 else None,
        )
        return
    text = both_ends(node.message, _WINDOW_CHARS)
    for match in (match for form in _STATUSES for match in form.finditer(text)):
        # Go writes `ResourceExhausted` and `Canceled`.
        name = _GO_WORD.sub("_", match[1]).upper().replace("CANCELED", "CANCELLED")
        if name in CODES:
            yield _printed_call(name, text[match.end() : match.end() + _MAX_DETAILS_CHARS], observed_at)


def _printed_call(name: str, rest: str, observed_at: datetime) -> Call:
    quoted = _DETAILS.search(rest)
    details = quoted[1] if quoted else rest
    asked = printed_body_facts(rest).get("http.body.retry_after_s")
    delay_s = float(asked) if isinstance(asked, float) else read_asked_delay(details, observed_at)
    return Call(name, details, retry_delay_s=delay_s)
