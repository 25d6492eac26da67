"""AMQP brokers such as RabbitMQ: the reply code with which they close a channel or a connection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import number_in
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.number_table import NumberRow, signals_by_name, signals_by_number

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("pika", "amqp", "kombu", "aiormq", "aio_pika")
PRINTED_MARKS = ()

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_AMQP = "AMQP 0-9-1 §1.2 constants; pika 1.4.4, amqp 5.4.2, aiormq; whether to retry is judgement"
_RABBIT = "RabbitMQ's reply texts"

_ROWS: tuple[NumberRow, ...] = (
    ("320:CONNECTION_FORCED", yes("transient", _MEDIUM, "the broker closed the connection, as for a restart", _AMQP)),
    ("405:RESOURCE_LOCKED", depends("transient", _SHORT, "another connection holds the queue", _AMQP, 4)),
    ("506:RESOURCE_ERROR", yes("transient", _MEDIUM, "the broker lacks memory or another resource", _AMQP)),
    ("541:INTERNAL_ERROR", yes("transient", _MEDIUM, "the broker failed", _AMQP)),
    ("504:CHANNEL_ERROR", depends("network", _SHORT, "the channel was not open", _AMQP, 3)),
    ("313:NO_CONSUMERS", depends("transient", _MEDIUM, "nobody reads from the queue", _AMQP, 3)),
    ("403:ACCESS_REFUSED", no("auth", "the login or a permission was refused", _AMQP)),
    ("404:NOT_FOUND", no("resource", "there is no such queue or exchange", _AMQP)),
    ("402:INVALID_PATH", no("resource", "there is no such virtual host", _AMQP)),
    ("311:CONTENT_TOO_LARGE", no("data", "the message is too large", _AMQP)),
    ("312:NO_ROUTE", depends("permanent", _SHORT, "no queue takes the message, or not yet", _AMQP)),
    ("406:PRECONDITION_FAILED", no("permanent", "the queue or exchange exists with other properties", _AMQP)),
    ("530:NOT_ALLOWED", no("permanent", "the broker does not allow this", _AMQP)),
    ("540:NOT_IMPLEMENTED", no("permanent", "the broker does not do this", _AMQP)),
    (
        "501:FRAME_ERROR 502:SYNTAX_ERROR 503:COMMAND_INVALID 505:UNEXPECTED_FRAME",
        depends("permanent", _SHORT, "client and broker do not understand each other", _AMQP),
    ),
)
_BY_NUMBER: Mapping[int, Signal] = signals_by_number("amqp", _ROWS)
_BY_NAME: Mapping[str, Signal] = signals_by_name("amqp", _ROWS)

# Code, words of its reply text, what they say better than the code.
_WORD_ROWS: tuple[tuple[str, str, Meaning], ...] = (
    (
        "NOT_FOUND",
        r"is down or inaccessible|home node|process is stopped",
        yes("transient", _MEDIUM, "the broker that holds the queue is down", _RABBIT),
    ),
    (
        "PRECONDITION_FAILED",
        r"acknowledg\w+ on channel \d+ timed out|unknown delivery tag",
        depends("permanent", _SHORT, "a message was acknowledged too late or twice", _RABBIT),
    ),
    ("PRECONDITION_FAILED", r"larger than (?:configured )?max size", no("data", "the message is too large", _RABBIT)),
    ("NOT_ALLOWED", r"limit", yes("rate_limit", _MEDIUM, "too many connections, channels or queues", _RABBIT)),
    ("NOT_ALLOWED", r"vhost \S+ not found", no("resource", "there is no such virtual host", _RABBIT)),
    ("NOT_ALLOWED", r"refused for user", no("auth", "the user may not use this virtual host", _RABBIT)),
    (
        "NOT_ALLOWED|INTERNAL_ERROR",
        r"vhost \S+ is down",
        yes("transient", _MEDIUM, "the virtual host is down for now", _RABBIT),
    ),
)
_WORDS = tuple((re.compile(codes), re.compile(words), meaning) for codes, words, meaning in _WORD_ROWS)

_REPLY_TEXT = re.compile(rf"\b({'|'.join(_BY_NAME)}) - ")
"""How RabbitMQ begins its reply texts, whatever client prints them."""
_MAX_CHARS = 2048


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the reply code."""
    code = getattr(exception, "reply_code", None)
    return {"amqp.code": code} if type(code) is int else {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the reply code says, refined by its text."""
    message = node.message[:_MAX_CHARS]
    printed = _REPLY_TEXT.search(message)
    code = number_in(node, "amqp.code")
    signal = _BY_NAME[printed[1]] if printed else _BY_NUMBER.get(code) if code is not None else None
    if signal is None:
        return
    name = signal.code.removeprefix("amqp.")
    better = (meaning for codes, words, meaning in _WORDS if codes.fullmatch(name) and words.search(message))
    meaning = next(better, None)
    yield signal if meaning is None else meaning.signal(signal.code, Rank.VENDOR_CODE)
