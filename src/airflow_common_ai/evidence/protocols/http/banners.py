"""Greetings of other protocols where an answer of HTTP was expected: the port, or its scheme, is wrong."""

from __future__ import annotations

import re

from airflow_common_ai.evidence.protocols.meaning import Meaning, no

__all__ = ["OTHER_PROTOCOL", "greets_otherwise"]

OTHER_PROTOCOL: Meaning = no(
    "permanent",
    "a server of another protocol answers on this port",
    "RFC 4253 §4.2, RFC 5321 §4.2, RFC 959 §5.4, RFC 8446 §5.1, RFC 6143 §7.1.1, Redis protocol",
)

_TLS_RECORD = r"(?:\\x1[56]|[\x15\x16])(?:\\x03|\x03)"
_GREETING = re.compile(
    rf"(?:^|[(b:]\ ?['\"])(?:SSH-[12]\.|220[\ -]|RFB\ 00|-ERR\ |\+OK\ |\*\ OK\ |AMQP\\x00|{_TLS_RECORD})", re.VERBOSE
)
_MAX_CHARS = 2048


def greets_otherwise(message: str) -> bool:
    """Whether what a client could not read as HTTP, as it prints it, is how another protocol begins."""
    return _GREETING.search(message[:_MAX_CHARS]) is not None
