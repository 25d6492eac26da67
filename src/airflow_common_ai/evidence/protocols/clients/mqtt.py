"""MQTT: the broker's reason, which clients print in the words of the standard and keep nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("paho", "aiomqtt", "asyncio_mqtt", "gmqtt", "amqtt")
PRINTED_MARKS = ("Connection Refused: ",)

_MQTT = "MQTT 5.0 §2.4, MQTT 3.1.1 §3.2.2.3; paho-mqtt 2.1"
_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_LOGIN = "the broker refused the login or a permission"
_UNFIT = "the broker does not offer what the client asks for"
_BAD = "the broker does not take this message or topic"

_ROWS: tuple[tuple[tuple[str, ...], Meaning], ...] = (
    (
        ("bad user name or password", "not authori[sz]ed", "authori[sz]ation failed", "bad authentication method",
         "banned", "access denied by acl"),
        no("auth", _LOGIN, _MQTT),
    ),
    (
        ("server unavailable", "broker unavailable", "server busy", "server shutting down", "use another server",
         "administrative action", "keep alive timeout", "maximum connect time"),
        yes("transient", _MEDIUM, "the broker is busy or shutting down", _MQTT),
    ),
    (
        ("message rate too high", "connection rate exceeded", "receive maximum exceeded"),
        yes("rate_limit", _MEDIUM, "rate limited by the broker", _MQTT),
    ),
    (("quota exceeded",), depends("rate_limit", Wait.LONG, "a quota of the broker is used up", _MQTT)),
    (("message queue full",), yes("rate_limit", _SHORT, "the client's own queue is full", _MQTT)),
    (
        ("the client is not currently connected", "the connection was lost", "the connection was refused",
         "a network protocol error occurred", "client or broker did not communicate"),
        yes("network", _SHORT, "the connection could not be made or broke off", _MQTT),
    ),
    (("session taken over",), depends("transient", _SHORT, "another client took the identifier", _MQTT, 3)),
    (
        ("client identifier not valid", "identifier rejected", "malformed packet", "topic filter invalid",
         "topic name invalid", "packet too large", "payload too large", "payload format invalid",
         "invalid function arguments"),
        no("data", _BAD, _MQTT),
    ),
    (
        ("unsupported protocol version", "unacceptable protocol version", "server moved", "retain not supported",
         "qos not supported", r"\w+ subscriptions? (?:identifiers )?not supported", "this feature is not supported"),
        no("permanent", _UNFIT, _MQTT),
    ),
)  # fmt: skip
_MEANINGS: Mapping[re.Pattern[str], Meaning] = {
    re.compile(rf"(?:\[code:\d{{1,3}}\] |Connection refused: )?({'|'.join(words)})\b", re.IGNORECASE): meaning
    for words, meaning in _ROWS
}


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy nothing: what a client keeps as ``rc`` is the standard's number or its own, and the words tell which."""
    return {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the reason says that a message begins with."""
    at = max(0, node.message.find(PRINTED_MARKS[0]))
    for words, meaning in _MEANINGS.items():
        if match := words.match(node.message, at):
            yield meaning.signal(f"mqtt.{match[1].lower().replace(' ', '_')}", Rank.VENDOR_CODE)
            return
