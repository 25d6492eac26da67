"""SQL Server's and Azure SQL's error numbers, and those of DB-Library below pymssql."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.sql.code_table import Row, WordsRow, code_table
from airflow_common_ai.evidence.protocols.sql.raised_in_sql import LATER_WORDS, RAISED, RAISED_FOR_NOW

__all__ = ["TABLE"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

_RETRIED = "dotnet/SqlClient and dotnet/efcore, transient errors"
_SERVER = "SQL Server, database engine events and errors"
_AZURE = "Azure SQL Database, transient connection errors and resource limits"
_DBLIB = "FreeTDS DB-Library; pymssql 2.4.6; SQLAlchemy 2.1.9 disconnects"

_LOCK = "a lock or a deadlock was in the way"
_RACE = "another transaction was faster; the whole transaction has to be run again"
_GONE = "the connection to the database was lost or could not be made"
_LOGIN = "the login was refused"
_PERMISSION = "a permission is missing"
_MISSING = "a database object does not exist"
_EXISTS = "it already exists; an earlier attempt may have made it"
_CONSTRAINT = "the data breaks a rule of the schema"
_TYPE = "the data does not fit its type"
_STATEMENT = "the statement itself is wrong"
_MEMORY = "the server is short of memory"
_SWITCHING = "the database is being started, moved or restored"
_TOO_BIG = "the work needs more than this size of database may use"

_ROWS: tuple[Row, ...] = (
    ("1205 3960 3961 41302 41305 41325 41301 41839 13535", yes("transient", _NOW, _RACE, _RETRIED)),
    ("1203 1204 1222 1807 5061", yes("transient", _SHORT, _LOCK, _SERVER)),
    ("40501", yes("rate_limit", _MEDIUM, "the service is busy and asks for at least 10 s", _AZURE)),
    (
        "10928 10929 49918 49919 49920",
        yes("rate_limit", _MEDIUM, "too much runs on this server at the same time", _AZURE),
    ),
    (
        "233 64 20 121 53 258 997 10053 10054 10060 11001 596 1219",
        yes("network", _SHORT, _GONE, _RETRIED),
    ),
    ("40197 40143 40540 40613 4221 42109", yes("network", _SHORT, _SWITCHING, _AZURE)),
    (
        "42108",
        hint(depends("permanent", _LONG, "the SQL pool is paused until somebody or a schedule resumes it", _AZURE)),
    ),
    ("921 922 927 952 976 983 6005", yes("transient", _MEDIUM, _SWITCHING, _SERVER)),
    ("924 942 945 978 18461", depends("transient", _MEDIUM, "the database cannot be used now", _SERVER, 3)),
    ("3906", depends("transient", _SHORT, "the database is read-only, perhaps a replica after a failover", _SERVER)),
    ("20003 20004 20006 20017 20047", yes("network", _SHORT, _GONE, _DBLIB)),
    ("20002 20009", depends("network", _SHORT, "the server cannot be reached, or it refused the login", _DBLIB, 4)),
    ("4060", depends("auth", _SHORT, "the database cannot be opened: a failover, a wrong name or no access", _RETRIED)),
    (
        "-2",
        depends("permanent", _SHORT, "the command's own time limit was hit; it may have been carried out", _RETRIED),
    ),
    ("701 802 8628 8645 8651", yes("transient", _MEDIUM, _MEMORY, _SERVER)),
    ("1101 1105 9002", depends("transient", _LONG, "the database's disk or log is full", _SERVER)),
    ("40544 40549 40550 40551 40552 40553 8623", depends("permanent", _LONG, _TOO_BIG, _AZURE)),
    ("18450 18452 18456 18470 18486 18487 18488 4064 40532 40607 40615 40914", no("auth", _LOGIN, _SERVER)),
    ("229 230 262 297 300 916 15247", no("auth", _PERMISSION, _SERVER)),
    ("207 208 911 2812 3701 4902 15151", no("resource", _MISSING, _SERVER)),
    ("1779 1801 1913 2705 2714", no("data", _EXISTS, _SERVER)),
    ("2601 2627", no("data", "the row is already there; an earlier attempt may have written it", _SERVER)),
    ("515 547", no("data", _CONSTRAINT, _SERVER)),
    (
        "206 213 220 232 241 242 245 248 257 295 296 512 8114 8115 8134 8152 2628 4815 4832 4863 4864 4866",
        no("data", _TYPE, _SERVER),
    ),
    (
        "102 105 109 110 119 137 156 170 174 201 209 266 319 334 530 544 1934 3902 3903 4104 4145 8101 8120 8144 8145"
        " 8156",
        no("permanent", _STATEMENT, _SERVER),
    ),
    (
        "3928 3930",
        hint(depends("transient", _SHORT, "the transaction had failed before; that error is the reason", _SERVER)),
    ),
    ("50000", RAISED),
)

_WORDS: tuple[WordsRow, ...] = (
    ("20", "encryption", no("permanent", "the server does not offer the encryption that is asked for", _SERVER)),
    ("20002 20009", "Login failed", no("auth", _LOGIN, _DBLIB)),
    ("50000", LATER_WORDS, RAISED_FOR_NOW),
)

TABLE = code_table("mssql", _ROWS, _WORDS)
