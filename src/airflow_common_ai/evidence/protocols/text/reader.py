"""What stands only in words: the last resort, over the message and the notes of a node.

A phrase counts only as prose (:mod:`.prose`), not where it is denied (``not a timeout``), and only as a hint
where it is doubted (``may be rate limited``) or vague. Of overlapping phrases the longest counts:
``lock wait timeout exceeded`` is no timeout. In the middle of a log everything is a hint.

Where phrases of one message disagree about retrying, a product's own sentence is believed over general
expressions, but one that fails the task only if it is the last word: libpq that was refused on ``::1`` and then
told ``password authentication failed`` by ``127.0.0.1`` did reach the server. Else all of them are hints.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import islice

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Strength, Wait
from airflow_common_ai.evidence.protocols.text.asked_delay import read_asked_delay
from airflow_common_ai.evidence.protocols.text.limits import LIMIT, WORDS_OF_ART, read_kind_of_limit
from airflow_common_ai.evidence.protocols.text.patterns import TOPICS, Form, Pattern, Topic, compile_phrase
from airflow_common_ai.evidence.protocols.text.prose import both_ends, read_prose

__all__ = ["probe", "read"]

_ASKED_TO_WAIT = Topic(
    "asked_to_wait",
    "transient",
    Retry.YES,
    Wait.MEDIUM,
    "the message asks to be tried again after a while",
    (),
)

_END_SENTENCES = 8
"""How many sentences or lines at either end of a text are believed."""

_MAX_REPEATS = 50
"""Of one phrase; what says it more often says no more."""

_FILLERS = (
    "a|an|the|any|due|to|caused|by|because|of|actually|be|been|related|return|returned|raise|raised|see|seen"
    "|get|got|hit|receive|received|report|reported|error|errors"
)
_DENIED = re.compile(
    r" (?:no|not|without|never|neither|nor|non|isn't|wasn't|aren't|weren't|doesn't|didn't|hasn't|haven't|don't)"
    rf"(?: (?:{_FILLERS})){{0,4}}$"
)
_DOUBTED = re.compile(
    r" (?:if|whether|may|might|maybe|perhaps|possibly|probably|likely|unless|until|avoid|prevent|possible|potential)"
    rf"(?: (?:{_FILLERS})){{0,4}}$"
)
_DENIED_AFTERWARDS = re.compile(
    r"(?: (?:errors?|was|were|is|are|has|have|did|does)){1,3} (?:not|never) "
    r"| (?:is|was|are|were) (?:disabled|impossible|ruled) "
)
# `timeout setting`, `timeout must be positive`: talked about, did not happen.
_TALKED_ABOUT = re.compile(
    r" (?:settings?|parameters?|options?|values?|policy|config|configuration|configured|handler|argument"
    r"|property|must|should|may|can|cannot|field|column) "
)
_ASKS = re.compile(r"\b(?:retry|again|request)$")
_FOR_A_CHANGE = re.compile(
    r" (?:(?:your|the|this) (?:request|call|operation|query) )?(?:with|using)"
    r" (?!(?:\S+ )?(?:exponential|backoff|jitter))"
)
"""`retry your request with another model`: in another way, not later."""
_TALK_BEFORE = re.compile(r" (?:column|field|parameter|option|argument|setting|named|called|default|invalid|set)$")


@dataclass(frozen=True, slots=True)
class _Mention:
    topic: Topic
    form: Form
    source: str
    start: int
    end: int

    @property
    def weight(self) -> tuple[int, Form, bool]:
        return (self.end - self.start, self.form, self.topic is not LIMIT)


def probe(exception: BaseException) -> dict[str, Fact]:
    """Words need no probe: the message and the notes are collected for every node."""
    return {}


def read(node: RedactedNode, observed_at: datetime) -> Iterable[Signal]:
    if node.is_a("KeyError"):
        # Its message is the key that was not found: a name, whatever it reads like.
        return
    text = both_ends(node.message)
    if node.notes:
        text = f"{text}\n{both_ends(chr(10).join(node.notes))}"
    if not text:
        return
    prose = read_prose(text, _words_of_art())
    mentions = _settle(_find_mentions(prose), prose)
    asked_delay_s = read_asked_delay(text, observed_at)
    if asked_delay_s is not None and not _is_retried_anyway(mentions):
        # Whoever names a time means it, whatever else the message says.
        mentions.append(_Mention(_ASKED_TO_WAIT, Form.VENDOR, "vendors' APIs", 0, 0))
    yield from _signals(mentions, asked_delay_s)


def _is_retried_anyway(mentions: Iterable[_Mention]) -> bool:
    retries = {mention.topic.retry for mention in mentions if mention.form > Form.VAGUE}
    return bool(retries) and Retry.NO not in retries


def _find_mentions(prose: str) -> list[_Mention]:
    """Find every phrase that is meant, the longest of those that overlap."""
    mentions = [
        _Mention(topic, pattern.form, pattern.source, match.start(), match.end())
        for pattern, topic in _candidates(set(prose.split()))
        for match in islice(compile_phrase(pattern.phrase).finditer(prose), _MAX_REPEATS)
    ]
    mentions.sort(key=lambda mention: mention.weight, reverse=True)
    taken = bytearray(len(prose))
    meant: list[_Mention] = []
    for mention in mentions:
        if taken.find(1, mention.start, mention.end) < 0:
            # A denied phrase keeps its place: the shorter ones in it are denied with it.
            taken[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
            form = _form_in_context(mention, prose)
            if form is not None:
                meant.append(mention if form is mention.form else replace(mention, form=form))
    return meant


def _candidates(words: set[str]) -> Iterator[tuple[Pattern, Topic]]:
    """Yield the patterns of which every word is there; in an ordinary message that is a handful."""
    by_key = _patterns_by_key()
    for key in sorted(words & by_key.keys()):  # a set has another order in each process
        for pattern, topic, required in by_key[key]:
            if not any(map(words.isdisjoint, required)):
                yield pattern, topic


def _form_in_context(mention: _Mention, prose: str) -> Form | None:
    """Return how surely a phrase means what it says where it stands, ``None`` if not at all."""
    form, start, end = mention.form, mention.start, mention.end
    before, after = prose[max(0, start - 60) : start], prose[end : end + 40]
    if _DENIED.search(before) or _DENIED_AFTERWARDS.match(after):
        return None
    if _FOR_A_CHANGE.match(after) and _ASKS.search(prose, start, end):
        return None
    if form is Form.VAGUE and (_TALKED_ABOUT.match(after) or _TALK_BEFORE.search(before)):
        return None
    is_doubtful = _DOUBTED.search(before) or after.startswith(" yet ") or _is_amid_a_log(prose, start, end)
    return Form.VAGUE if is_doubtful else form


def _is_amid_a_log(prose: str, start: int, end: int) -> bool:
    """Whether many sentences stand before and after: what a log reports there, somebody may have handled."""
    return prose.count(" . ", 0, start) > _END_SENTENCES < prose.count(" . ", end)


def _settle(mentions: Iterable[_Mention], prose: str) -> list[_Mention]:
    """Say which limit was meant, and keep each topic once, by its surest mention and of those the last."""
    best: dict[str, _Mention] = {}
    for mention in mentions:
        if mention.topic is LIMIT:
            kind = read_kind_of_limit(prose, mention.start, mention.end)
            if kind is None:
                continue
            mention = replace(mention, topic=kind[0], form=min(mention.form, kind[1]))
        known = best.get(mention.topic.name)
        if known is None or (mention.form, mention.weight, mention.start) > (known.form, known.weight, known.start):
            best[mention.topic.name] = mention
    return list(best.values())


def _signals(mentions: list[_Mention], asked_delay_s: float | None) -> Iterator[Signal]:
    believed = _believed(mentions)
    milder_first = (Retry.YES, Retry.DEPENDS, Retry.NO)
    mentions.sort(key=lambda m: (-m.form, milder_first.index(m.topic.retry), -m.weight[0], m.start))
    for mention in mentions:
        topic = mention.topic
        asked_s = asked_delay_s if topic.retry is not Retry.NO else None
        yield Signal(
            code=f"text.{topic.name}",
            category=topic.category,
            retry=topic.retry,
            wait=topic.wait,
            rank=Rank.TEXT,
            sentence=topic.sentence,
            source=mention.source,
            strength=Strength.CONCLUSIVE if mention in believed else Strength.HINT,
            asked_delay_s=asked_s,
            max_attempts=topic.max_attempts,
        )


def _believed(mentions: Iterable[_Mention]) -> list[_Mention]:
    mentions = list(mentions)
    sure = [mention for mention in mentions if mention.form > Form.VAGUE]
    if not _disagree(sure):
        # `Authentication failed: the directory did not respond in time`: general words do not fail a task beside
        # even a vague reason why it may pass.
        may_pass = any(m.topic.retry is not Retry.NO and m.topic.category != "auth" for m in mentions)
        return [m for m in sure if m.form is Form.VENDOR or m.topic.retry is not Retry.NO] if may_pass else sure
    surest = [mention for mention in sure if mention.form is Form.VENDOR]
    if not surest or _disagree(surest):
        return []
    first = min(mention.start for mention in surest)
    is_last_word = all(mention.end <= first for mention in sure if mention.topic.retry is Retry.YES)
    return surest if is_last_word or all(mention.topic.retry is not Retry.NO for mention in surest) else []


def _disagree(mentions: Iterable[_Mention]) -> bool:
    return {Retry.YES, Retry.NO} <= {mention.topic.retry for mention in mentions}


_Row = tuple[Pattern, Topic, list[frozenset[str]]]


@cache
def _patterns_by_key() -> dict[str, list[_Row]]:
    """File every pattern under its rarest words; when the first message is read, not when a Dag is parsed."""
    rows: list[_Row] = [
        (pattern, topic, pattern.required()) for topic in (*TOPICS, LIMIT) for pattern in topic.patterns
    ]
    uses = Counter(word for _, _, required in rows for words in required for word in words)
    by_key: dict[str, list[_Row]] = {}
    for row in rows:
        for key in min(row[2], key=lambda words: sum(uses[word] for word in words)):
            by_key.setdefault(key, []).append(row)
    return by_key


@cache
def _words_of_art() -> frozenset[str]:
    return WORDS_OF_ART.union(*(pattern.words_of_art() for topic in TOPICS for pattern in topic.patterns))
