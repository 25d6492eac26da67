"""Secrets in SQL: what is stored in a column named ``password``, what a user is identified by."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.names import Name, kind_of_name
from airflow_common_ai.evidence.secret_patterns.shapes import is_placeholder, reads_like_prose
from airflow_common_ai.evidence.secret_patterns.spans import Span, places_of

__all__ = ["find_bound_secrets", "find_inserted_secrets", "find_sql_passwords"]

_PASSWORDS = ("password", "passphrase", "passwd", "pwd")
_KEYS = (
    *("secret_access_key", "secret_key", "session_token", "access_key_id", "aws_key_id", "aws_token"),
    *("encryption_key", "master_key"),
)
_LISTED = ("secret", "key_id")
"""Options of a secret in DuckDB, behind a comma or a bracket."""
_LITERAL = r"(?:'(?P<single>(?:[^'\n]|'')+)'|\"(?P<double>[^\"\n]+)\")"
_BEHIND_WORD = re.compile(
    rf"(?:\s{{1,4}}encrypted)?\s{{1,4}}{_LITERAL}|\s{{0,4}}\(\s{{0,4}}'(?P<argument>[^'\n]+)'\s{{0,4}}\)"
)
_IDENTIFIED_BY = re.compile(
    rf"identified\s{{1,4}}(?:with\s{{1,4}}\w{{1,60}}\s{{1,4}})?by\s{{1,4}}(?:values\s{{1,4}})?(?:{_LITERAL}|(?P<bare>[^\s\"';]+))"
)
_FOR_USER = re.compile(
    rf"password\s{{1,4}}for\s{{1,4}}\S{{1,130}}\s{{0,4}}=\s{{0,4}}(?:password\s{{0,4}}\()?{_LITERAL}"
)
_MANAGES_USER = re.compile(r"\b(?:(?:create|alter)\s+user|grant)\s[^\n]*$")
_MAX_BEFORE_CHARS = 300
"""``WITH PASSWORD '…'``, ``IDENTIFIED BY '…'`` and the credentials of ``COPY``."""

_INSERT = re.compile(r"\binsert\s+into\s+[^\s(]{1,128}\s{0,8}\((?P<columns>[^()]{1,4000})\)\s{0,8}values\s{0,8}(?=\()")
_PARAMETERS = re.compile(r"\[parameters:\s{0,4}\[?(?=\()")
_PLACEHOLDER = r"(?:\?|%s|:\d{1,4}|\$\d{1,4})(?!\w)"
_BOUND = re.compile(
    rf"(?P<name>[\w.\"`\[\]]{{1,130}})\s{{0,3}}(?:=|<>|!=|\blike\b|\bin\s{{0,3}}\()\s{{0,3}}{_PLACEHOLDER}|{_PLACEHOLDER}"
)
_VALUE = re.compile(
    r"\s*(?:'(?P<single>(?:[^'\\]|''|\\.)*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|"
    r"(?P<bare>[^,()'\"\s][^,()'\"]*(?:\([^()'\"]*\))?))\s*"
)
_MAX_ROWS = 100


def find_sql_passwords(text: str, lowered: str) -> Iterator[Span]:
    """Find literals behind the words that take a password or a key in SQL."""
    for word in (*_PASSWORDS, *_KEYS, *_LISTED):
        for place in places_of([word], lowered):
            before = lowered[max(0, place - 8) : place]
            if before[-1:].isalnum() or (word in _LISTED and before.rstrip()[-1:] not in (",", "(")):
                continue
            match = _BEHIND_WORD.match(lowered, place + len(word))
            if match is not None and (match.lastgroup != "argument" or word in _PASSWORDS):
                yield from _told(match)
    for match in _FOR_USER.finditer(lowered):
        yield from _told(match)
    for place in places_of(["identified"], lowered):
        match = _IDENTIFIED_BY.match(lowered, place)
        if match is not None and _MANAGES_USER.search(lowered, max(0, place - _MAX_BEFORE_CHARS), place):
            yield from _told(match)


def _told(match: re.Match[str]) -> Iterator[Span]:
    group = match.lastgroup
    if group is None or not any(map(str.isalnum, match[group])):
        return
    if not is_placeholder(match[group]) and not reads_like_prose(match[group]):
        yield match.span(group)


def find_inserted_secrets(text: str, lowered: str) -> Iterator[Span]:
    """Find values by the place of their column: in ``VALUES (…)``, or in the parameters that SQLAlchemy shows."""
    parameters = _PARAMETERS.search(lowered)
    for insert in _INSERT.finditer(lowered):
        columns = text[slice(*insert.span("columns"))].split(",")
        secret = {index for index, column in enumerate(columns) if _is_secret_column(column)}
        if not secret:
            continue
        yield from _values_of_rows(text, insert.end(), secret)
        while parameters is not None and parameters.end() < insert.end():
            parameters = _PARAMETERS.search(lowered, parameters.end())
        if parameters is not None:
            yield from _values_of_rows(text, parameters.end(), secret)


def find_bound_secrets(text: str, lowered: str) -> Iterator[Span]:
    """Find values by the place of their mark, ``password = ?``, in the parameters that SQLAlchemy shows behind."""
    start = 0
    for parameters in _PARAMETERS.finditer(lowered):
        start = max(start, lowered.rfind("[sql:", start, parameters.start()))
        marks = _BOUND.finditer(lowered, start, parameters.start())
        secret = {index for index, mark in enumerate(marks) if mark["name"] and _is_secret_column(mark["name"])}
        if secret:
            yield from _values_of_rows(text, parameters.end(), secret)
        start = parameters.end()


def _is_secret_column(column: str) -> bool:
    return kind_of_name(column.strip(" \t\r\n\"'`[]")) in (Name.SECRET, Name.TOKEN, Name.SESSION)


def _values_of_rows(text: str, position: int, secret: set[int]) -> Iterator[Span]:
    for _ in range(_MAX_ROWS):
        if not text.startswith("(", position):
            return
        index = 0
        while (value := _VALUE.match(text, position + 1)) is not None:
            group = value.lastgroup
            if index in secret and group is not None and not is_placeholder(value[group].strip()):
                yield value.span(group)
            position, index = value.end(), index + 1
            if not text.startswith(",", position):
                break
        following = re.compile(r"\)?,\s{0,8}(?=\()").match(text, position)
        if following is None:
            return
        position = following.end()
