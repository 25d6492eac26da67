"""ClickHouse's error numbers."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, WordsRow, code_table

__all__ = ["TABLE"]

_NOW, _SHORT, _MEDIUM, _LONG, _RESET = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG, Wait.RESET

_CLICKHOUSE = "ClickHouse ErrorCodes.cpp; clickhouse-driver 0.2.11"

_GONE = "the connection to the database was lost or could not be made"
_MISSING = "a database object does not exist"
_EXISTS = "it already exists; an earlier attempt may have made it"
_STATEMENT = "the statement itself is wrong"
_TYPE = "the data does not fit its type"
_LOGIN = "the login was refused"
_TIME_LIMIT = "a configured time limit was hit, or somebody cancelled it"
_BUSY = "the server cannot take more at the moment"
_REPLICA = "the replicas do not agree or cannot be reached"

_ROWS: tuple[Row, ...] = (
    ("3 32 33 101 102 209 210 279", yes("network", _SHORT, _GONE, _CLICKHOUSE)),
    ("198", depends("network", _MEDIUM, "the host name of the database is not known", _CLICKHOUSE, 3)),
    ("40", yes("network", _NOW, "the transfer was damaged", _CLICKHOUSE)),
    ("202 203", yes("rate_limit", _MEDIUM, _BUSY, _CLICKHOUSE)),
    ("201", depends("rate_limit", _RESET, "the user's quota is used up until its interval ends", _CLICKHOUSE)),
    ("252", yes("transient", _MEDIUM, "there are too many parts; merges have to catch up", _CLICKHOUSE)),
    (
        "225 234 236 242 244 254 285 286 289 369 473 517 999",
        yes("transient", _MEDIUM, _REPLICA, _CLICKHOUSE),
    ),
    ("319 341 379", depends("transient", _SHORT, "whether it was carried out is not known", _CLICKHOUSE)),
    ("159 160 394", depends("permanent", _SHORT, _TIME_LIMIT, _CLICKHOUSE)),
    ("241", depends("permanent", _MEDIUM, "the query needs more memory than it may have", _CLICKHOUSE)),
    ("158 307 396 229", depends("permanent", _SHORT, "the query reads more than it may", _CLICKHOUSE)),
    ("243", depends("transient", _LONG, "the server's disk is full", _CLICKHOUSE)),
    ("164 192 193 194 195 291 497 516", no("auth", _LOGIN, _CLICKHOUSE)),
    ("10 16 47 60 81 115", no("resource", _MISSING, _CLICKHOUSE)),
    ("57 58 82 253 256", no("data", _EXISTS, _CLICKHOUSE)),
    ("6 7 20 21 22 25 26 27 38 41 53 69 72 117 128 131 153 349 376 441 469", no("data", _TYPE, _CLICKHOUSE)),
    ("1 2 34 35 36 42 43 44 46 48 50 56 62 377", no("permanent", _STATEMENT, _CLICKHOUSE)),
    ("49 1000 1001 1002", depends("transient", _SHORT, "the server had an internal error", _CLICKHOUSE)),
)

_WORDS: tuple[WordsRow, ...] = (
    ("241", r"\(total\)", yes("transient", _MEDIUM, "the server has no memory left", _CLICKHOUSE)),
)

TABLE = code_table("clickhouse", _ROWS, _WORDS)
