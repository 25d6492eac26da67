"""Redis: the first word of an error reply, which is its code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("redis", "aioredis", "rediscluster", "valkey", "coredis")
PRINTED_MARKS = ()

_NOW, _SHORT, _MEDIUM = Wait.NOW, Wait.SHORT, Wait.MEDIUM
_REPLIES = "Redis 7 error replies; redis 8.1.0"

_ROWS: tuple[tuple[str, Meaning], ...] = (
    ("LOADING", yes("transient", _MEDIUM, "Redis is loading its data", _REPLIES)),
    (
        "CLUSTERDOWN MASTERDOWN TRYAGAIN MOVED ASK NOREPLICAS FAILOVER",
        yes("transient", _SHORT, "the Redis cluster is moving or down", _REPLIES),
    ),
    ("BUSY", yes("transient", _MEDIUM, "Redis is busy with a script", _REPLIES)),
    ("READONLY", depends("transient", _SHORT, "this Redis is a read-only replica", _REPLIES, 3)),
    ("OOM", depends("transient", _MEDIUM, "Redis has no memory left", _REPLIES, 3)),
    ("MISCONF", depends("transient", _MEDIUM, "Redis cannot save to its disk and takes no writes", _REPLIES, 3)),
    ("EXECABORT", depends("transient", _NOW, "the transaction was given up; an earlier reply says why", _REPLIES)),
    ("BUSYGROUP", no("data", "the consumer group already exists", _REPLIES)),
    ("BUSYKEY", no("data", "the key already exists", _REPLIES)),
    ("NOAUTH WRONGPASS NOPERM DENIED", no("auth", "the login or a permission was refused", _REPLIES)),
    ("NOGROUP", no("resource", "there is no such stream or consumer group", _REPLIES)),
    ("NOSCRIPT CROSSSLOT WRONGTYPE NOPROTO UNKILLABLE INPROG NOTBUSY",
     no("data", "Redis cannot work with this value or command", _REPLIES)),
)  # fmt: skip
_SIGNALS: Mapping[str, Signal] = {
    code: meaning.signal(f"redis.{code}", Rank.VENDOR_CODE) for codes, meaning in _ROWS for code in codes.split()
}
# What the general code ERR is followed by, which the client cuts off.
_WORDS: tuple[tuple[re.Pattern[str], Signal], ...] = tuple(
    (re.compile(rf"(?:ERR )?(?:{words})"), meaning.signal(f"redis.{name}", Rank.VENDOR_CODE))
    for words, name, meaning in (
        ("max number of clients", "max_clients", yes("rate_limit", _MEDIUM, "Redis has too many clients", _REPLIES)),
        (
            "Cannot (?:release|extend|reacquire) (?:an unlocked lock|a lock that's (?:not owned|no timeout))",
            "not_locked",
            no("permanent", "the code gives back a lock that it does not hold", _REPLIES),
        ),
        (
            "Background (?:save|append only file rewriting) (?:already )?in progress",
            "saving",
            yes("transient", _MEDIUM, "Redis is saving its data", _REPLIES),
        ),
        (
            r"Error compiling script|.{0,200}Script attempted to access nonexistent global|.{0,200}user_script:\d+:"
            r"|CONFIG SET failed|invalid expire time|increment or decrement would overflow|DB index is out of range",
            "wrong_command",
            no("data", "Redis cannot work with this value or command", _REPLIES),
        ),
        (
            "unknown (?:sub)?command|wrong number of arguments|syntax error|value is not|index out of range|no such",
            "wrong_command",
            no("data", "Redis cannot work with this value or command", _REPLIES),
        ),
    )
)

_REPLY = re.compile(r"(?:Command # \d+ \([^\n]{0,1000}\) of pipeline caused error: )?-?([A-Z]{3,12})(?= |$)")
"""Of a pipeline the client says which command it was."""


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the code, which redis 8 cuts off the message."""
    code = getattr(exception, "status_code", None)
    return {"redis.reply": code} if isinstance(code, str) and code in _SIGNALS else {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the reply says."""
    code = node.facts.get("redis.reply")
    if code is None and (match := _REPLY.match(node.message)):
        code = match[1]
    if isinstance(code, str) and code in _SIGNALS:
        yield _SIGNALS[code]
    else:
        yield from (signal for words, signal in _WORDS if words.match(node.message))
