"""Secrets that a store of secrets hands out or takes, under names that say nothing: ``"data": {"value": "…"}``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.shapes import is_placeholder
from airflow_common_ai.evidence.secret_patterns.spans import Span
from airflow_common_ai.evidence.secret_patterns.words import words

__all__ = ["find_stored_secrets"]

_STORE = re.compile(r"vault|hvac|lease_id|\bkind[\"']?: ?[\"']?secret\b")
"""HashiCorp's and Azure's vaults, and secrets in Kubernetes."""

_STRING = (
    r"(?:'(?P<single>(?:[^'\\\n]|\\.){1,4096})'|\"(?P<double>(?:[^\"\\\n]|\\.){1,4096})\""
    r"|(?P<bare>[^\s\"'@,{}\[\]][^\s\"',{}\[\]]*))"
)
_DATA = re.compile(r"[\"']?(?:string)?data[\"']?(?:: ?|=)\{")
_MEMBER = re.compile(
    rf"\s{{0,40}}[\"'](?P<name>[\w.\-/ ]{{1,80}})[\"']\s{{0,4}}:\s{{0,4}}{_STRING}\s{{0,40}}(?:,|(?=\}}))"
)
_MAX_MEMBERS = 50

_VALUE = re.compile(rf"(?<![\w\-])[\"']?value[\"']?(?:: ?(?=[\"'])|=){_STRING}")

_WRITE = re.compile(
    r"\bvault[\"', ]{1,4}(?:kv[\"', ]{1,4})?(?:put|patch|write)[\"', ]"
    r"(?![\"', ]{0,3}(?:auth|sys)/)(?P<given>[^\n|;]{1,400})"
)
_GIVEN = re.compile(rf"(?<=[\s\"'])(?P<name>[\w.]{{1,80}})={_STRING}")

_TABLE = re.compile(r"^key[ ]{2,60}value[ ]{0,9}\r?\n-{3}[ ]{2,60}-{5}[ ]{0,9}\r?\n", re.MULTILINE)
_ROW = re.compile(r"(?P<name>[\w.\-]{1,80})[ ]{2,80}(?P<bare>[^\r\n]{1,4096})(?:\r?\n|$)")
_METADATA = words(
    "created_time custom_metadata deletion_time destroyed lease_duration lease_id lease_renewable refresh_interval "
    "version"
)
_AMOUNT = re.compile(r"[0-9.]{1,12}[a-z]{0,2}")


def find_stored_secrets(text: str, lowered: str) -> Iterator[Span]:
    """Find what stands in the data of a secret, behind ``value`` beside a store, and what ``vault kv put`` is given."""
    if _STORE.search(lowered) is None:
        return
    for data in _DATA.finditer(lowered):
        yield from _listed(_MEMBER, text, data.end())
    for table in _TABLE.finditer(lowered):
        yield from _listed(_ROW, text, table.end())
    for match in _VALUE.finditer(text):
        yield from _told(match)
    for write in _WRITE.finditer(text):
        for match in _GIVEN.finditer(text, *write.span("given")):
            yield from _told(match)


def _listed(entry: re.Pattern[str], text: str, position: int) -> Iterator[Span]:
    for _ in range(_MAX_MEMBERS):
        match = entry.match(text, position)
        if match is None:
            return
        if match["name"] not in _METADATA:
            yield from _told(match)
        position = match.end()


def _told(match: re.Match[str]) -> Iterator[Span]:
    group = next(name for name in ("single", "double", "bare") if match.groupdict().get(name) is not None)
    value = match[group].strip()
    if not is_placeholder(value) and _AMOUNT.fullmatch(value) is None:
        yield match.span(group)
