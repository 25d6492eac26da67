"""The kinds of failure that codes and messages of HTTP services have words for, as data."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.http.kind import OK, SOURCE, WRONG_REQUEST, Kind, any_of
from airflow_common_ai.evidence.protocols.http.limit_kinds import LIMIT_KINDS
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes

__all__ = ["KINDS", "Kind"]

_NOT_A_CONFLICT = WRONG_REQUEST - {409}
_AMBIGUOUS = WRONG_REQUEST | {402, 403, 423, 424, 429}

_NOT_IN_ANOTHER_WAY = (
    r"(?! (?:(?:your|the|this) (?:request|call|operation|query) )?(?:with|using)"
    r" (?!(?:\w+ )?(?:exponential|back-?off|jitter)))"
)
"""Behind a ``retry``: ``retry your request with another model`` asks for a change, not for patience."""

KINDS = (
    *LIMIT_KINDS,
    # On this worker another try finds the same clock, on another worker perhaps a right one.
    Kind(
        "wrong_clock",
        hint(depends("permanent", Wait.LONG, "the clock of this worker is wrong", SOURCE)),
        frozenset({400, 401, 403}),
        any_of("request time too skewed", "clock skew"),
        any_of(
            r"request date header too (?:old|far)",
            r"difference between the request time and the (?:current|server's) time is too large",
            "clock skew",
        ),
        frozenset({400, 401, 403}),
    ),
    Kind(
        "expired_key",
        no("auth", "the API key has expired; a person must make another", SOURCE),
        frozenset({400, 401, 403}) | OK,
        any_of("(?:api|access) ?key (?:has |is )?expired", "expired (?:api|access) ?key"),
        any_of(
            r"(?:api|access)[ -]?key\b[\w' ,:*]{0,40}? (?:has |is |was )?expired\b", r"expired (?:api|access)[ -]?key\b"
        ),
        frozenset({400, 401, 403}),
    ),
    Kind(
        "expired",
        depends("auth", Wait.SHORT, "the token or the session has expired", SOURCE),
        frozenset({400, 401, 403}) | OK,
        any_of(
            r"expired (?:\w+ )?(?:token|session|credentials?|signature|jwt)",
            r"(?:token|session|credentials?|signature|request|jwt|auth\w*) (?:\w+ )?expired",
            "token refresh required",
        ),
        any_of(
            r"expired (?:\w+ )?(?:token|session|credentials?|signature|jwt)\b",
            r"(?:token|session|credential|signature|request|jwt|url|link|authorization)s?\b[\w' ,:]{0,40}?"
            r"\b(?:(?:has|have|is|was|are) )?(?:been )?expired",
        ),
        frozenset({400, 401, 403}),
    ),
    Kind(
        "outdated",
        yes("transient", Wait.SHORT, "what the client was in the midst of is gone; a new try begins anew", SOURCE),
        frozenset({400, 404, 410}),
        any_of("query locator", "search context missing", r"(?:cursor|scroll|iterator|snapshot) (?:id )?expired"),
        any_of(
            "too old resource version",
            r"continue (?:parameter|token) is too old",
            r"upload session\b[\w' ]{0,20} (?:no longer|expired|terminated|not found)",
        ),
        message_overrules=frozenset({410}),
    ),
    Kind(
        "leaving",
        yes("transient", Wait.MEDIUM, "one of the same name is still being deleted", SOURCE),
        frozenset(),
        message=any_of(
            r"being (?:deleted|removed|terminated)\b.{0,200}?\balready exists\b",
            r"already exists\b.{0,200}?\bbeing (?:deleted|removed|terminated)\b",
        ),
        message_overrules=frozenset({400, 409}),
    ),
    Kind(
        "not_empty",
        no("data", "it is not empty", SOURCE),
        WRONG_REQUEST,
        any_of(r"not empty\b"),
        any_of(r"(?:is|are) not empty\b"),
        frozenset({409}),
    ),
    Kind(
        "exists",
        no("data", "it already exists, perhaps from an earlier try", SOURCE),
        WRONG_REQUEST | OK,
        any_of(r"already (?:\w+ )?exist", "already owned", "duplicate", "not unique", r"exists\b"),
        any_of(
            r"already (?:\w+ )?(?:exists?|taken|registered|in use|been created)\b",
            r"duplicate (?:key|entry|entity|record|row|name|value|item|object|resource|id)",
            "unique constraint",
        ),
        frozenset({400, 409, 422}),
    ),
    Kind(
        "contended",
        yes("transient", Wait.SHORT, "a lock, a conflict or other work is in the way", SOURCE),
        _AMBIGUOUS | OK,
        any_of(
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
        any_of(
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
        depends("transient", Wait.MEDIUM, "not possible in the state that it is in, perhaps not yet", SOURCE, 3),
        _AMBIGUOUS,
        any_of(r"invalid (?:\w+ ){0,4}state\b", r"incorrect (?:\w+ ){0,4}state\b"),
        any_of(r"not in (?:an? |the )?(?:\w+ ){0,2}state\b"),
        frozenset({400, 409, 412}),
    ),
    Kind(
        "no_capacity",
        yes("transient", Wait.LONG, "the service has no capacity left for now", SOURCE),
        _AMBIGUOUS | frozenset({498, *range(500, 600)}) | OK,
        any_of(
            r"(?:insufficient|out of|unfulfillable|no) (?:\w+ ){0,3}capacity",
            r"capacity (?:\w+ )?(?:exceeded|exhausted|not available)",
            r"(?:zonal )?allocation failed",
            "pool exhausted",
            "stockout",
        ),
    ),
    Kind(
        "unavailable",
        yes("transient", Wait.SHORT, "the service could not answer for now", SOURCE),
        _AMBIGUOUS | OK,
        any_of(
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
        any_of(
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
        no("resource", "there is no such thing", SOURCE),
        _NOT_A_CONFLICT | OK,
        any_of("not found", "no such", "does not exist", "nonexistent", "unknown (?:table|bucket|resource|index)"),
    ),
    Kind(
        "refused",
        no("auth", "the credentials were refused", SOURCE),
        _NOT_A_CONFLICT | OK,
        any_of(
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
        no("permanent", "a certificate on the way is not trusted", SOURCE),
        frozenset(),
        message=any_of("x509: certificate", "certificate (?:verify failed|signed by unknown authority)"),
        message_overrules=frozenset({500}),
    ),
    Kind(
        "refused_behind",
        no("auth", "a service behind it refused the credentials", SOURCE),
        frozenset(),
        message=any_of(
            "unauthorized: (?:incorrect username|authentication required|access to)|incorrect username or password",
            "pull access denied|requested access to the resource is denied|no basic auth credentials",
        ),
        message_overrules=frozenset({500}),
    ),
    Kind(
        "unfit_host",
        no("permanent", "the host cannot run what was asked for", SOURCE),
        frozenset(),
        message=any_of(
            "could not select device driver|unknown or invalid runtime name",
            r"exec format error|executable file not found in \$path",
        ),
        message_overrules=frozenset({500}),
    ),
    Kind(
        "invalid",
        no("data", "the request itself is wrong", SOURCE),
        _NOT_A_CONFLICT | OK,
        any_of(
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
