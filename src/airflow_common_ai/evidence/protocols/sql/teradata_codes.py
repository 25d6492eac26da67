"""Teradata's error numbers, which its driver prints into the message: ``[Teradata Database] [Error 2631] …``."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, code_table

__all__ = ["TABLE"]

_TERADATA = "Teradata Vantage, Database Messages"
_SHORT, _MEDIUM, _LONG = Wait.SHORT, Wait.MEDIUM, Wait.LONG

_ROWS: tuple[Row, ...] = (
    ("2631 3603", yes("transient", Wait.NOW, "deadlock, or a conflict with another transaction", _TERADATA)),
    ("2825 2826 2827 2828 3111 3120 3897", yes("transient", _MEDIUM, "the database was restarted", _TERADATA)),
    ("3002 3055", yes("transient", _MEDIUM, "the database takes no logins for now", _TERADATA)),
    ("2632 2633 2639 3151", yes("rate_limit", _LONG, "too many loads or queries at the same time", _TERADATA)),
    ("2646", depends("permanent", _MEDIUM, "the query needs more spool space than the user has", _TERADATA)),
    ("2644", no("permanent", "the database has no room left; a person must raise its space", _TERADATA)),
    ("3110 3134", depends("permanent", _SHORT, "somebody ended the request", _TERADATA)),
    ("3003 3004 8017", no("auth", "the login was refused", _TERADATA)),
    ("3523 3524", no("auth", "a permission is missing", _TERADATA)),
    ("3802 3807 3810", no("resource", "a database object does not exist", _TERADATA)),
    ("3706 3707", no("permanent", "the statement itself is wrong", _TERADATA)),
    ("2801 2802 2803", no("data", "the data breaks a rule of the schema", _TERADATA)),
    ("2616 2620 2621 2665 2666 2673 2679 3754 6706", no("data", "the data does not fit its type", _TERADATA)),
)

TABLE = code_table("teradata", _ROWS)
