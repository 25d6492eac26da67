"""What kind of limit a message says was exceeded: its units tell, since all kinds share the words.

``limit exceeded`` may be requests per minute (wait), jobs at a time (wait), bytes (change the data), virtual
CPUs (ask for more) or seconds (change the job).
"""

from __future__ import annotations

import re
from itertools import product

from airflow_common_ai.evidence.model import CategoryName, Retry, Wait
from airflow_common_ai.evidence.protocols.text.patterns.model import Form, Topic, exact

__all__ = ["LIMIT", "WORDS_OF_ART", "read_kind_of_limit"]

WORDS_OF_ART = frozenset({"vCPU", "vCPUs", "KiB", "MiB", "GiB"})
"""Units that would be taken for names."""

LIMIT = Topic(
    "limit",
    "rate_limit",
    Retry.YES,
    Wait.MEDIUM,
    "the message says: some limit was exceeded",
    tuple(
        exact(phrase, "common usage")
        for phrase in (
            "limit|limits|quota|quotas was|were|has|is? been? exceeded|reached|hit|exhausted|surpassed",
            "limit|limits|quota ... exceeded|reached|hit",
            "limit|quota , * ... , exceeded|reached|hit",
            "limit|quota ... has been reached|exceeded",
            "exceeded|exceeds|exceed|exceeding|reached|hit ... limit|limits|quota|quotas|maximum|allowance|threshold",
            "exceeded ... credits|budget",
            "larger|longer|greater|bigger|more than ... maximum|limit|allowed",
            "max|maximum ... exceeded|reached",
            "over|out of? quota|limit",
            "limit exceeded|reached for",
        )
    ),
)
"""Phrases that tell that a limit was hit, but not which."""


def _kind(
    name: str,
    words: str,
    category: CategoryName,
    retry: Retry,
    wait: Wait,
    sentence: str,
    max_attempts: int | None = None,
) -> tuple[re.Pattern[str], Topic]:
    topic = Topic(f"{name}_limit", category, retry, wait, f"the message says: {sentence}", (), max_attempts)
    return re.compile(f" (?:{words})(?= )"), topic


_TIMES = "s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hour|hours"

_KINDS: tuple[tuple[re.Pattern[str], Topic | None], ...] = (
    # A wrapper's own budget of retries says nothing about what it retried.
    (re.compile(r" (?:attempts|retries|retry|tries|redirects|recursion)(?= )"), None),
    _kind(
        "rate",
        rf"per (?:{_TIMES})|rpm|tpm|rps|qps|tps|rate"
        rf"|(?:requests|calls|queries) (?:in|within|every|each) (?:# )?(?:{_TIMES})",
        "rate_limit",
        Retry.YES,
        Wait.MEDIUM,
        "too many requests in a span of time",
    ),
    _kind(
        "spending",
        "credit|credits|spend|spending|billing|budget|balance|payment",
        "permanent",
        Retry.NO,
        Wait.NONE,
        "a spending limit was reached; a person must raise it",
    ),
    _kind(
        "plan",
        "monthly|per month|plan|tier|upgrade|license|licence|licenses|licences|resource monitor|limit , 0"
        "|limit 0|request an increase",
        "permanent",
        Retry.NO,
        Wait.NONE,
        "what is paid for or granted is used up; a person must raise it",
    ),
    _kind("daily", "per day|daily|rpd|tpd", "rate_limit", Retry.DEPENDS, Wait.RESET, "a daily allowance is used up", 2),
    _kind(
        "concurrency",
        "concurrent|concurrently|concurrency|simultaneous|parallel|connections|sessions|queued|queue|in-flight|active|slots",
        "rate_limit",
        Retry.YES,
        Wait.MEDIUM,
        "too much at the same time",
    ),
    _kind(
        "account",
        "vCPU|vCPUs|vcpu|vcpus|cpu|cpus|gpu|gpus|cores|instance|instances|addresses|clusters|nodes|account|subscription",
        "permanent",
        Retry.DEPENDS,
        Wait.LONG,
        "a quota of the account is used up",
        2,
    ),
    _kind("memory", "memory|heap|ram", "permanent", Retry.DEPENDS, Wait.MEDIUM, "a memory limit was hit", 2),
    _kind("storage", "disk|storage", "permanent", Retry.DEPENDS, Wait.LONG, "a storage limit was hit", 2),
    _kind("quota", "quota|quotas", "rate_limit", Retry.DEPENDS, Wait.LONG, "a quota is used up", 2),
    _kind(
        "size",
        "# (?:bytes?|kb|mb|gb|tb|kib|mib|gib|KiB|MiB|GiB|rows?|records|columns|characters|chars|tokens|parameters)",
        "data",
        Retry.NO,
        Wait.NONE,
        "it is larger than allowed",
    ),
    _kind(
        "request",
        "requests|request limit|calls|queries|operations|updates|api",
        "rate_limit",
        Retry.YES,
        Wait.MEDIUM,
        "too many requests",
    ),
    _kind(
        "length",
        "size|length|payload|packet|body|depth|nesting|message|file|files|items|partitions",
        "data",
        Retry.NO,
        Wait.NONE,
        "it is larger than allowed",
    ),
    _kind(
        "time",
        f"{_TIMES}|time|duration|runtime|walltime|deadline|timeout",
        "permanent",
        Retry.DEPENDS,
        Wait.SHORT,
        "a time limit was hit; the same work takes the same time",
        2,
    ),
)


_REACH_CHARS = 300


def read_kind_of_limit(prose: str, start: int, end: int) -> tuple[Topic, Form] | None:
    """
    Return which limit the sentence around ``prose[start:end]``, or else the one beside it, speaks of.

    :return: The kind, exact if its units are named; ``None`` if it is no limit of a service.
    """
    first = prose.rfind(" . ", 0, start + 1)
    last = prose.find(" . ", end - 1)
    last = len(prose) if last < 0 else last
    before = prose.rfind(" . ", 0, max(first, 0))
    after = prose.find(" . ", last + 1)
    windows = (
        prose[max(first + 1, start - _REACH_CHARS) : min(last + 1, end + _REACH_CHARS)],
        prose[last : len(prose) if after < 0 else after + 1][:_REACH_CHARS],
        prose[before + 1 : first + 1][-_REACH_CHARS:],
    )
    for window, (words, topic) in product(windows, _KINDS):
        if words.search(window):
            return (topic, Form.EXACT) if topic else None
    return LIMIT, Form.VAGUE
