"""The exact forms in which drivers print the database's code, for errors of which only the text is left.

``(1205, '…')`` is a code only behind the name of a class that a driver of MySQL defines, be it the exception's own
class or ``(pymysql.err.OperationalError)`` in the message of a wrapper. A few forms cannot be anything else and are
believed anywhere, such as ``[42000] [Microsoft]… (1205) (SQLExecDirectW)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from airflow_common_ai.evidence.model import Fact, RedactedNode, root_of
from airflow_common_ai.evidence.protocols.sql.classes import STANDARD_CLASSES
from airflow_common_ai.evidence.protocols.sql.dialects import ROOTS, Dialect
from airflow_common_ai.evidence.protocols.sql.duckdb_classes import TABLE as DUCKDB
from airflow_common_ai.evidence.protocols.sql.oracle_codes import find_codes
from airflow_common_ai.evidence.protocols.sql.postgres_classes import sqlstate_of_class
from airflow_common_ai.evidence.protocols.sql.sqlite_codes import code_of_message
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["printed_errors"]

_Facts = dict[str, Fact]
_MAX_EMBEDDED = 8

_CLASS = re.compile(
    rf"(?<![\w.])((?:{'|'.join(ROOTS)})(?:\.\w{{1,60}}){{0,4}}\.[A-Z]\w{{1,80}})(?:\) |: |'>: |\)?$)", re.MULTILINE
)
"""``(pymysql.err.OperationalError) …``, ``pymysql.err.OperationalError: …`` and ``<class 'asyncpg…Error'>: …``."""

_MYSQL = re.compile(r"\((\d{1,5}), ['\"]|(\d{4,5})(?: \([0-9A-Z]{5}\))?(?: at line \d+)?: ")
_SQL_SERVER = re.compile(r"\(?\((-?\d{1,5}), b?['\"]")
_SNOWFLAKE = re.compile(r"(\d{6})(?: \(([0-9A-Z]{5})\))?: ")
_TRINO = re.compile(r"(?:\w{1,80}\()?type=([A-Z_]{1,80}), name=([A-Z_]{1,80}), ")
_CLICKHOUSE = re.compile(r"Code: (\d{1,4})\.")
_TERADATA = re.compile(r".{0,120}?\[Teradata Database\] \[Error (\d{1,5})\]")
_HANA = re.compile(r"\((-?\d{1,6}), ['\"]")
_ODBC = re.compile(r"\('([0-9A-Z]{5})', ['\"]|\[([0-9A-Z]{5})\] \[")
_DUCKDB_WORDS = re.compile(r"[A-Z][\w -]{2,30} Error: ")
_PG_FIELDS = re.compile(r"\{'S': '[A-Z]{1,20}', .{0,80}?'C': '([0-9A-Z]{5})'")


def printed_errors(node: RedactedNode) -> Iterator[tuple[_Facts, str]]:
    """Yield the facts of each error that is printed, named as ``probe`` names them, and the words that follow."""
    text = both_ends(node.message)
    # What a driver keeps in numbers, a live exception has among its facts; a code that is a class, any base may be.
    if facts := _facts_behind(node.type_path, text) or next(filter(None, map(_facts_of_class, node.base_paths)), {}):
        yield facts, text
        return
    found = False
    names_driver = any(map(text.__contains__, ROOTS))
    for match in islice(_CLASS.finditer(text), _MAX_EMBEDDED) if names_driver else ():
        words = text[match.end() :]
        if facts := _facts_behind(match[1], words):
            found = True
            yield facts, words
    if not found:
        yield from _unmistakable(text)


def _facts_behind(type_path: str, words: str) -> _Facts:
    """Return what a class and its message tell; nothing unless a driver defines the class."""
    if "." not in type_path:
        return _facts_behind_bare(type_path, words)
    dialect, name = ROOTS.get(root_of(type_path)), type_path.rpartition(".")[2]
    if dialect is None:
        return {}
    if dialect is Dialect.SQLITE and name in ("ProgrammingError", "InterfaceError"):
        return {}  # Python's own module says so before SQLite is asked
    facts = _facts_of_class(type_path) or (_FORMS[dialect](words) if dialect in _FORMS else {})
    return {"sql.dialect": dialect.value, **facts} if facts else {}


def _facts_behind_bare(name: str, words: str) -> _Facts:
    """Return what a class tells of which a log gives only the name: a driver's, if the form of the words is one's."""
    if name in STANDARD_CLASSES:
        for dialect, form in _BARE_FORMS:
            if form.match(words):
                return {"sql.dialect": dialect.value, **_FORMS[dialect](words)}
        code = code_of_message(words)
        return {"sql.dialect": Dialect.SQLITE.value, "sql.name": code} if code else {}
    if name in DUCKDB.codes and _DUCKDB_WORDS.match(words):
        return {"sql.dialect": Dialect.DUCKDB.value, "sql.name": name}
    state = None if name.endswith(("Error", "Exception")) else sqlstate_of_class("psycopg", name)
    return {"sql.dialect": Dialect.POSTGRES.value, "sql.sqlstate": state} if state else {}


def _facts_of_class(type_path: str) -> _Facts:
    """Return the code that a class stands for, as PostgreSQL's drivers and DuckDB have it."""
    root, name = root_of(type_path), type_path.rpartition(".")[2]
    if ROOTS.get(root) is Dialect.DUCKDB and name in DUCKDB.codes:
        return {"sql.dialect": Dialect.DUCKDB.value, "sql.name": name}
    state = sqlstate_of_class(root, name)
    return {"sql.dialect": Dialect.POSTGRES.value, "sql.sqlstate": state} if state else {}


