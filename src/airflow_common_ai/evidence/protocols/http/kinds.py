"""The kinds of failure that codes and messages of HTTP services have words for, as data."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["KINDS", "Kind"]

_SOURCE = "the words of the service's own error"
_SPENT = "the paid quota or the spend limit of the account is used up"

_OK = frozenset({200})
"""An exception about a 200 means that only the body knows of the error."""
_WRONG_REQUEST = frozenset({400, 409, 412, 422})
_NOT_A_CONFLICT = _WRONG_REQUEST - {409}
_AMBIGUOUS = _WRONG_REQUEST | {402, 403, 423, 424, 429}
_LIMITED = frozenset({400, 402, 403, 420, 429, 430})
_ANY_ERROR = frozenset(range(400, 600))

_STORED = (
    "(?:accounts?|buckets?|buses|catalogs?|columns?|databases?|fields?|functions?|groups?|ind(?:ex|ice)e?s|keys?"
    "|partitions?|policies|projects?|queues?|repositories|roles?|rules?|schemas?|secrets?|tables?|topics?|users?"
    "|versions?|views?|volumes?)"
)
"""What stays until somebody deletes it."""


_NOT_IN_ANOTHER_WAY = (
    r"(?! (?:(?:your|the|this) (?:request|call|operation|query) )?(?:with|using)"
    r" (?!(?:\w+ )?(?:exponential|back-?off|jitter)))"
)
"""Behind a ``retry``: ``retry your request with another model`` asks for a change, not for patience."""


def _any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(phrases)})")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of failure that codes and messages have words for."""

    name: str
    meaning: Meaning
    overrules: Set[int]
    """Where a code says this, the status says less."""
    code: re.Pattern[str] | None = None
    """Found in a code, split into lower-case words with single spaces."""
    message: re.Pattern[str] | None = None
    """Found in a message in lower case. Sentences ramble, so this asks for more than a code …"""
    message_overrules: Set[int] = frozenset()
    """… and may overrule less."""


