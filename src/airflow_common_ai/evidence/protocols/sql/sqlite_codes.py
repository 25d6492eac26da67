"""SQLite's result codes, by name, and the messages that stand for them where only text is left."""

from __future__ import annotations

import re

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, WordsRow, code_table

__all__ = ["TABLE", "code_of_message", "find_meaning"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

_SQLITE = "SQLite result codes, sqlite.org/rescode.html"

_LOCK = "another process is writing to the database"
_CONSTRAINT = "the data breaks a rule of the schema"
_STATEMENT = "the statement itself is wrong"
_READ_ONLY = "the database file is read-only"

_ROWS: tuple[Row, ...] = (
    ("SQLITE_BUSY SQLITE_LOCKED SQLITE_PROTOCOL", yes("transient", _SHORT, _LOCK, _SQLITE)),
    ("SQLITE_BUSY_SNAPSHOT SQLITE_SCHEMA", yes("transient", _NOW, "the database was changed meanwhile", _SQLITE)),
    ("SQLITE_FULL", depends("transient", _LONG, "the disk is full, or the database may not grow", _SQLITE)),
    ("SQLITE_IOERR", depends("transient", _MEDIUM, "the disk could not be read or written", _SQLITE, 3)),
    ("SQLITE_NOMEM", yes("transient", _MEDIUM, "the worker has no memory left", _SQLITE)),
    ("SQLITE_CANTOPEN", no("resource", "the database file cannot be opened: no such directory?", _SQLITE)),
    ("SQLITE_READONLY", no("permanent", _READ_ONLY, _SQLITE)),
    ("SQLITE_READONLY_CANTLOCK SQLITE_READONLY_RECOVERY", depends("transient", _SHORT, _LOCK, _SQLITE, 3)),
    ("SQLITE_INTERRUPT SQLITE_ABORT", depends("permanent", _SHORT, "the statement was interrupted", _SQLITE)),
    ("SQLITE_INTERNAL", depends("permanent", _SHORT, "SQLite had an internal error", _SQLITE)),
    ("SQLITE_CORRUPT SQLITE_NOTADB", no("data", "the file is damaged, or no SQLite database", _SQLITE)),
    ("SQLITE_CONSTRAINT", no("data", _CONSTRAINT, _SQLITE)),
    (
        "SQLITE_CONSTRAINT_UNIQUE SQLITE_CONSTRAINT_PRIMARYKEY SQLITE_CONSTRAINT_ROWID",
        no("data", "the row is already there; an earlier attempt may have written it", _SQLITE),
    ),
    ("SQLITE_MISMATCH SQLITE_TOOBIG SQLITE_RANGE SQLITE_EMPTY", no("data", "the data does not fit its type", _SQLITE)),
    ("SQLITE_AUTH SQLITE_PERM", no("auth", "SQLite may not do this", _SQLITE)),
    (
        "SQLITE_MISUSE SQLITE_NOLFS SQLITE_FORMAT SQLITE_NOTFOUND",
        no("permanent", "the code uses SQLite wrongly", _SQLITE),
    ),
    ("SQLITE_ERROR", depends("permanent", _SHORT, _STATEMENT, _SQLITE)),
)

_WORDS: tuple[WordsRow, ...] = (
    (
        "SQLITE_ERROR",
        "^no such (?:table|column|view|index|trigger|database)|^unknown database",
        no("resource", "a database object does not exist", _SQLITE),
    ),
    (
        "SQLITE_ERROR",
        "already exists|^duplicate column name",
        no("data", "it already exists; an earlier attempt may have made it", _SQLITE),
    ),
    (
        "SQLITE_ERROR",
        "syntax error|^incomplete input|^unrecognized token|^no such (?:function|module|collation)|^ambiguous column"
        "|has no column named|wrong number of arguments|values? (?:for|were supplied)|^misuse of"
        "|number of result columns|^malformed JSON",
        no("permanent", _STATEMENT, _SQLITE),
    ),
    ("SQLITE_READONLY", "moved|rollback", depends("transient", _SHORT, _READ_ONLY, _SQLITE)),
)

TABLE = code_table("sqlite", _ROWS, _WORDS)

# Source: `sqlite3_errstr()` and what SQLite 3.40 says in place of it.
_MESSAGES: tuple[tuple[str, str], ...] = (
    ("database is locked", "SQLITE_BUSY"),
    ("database (?:table|schema) is locked", "SQLITE_LOCKED"),
    ("locking protocol", "SQLITE_PROTOCOL"),
    ("database schema has changed", "SQLITE_SCHEMA"),
    ("database or disk is full", "SQLITE_FULL"),
    ("disk I/O error", "SQLITE_IOERR"),
    ("out of memory", "SQLITE_NOMEM"),
    ("unable to open database", "SQLITE_CANTOPEN"),
    ("attempt to write a readonly database", "SQLITE_READONLY"),
    ("interrupted$", "SQLITE_INTERRUPT"),
    ("database disk image is malformed", "SQLITE_CORRUPT"),
    ("file is not a database", "SQLITE_NOTADB"),
    ("UNIQUE constraint failed", "SQLITE_CONSTRAINT_UNIQUE"),
    ("(?:CHECK|NOT NULL|FOREIGN KEY) constraint failed", "SQLITE_CONSTRAINT"),
    ("constraint failed", "SQLITE_CONSTRAINT"),
    ("datatype mismatch", "SQLITE_MISMATCH"),
    ("string or blob too big", "SQLITE_TOOBIG"),
    ("not authorized|authorization denied", "SQLITE_AUTH"),
    ("access permission denied", "SQLITE_PERM"),
    ("bad parameter or other API misuse", "SQLITE_MISUSE"),
    ("no such (?:table|column|function|view|index|trigger|module|collation)", "SQLITE_ERROR"),
    ('near "|incomplete input|unrecognized token: |ambiguous column name: ', "SQLITE_ERROR"),
    (r"(?:table|index|view|trigger) \S{1,200} already exists", "SQLITE_ERROR"),
)


def code_of_message(message: str) -> str | None:
    """Return the result code that a message of SQLite stands for, ``None`` if it need not be SQLite's."""
    return next((code for words, code in _MESSAGES if re.match(words, message)), None)


def find_meaning(code: str, message: str) -> Meaning | None:
    """Return what a result code means, an extended one by itself or else by what it extends."""
    return TABLE.find(code, message) or TABLE.find("_".join(code.split("_")[:2]), message)
