"""What Python's exception classes say, and what stands in JSON errors, damaged files and servers' replies.

A class says the less, the farther it is from the exception: ``KeyError`` itself is a missing key, but what somebody
derives from ``ValueError`` may be anything, a refused login among it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Strength, Wait, kind_of, root_of
from airflow_common_ai.evidence.protocols.clients import classes as client_classes
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.python import (
    builtin_classes,
    class_names,
    damaged_files,
    data_classes,
    json,
)
from airflow_common_ai.evidence.protocols.text import mailbox_codes, replies
from airflow_common_ai.evidence.protocols.text import reader as text
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["probe", "read"]

_CLASSES = {
    **builtin_classes.SIGNALS,
    **data_classes.SIGNALS,
    **client_classes.SIGNALS,
    **damaged_files.SIGNALS,
}

_CPYTHON = "CPython 3.11"
_RACE = depends("transient", Wait.NOW, "a container was changed while the code looped over it", _CPYTHON)
_LOOP_MISUSE = no("permanent", "the code uses the asyncio event loop wrongly", _CPYTHON)

# Class, name of the finding, words in its message, what they say better than the class.
_WORD_ROWS: tuple[tuple[str, str, str, Meaning], ...] = (
    (
        "ImportError",
        "import_of_library",
        r"cannot open shared object file|undefined symbol|version `GLIBC|DLL load failed",
        no("permanent", "a compiled module cannot be loaded on this worker", "ld.so(8)"),
    ),
    (
        "TimeoutError",
        "timed_out",
        r"(?:^|operation |read |write )timed out\b",
        yes("network", Wait.SHORT, "the other side did not answer in time", "CPython 3.11 socket and ssl"),
    ),
    (
        "paramiko.AuthenticationException",
        "ssh_lost_at_login",
        r"transport shut down or saw EOF",
        depends("network", Wait.SHORT, "the server hung up during the SSH login", "paramiko 5.1.0 auth_handler.py", 3),
    ),
    (
        "dns.NoNameservers",
        "dns_refused",
        r"(?s)answered (?:REFUSED|FORMERR|NOTIMP)(?!.*answered SERVFAIL)",
        no("permanent", "the name server does not answer this question", "RFC 1035 §4.1.1, RCODE"),
    ),
    (
        "paramiko.SSHException",
        "ssh_host_unknown",
        "not found in known_hosts$",
        no("auth", "the host's key is not among the known ones", "paramiko 5.1.0 client.py"),
    ),
    (
        "paramiko.SSHException",
        "ssh_no_key",
        "^not a valid .{1,40} private key file|^No authentication methods available$",
        no("auth", "there is no usable key or password to log in with", "paramiko 5.1.0 pkey.py, client.py"),
    ),
    (
        "paramiko.SSHException",
        "ssh_incompatible",
        "^Incompatible ssh (?:peer|server)",
        no("permanent", "no SSH algorithm that both sides allow", "paramiko 5.1.0 transport.py"),
    ),
    (
        "paramiko.SSHException",
        "ssh_lost",
        "^Timeout opening channel|^Error reading SSH protocol banner|^SSH session not active|^Channel closed",
        yes("network", Wait.SHORT, "the SSH connection was lost or never answered", "paramiko 5.1.0 transport.py"),
    ),
    (
        "OSError",
        "socket_closed",
        "^Socket is closed$|^Connection lost$|^No connection$",
        yes("network", Wait.SHORT, "the SFTP connection was lost", "paramiko 5.1.0 channel.py, sftp_client.py"),
    ),
    (
        "RuntimeError",
        "client_closed",
        r"^Cannot send a request, as the client has been closed|^Session is closed$|^Event loop is closed$",
        no("permanent", "the code uses what it has closed before", "httpx 0.28.1, aiohttp 3.14.5, CPython 3.11"),
    ),
    (
        "RuntimeError",
        "no_thread",
        "can't start new thread",
        depends("transient", Wait.MEDIUM, "the worker has no thread or memory left", _CPYTHON, 3),
    ),
    ("RuntimeError", "changed_in_loop", r"(?:changed size|mutated|keys changed) during iteration", _RACE),
    (
        "RuntimeError",
        "event_loop",
        r"cannot be called from a running event loop|event loop is already running|no running event loop",
        _LOOP_MISUSE,
    ),
    (
        "RuntimeError",
        "shutting_down",
        r"cannot schedule new futures after (?:interpreter )?shutdown",
        yes("transient", Wait.SHORT, "the worker's process was shutting down", _CPYTHON),
    ),
)
_WORDS = tuple(
    (kind, re.compile(words), meaning.signal(f"python.{name}", Rank.CLASS)) for kind, name, words, meaning in _WORD_ROWS
)

# What people raise by hand for anything: these words say that the failure came from outside, not from the data.
_RAISED_BY_HAND = frozenset({"ValueError", "AssertionError", "LookupError", "ArithmeticError", "TypeError"})
_FROM_OUTSIDE = re.compile(
    r"""
      \btime-?outs?\b(?!')|\btimed\ out\b|\bunreachable\b|\bunavailable\b|\boverload|\bthrottl|\brate[ -]?limit
    | \bconnection\ (?:was\ |has\ been\ )?(?:refused|reset|closed|lost|aborted|failed|error|dropped)
    | \b(?:unable\ to|failed\ to|could\ not|cannot|can't)\ (?:connect|reach|fetch|download|retrieve)
    | \btoo\ many\ requests\b|\b(?:try|retry)\ (?:again|later)\b|\btemporar|\bserver\ error\b|\bbad\ gateway\b
    | \b(?:HTTP|status|response|returned|code|error)\W{1,3}(?:code\W{1,4})?(?:408|425|429|5\d\d)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)

# A derived class that names something else than a broken connection in its own name.
_NAMES_ANOTHER_REASON = re.compile(
    r"Auth|Login|Password|Permission|Access|Denied|Forbidden|Credential|Certificate|Config|Invalid|NotFound"
)


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy where a JSON reader stopped and what a mail server replied."""
    return json.probe(exception) | replies.probe(exception)


def read(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield what is known beyond the class, or else what the class says."""
    for reader in (json.read, replies.read, mailbox_codes.read, damaged_files.read):
        if found := tuple(reader(node)):
            yield from found
            return
    if "http.status" not in node.facts:
        read_class = tuple(_read_class(node))
        yield from read_class
        if not any(signal.is_conclusive for signal in read_class):
            yield from filter(None, [class_names.guess(node, chain(read_class, text.read(node, observed_at)))])


def _read_class(node: RedactedNode) -> Iterator[Signal]:
    for kind, words, signal in _WORDS:
        if kind == kind_of(node.type_path) and words.search(node.message):
            yield signal
            return
    for path in (node.type_path, *node.base_paths):
        if known := _CLASSES.get(kind_of(path)):
            is_doubtful = _is_doubtful(known, node, path)
            yield replace(known, strength=Strength.HINT) if is_doubtful else known
            return


def _is_doubtful(signal: Signal, node: RedactedNode, path: str) -> bool:
    """Whether a class says less here than it says by itself."""
    if path == node.type_path:
        return kind_of(path) in _RAISED_BY_HAND and _FROM_OUTSIDE.search(both_ends(node.message, 2048)) is not None
    root = root_of(node.type_path)
    if root == root_of(path) or root in sys.stdlib_module_names:
        return False  # a library knows what it derives from its own classes
    return signal.retry is Retry.NO or _NAMES_ANOTHER_REASON.search(node.class_name) is not None
