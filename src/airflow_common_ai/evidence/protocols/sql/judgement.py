"""What the facts of a database error come to: the database's own number first, else the standard's SQLSTATE."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, Rank, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, yes
from airflow_common_ai.evidence.protocols.sql import oracle_codes, snowflake_codes, sqlite_codes, trino_codes
from airflow_common_ai.evidence.protocols.sql.clickhouse_codes import TABLE as CLICKHOUSE
from airflow_common_ai.evidence.protocols.sql.code_table import CodeTable
from airflow_common_ai.evidence.protocols.sql.dialects import Dialect
from airflow_common_ai.evidence.protocols.sql.duckdb_classes import TABLE as DUCKDB
from airflow_common_ai.evidence.protocols.sql.hana_codes import TABLE as HANA
from airflow_common_ai.evidence.protocols.sql.mysql_codes import TABLE as MYSQL
from airflow_common_ai.evidence.protocols.sql.sql_server_codes import TABLE as SQL_SERVER
from airflow_common_ai.evidence.protocols.sql.states import find_sqlstate
from airflow_common_ai.evidence.protocols.sql.teradata_codes import TABLE as TERADATA
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["judge"]

_RECOVERABLE = yes(
    "network", Wait.SHORT, "the driver calls the error recoverable", "python-oracledb 26.1.0 isrecoverable"
)

_BY_NUMBER: Mapping[str, CodeTable] = {
    Dialect.MYSQL: MYSQL,
    Dialect.SQL_SERVER: SQL_SERVER,
    Dialect.CLICKHOUSE: CLICKHOUSE,
    Dialect.TERADATA: TERADATA,
    Dialect.HANA: HANA,
}
_Finding = tuple[str, Meaning | None]

_WINDOW_CHARS = 1024
"""At either end of a message, searched for the words that tell."""

_NATIVE = re.compile(r"\((-?\d{1,9})\) \(SQL\w{1,40}\)")
_ODBC_DRIVERS: tuple[tuple[re.Pattern[str], Dialect], ...] = (
    (re.compile(r"\[SQL Server\]"), Dialect.SQL_SERVER),
    (re.compile(r"\[(?:MySQL|MariaDB|ma-)"), Dialect.MYSQL),
    (re.compile(r"\[Snowflake\]"), Dialect.SNOWFLAKE),
    (re.compile(r"\[Oracle\]"), Dialect.ORACLE),
)
"""Behind ODBC the message begins with who speaks, the last one in brackets being the database."""


def judge(facts: Mapping[str, Fact], message: str) -> Signal | None:
    """
    Return what an error says, ``None`` if its codes are not known.

    :param facts: ``sql.…`` facts as ``probe`` names them.
    :param message: Words that tell what a code with several meanings means here.
    """
    for code, meaning in _findings(facts, both_ends(message, _WINDOW_CHARS)):
        if meaning is not None:
            return meaning.signal(code, Rank.VENDOR_CODE)
    if facts.get("sql.recoverable") is True:
        return _RECOVERABLE.signal(f"oracle.{facts.get('sql.name', 'recoverable')}", Rank.VERDICT)
    return None


def _findings(facts: Mapping[str, Fact], message: str) -> Iterator[_Finding]:
    dialect, state = facts.get("sql.dialect"), _text(facts, "sql.sqlstate")
    number, name = _number(facts, "sql.errno"), _text(facts, "sql.name")
    if dialect == Dialect.ODBC:
        yield from _behind_odbc(state, message)
    elif dialect == Dialect.ORACLE:
        yield from _oracle(number, name, message)
    elif dialect == Dialect.SNOWFLAKE and number is not None:
        yield f"snowflake.{number:06}", snowflake_codes.find_meaning(number, state, message)
    elif dialect == Dialect.TRINO:
        kind = _text(facts, "sql.type")
        yield f"trino.{name or kind}", trino_codes.find_meaning(name, kind)
    elif dialect == Dialect.SQLITE and name:
        yield f"sqlite.{name}", sqlite_codes.find_meaning(name, message)
    elif dialect == Dialect.DUCKDB and name:
        yield f"duckdb.{name}", DUCKDB.find(name, message)
    elif dialect in _BY_NUMBER and number is not None:
        table = _BY_NUMBER[str(dialect)]
        yield f"{table.name}.{number}", table.find(str(number), message)
    if state:
        yield f"sql.{state}", find_sqlstate(state, message)


def _oracle(number: int | None, name: str | None, message: str) -> Iterator[_Finding]:
    """The server's code before the driver's: python-oracledb calls an internal error a lost connection, too."""
    codes = [*oracle_codes.find_codes(message), *([name] if name else ())]
    codes.sort(key=lambda code: not code.startswith("ORA-"))
    for code in dict.fromkeys((*(() if number is None else (f"ORA-{number:05}",)), *codes)):
        yield f"oracle.{code}", oracle_codes.find_meaning(code, message)


def _behind_odbc(state: str | None, message: str) -> Iterator[_Finding]:
    dialect = next((dialect for form, dialect in _ODBC_DRIVERS if form.search(message)), None)
    numbers = [int(number) for number in _NATIVE.findall(message) if int(number)]
    if dialect is Dialect.ORACLE:
        yield from _oracle(None, None, message)
    elif dialect is Dialect.SNOWFLAKE:
        for number in filter(lambda number: number > 0, numbers):
            yield f"snowflake.{number:06}", snowflake_codes.find_meaning(number, state, message)
    elif dialect is not None:
        table = _BY_NUMBER[dialect]
        for number in numbers:
            yield f"{table.name}.{number}", table.find(str(number), message)


def _text(facts: Mapping[str, Fact], name: str) -> str | None:
    value = facts.get(name)
    return value if type(value) is str else None


def _number(facts: Mapping[str, Fact], name: str) -> int | None:
    value = facts.get(name)
    return value if type(value) is int and abs(value) < 1_000_000_000 else None
