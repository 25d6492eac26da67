"""SQLSTATE: the five characters that PostgreSQL and its kin, ODBC and Db2 put on every error, with what they mean."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, WordsRow, code_table
from airflow_common_ai.evidence.protocols.sql.raised_in_sql import LATER_WORDS, RAISED, RAISED_FOR_NOW

__all__ = ["TABLE", "find_sqlstate"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

_PG = "PostgreSQL 15, Appendix A"
_ODBC = "ODBC, Appendix A; unixODBC 2.3, FreeTDS 1.3"
_REDSHIFT = "Amazon Redshift, which leaves XX000 on most of its errors"
_DB2 = "Db2 SQLSTATE values"
_VERTICA = "vertica-python 1.4.0"
_BOUNCER = "PgBouncer, which answers clients with 08P01"

_LOCK = "a lock or a deadlock was in the way"
_RACE = "another transaction was faster; the whole transaction has to be run again"
_GONE = "the connection to the database was lost"
_STARTING = "the database is starting or stopping"
_TIME_LIMIT = "a configured time limit was hit, or somebody cancelled it"
_MISSING = "a database object does not exist"
_EXISTS = "it already exists; an earlier attempt may have made it"
_CONSTRAINT = "the data breaks a rule of the schema"
_TYPE = "the data does not fit its type"
_STATEMENT = "the statement itself is wrong"
_MISUSE = "the code uses the transaction or the session wrongly"
_LOGIN = "the login was refused"
_TWO_SESSIONS = "a prepared statement is not the one that was expected; a pool between may mix sessions up"
_CORRUPT = "the database's files are damaged"

_ROWS: tuple[Row, ...] = (
    # 08 connection
    ("08000 08003 08006 08P01 08S01 08S02 HYT01", yes("network", _SHORT, _GONE, _PG)),
    (
        "08001 08004",
        depends("network", _SHORT, "the database could not be reached, or it refused the login", _PG, 3),
    ),
    ("08007 40003", depends("transient", _SHORT, "whether it was committed is not known", _PG)),
    # 25 state of the transaction
    ("25006", depends("transient", _SHORT, "the server is read-only, perhaps a replica after a failover", _PG)),
    ("25P02", hint(depends("transient", _SHORT, "the transaction had failed before; that error is the reason", _PG))),
    ("25P03 57P01 57P02 57P05", yes("network", _SHORT, _GONE, _PG)),
    ("25P04 57014", depends("permanent", _SHORT, _TIME_LIMIT, _PG)),
    ("26000 42P05", depends("permanent", _NOW, _TWO_SESSIONS, _PG)),
    # 40, 55, 57 who was in the way
    ("40000 40001 40P01", yes("transient", _NOW, _RACE, _PG)),
    ("40002", no("data", _CONSTRAINT, _PG)),
    ("23505", no("data", "the row is already there; an earlier attempt may have written it", _PG)),
    ("55P03", yes("transient", _SHORT, _LOCK, _PG)),
    ("55V03", yes("transient", _SHORT, _LOCK, _VERTICA)),
    ("57033", yes("transient", _NOW, _LOCK, _DB2)),
    ("55006", depends("transient", _SHORT, "it is in use", _PG, 3)),
    ("55000", depends("transient", _SHORT, "it is not in the state that the statement needs", _PG)),
    ("55P02 55P04", no("permanent", _STATEMENT, _PG)),
    ("57P03", yes("transient", _SHORT, _STARTING, _PG)),
    ("57P04", no("resource", "the database was dropped", _PG)),
    ("57030", yes("rate_limit", _MEDIUM, "too many connections", _DB2)),
    ("57011", depends("transient", _MEDIUM, "the server is short of memory or log space", _DB2, 3)),
    ("72000", yes("transient", _SHORT, "the snapshot was too old; the query has to start again", _PG)),
    # 53, 54, 58, XX the server itself
    ("53000 53200", yes("transient", _MEDIUM, "the server is short of memory", _PG)),
    ("53100", depends("transient", _LONG, "the server's disk is full", _PG)),
    ("53300", yes("rate_limit", _MEDIUM, "too many connections", _PG)),
    ("53400", depends("transient", _MEDIUM, "a configured limit of the server was reached", _PG)),
    ("58P01", no("resource", "a file is missing on the database server", _PG)),
    ("58P02", no("data", "a file already exists on the database server", _PG)),
    ("XX000", depends("transient", _MEDIUM, "the database had an internal error", _PG)),
    ("XX001 XX002", no("data", _CORRUPT, _PG)),
    # 42 the statement
    ("42501", no("auth", "a permission is missing", _PG)),
    ("42P01 42703 42883 42704 3D000 3F000 42S02 42S12 42S22", no("resource", _MISSING, _PG)),
    ("42V01", no("resource", _MISSING, _VERTICA)),
    ("42P07 42P06 42710 42P04 42P03 42723 42701 42S01 42S11 42S21", no("data", _EXISTS, _PG)),
    # F0, HV, P0
    ("F0001", depends("transient", _SHORT, "a lock file of the server is there", _PG)),
    ("HV00N", yes("network", _SHORT, "the database could not reach a foreign server", _PG)),
    ("HV001", depends("transient", _MEDIUM, "the server is short of memory", _PG)),
    ("P0001", RAISED),
    ("P0002 P0003 P0004", no("data", "the data is not what the database's own code expects", _PG)),
    # ODBC's own
    ("HYT00", depends("network", _SHORT, "a time limit of the client was hit", _ODBC, 3)),
    ("HY001 HY013 HY014", depends("transient", _MEDIUM, "the ODBC driver is short of memory", _ODBC)),
    ("HY008", depends("permanent", _SHORT, "the statement was cancelled", _ODBC)),
    (
        "HY004 HY009 HY010 HY024 HY090 HY092 HY096 HY104 HYC00 07001 07002 07006 IM001",
        no("permanent", _STATEMENT, _ODBC),
    ),
    ("IM002 IM003 IM012", no("permanent", "the ODBC driver or data source is not installed here", _ODBC)),
)

_CLASSES: dict[str, Meaning] = {
    "08": yes("network", _SHORT, _GONE, _PG),
    "20": no("data", "the data is not what the database's own code expects", _PG),
    "21": no("data", _TYPE, _PG),
    "22": no("data", _TYPE, _PG),
    "23": no("data", _CONSTRAINT, _PG),
    "27": no("data", _CONSTRAINT, _PG),
    "44": no("data", _CONSTRAINT, _PG),
    "28": no("auth", _LOGIN, _PG),
    "54": no("permanent", "a limit of the database that no retry lifts", _PG),
    "58": depends("transient", _MEDIUM, "the server's own system failed", _PG),
    # Why it failed stands beside it, or deeper: Spark puts 38000 on whatever a function of a user's raises.
    "38": hint(depends("permanent", _SHORT, "a function outside the database failed", _PG)),
    "39": hint(depends("permanent", _SHORT, "a function outside the database failed", _PG)),
    "HV": depends("permanent", _SHORT, "a foreign table cannot be used", _PG),
    **dict.fromkeys(("03", "0A", "0B", "0F", "0L", "0P", "2B", "2F", "42"), no("permanent", _STATEMENT, _PG)),
    **dict.fromkeys(("24", "25", "2D", "34", "3B"), no("permanent", _MISUSE, _PG)),
}
"""By the first two characters, for codes that have no row of their own."""

_SILENT = frozenset({"42000", "HY000"})
"""ODBC drivers and MySQL stamp these on errors of every kind, throttling included."""

_AUTH = no("auth", _LOGIN, _PG)
_WORDS: tuple[WordsRow, ...] = (
    (
        "08001 HY000",
        "certificate verify failed|certificate chain was issued by",
        no("permanent", "the server's certificate is not trusted", _ODBC),
    ),
    (
        "08001 08004 08P01",
        "too many|no more connections|query_wait_timeout",
        yes("rate_limit", _MEDIUM, "too many connections", _BOUNCER),
    ),
    (
        "08001 08004 08P01",
        r"password|authentication failed|no such user|login (?:was )?(?:failed|denied|rejected)",
        _AUTH,
    ),
    ("08001", "database .{1,100} does not exist", no("resource", _MISSING, _PG)),
    ("08P01", "bind message|unsupported startup parameter|no such database", no("permanent", _MISUSE, _PG)),
    (
        "0A000",
        r"cached (?:statement )?plan",
        yes("transient", _NOW, "a table was changed under a prepared statement", _PG),
    ),
    (
        "28000 28P01",
        r"\bPAM\b|\bIAM\b|token",
        depends(
            "auth",
            _SHORT,
            "the token at login was refused; the next process may mint a new one",
            "Amazon RDS IAM authentication",
        ),
    ),
    (
        "53200",
        "max_locks_per_transaction",
        depends("permanent", _MEDIUM, "the transaction needs more locks than the server has", _PG),
    ),
    (
        "53400",
        "temporary file size",
        no("permanent", "the query needs more temporary space than it may have", _PG),
    ),
    (
        "55000",
        "not yet defined|must be loaded|is not a|wal_level|not enabled|not supported",
        no("permanent", _STATEMENT, _PG),
    ),
    (
        "57014 57P01",
        "conflict with recovery",
        yes("transient", _SHORT, "the replica had to drop the query for its recovery", _PG),
    ),
    ("57014", "lock timeout", yes("transient", _SHORT, _LOCK, _PG)),
    ("57014", "user'?s? request", depends("permanent", _SHORT, "somebody cancelled it", _PG)),
    (
        "57014 25P04",
        "timeout",
        depends("permanent", _SHORT, "a configured time limit was hit; the same work takes the same time", _PG),
    ),
    (
        "XX000",
        "stl_load_errors|Load into table .{1,200} failed|Spectrum Scan Error.{0,200}incompatible",
        no("data", "rows that were to be loaded are wrong", _REDSHIFT),
    ),
    (
        "XX000",
        "concurrently|could not open relation with OID|cache lookup failed|Serializable isolation violation|conflict",
        yes("transient", _NOW, _RACE, _PG),
    ),
    (
        "XX000",
        r"Slow ?Down|\b50[03]\b|timed? ?out|connection|temporar",
        yes("transient", _MEDIUM, "the database could not get something from elsewhere", _REDSHIFT),
    ),
    (
        "XX000",
        "Access ?Denied|not authorized",
        depends("auth", _LONG, "the database may not read from elsewhere", _REDSHIFT),
    ),
    ("P0001", LATER_WORDS, RAISED_FOR_NOW),
    (
        "HYT00",
        "query timeout",
        depends("permanent", _SHORT, "a configured time limit was hit; the same work takes the same time", _ODBC),
    ),
    ("HYT00", "login timeout", yes("network", _SHORT, "the database did not answer the login in time", _ODBC)),
    ("01000", "can't open lib", no("permanent", "the ODBC driver is not installed here", _ODBC)),
)

TABLE = code_table("sql", _ROWS, _WORDS)
"""Codes that have a meaning of their own."""


def find_sqlstate(state: str, message: str = "") -> Meaning | None:
    """Return what a SQLSTATE means, by itself, with the words beside it, or else by its class."""
    meaning = TABLE.find(state, message)
    # Spark and Databricks fill the standard's classes with codes of their own: 0AKDE, 42K01.
    if meaning is not None or state in _SILENT or state[2:3] == "K":
        return meaning
    return _CLASSES.get(state[:2])
