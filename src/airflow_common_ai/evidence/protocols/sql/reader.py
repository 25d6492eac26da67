"""Databases: the code that the server gave, in whichever of the many places the driver keeps it.

``sql_drivers`` knows where drivers keep codes, ``sql_wording`` how they print them, ``sql_judgement`` what a code
means; its tables are ``sql_states``, ``mysql_codes``, ``sql_server_codes``, ``oracle_codes``, ``snowflake_codes``,
``sqlite_codes``, ``duckdb_classes``, ``trino_codes`` and ``clickhouse_codes``. ``sql_classes`` is for errors without
a code. PostgreSQL's libpq loses the code of a refused login: that stands in words only.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal
from airflow_common_ai.evidence.protocols.findings import settle
from airflow_common_ai.evidence.protocols.sql.classes import class_meaning
from airflow_common_ai.evidence.protocols.sql.drivers import driver_facts
from airflow_common_ai.evidence.protocols.sql.judgement import judge
from airflow_common_ai.evidence.protocols.sql.wording import printed_errors

__all__ = ["probe", "read"]

_CODES = ("sql.errno", "sql.name", "sql.type", "sql.sqlstate")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Return the database's code that an exception carries as ``sql.…`` facts; empty if it carries none."""
    return driver_facts(exception)


def read(node: RedactedNode, observed_at: datetime) -> Iterable[Signal]:
    """Yield what the code means, else what the class says."""
    if node.is_a("KeyError"):
        return  # its message is a key, whatever it reads like
    if any(code in node.facts for code in _CODES):
        signals = tuple(filter(None, [judge(node.facts, node.message)]))
    else:
        found = [judge(facts, words) for facts, words in printed_errors(node)]
        signals = settle(filter(None, found), node.message)
    yield from signals
    if signals:
        return
    if (said := class_meaning(node)) is not None:
        name, meaning = said
        yield meaning.signal(f"sql.{name}", Rank.CLASS)
