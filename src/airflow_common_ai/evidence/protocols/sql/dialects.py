"""Which database a driver talks to, told from the top package of an exception's class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from airflow_common_ai.evidence.model import root_of

__all__ = ["ROOTS", "Dialect", "dialect_of"]


class Dialect(StrEnum):
    """Whose codes an error carries; the values stand in recordings."""

    POSTGRES = "postgres"
    """PostgreSQL and what speaks its protocol: Redshift, CockroachDB, Vertica. Its codes are SQLSTATEs."""
    MYSQL = "mysql"
    SQL_SERVER = "mssql"
    ORACLE = "oracle"
    SNOWFLAKE = "snowflake"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"
    TRINO = "trino"
    CLICKHOUSE = "clickhouse"
    TERADATA = "teradata"
    HANA = "hana"
    ODBC = "odbc"
    """Any database behind ODBC: a SQLSTATE, and the database's own number in the message."""


_DRIVERS: Mapping[Dialect, str] = {
    Dialect.POSTGRES: "psycopg psycopg2 psycopg2cffi asyncpg aiopg pg8000 redshift_connector vertica_python",
    Dialect.MYSQL: "pymysql MySQLdb mysql _mysql_connector aiomysql asyncmy mariadb",
    Dialect.SQL_SERVER: "pymssql _mssql pytds",
    Dialect.ORACLE: "oracledb cx_Oracle",
    Dialect.SNOWFLAKE: "snowflake",
    Dialect.SQLITE: "sqlite3 pysqlite3 aiosqlite",
    Dialect.DUCKDB: "duckdb _duckdb",
    Dialect.TRINO: "trino prestodb",
    Dialect.CLICKHOUSE: "clickhouse_driver clickhouse_connect asynch",
    Dialect.TERADATA: "teradatasql",
    Dialect.HANA: "hdbcli",
    Dialect.ODBC: "pyodbc pypyodbc aioodbc turbodbc",
}

ROOTS: Mapping[str, Dialect] = {root: dialect for dialect, roots in _DRIVERS.items() for root in roots.split()}
"""The dialect of each driver's top package."""


def dialect_of(type_paths: Iterable[str]) -> Dialect | None:
    """Return the dialect of the first class that a driver defines; a class of the user's may derive from it."""
    return next((ROOTS[root] for path in type_paths if (root := root_of(path)) in ROOTS), None)
