"""What the words of an unknown vendor code, or of an answer's message, say about a status.

``ThrottlingException``, ``QUOTA_VIOLATION`` and ``resource-locked`` need no table to be understood. Words only ever
explain the status that they came with: each kind names the statuses that it may overrule.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["Kind", "kind_of_code", "kind_of_message"]

_SOURCE = "the words of the service's own error"
_SPENT = "the paid quota or the spend limit of the account is used up"

_OK = frozenset({200})
"""An exception about a 200 means that only the body knows of the error."""
_WRONG_REQUEST = frozenset({400, 409, 412, 422})
_NOT_A_CONFLICT = _WRONG_REQUEST - {409}
_AMBIGUOUS = _WRONG_REQUEST | {402, 403, 423, 424, 429}
_LIMITED = frozenset({400, 402, 403, 420, 429, 430})
_ANY_ERROR = frozenset(range(400, 600))


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


_KINDS = (
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
    Kind(
        "expired",
        depends("auth", Wait.SHORT, "the token or the session has expired", _SOURCE),
        frozenset({400, 401, 403}) | _OK,
        _any_of(
            r"expired (?:\w+ )?(?:token|session|credentials?|signature|jwt)",
            r"(?:token|session|credentials?|signature|request|jwt|auth\w*) (?:\w+ )?expired",
            "token refresh required",
            "request time too skewed",
        ),
        _any_of(
            r"expired (?:\w+ )?(?:token|session|credentials?|signature|jwt)\b",
            r"(?:token|session|credential|signature|request|jwt|url|link|authorization)s?\b[\w' ,:]{0,40}?"
            r"\b(?:(?:has|have|is|was|are) )?(?:been )?expired",
        ),
        frozenset({400, 401, 403}),
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
        _AMBIGUOUS | frozenset(range(500, 600)) | _OK,
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
            r"(?:please )?(?:try again|retry)\b",
            r"busy\b",
            r"temporar(?:y|ily)\b",
            r"timed out\b",
            "not (?:yet )?ready",
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

_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_URL = re.compile(r"\bhttps?://\S+")
_MAX_CODE_CHARS = 100
_MAX_MESSAGE_CHARS = 2048


def kind_of_code(code: str, status: int | None = None) -> Kind | None:
    """Return the kind that the words of a vendor's code name, of those that may overrule ``status`` if it is given."""
    words = _WORD_BREAK.sub(" ", code[:_MAX_CODE_CHARS]).lower()
    kinds = (kind for kind in _KINDS if status is None or status in kind.overrules)
    return next((kind for kind in kinds if kind.code and kind.code.search(words)), None)


def kind_of_message(message: str, status: int) -> Kind | None:
    """Return the kind that a message names, of those that may overrule ``status``."""
    text = _URL.sub(" ", message[:_MAX_MESSAGE_CHARS]).lower()
    return next(
        (kind for kind in _KINDS if kind.message and status in kind.message_overrules and kind.message.search(text)),
        None,
    )
