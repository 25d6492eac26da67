"""Reply codes of mail and FTP servers: 4yz asks to try again, 5yz refuses for good."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import number_in
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["probe", "read"]

_MEDIUM = Wait.MEDIUM
_SMTP = "RFC 5321 §4.2, RFC 4954 §6"
_FTP = "RFC 959 §4.2"
_LOGIN = "the server refused the login"

_SMTP_ROWS: Mapping[tuple[int, ...], Meaning] = {
    (421, 450, 451, 454): yes("transient", _MEDIUM, "the mail server cannot take the mail now", _SMTP),
    (452,): yes("rate_limit", _MEDIUM, "the mail server has too much to do or no space", _SMTP),
    (530, 534, 535, 538): no("auth", _LOGIN, _SMTP),
    (550, 551, 552, 553, 554): no("data", "the mail server refuses this mail or its addresses", _SMTP),
}
_FTP_ROWS: Mapping[tuple[int, ...], Meaning] = {
    (421, 425, 426, 450, 451, 452): yes("network", Wait.SHORT, "the FTP server cannot do it now", _FTP),
    (530, 532): no("auth", _LOGIN, _FTP),
    (550,): no("resource", "the file does not exist on the FTP server, or may not be read", _FTP),
    (552, 553): no("permanent", "the FTP server does not take this file", _FTP),
}
_BUSY_LOGIN = yes("rate_limit", _MEDIUM, "the FTP server has too many users", _FTP)
_TOO_MANY = re.compile(r"too many|maximum|limit", re.IGNORECASE)
_BLOCKED = no("permanent", "the mail server blocks this sender or its address", "RFC 7372, RFC 3463 §3.8")
_IS_BLOCKED = re.compile(
    r"\b(?:block|black|deny|reject)[ -]?list(?:ed)?\b|\bblocked (?:using|by|due to)\b"
    r"|\bspamhaus\b|\bbarracuda\b|\bRBL\b|\bDNSBL\b|\bpoor reputation\b|\bbanned\b",
    re.IGNORECASE,
)
_OTHER_PROTOCOL = no("permanent", "a server of another protocol answers on this port", "RFC 5321 §4.2; smtplib")
_GREETING = re.compile(r"\(-1, b?['\"](?:2\.0-|P/1\.|/1\.[01] |ml>|OCTYPE)")
"""What smtplib leaves of ``SSH-2.0-``, ``HTTP/1.1`` and a page: it takes the first three or four for the code."""
_LATER = depends("transient", _MEDIUM, "the server asks to be tried again later", "RFC 5321 §4.2.1", 3)
_NEVER = no("permanent", "the server refuses the command", "RFC 5321 §4.2.1")

_SMTP_CLASSES = tuple(
    f"{library}.{name}"
    for library in ("smtplib", "aiosmtplib")
    for name in (
        "SMTPResponseException",
        "SMTPAuthenticationError",
        "SMTPConnectError",
        "SMTPDataError",
        "SMTPHeloError",
        "SMTPRecipientsRefused",
        "SMTPSenderRefused",
    )
)
_SMTP_CODE = re.compile(r"\(([45]\d\d|-1), b?['\"]")
_FTP_CLASSES = ("ftplib.error_temp", "ftplib.error_perm", "ftplib.error_reply", "aioftp.StatusCodeError")
_FTP_CODE = re.compile(r"(?:\('?)?([45]\d\d)[ '-]")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the code of an SMTP reply; the mildest, where each recipient got its own: one is enough for another try."""
    code = getattr(exception, "smtp_code", None)
    recipients = getattr(exception, "recipients", None)
    if type(code) is not int and isinstance(recipients, dict):
        replies = [reply for reply in recipients.values() if isinstance(reply, tuple) and len(reply) == 2]
        code = min((code for code, _ in replies if type(code) is int), default=None)
    return {"smtp.code": code} if type(code) is int else {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the server's reply says."""
    smtp_code = number_in(node, "smtp.code") or _printed_smtp_code(node)
    if smtp_code is not None and smtp_code < 0 and _GREETING.match(node.message):
        yield _OTHER_PROTOCOL.signal("smtp.other_protocol", Rank.STATUS)
    elif smtp_code is not None and smtp_code >= 500 and _IS_BLOCKED.search(node.message[:2048]):
        yield _BLOCKED.signal(f"smtp.{smtp_code}", Rank.STATUS)
    elif smtp_code is not None:
        yield from _judge("smtp", smtp_code, _SMTP_ROWS)
    elif node.is_a(*_FTP_CLASSES) and (match := _FTP_CODE.match(node.message)):
        code = int(match[1])
        if code == 530 and _TOO_MANY.search(node.message):
            yield _BUSY_LOGIN.signal("ftp.530", Rank.STATUS)
        else:
            yield from _judge("ftp", code, _FTP_ROWS)


def _printed_smtp_code(node: RedactedNode) -> int | None:
    codes = _SMTP_CODE.findall(node.message) if node.is_a(*_SMTP_CLASSES) else []
    return min(map(int, codes), default=None)


def _judge(protocol: str, code: int, rows: Mapping[tuple[int, ...], Meaning]) -> Iterator[Signal]:
    meaning = next((meaning for codes, meaning in rows.items() if code in codes), None)
    if meaning is None and 400 <= code < 600:
        meaning = _LATER if code < 500 else _NEVER
    if meaning is not None:
        yield meaning.signal(f"{protocol}.{code}", Rank.STATUS)
