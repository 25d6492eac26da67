"""The kinds of limits that HTTP services tell of: money, months, days, rates, sizes, storage."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.http.kind import ANY_ERROR, OK, SOURCE, WRONG_REQUEST, Kind, any_of
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes

__all__ = ["LIMIT_KINDS"]

_SPENT = "the paid quota or the spend limit of the account is used up"
_LIMITED = frozenset({400, 402, 403, 420, 429, 430})

_STORED = (
    "(?:accounts?|buckets?|buses|catalogs?|columns?|databases?|fields?|functions?|groups?|ind(?:ex|ice)e?s|keys?"
    "|partitions?|policies|projects?|queues?|repositories|roles?|rules?|schemas?|secrets?|tables?|topics?|users?"
    "|versions?|views?|volumes?)"
)
"""What stays until somebody deletes it."""

LIMIT_KINDS = (
    Kind(
        "spent",
        no("permanent", _SPENT, SOURCE),
        _LIMITED | OK,
        any_of("insufficient (?:funds|credits?|balance|quota)", "spend(?:ing)? limit", "credit", "budget exceeded"),
        any_of(
            "insufficient[ _](?:quota|funds|credits?|balance)",
            "credit balance",
            "out of credits?",
            "spend(?:ing)? (?:limit|cap)",
            "budget has been exceeded",
        ),
        frozenset({400, 402, 403, 429}),
    ),
    Kind(
        "too_large",
        no("data", "the request alone is larger than the limit", SOURCE),
        WRONG_REQUEST | {403, 413, 429},
        any_of(
            "(?:size|length) (?:limit )?exceeded", "(?:payload|request|entity|body|batch|item) too (?:large|long|big)"
        ),
        any_of("(?:request|payload) (?:is )?too large", "reduce the (?:amount|size|number) of (?!concurrent|requests)"),
        frozenset({400, 413, 429, 500}),
    ),
    Kind(
        "full",
        no("permanent", "there may be no more of these; a person must delete some or have the limit raised", SOURCE),
        frozenset(),
        message=any_of(
            r"estimated count: \d+, limit: \d+",
            rf"quota for {_STORED}per\w+",
            "cardinality (?:plan )?limit",
            r"exceeds? the maximum number(?: of (?!concurrent|active|running)[\w ]{1,40})? allowed",
            rf"(?:maximum|max|limit on the) number of (?:\w+ )?{_STORED}\b[\w' ]{{0,40}}\b(?:reached|exceeded)",
            rf"(?:reached|exceeded?|exceeds|exceeding) (?:the|your) (?:maximum|limit)[\w' ]{{0,20}} (?:number )?of"
            rf" (?:\d+ )?(?:\w+ )?{_STORED}\b",
        ),
        message_overrules=frozenset({400, 403, 409, 429}),
    ),
    Kind(
        "no_room",
        no("permanent", "the storage of the account is used up; a person must raise it or delete something", SOURCE),
        _LIMITED | {413} | OK,
        any_of("storage (?:space )?(?:limit|quota) (?:exceeded|reached)", "(?:exceeded|insufficient|out of) storage"),
        any_of(
            r"storage (?:space )?(?:limit|quota|capacity)[\w' ]{0,20} (?:exceeded|reached|full)\b",
            r"(?:exceed\w*|reached|over|out of)[\w' ]{0,20} storage (?:space|limit|quota|capacity)\b",
        ),
        frozenset({400, 402, 403, 413, 507}),
    ),
    Kind(
        "monthly",
        no("permanent", "the quota of a month is used up; a person must raise it", SOURCE),
        _LIMITED | OK,
        any_of(r"(?:monthly|yearly|annual) (?:\w+ )?(?:limit|quota)"),
        any_of(
            r"(?:monthly|yearly|annual) [\w -]{0,40}?(?:limit|quota)",
            r"(?:limit(?:ed)?|quota)[\w' :,-]{0,60}?(?: (?:per|a|for the|for this) |/ ?)(?:month|year)\b",
        ),
        frozenset({403, 420, 429, 430}),
    ),
    Kind(
        "daily",
        depends("rate_limit", Wait.RESET, "the quota of a day is used up", SOURCE),
        _LIMITED | OK,
        any_of(r"daily (?:\w+ )?(?:limit|quota)"),
        any_of(
            r"daily [\w -]{0,40}?(?:limit|quota)",
            r"(?:limit|quota)[\w' :,-]{0,60}? (?:per|a|for the) day\b",
            r"per ?day\b",
        ),
        frozenset({403, 420, 429, 430}),
    ),
    Kind(
        "throttled",
        yes("rate_limit", Wait.MEDIUM, "rate limited", SOURCE),
        ANY_ERROR | OK,
        any_of(
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
        any_of(
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
        ANY_ERROR,
    ),
    # After the rates: "too many requests per minute, see your billing page for more" is one.
    Kind(
        "unpaid",
        no("permanent", _SPENT, SOURCE),
        _LIMITED | OK,
        any_of("billing", "payment"),
        any_of("billing", "payment required", "subscription has (?:expired|ended)"),
        frozenset({400, 402, 403, 429}),
    ),
    Kind(
        "account_quota",
        depends("permanent", Wait.LONG, "a quota of the account is used up", SOURCE),
        frozenset({400, 402, 403}) | OK,
        any_of("quota", "limit exceeded"),
        any_of(r"exceed\w*[\w' ]{0,40} quota\b", r"quota[\w' ]{0,40} exceeded\b"),
        frozenset({402, 403}),
    ),
    Kind(
        "quota",
        depends("rate_limit", Wait.LONG, "a quota is used up", SOURCE),
        frozenset({420, 429, 430}),
        any_of("quota", "limit exceeded"),
    ),
)
"""In the order in which they are looked for: ``rate limit exceeded`` before ``limit exceeded``."""
