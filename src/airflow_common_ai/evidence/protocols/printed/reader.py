"""Codes that vendors print into their messages: ``'reason': 'OOMKilled'``, ``ORA-01017``, ``(SQLSTATE 40001)``.

A code counts where codes stand: as the value of a key such as ``reason``, in brackets, before the colon at the
start, after the colon at the end of a line. Elsewhere only if it is unmistakable, and then never to fail a task:
``AccessDenied`` in a sentence may be the name of anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Strength
from airflow_common_ai.evidence.protocols.meaning import Meaning
from airflow_common_ai.evidence.protocols.printed.code_table import NAMED_CODES, NUMBERED_CODES
from airflow_common_ai.evidence.protocols.sql.states import find_sqlstate
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["probe", "read"]

_WINDOW_CHARS = 8192
"""A pod that was printed whole says at its end, some kilobytes long, why it stopped."""

_WORD = re.compile(r"[A-Z][A-Za-z0-9_]{3,60}(?::[A-Z]{3,10})?")
_KEY_BEFORE = re.compile(
    # ECS prints `lastStatus: STOPPED` for every task, so not every status is one.
    r"(?:(?<![a-z])(?:code|type|name|status|error)|error[_ ]?(?:code|name|type)|stop_?code|reason|state)"
    r"(?:[\"']?\s*[:=]\s*[\"']?|\s+[\"'])(?:[\w.]{1,80}[#.])?$",
    re.IGNORECASE,
)
_UNMISTAKABLE = re.compile(r"[A-Z]{1,3}[a-z0-9]+[A-Z][A-Za-z]*|[A-Z]{3,}[a-z][A-Za-z]+|[A-Z]{2,}_[A-Z0-9_]+")
_CONDITION_BEFORE = re.compile(r"\[[A-Z_]{3,60}\.$")
"""Spark: ``[FAILED_READ_FILE.FILE_NOT_EXIST]``."""
_NAME_BEFORE = re.compile(r"[\w./-]$")
_LINE_END = re.compile(r"[ \t]*(?:\n|$)")

_NUMBERED = re.compile(r"(?<![A-Za-z])(?:ORA|DPY|DPI)-\d{4,5}(?!\d)|AADSTS\d{5,7}(?!\d)")
_NUMBERED_MARKS = ("ORA-", "DPY-", "DPI-", "AADSTS")
_SQLSTATE = re.compile(
    r"SQL ?(?:STATE|state)[\[(:= ]{1,3}['\"]?([0-9A-Z]{5})\b|ERROR \d{4,5} \(([0-9A-Z]{5})\)|^\('([0-9A-Z]{5})', "
)
_SQLSTATE_MARKS = ("SQL", "ERROR ", "('")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Printed codes need no probe: they are in the message."""
    return {}


def read(node: RedactedNode, observed_at: datetime) -> Iterable[Signal]:
    found: dict[str, tuple[Meaning, Rank]] = {}
    for code, meaning, rank in _find(both_ends(node.message, _WINDOW_CHARS)):
        found.setdefault(code, (meaning, rank))
    retries = {meaning.retry for meaning, _ in found.values()}
    strength = Strength.HINT if {Retry.YES, Retry.NO} <= retries else Strength.CONCLUSIVE
    for code, (meaning, rank) in sorted(found.items(), key=lambda item: item[1][0].retry is not Retry.YES):
        yield (meaning if strength is Strength.CONCLUSIVE else replace(meaning, strength=strength)).signal(code, rank)


def _find(text: str) -> Iterator[tuple[str, Meaning, Rank]]:
    is_numbered = any(map(text.__contains__, _NUMBERED_MARKS))
    for match in _NUMBERED.finditer(text) if is_numbered else ():
        if numbered := NUMBERED_CODES.get(match[0]):
            yield *numbered, Rank.VENDOR_CODE
    holds_sqlstate = any(map(text.__contains__, _SQLSTATE_MARKS))
    for match in _SQLSTATE.finditer(text) if holds_sqlstate else ():
        state = next(filter(None, match.groups()))
        if meaning := find_sqlstate(state, text):
            yield f"sql.{state}", meaning, Rank.VENDOR_CODE
    is_named = not NAMED_CODES.keys().isdisjoint(_WORD.findall(text))
    for match in _WORD.finditer(text) if is_named else ():
        named = NAMED_CODES.get(match[0])
        if named and _is_code(match, may_fail=named[1].retry is Retry.NO):
            yield *named, Rank.VENDOR_CODE


def _is_code(word: re.Match[str], *, may_fail: bool) -> bool:
    text, start, end = word.string, word.start(), word.end()
    before, after, rest = text[max(0, start - 120) : start], text[end : end + 1], text[end + 1 : end + 2]
    if text.startswith(" desc = ", end):
        return False  # gRPC's, which has a reader of its own
    if _KEY_BEFORE.search(before):
        # `reason: Evicted` is a code, `error: Interrupted by …` the beginning of a sentence.
        return after != " " or before[-1] in "\"'" or not word[0][1:].islower()
    if before.endswith("[") or _CONDITION_BEFORE.search(before):
        return after in ("]", ".")
    if before.endswith(": ") and _LINE_END.match(text, end):
        return True
    if not before and after == ":":
        return True
    is_part_of_name = bool(_NAME_BEFORE.search(before)) or after in ("/", "-", "(") or (after == "." and rest.isalnum())
    return not may_fail and not is_part_of_name and bool(_UNMISTAKABLE.fullmatch(word[0]))
