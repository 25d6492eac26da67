"""What the name of an exception class says that stands in no table: ``RateLimitExceeded``, ``ServerBusyError``.

The last thing to go by. Names that promise another try count; of those that speak against one only a refused login
does, since ``…NotFoundError`` may be a host, a leader or a partition that comes later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from airflow_common_ai.evidence.logs.java_names import is_java_class
from airflow_common_ai.evidence.model import Rank, RedactedNode, Retry, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["guess"]

_NAME = "the name of the exception's class"
_START = "".join(
    f"(?<!{word})"
    for word in ("Non", "Not", "No", "Un", "Invalid", "Missing", "Unknown", "Unsupported", "Bad", "Illegal")
)
"""Before what is denied, or is a setting: ``NonRetryableError``, ``InvalidTimeoutError``."""
_END = r"(?:Error|Exception|Failure|Failed|Fault|Exc)*$"

_ROWS: tuple[tuple[str, re.Pattern[str], Meaning], ...] = tuple(
    (detail, re.compile(_START + words + _END), meaning)
    for detail, words, meaning in (
        (
            "rate_limit",
            r"(?:RateLimit(?:ed|Exceeded|Reached)?|TooManyRequests|TooManyConnections|Throttl(?:ed|ing)|RateExceeded"
            r"|FloodWait|RetryAfter)",
            yes("rate_limit", Wait.MEDIUM, "rate limited, by the name of the exception", _NAME),
        ),
        (
            "timeout",
            r"(?:Timeout|TimedOut|TimeOut|DeadlineExceeded)",
            depends("network", Wait.SHORT, "it took too long, by the name of the exception", _NAME, 4),
        ),
        (
            "connection",
            r"(?:(?:Connection|Connect|Socket|Network|Transport|Communication)(?:Lost|Closed|Reset|Aborted|Refused"
            r"|Dropped|Broken|Interrupted)?|Unreachable(?:Host)?|Disconnect(?:ed)?|ServerDisconnected|HostUnreachable"
            r"|CommClosed)",
            depends("network", Wait.SHORT, "the connection failed, by the name of the exception", _NAME, 4),
        ),
        (
            "unavailable",
            r"(?:(?:Service|Server|Cluster|Temporarily)(?:Temporarily)?(?:Unavailable|NotAvailable)|ServerBusy|Overloaded"
            r"|InternalServer|Temporary|TemporaryFail(?:ure)?|Transient|Retryable\w{0,20}|(?:Node|Worker)(?:Died|Crashed)"
            r"|KilledWorker)",
            depends("transient", Wait.MEDIUM, "the service failed for now, by the name of the exception", _NAME, 4),
        ),
        (
            "lost_race",
            r"(?:Commit(?:Failed|Conflict)|Concurrent(?:Modification|Append|Write|Update|Transaction)|Deadlock(?:Detected)?"
            r"|OptimisticLock(?:ing)?|SerializationFailure|(?:Write|Transaction|Update)Conflict)",
            depends("transient", Wait.NOW, "somebody else changed it first, by the name of the exception", _NAME, 4),
        ),
        (
            "refused",
            r"(?:Unauthori[sz]ed|Unauthenticated|Forbidden|PermissionDenied|AccessDenied|Invalid(?:Credentials?|Token"
            r"|ApiKey|APIKey|Client|Grant)|(?:Authentication|Authorization|Login|Logon|Credentials?)(?:Error|Exception"
            r"|Failed|Failure|Invalid|Rejected))",
            no("auth", "the login or a permission was refused, by the name of the exception", _NAME),
        ),
    )
)


def guess(node: RedactedNode, others: Iterable[Signal]) -> Signal | None:
    """
    Return what the name of a class says.

    :param others: What its message and its bases say: believed where it settles anything, and where it only hints
        at another try beside a name that speaks against one.
    """
    if is_java_class(node.type_path):
        return None  # these have a reader of their own
    found = next(((detail, meaning) for detail, name, meaning in _ROWS if name.search(node.class_name)), None)
    if found is None:
        return None
    detail, meaning = found
    if any(other.is_conclusive or (meaning.is_final and other.retry is not Retry.NO) for other in others):
        return None
    return meaning.signal(f"python.name_{detail}", Rank.CLASS)
