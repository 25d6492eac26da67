"""Secrets in SQL: what is stored in a column named ``password``, what a user is identified by."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_common_ai.evidence.secret_patterns.names import Name, kind_of_name
from airflow_common_ai.evidence.secret_patterns.shapes import is_placeholder
from airflow_common_ai.evidence.secret_patterns.spans import Span

__all__ = ["find_inserted_secrets", "find_sql_passwords"]

_LITERAL = re.compile(
    r"(?:\b(?:password|passphrase|passwd|pwd|secret_access_key|secret_key|session_token|access_key_id|aws_secret_key"
    r"|aws_key_id|aws_token|encryption_key|master_key)(?:\s+encrypted)?"
    r"|\b(?:create|alter)\s+user\s[^\n]{1,120}?\bidentified\s(?:with\s+\w+\s)?by)"
    r"\s{1,4}(?:'(?P<single>(?:[^'\n]|'')+)'|\"(?P<double>[^\"\n]+)\"|(?<=by )(?P<bare>[^\s\"';]+))"
)
"""``IDENTIFIED BY '…'``, ``WITH PASSWORD '…'``, and the credentials of ``COPY``."""

_INSERT = re.compile(r"\binsert\s+into\s+[^\s(]{1,128}\s{0,8}\((?P<columns>[^()]{1,4000})\)\s{0,8}values\s{0,8}(?=\()")
_PARAMETERS = re.compile(r"\[parameters:\s{0,4}\[?(?=\()")
_VALUE = re.compile(
    r"\s*(?:'(?P<single>(?:[^'\\]|''|\\.)*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|"
    r"(?P<bare>[^,()'\"\s][^,()'\"]*(?:\([^()'\"]*\))?))\s*"
)
_MAX_ROWS = 100


def find_sql_passwords(text: str, lowered: str) -> Iterator[Span]:
    """Find literals behind the words that take a password or a key in SQL."""
    for match in _LITERAL.finditer(lowered):
        if match.lastgroup is not None and not is_placeholder(match[match.lastgroup]):
            yield match.span(match.lastgroup)


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