KINDS = (
    Kind(
        "spent",
        no("permanent", _SPENT, _SOURCE),
        _LIMITED | _OK,
        _any_of("insufficient (?:funds|credits?|balance|quota)", "spend(?:ing)? limit", "credit"),
        _any_of(
            "insufficient[ _](?:quota|funds|credits?|balance)",
            "credit balance",
            "out of credits?",
            "spend(?:ing)? (?:limit|cap)",
        ),
        frozenset({400, 402, 403, 429}),
    ),
    Kind(
        "too_large",
        no("data", "the request alone is larger than the limit", _SOURCE),
        _WRONG_REQUEST | {403, 413, 429},
        _any_of(
            "(?:size|length) (?:limit )?exceeded", "(?:payload|request|entity|body|batch|item) too (?:large|long|big)"
        ),
        _any_of("(?:request|payload) (?:is )?too large"),
        frozenset({413, 429}),
    ),
    Kind(
        "full",
        no("permanent", "there may be no more of these; a person must delete some or have the limit raised", _SOURCE),
        frozenset(),
        message=_any_of(
            r"estimated count: \d+, limit: \d+",
            rf"quota for {_STORED}per\w+",
            r"exceeds? the maximum number(?: of (?!concurrent|active|running)[\w ]{1,40})? allowed",
            rf"(?:maximum|max|limit on the) number of (?:\w+ )?{_STORED}\b[\w' ]{{0,40}}\b(?:reached|exceeded)",
            rf"(?:reached|exceeded?|exceeds|exceeding) (?:the|your) (?:maximum|limit)[\w' ]{{0,20}} (?:number )?of"
            rf" (?:\d+ )?(?:\w+ )?{_STORED}\b",
        ),
        message_overrules=frozenset({400, 403, 409, 429}),
    ),
    Kind(
        "daily",
        depends("rate_limit", Wait.RESET, "the quota of a day or a month is used up", _SOURCE),
        _LIMITED | _OK,
        _any_of(r"(?:daily|monthly) (?:\w+ )?(?:limit|quota)"),
        _any_of(
            r"(?:daily|monthly) [\w -]{0,40}?(?:limit|quota)",
            r"(?:limit|quota)[\w' :,-]{0,60}? (?:per|a|for the) (?:day|month)\b",
            r"per ?day\b",
        ),
        frozenset({403, 420, 429, 430}),
    ),
    Kind(
        "throttled",
        yes("rate_limit", Wait.MEDIUM, "rate limited", _SOURCE),
        _ANY_ERROR | _OK,
        _any_of(
            "throttl",
            "rate ?limit",
            "rate exceeded",
            "throughput exceeded",
            "slow ?down",
            r"too many (?:requests|calls|connections|concurrent|updates|\w+ requests)",
            r"(?:request|call|query|bandwidth|concurren\w+) (?:rate )?limit",
            r"concurrent \w+ (?:limit )?exceeded",
            r"active \w+ exceeded",
        ),
        _any_of(
            r"throttl(?:ed|ing)\b",
            # "rate limit must be a number" is about a field, not about a limit that was hit.
            r"rate[ -]?limit(?:s|ed|ing)?\b(?! (?:must|should|is invalid))",
            "too many (?:requests|calls|concurrent|connections)",
            "rate exceeded",
            r"slow down\b",
            r"(?:requests?|queries|calls|tokens) per (?:second|minute|hour)\b",
            "request rate is too",
            r"(?:request|call|usage) limit (?:(?:is|was|has been) )?(?:reached|exceeded)",
        ),
        _ANY_ERROR,
    ),
    # After the rates: "too many requests per minute, see your billing page for more" is one.
    Kind(
        "unpaid",
        no("permanent", _SPENT, _SOURCE),
        _LIMITED | _OK,
        _any_of("billing", "payment"),
        _any_of("billing", "payment required", "subscription has (?:expired|ended)"),
        frozenset({400, 402, 403, 429}),
    ),
    Kind(
        "account_quota",
        depends("permanent", Wait.LONG, "a quota of the account is used up", _SOURCE),
        frozenset({400, 402, 403}) | _OK,
        _any_of("quota", "limit exceeded"),
        _any_of(r"exceed\w*[\w' ]{0,40} quota\b", r"quota[\w' ]{0,40} exceeded\b"),
        frozenset({402, 403}),
    ),
    Kind(
        "quota",
        depends("rate_limit", Wait.LONG, "a quota is used up", _SOURCE),
        frozenset({420, 429, 430}),
        _any_of("quota", "limit exceeded"),
    ),
    # On this worker another try finds the same clock, on another worker perhaps a right one.
    Kind(
        "wrong_clock",
        hint(depends("permanent", Wait.LONG, "the clock of this worker is wrong", _SOURCE)),
        frozenset({400, 401, 403}),
        _any_of("request time too skewed", "clock skew"),
        _any_of(
            r"request date header too (?:old|far)",
            r"difference between the request time and the (?:current|server's) time is too large",
            "clock skew",
        ),
        frozenset({400, 401, 403}),
    ),
    Kind(
        "expired",
        depends("auth", Wait.SHORT, "the token or the session has expired", _SOURCE),
        frozenset({400, 401, 403}) | _OK,
        _any_of(
            r"expired (?:\w+ )?(?:token|session|credentials?|signature|jwt)",
            r"(?:token|session|credentials?|signature|request|jwt|auth\w*) (?:\w+ )?expired",
            "token refresh required",
        ),
        _any_of(
            r"expired (?:\w+ )?(?:token|session|credentials?|signature|jwt)\b",
            r"(?:token|session|credential|signature|request|jwt|url|link|authorization)s?\b[\w' ,:]{0,40}?"
            r"\b(?:(?:has|have|is|was|are) )?(?:been )?expired",
        ),
        frozenset({400, 401, 403}),
    ),
    Kind(
        "outdated",
        yes("transient", Wait.SHORT, "what the client was in the midst of is gone; a new try begins anew", _SOURCE),
        frozenset({400, 404, 410}),
        _any_of("query locator", "search context missing", r"(?:cursor|scroll|iterator|snapshot) (?:id )?expired"),
        _any_of(
            "too old resource version",
            r"continue (?:parameter|token) is too old",
            r"upload session\b[\w' ]{0,20} (?:no longer|expired|terminated|not found)",
        ),
        message_overrules=frozenset({410}),
    ),
    Kind(
        "leaving",
        yes("transient", Wait.MEDIUM, "one of the same name is still being deleted", _SOURCE),
        frozenset(),
        message=_any_of(
            r"being (?:deleted|removed|terminated)\b.{0,200}?\balready exists\b",
            r"already exists\b.{0,200}?\bbeing (?:deleted|removed|terminated)\b",
        ),
        message_overrules=frozenset({400, 409}),
    ),
    Kind(
        "not_empty",
        no("data", "it is not empty", _SOURCE),
        _WRONG_REQUEST,
        _any_of(r"not empty\b"),
        _any_of(r"(?:is|are) not empty\b"),
        frozenset({409}),
    ),
    Kind(
        "exists",
        no("data", "it already exists, perhaps from an earlier try", _SOURCE),
        _WRONG_REQUEST | _OK,
        _any_of(r"already (?:\w+ )?exist", "already owned", "duplicate", "not unique", r"exists\b"),
        _any_of(
            r"already (?:\w+ )?(?:exists?|taken|registered|in use|been created)\b",
            r"duplicate (?:key|entry|entity|record|row|name|value|item|object|resource|id)",
            "unique constraint",
        ),
        frozenset({400, 409, 422}),
    ),
    Kind(
        "contended",
        yes("transient", Wait.SHORT, "a lock, a conflict or other work is in the way", _SOURCE),
        _AMBIGUOUS | _OK,
        _any_of(
            r"lock(?:ed|s|ing)?\b",
            "deadlock",
            "conflict",
            "concurren",
            "optimistic",
            "in progress",
            "busy",
            "in use",
            "not ready",
            r"being \w+",
            "pending",
            "not complete",
            "version mismatch",
            "another operation",
            r"lease\b",
            "transaction aborted",
            "stale",
        ),
        _any_of(
            r"(?:is|was|are|been|be|currently) locked\b",
            r"acquire (?:\w+ ){0,3}lock",
            r"lock(?:ed)? (?:by|on|timeout)\b",
            "deadlock",
            "version (?:conflict|mismatch)",
            r"(?:been|was|were) (?:modified|changed|updated)\b",
            "concurrent(?:ly)? ",
            r"in progress\b",
            r"being (?:\w+ ){0,2}\w+ed\b",
            r"already (?:\w+ )?(?:queued|running|executing|active|started|processing)\b",
            r"another (?:\w+ ){0,2}(?:operation|request|process|update|transaction)",
            "optimistic",
        ),
        frozenset({400, 409, 412, 423, 429}),
    ),
    Kind(
        "wrong_state",
        depends("transient", Wait.MEDIUM, "not possible in the state that it is in, perhaps not yet", _SOURCE, 3),
        _AMBIGUOUS,
        _any_of(r"invalid (?:\w+ ){0,4}state\b", r"incorrect (?:\w+ ){0,4}state\b"),
        _any_of(r"not in (?:an? |the )?(?:\w+ ){0,2}state\b"),
        frozenset({400, 409, 412}),
    ),
    Kind(
        "no_capacity",
        yes("transient", Wait.LONG, "the service has no capacity left for now", _SOURCE),
        _AMBIGUOUS | frozenset({498, *range(500, 600)}) | _OK,
        _any_of(
            r"(?:insufficient|out of|unfulfillable|no) (?:\w+ ){0,3}capacity",
            r"capacity (?:\w+ )?(?:exceeded|exhausted|not available)",
            r"(?:zonal )?allocation failed",
            "pool exhausted",
            "stockout",
        ),
    ),
    Kind(
        "unavailable",
        yes("transient", Wait.SHORT, "the service could not answer for now", _SOURCE),
        _AMBIGUOUS | _OK,
        _any_of(
            "unavailable",
            "internal (?:server |service )?(?:error|failure|exception)",
            "(?:server|service|communication|back ?end) (?:error|failure|exception)",
            "overload",
            "time ?out",
            "timed out",
            "try again",
            "temporar",
            "bad gateway",
            "dependency (?:failed|failure|error|exception|time)",
            "failed dependency",
            "maintenance",
            "bad digest",
        ),
        _any_of(
            rf"(?:please )?(?:try again|retry)\b{_NOT_IN_ANOTHER_WAY}",
            r"busy\b",
            r"temporar(?:y|ily)\b",
            r"timed out\b",
            "not (?:yet )?ready",
            "waiting to start: (?:containercreating|podinitializing)",
        ),
        frozenset({400, 409, 422}),
    ),
    Kind(
        "missing",
        no("resource", "there is no such thing", _SOURCE),
        _NOT_A_CONFLICT | _OK,
        _any_of("not found", "no such", "does not exist", "nonexistent", "unknown (?:table|bucket|resource|index)"),
    ),
    Kind(
        "refused",
        no("auth", "the credentials were refused", _SOURCE),
        _NOT_A_CONFLICT | _OK,
        _any_of(
            "(?:access|permissions?) (?:is )?denied",
            "unauthori[sz]ed",
            "not authori[sz]ed",
            "authori[sz]ation",
            r"authenticat\w+",
            "auth failure",
            "opt in required",
            "not (?:permitted|entitled)",
            "forbidden",
            r"permissions?\b",
            "unrecognized client",
            "signature does not match",
            r"invalid (?:\w+ )?(?:token|credentials?|signature|api ?key|client|grant|session|auth|identity|access key)",
        ),
    ),
    # A daemon that cannot do what it was asked calls that a server error: Docker, and webhooks of Kubernetes.
    Kind(
        "untrusted",
        no("permanent", "a certificate on the way is not trusted", _SOURCE),
        frozenset(),
        message=_any_of("x509: certificate", "certificate (?:verify failed|signed by unknown authority)"),
        message_overrules=frozenset({500}),
    ),
    Kind(
        "refused_behind",
        no("auth", "a service behind it refused the credentials", _SOURCE),
        frozenset(),
        message=_any_of(
            "unauthorized: (?:incorrect username|authentication required|access to)|incorrect username or password",
            "pull access denied|requested access to the resource is denied|no basic auth credentials",
        ),
        message_overrules=frozenset({500}),
    ),
    Kind(
        "unfit_host",
        no("permanent", "the host cannot run what was asked for", _SOURCE),
        frozenset(),
        message=_any_of(
            "could not select device driver|unknown or invalid runtime name",
            r"exec format error|executable file not found in \$path",
        ),
        message_overrules=frozenset({500}),
    ),
    Kind(
        "invalid",
        no("data", "the request itself is wrong", _SOURCE),
        _NOT_A_CONFLICT | _OK,
        _any_of(
            "invalid",
            "validation",
            "malformed",
            "bad request",
            "missing",
            "required",
            "pars(?:e|ing)",
            "unsupported",
            "not supported",
            "too (?:long|short|small)",
            "conditional? check",
            "precondition",
            "schema",
            "argument",
            "parameter",
            "syntax",
            "serialization exception",
            "illegal",
            "unprocessable",
        ),
    ),
)
"""In the order in which they are looked for: ``rate limit exceeded`` before ``limit exceeded``."""
