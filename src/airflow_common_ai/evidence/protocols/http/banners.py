"""A server of another protocol on the port: how such servers begin, as clients print it that cannot read it."""

from __future__ import annotations

import re

from airflow_common_ai.evidence.protocols.meaning import Meaning, no

__all__ = ["NOT_HTTP", "OTHER_PROTOCOL", "greets_otherwise", "is_length_of_words", "speaks_http"]

OTHER_PROTOCOL: Meaning = no(
    "permanent",
    "a server of another protocol answers on this port",
    "RFC 4253 §4.2, RFC 5321 §4.2, RFC 959 §5.4, RFC 8446 §5.1, RFC 6143 §7.1.1, RFC 9112 §4, Redis protocol",
)

_TLS_RECORD = r"(?:\\x1[56]|[\x15\x16])(?:\\x03|\x03)"
_GREETING = re.compile(
    rf"(?:^|[(b:]\ ?['\"])(?:SSH-[12]\.|220[\ -]|RFB\ 00|-ERR\ |\+OK\ |\*\ OK\ |AMQP\\x00|{_TLS_RECORD})", re.VERBOSE
)
# A status of 5xx may be a proxy's, whose server is down, and a redirect or a refusal of a port is none.
_HTTP_ANSWER = re.compile(
    r"(?:Protocol Error: )?(?:b?['\"])?HTTP/1\.[01] [1-4]\d\d\b[^\n]{0,100}$|<(?:html|!doctype html)\b", re.IGNORECASE
)
NOT_HTTP = frozenset(
    "redis aioredis valkey pymemcache bmemcached ftplib poplib imaplib IMAP4 smtplib ldap3 kafka aiokafka pika amqp"
    " aiormq thrift impala pyhive nats stomp paho pymongo psycopg psycopg2 asyncpg pymysql mysql".split()
)
"""Top packages of clients that do not speak HTTP."""
_MAX_CHARS = 2048

_FIRST_WORDS = (b"HTTP", b"/1.1", b"/1.0", b"GET ", b"POST", b"SSH-", b"<htm", b"<!DO")
_NUMBERS = frozenset(int.from_bytes(word, order) for word in _FIRST_WORDS for order in ("big", "little"))
_TLS = tuple(range(kind << 24 | 3 << 16, (kind << 24 | 3 << 16) + 0x500) for kind in (0x15, 0x16))
"""An alert and a handshake of TLS 1.0 to 1.3, read as a number of four bytes."""
_MEASURED = re.compile(
    r"(?i)\b(length|size|frame|receive|packet|message|response id|version)\b[^\d\n]{0,40}?"
    r"(?<![\d.-])(\d{9,10})(?![\d.])"
)
_MANY_DIGITS = re.compile(r"\d{9}")
_ANY_TEXT = re.compile(rb"[\x20-\x7e]{4}")


def greets_otherwise(message: str) -> bool:
    """Whether what a client could not read as HTTP, as it prints it, is how another protocol begins."""
    return _GREETING.search(message[:_MAX_CHARS]) is not None


def speaks_http(message: str) -> bool:
    """Whether all that a client of another protocol has to show is an answer in HTTP, or a page."""
    return _HTTP_ANSWER.match(message[:_MAX_CHARS].strip()) is not None


def is_length_of_words(message: str) -> bool:
    """Whether what a client took for a length is the text ``HTTP``, ``SSH-`` or a record of TLS."""
    if _MANY_DIGITS.search(message, 0, _MAX_CHARS) is None:
        return False
    return any(_is_text(int(number), name.lower()) for name, number in _MEASURED.findall(message[:_MAX_CHARS]))


def _is_text(number: int, name: str) -> bool:
    if name == "response id":  # MongoDB's, which is the number of a request of ours in any answer of a MongoDB
        return number < 2**32 and _ANY_TEXT.fullmatch(number.to_bytes(4, "little")) is not None
    return number in _NUMBERS or any(number in records for records in _TLS)
