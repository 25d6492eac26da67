"""What the resolver said: ``socket.gaierror``, ``socket.herror``, and their words inside other messages."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import number_in, settle
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["SIGNALS", "probe", "read", "read_words"]

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_SOURCE = "getaddrinfo(3); whether to retry is judgement"
_UNKNOWN_NAME = "the host name is unknown: a typing error, or a name too new or too far for this resolver"

# Name, code on glibc and musl, what it says. The codes are an errno namespace of their own: negative on Linux,
# positive on macOS, so facts hold the name. A wrong name and a name that a restarting service has not registered
# yet look alike: minutes, not seconds, and a cap.
_ROWS: tuple[tuple[str, int, Meaning], ...] = (
    ("EAI_AGAIN", -3, yes("network", _SHORT, "the name server did not answer", _SOURCE)),
    ("EAI_FAIL", -4, yes("network", _MEDIUM, "the name server failed", _SOURCE)),
    ("EAI_SYSTEM", -11, yes("network", _SHORT, "the system failed while it resolved the host name", _SOURCE)),
    ("EAI_MEMORY", -10, yes("network", _SHORT, "no memory was left to resolve the host name", _SOURCE)),
    ("EAI_INTR", -104, yes("network", _SHORT, "resolving the host name was interrupted", _SOURCE)),
    ("EAI_NONAME", -2, depends("network", _MEDIUM, _UNKNOWN_NAME, _SOURCE, 3)),
    ("EAI_NODATA", -5, depends("network", _MEDIUM, "the host name exists but has no address", _SOURCE, 3)),
    ("EAI_BADFLAGS", -1, no("permanent", "the resolver was called with invalid flags", _SOURCE)),
    ("EAI_FAMILY", -6, no("permanent", "the resolver does not know the address family", _SOURCE)),
    ("EAI_SOCKTYPE", -7, no("permanent", "the resolver does not know the socket type", _SOURCE)),
    ("EAI_SERVICE", -8, no("permanent", "the service or port name is unknown", _SOURCE)),
    ("EAI_ADDRFAMILY", -9, no("permanent", "the host has no address of the wanted family", _SOURCE)),
    ("EAI_OVERFLOW", -12, no("permanent", "the host name is too long", _SOURCE)),
)

# The words for them in glibc, BSD and macOS, musl, and Node.js.
_WORDS = {
    "temporary failure in name resolution": "EAI_AGAIN",
    "non-recoverable failure in name resolution": "EAI_FAIL",
    "name or service not known": "EAI_NONAME",
    "nodename nor servname provided, or not known": "EAI_NONAME",
    "name does not resolve": "EAI_NONAME",
    "getaddrinfo enotfound": "EAI_NONAME",
    "no address associated with hostname": "EAI_NODATA",
    "no address associated with name": "EAI_NODATA",
    "bad value for ai_flags": "EAI_BADFLAGS",
    "ai_family not supported": "EAI_FAMILY",
    "ai_socktype not supported": "EAI_SOCKTYPE",
    "servname not supported for ai_socktype": "EAI_SERVICE",
    "address family for hostname not supported": "EAI_ADDRFAMILY",
}

SIGNALS = {name: meaning.signal(f"dns.{name.removeprefix('EAI_').lower()}", Rank.OS) for name, _, meaning in _ROWS}
"""What each code of the resolver says, by its symbolic name, which is the same on every system."""

_BY_CODE = {code: name for name, code, _ in _ROWS}
_HERROR = {1: "EAI_NONAME", 2: "EAI_AGAIN", 3: "EAI_FAIL", 4: "EAI_NODATA"}
"""``h_errno`` of gethostbyname(3) in the terms of getaddrinfo(3)."""

_CODE = re.compile(r"(?:\[Errno |\bgaierror\()(-\d{1,3})\b")
_CODE_MARKS = ("[Errno -", "gaierror(-")
_NAME = re.compile(r"EAI_(?<!\w.{4})[A-Z]+\b")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the resolver's code and its name, also from the ``os_error`` that aiohttp keeps."""
    error: object = exception
    if not isinstance(error, socket.gaierror | socket.herror):
        error = getattr(exception, "os_error", None)
    if not isinstance(error, socket.gaierror | socket.herror) or type(error.errno) is not int:
        return {}
    names = _HERROR if isinstance(error, socket.herror) else _names_of_this_system()
    facts: dict[str, Fact] = {"dns.code": error.errno}
    if name := names.get(error.errno):
        facts["dns.error"] = name
    return facts


def _names_of_this_system() -> dict[int, str]:
    return {value: name for name in SIGNALS if isinstance(value := getattr(socket, name, None), int)}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the resolver's code on a node says."""
    code = number_in(node, "dns.code")
    if code is not None:
        name = str(node.facts.get("dns.error", _BY_CODE.get(code)))
        if name in SIGNALS:
            yield SIGNALS[name]


def read_words(message: str) -> tuple[Signal, ...]:
    """Return what the resolver's words in a message say."""
    return settle(_find(message), message)


def _find(message: str) -> Iterator[Signal]:
    lowered = message.lower()
    names = [name for words, name in _WORDS.items() if words in lowered]
    names += _NAME.findall(message)
    # A number is told beside its words, but some systems' words are not here.
    if not names and any(map(message.__contains__, _CODE_MARKS)):
        names = [_BY_CODE.get(int(code), "") for code in _CODE.findall(message)]
    for name in names:
        if name in SIGNALS:
            yield SIGNALS[name]