def _mysql(words: str) -> _Facts:
    match = _MYSQL.match(words)
    return {"sql.errno": int(match[1] or match[2])} if match else {}


def _sql_server(words: str) -> _Facts:
    match = _SQL_SERVER.match(words)
    return {"sql.errno": int(match[1])} if match else {}


def _oracle(words: str) -> _Facts:
    codes = find_codes(words)
    return {"sql.name": codes[0]} if codes else {}


def _snowflake(words: str) -> _Facts:
    match = _SNOWFLAKE.match(words)
    if match is None:
        return {}
    facts: _Facts = {"sql.errno": int(match[1])}
    return facts | {"sql.sqlstate": match[2]} if match[2] else facts


def _sqlite(words: str) -> _Facts:
    return {"sql.name": code_of_message(words) or "SQLITE_ERROR"} if words else {}


def _trino(words: str) -> _Facts:
    match = _TRINO.match(words)
    return {"sql.type": match[1], "sql.name": match[2]} if match else {}


def _clickhouse(words: str) -> _Facts:
    match = _CLICKHOUSE.match(words)
    return {"sql.errno": int(match[1])} if match else {}


def _teradata(words: str) -> _Facts:
    match = _TERADATA.match(words)
    return {"sql.errno": int(match[1])} if match else {}


def _hana(words: str) -> _Facts:
    match = _HANA.match(words)
    return {"sql.errno": int(match[1])} if match else {}


def _odbc(words: str) -> _Facts:
    match = _ODBC.match(words)
    return {"sql.sqlstate": match[1] or match[2]} if match else {}


def _postgres(words: str) -> _Facts:
    match = _PG_FIELDS.match(words)
    return {"sql.sqlstate": match[1]} if match else {}


_FORMS: Mapping[Dialect, Callable[[str], _Facts]] = {
    Dialect.MYSQL: _mysql,
    Dialect.SQL_SERVER: _sql_server,
    Dialect.ORACLE: _oracle,
    Dialect.SNOWFLAKE: _snowflake,
    Dialect.SQLITE: _sqlite,
    Dialect.TRINO: _trino,
    Dialect.CLICKHOUSE: _clickhouse,
    Dialect.TERADATA: _teradata,
    Dialect.HANA: _hana,
    Dialect.ODBC: _odbc,
    Dialect.POSTGRES: _postgres,
}

_BARE_FORMS = (
    (Dialect.MYSQL, re.compile(r"\(\d{4}, ['\"]|\(0, ''\)|\d{4} \([0-9A-Z]{5}\): ")),
    (Dialect.SQL_SERVER, re.compile(r"\(-?\d{1,5}, b['\"]")),
    (Dialect.POSTGRES, _PG_FIELDS),
)
"""What only this dialect's drivers write behind a class of PEP 249; the others are unmistakable anyway."""

# Forms that only one program writes: what must stand in it, and its beginning, up to where the dialect's form begins.
_UNMISTAKABLE: tuple[tuple[Dialect, str, re.Pattern[str]], ...] = (
    (Dialect.SNOWFLAKE, "): ", re.compile(r"(?:^|: )(?=\d{6} \([0-9A-Z]{5}\): )", re.MULTILINE)),
    (Dialect.TRINO, "(type=", re.compile(r"\b(?=(?:Trino|Presto)\w{1,40}\(type=[A-Z_]{1,80}, name=)")),
    (Dialect.CLICKHOUSE, "DB::", re.compile(r"\b(?=Code: \d{1,4}\.\s{1,4}DB::\w{0,40}Exception: )")),
    (Dialect.ODBC, ") (SQL", re.compile(r"(?=\[[0-9A-Z]{5}\] \[[^\]\n]{1,80}\])")),
    (Dialect.TERADATA, "[Teradata Database]", re.compile(r"(?=\[Teradata Database\] \[Error )")),
    # repr() of an error: OperationalError(1213, 'Deadlock found …'), OperationalError((1205, b'…'))
    (Dialect.SQL_SERVER, "((", re.compile(r"\b[A-Z][a-z]{3,12}Error(?=\(\(-?\d{1,5}, b['\"])")),
    (Dialect.MYSQL, "(", re.compile(r"\b(?:Operational|Programming|Integrity|Internal|Data)Error(?=\(\d{4}, ['\"])")),
    # what the clients mysql and sqlcmd print
    (Dialect.MYSQL, "): ", re.compile(r"\bERROR (?=\d{4,5} \([0-9A-Z]{5}\): )")),
    (Dialect.MYSQL, " at line ", re.compile(r"\bERROR (?=\d{4,5} \([0-9A-Z]{5}\) at line \d+: )")),
)
_SQLCMD = re.compile(r"\bMsg (\d{2,5}), Level (?:1[1-9]|2\d), State \d+\b")


def _unmistakable(text: str) -> Iterator[tuple[_Facts, str]]:
    for dialect, mark, form in _UNMISTAKABLE:
        if mark not in text:
            continue
        for match in islice(form.finditer(text), _MAX_EMBEDDED):
            words = text[match.end() :]
            if mark in words and (facts := _FORMS[dialect](words)):
                yield {"sql.dialect": dialect.value, **facts}, words
    if "Msg " in text:
        for match in islice(_SQLCMD.finditer(text), _MAX_EMBEDDED):
            yield {"sql.dialect": Dialect.SQL_SERVER.value, "sql.errno": int(match[1])}, text[match.end() :]
