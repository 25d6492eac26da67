"""The codes in brackets that IMAP and POP3 servers put before their words: ``[INUSE] Mailbox in use``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["read"]

_IMAP = "RFC 5530 §3, RFC 3501 §7.1"
_POP = "RFC 2449 §8, RFC 3206 §4"
_MEDIUM = Wait.MEDIUM

_ROWS: tuple[tuple[str, Meaning], ...] = (
    ("UNAVAILABLE SERVERBUG", yes("transient", _MEDIUM, "the mail server cannot do it now", _IMAP)),
    ("INUSE IN-USE", yes("transient", _MEDIUM, "another session uses the mailbox", f"{_IMAP}, {_POP}")),
    (
        "LIMIT LOGIN-DELAY",
        yes("rate_limit", _MEDIUM, "too many sessions or logins at the mail server", f"{_IMAP}, {_POP}"),
    ),
    ("SYS/TEMP", yes("transient", _MEDIUM, "the mail server has a passing problem", _POP)),
    ("SYS/PERM", no("permanent", "the mail server has a lasting problem with this account", _POP)),
    (
        "AUTHENTICATIONFAILED AUTHORIZATIONFAILED EXPIRED PRIVACYREQUIRED NOPERM AUTH WEBALERT ALERT-AUTH",
        no("auth", "the mail server refused the login or a permission", f"{_IMAP}, {_POP}"),
    ),
    ("NONEXISTENT TRYCREATE", no("resource", "there is no such mailbox", _IMAP)),
    ("ALREADYEXISTS CLIENTBUG CANNOT BADCHARSET", no("data", "the request is not possible", _IMAP)),
    ("OVERQUOTA", no("permanent", "the mailbox is full; a person must make room", _IMAP)),
    ("CONTACTADMIN", no("permanent", "the mail server asks for its administrator", _IMAP)),
    ("CORRUPTION EXPUNGEISSUED", depends("transient", _MEDIUM, "the mailbox changed or is damaged", _IMAP, 3)),
)
_SIGNALS: Mapping[str, Signal] = {
    code: meaning.signal(f"mail.{code.lower().replace('/', '_')}", Rank.VENDOR_CODE)
    for codes, meaning in _ROWS
    for code in codes.split()
}
_CLASSES = (
    "imaplib.error", "imaplib.abort", "imaplib.readonly", "imaplib.IMAP4.error", "poplib.error_proto",
    "aioimaplib.Error", "aioimaplib.Abort",
)  # fmt: skip
_CODE = re.compile(r"(?:^|['\"]|-ERR |NO |BAD )\[([A-Z]{2,30}(?:[-/][A-Z]{2,10})?)(?: [^\]\n]{0,200})?\]")
_SESSION = re.compile(r"(?i)\bmailbox|\bimap|\bpop3?\b")
"""Somebody's own exception that passes the server's words on speaks of the mailbox."""


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the first known code says."""
    if "[" not in node.message:
        return
    if not node.is_a(*_CLASSES) and "IMAP4" not in node.type_path and not _SESSION.search(node.message[:500]):
        return
    for code in _CODE.findall(node.message[:2048]):
        if signal := _SIGNALS.get(code):
            yield signal
            return
