"""From the facts of one answer to signals: the SDK's verdict, the vendor's code, the status."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from airflow_common_ai.evidence.model import Fact, Rank, Retry, Signal, Strength, Wait
from airflow_common_ai.evidence.protocols.http.body import without_phrase
from airflow_common_ai.evidence.protocols.http.status import OUTCOME_UNKNOWN, PHRASES, status_meaning
from airflow_common_ai.evidence.protocols.http.vendor_codes import CLOUDFLARE_CODES, find_vendor_code, squash
from airflow_common_ai.evidence.protocols.http.wait_headers import has_no_budget_left, retry_after_s, window_s
from airflow_common_ai.evidence.protocols.http.words import Kind, kind_of_code, kind_of_message
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.sql.states import find_sqlstate
from airflow_common_ai.evidence.protocols.text.asked_delay import read_asked_delay

__all__ = ["judge"]

_CODE_FACTS = (
    "http.body.reason",
    "http.body.code",
    "http.header.x-ms-error-code",
    "http.header.x-amzn-errortype",
    "http.header.x-ms-copy-source-error-code",
    "http.body.type",
    "http.body.status",
)
"""The most telling first: Google's reason before its code, OpenAI's code before its type."""

_LIMITING = frozenset({403, 420, 429, 430, 503, 529})
"""Statuses by which services throttle. Budget headers come with every answer, a 404 too, and explain only these."""
_WAITABLE = frozenset({403, 408, 409, 412, 413, 420, 421, 423, 424, 425, 429, 430, *range(500, 600)})
"""What a ``Retry-After`` makes temporary; with any other status it buys one retry."""
_TEMPORARY = ("rate_limit", "transient", "network")
_VAGUE_KINDS = ("contended", "invalid")
"""A ``ResourceConflictException`` whose message says "already exists" is no lost race."""
_VAGUE_CODES = ("FAILED_PRECONDITION", "INVALID_ARGUMENT", "PERMISSION_DENIED", "ALREADY_EXISTS")
"""Google says so of a cluster that is still being updated, too: then its message is believed."""
_SERVER_FAILED = ("internalError", "INTERNAL")
"""Kubernetes says so of a webhook whose certificate has expired: what the message names as final is believed."""
_NARROWER_KINDS = ("daily", "monthly", "too_large", "full", "no_room")
"""What the message of a rate limit may say: no wait of minutes helps."""
_TELLING_KINDS = (*_NARROWER_KINDS, "leaving", "wrong_clock")
"""What a message says better than any code beside it."""
_MAX_BODY_WAIT_S = 1e12
_MAX_MESSAGE_CHARS = 4096

_BROKEN_ANSWER = yes(
    "network", Wait.SHORT, "the answer was cut off or garbled on its way", "aiohttp 3.14.5; RFC 9112 §8"
)
_COME_BACK = "RFC 9110 §10.2.3"
_TURNED_AWAY = yes("transient", Wait.MEDIUM, "turned away for now", _COME_BACK)
_THROTTLED = yes("rate_limit", Wait.MEDIUM, "rate limited", "RFC 9110 §10.2.3; GitHub REST API docs")
_GITHUB_SECONDARY = yes("rate_limit", Wait.MEDIUM, "GitHub's secondary rate limit was hit", "GitHub REST API docs")
_NAMESPACE_QUOTA = yes("transient", Wait.MEDIUM, "the namespace's quota is in use", "Kubernetes resource quotas")
_MOVED_PARTITION = yes("transient", Wait.NOW, "the partition has moved", "azure-cosmos, 410 with x-ms-substatus")
_TOKEN_REFUSED = depends("auth", Wait.SHORT, "the token has expired or was refused", "RFC 6750 §3.1")
_HTML = depends("network", Wait.SHORT, "an HTML page came instead of data", "judgement", max_attempts=3)
_LOGIN = depends("auth", Wait.SHORT, "a login page came instead of data", "judgement")

_LOGIN_PATH = re.compile(r"/(?:login|log-in|signin|sign-in|sso|saml2?|oauth2?|authorize|auth)\b", re.IGNORECASE)
_GITHUB_WORDS = re.compile(r"secondary rate limit|abuse detection mechanism", re.IGNORECASE)
_STATUS_BY_CODE = {squash(phrase): status for status, phrase in PHRASES.items()} | {"resourceexhausted": 429}
"""A client that keeps no status may keep its phrase as the code: ``BAD_REQUEST``."""
_NAMESPACE_WORDS = re.compile(r"exceeded quota: ")
_WRITING_METHODS = frozenset({"POST", "PATCH"})


def judge(facts: Mapping[str, Fact], message: str, observed_at: datetime) -> Iterator[Signal]:
    """
    Yield the signals of one answer, the strongest rank first.

    :param facts: ``http.…`` facts, probed from a live exception or printed into its message.
    :param message: The exception's own message: some clients keep the body nowhere else.
    """
    if facts.get("http.broken_answer"):
        yield _BROKEN_ANSWER.signal("http.broken_answer", Rank.STATUS)
        return
    answer = _Answer(facts, message[:_MAX_MESSAGE_CHARS], observed_at)
    yield from _verdict(answer)
    yield from _vendor_code(answer)
    yield from _status(answer)


@dataclass(frozen=True)
class _Answer:
    facts: Mapping[str, Fact]
    own_message: str
    observed_at: datetime

    @cached_property
    def status(self) -> int | None:
        status = self.facts.get("http.status")
        return status if type(status) is int else None

    @cached_property
    def headers(self) -> dict[str, Fact]:
        prefix = "http.header."
        return {name.removeprefix(prefix): fact for name, fact in self.facts.items() if name.startswith(prefix)}

    @cached_property
    def codes(self) -> list[str]:
        found = [self.facts.get(name) for name in _CODE_FACTS]
        codes = [without_phrase(code.partition(":http")[0], self.status) for code in found if isinstance(code, str)]
        return [code for code in codes if code]

    @cached_property
    def message(self) -> str:
        parts = (self.facts.get("http.body.message"), self.facts.get("http.body"), self.own_message)
        return "\n".join(part for part in parts if isinstance(part, str))

    @cached_property
    def message_kind(self) -> Kind | None:
        status = self.status or next((_STATUS_BY_CODE.get(squash(code)) for code in self.codes), None)
        return None if status is None else kind_of_message(self.message, status)

    @cached_property
    def kind(self) -> Kind | None:
        """What the words of the codes, else of the message, say about this status."""
        kinds = (kind_of_code(code, self.status) for code in self.codes)
        of_code, of_message = next(filter(None, kinds), None), self.message_kind
        if of_code is None or of_message is None:
            return of_code or of_message
        is_refined = of_code.name in _VAGUE_KINDS or of_message.name in _TELLING_KINDS
        return of_message if is_refined else of_code

    @cached_property
    def explicit_delay_s(self) -> float | None:
        """What was asked for outright: by ``Retry-After``, in the body or in the words of the message."""
        if (asked := retry_after_s(self.headers, self.observed_at)) is not None:
            return asked
        body = self.facts.get("http.body.retry_after_s")
        if isinstance(body, int | float) and abs(body) < _MAX_BODY_WAIT_S:
            return max(0.0, float(body))
        return read_asked_delay(self.message, self.observed_at)

    @property
    def asked_delay_s(self) -> float | None:
        """Where 0 s are asked for outright, a budget that comes back later knows better."""
        if self.explicit_delay_s or self._window_s is None:
            return self.explicit_delay_s
        return self._window_s

    @cached_property
    def _window_s(self) -> float | None:
        says_limited = self.status in (420, 429, 430) or (
            self.kind is not None and self.kind.meaning.category == "rate_limit"
        )
        if self.status not in _LIMITING and not says_limited:
            return None
        return window_s(self.headers, self.observed_at, is_rate_limited=says_limited)


def _verdict(answer: _Answer) -> Iterator[Signal]:
    said = str(answer.facts.get("http.header.x-should-retry", "")).lower()
    if said not in ("true", "false"):
        return
    found = _find_vendor_meaning(answer) or _explained_by_words(answer) or _bare_status(answer)
    if found is None:
        return
    _, meaning = found
    source = "x-should-retry; openai 3.57.0, anthropic 2.14.0"
    if said == "true":
        wait = Wait.SHORT if meaning.is_final else meaning.wait
        verdict = yes(meaning.category, wait, meaning.sentence, source)
        yield verdict.signal("http.should_retry", Rank.VERDICT, answer.asked_delay_s)
    elif answer.explicit_delay_s is None:
        # With a wait beside it, "false" ends the client's own loop of seconds, and the wait is meant for us.
        verdict = no(meaning.category, f"{meaning.sentence}; the server says not to retry", source)
        yield verdict.signal("http.should_not_retry", Rank.VERDICT)


def _vendor_code(answer: _Answer) -> Iterator[Signal]:
    if (found := _find_vendor_meaning(answer)) is None:
        return
    detail, meaning = found
    if meaning.category == "rate_limit":
        if answer.asked_delay_s is not None:
            meaning = replace(meaning, retry=Retry.YES, max_attempts=None)
        elif answer.message_kind is not None and answer.message_kind.name in _NARROWER_KINDS:
            meaning = replace(answer.message_kind.meaning, source=meaning.source)
    yield _after_spent_retries(answer, meaning).signal(f"http.{detail}", Rank.VENDOR_CODE, answer.asked_delay_s)


def _find_vendor_meaning(answer: _Answer) -> tuple[str, Meaning] | None:
    cloudflare = answer.facts.get("http.body.cloudflare_code")
    if isinstance(cloudflare, int) and cloudflare in CLOUDFLARE_CODES:
        return f"cloudflare.{cloudflare}", CLOUDFLARE_CODES[cloudflare]
    if answer.status in (403, 429) and _GITHUB_WORDS.search(answer.message):
        return "github.secondary_rate_limit", _GITHUB_SECONDARY
    if answer.status == 403 and _NAMESPACE_WORDS.search(answer.message):
        return "kubernetes.exceeded_quota", _NAMESPACE_QUOTA
    if answer.status == 410 and "x-ms-substatus" in answer.headers:
        return "cosmos.gone", _MOVED_PARTITION
    if isinstance(state := answer.facts.get("http.body.sqlstate"), str) and (meaning := find_sqlstate(state)):
        return f"sql.{state}", meaning
    for code in answer.codes:
        found = find_vendor_code(code, answer.status)
        if found is not None and not _message_says_more(answer, found[0]):
            return found
    return None


def _message_says_more(answer: _Answer, code: str) -> bool:
    kind = answer.message_kind
    if kind is None:
        return False
    return (code in _VAGUE_CODES and not kind.meaning.is_final) or (code in _SERVER_FAILED and kind.meaning.is_final)


def _status(answer: _Answer) -> Iterator[Signal]:
    found = _page_instead_of_data(answer) or _explained_by_words(answer) or _bare_status(answer)
    if found is None:
        return
    code, meaning = found
    if answer.asked_delay_s is not None:
        meaning = _with_wait(answer, meaning)
    meaning = _after_spent_retries(answer, meaning)
    if answer.status in OUTCOME_UNKNOWN and answer.facts.get("http.method") in _WRITING_METHODS:
        meaning = replace(meaning, sentence=f"{meaning.sentence}; what was sent may have been carried out")
    yield meaning.signal(code, Rank.STATUS, answer.asked_delay_s)


def _page_instead_of_data(answer: _Answer) -> tuple[str, Meaning] | None:
    """A 2xx that still made the client raise: a proxy, a portal or a login form answered."""
    if answer.status is None or not 200 <= answer.status < 400:
        return None
    landed_on = answer.facts.get("http.landed_on")
    is_login = isinstance(landed_on, str) and _LOGIN_PATH.search(landed_on)
    if is_login or answer.facts.get("http.body.has_password_field"):
        return "http.login_page", _LOGIN
    if str(answer.headers.get("content-type", "")).lower().startswith("text/html"):
        return "http.html_instead_of_data", _HTML
    return None


def _explained_by_words(answer: _Answer) -> tuple[str, Meaning] | None:
    kind = answer.kind
    if kind is None or (kind.name in ("spent", "unpaid") and answer.asked_delay_s is not None):
        # A limit that names its end is no empty account, whatever its message says about plans and billing.
        return None
    if answer.status is None:
        return f"http.{kind.name}", kind.meaning
    row = status_meaning(answer.status)
    said = (kind.meaning.category, kind.meaning.retry, kind.meaning.wait)
    if row is not None and said == (row.category, row.retry, row.wait):
        return f"http.{answer.status}", row
    return f"http.{answer.status}.{kind.name}", kind.meaning


def _bare_status(answer: _Answer) -> tuple[str, Meaning] | None:
    status = answer.status
    if status is None:
        return ("http.retry_after", _THROTTLED) if answer.asked_delay_s is not None else None
    code = f"http.{status}"
    if status == 403 and has_no_budget_left(answer.headers):
        return f"{code}.throttled", _THROTTLED
    if status == 401 and "invalid_token" in str(answer.headers.get("www-authenticate", "")):
        return f"{code}.expired", _TOKEN_REFUSED
    if status >= 500 and (blamed := _blamed_on_the_request(answer)) is not None:
        return f"{code}.{blamed.name}", replace(blamed.meaning, retry=Retry.DEPENDS, wait=Wait.SHORT, max_attempts=3)
    meaning = status_meaning(status)
    if meaning is None:
        return None
    if status == 400 and answer.codes:
        # A code that nobody here knows: AWS throttles with 400, Databricks waits for locks with it.
        meaning = replace(meaning, strength=Strength.HINT)
    return code, meaning


def _blamed_on_the_request(answer: _Answer) -> Kind | None:
    """A 5xx whose code blames us, as Lambda's 502 with ``InvalidZipFileException`` does."""
    kinds = [kind for code in answer.codes if (kind := kind_of_code(code)) is not None]
    return next((kind for kind in kinds if kind.meaning.is_final), None)


def _after_spent_retries(answer: _Answer, meaning: Meaning) -> Meaning:
    """A client that has tried for some seconds already need not be followed by another try in some seconds."""
    is_early = bool(answer.facts.get("http.retries_spent")) and meaning.wait in (Wait.NOW, Wait.SHORT)
    return replace(meaning, wait=Wait.MEDIUM) if is_early else meaning


def _with_wait(answer: _Answer, meaning: Meaning) -> Meaning:
    """A server that names a time wants another try then; how sure that is depends on the status."""
    if meaning.retry is Retry.YES and meaning.strength is Strength.CONCLUSIVE:
        return meaning
    if answer.status in _WAITABLE or meaning.category == "rate_limit":
        temporary = _THROTTLED if answer.status in _LIMITING else _TURNED_AWAY
        if meaning.category not in _TEMPORARY:
            return temporary
        return replace(meaning, retry=Retry.YES, max_attempts=None, strength=Strength.CONCLUSIVE)
    if meaning.is_final:
        return depends(meaning.category, Wait.MEDIUM, meaning.sentence, _COME_BACK)
    return meaning
