"""Secrets in a field of their own beside the one that names them: XML, pydantic's errors, lists of settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from airflow_common_ai.evidence.secret_patterns.names import Name, kind_of_name
from airflow_common_ai.evidence.secret_patterns.shapes import is_placeholder
from airflow_common_ai.evidence.secret_patterns.spans import Span
from airflow_common_ai.evidence.secret_patterns.value_ends import ValueEnds
from airflow_common_ai.evidence.secret_patterns.values import is_secret

__all__ = ["find_listed_settings", "find_rejected_inputs", "find_xml_values"]

_XML = re.compile(
    r"<(?:[a-z][\w.\-]{0,30}:)?(?P<name>[a-z][\w.\-]{1,60})(?:[ ][^<>]{0,300})?>(?P<secret>[^<>]{1,4096})</"
)
_XML_PROPERTY = re.compile(r"<name>(?P<name>[^<>]{1,100})</name>\s{0,20}<value>(?P<secret>[^<>]{1,4096})</value>")
_CELLS = re.compile(
    r">(?P<name>[a-z][\w.\- ]{1,60}):?</(?:td|th|dt|key|name|label|b|strong|span)>\s{0,40}"
    r"(?:<[a-z][^<>]{0,100}>\s{0,20}){1,2}(?P<secret>[^<>]{1,4096})</"
)
"""Tables and lists of HTML pages, and property lists."""

_REJECTED = re.compile(
    r"^(?P<name>[\w.]{1,80})\n[ \t][^\n]{0,200}?input_value="
    r"(?P<secret>'[^'\n]*'|\"[^\"\n]*\"|[^,\n]{1,200}), input_type",
    re.MULTILINE,
)

_QUOTES = r"\\{0,7}[\"']?"
_FIELD_BETWEEN = rf"\w{{1,20}}{_QUOTES}[ ]{{0,4}}[:=][ ]{{0,4}}{_QUOTES}[\w.\-]{{1,40}}{_QUOTES},?\s{{0,40}}{_QUOTES}"
_SETTING = re.compile(
    rf"(?:name|key){_QUOTES}[ ]{{0,4}}[:=][ ]{{0,4}}{_QUOTES}(?P<name>[\w.\-/]{{2,80}}){_QUOTES},?\s{{0,40}}{_QUOTES}"
    rf"(?:{_FIELD_BETWEEN}){{0,2}}(?:parameter)?value{_QUOTES}[ ]{{0,4}}[:=][ ]{{0,4}}"
)
_VARIABLE = re.compile(
    r"variable[ ]{1,4}\"(?P<name>[\w\-]{2,80})\"[ ]{0,4}[{:]{1,2}[^\n=]{0,80}(?:\n[^\n=]{0,80}){0,2}"
    r"\bdefault[ ]{0,20}=[ ]{0,4}"
)
"""As Terraform shows a line of its own source."""


def find_xml_values(text: str, lowered: str) -> Iterator[Span]:
    """Find ``<SecretAccessKey>…</SecretAccessKey>`` and Hadoop's ``<name>…</name><value>…</value>``."""
    for pattern in (_XML, _XML_PROPERTY, _CELLS):
        for match in pattern.finditer(lowered):
            kind = kind_of_name(text[match.start("name") : match.end("name")])
            if kind is not Name.HARMLESS and is_secret(text, match.span("secret"), kind, ":", is_quoted=True):
                yield match.span("secret")


def find_rejected_inputs(text: str, lowered: str) -> Iterator[Span]:
    """Find the value that pydantic shows under the name of its field."""
    for match in _REJECTED.finditer(text):
        if kind_of_name(match["name"]) not in (Name.HARMLESS, Name.PERHAPS) and not is_placeholder(match["secret"]):
            yield match.span("secret")


def find_listed_settings(text: str, lowered: str) -> Iterator[Span]:
    """Find ``{"name": "DB_PASSWORD", "value": "…"}``, as the environment of a container is written, and the like."""
    ends = ValueEnds(text)
    for match in chain(_SETTING.finditer(lowered), _VARIABLE.finditer(lowered)):
        kind = kind_of_name(text[match.start("name") : match.end("name")])
        if kind is Name.HARMLESS:
            continue
        span, is_quoted = ends.value(match.end())
        if is_secret(text, span, kind, "=", is_quoted=is_quoted):
            yield span
