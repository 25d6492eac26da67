"""Words for a thing that is not there."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Retry, Wait
from airflow_common_ai.evidence.protocols.text.patterns.model import Topic, exact, vague, vendor

TOPICS = (
    Topic(
        "no_such_object",
        "resource",
        Retry.NO,
        Wait.NONE,
        "the message says: what it names does not exist",
        (
            vendor("fatal , database * does not exist", "PostgreSQL 3D000"),
            vendor(
                "database|relation|table|schema|column|view|sequence * does not exist", "PostgreSQL 3D000, 42P01, 42703"
            ),
            vendor("column * of relation * does not exist", "PostgreSQL 42703"),
            vendor("function * , does not exist", "PostgreSQL 42883"),
            vendor("function * , * , does not exist", "PostgreSQL 42883"),
            vendor("table * doesn't exist", "MySQL 1146"),
            vendor("unknown column * in", "MySQL 1054"),
            vendor("unknown database *", "MySQL 1049"),
            vendor("no such table|column", "SQLite"),
            vendor("invalid object name *", "SQL Server 208"),
            vendor("invalid column name *", "SQL Server 207"),
            vendor("could not find stored procedure *", "SQL Server 2812"),
            vendor("table or view does not exist", "Oracle ORA-00942"),
            vendor("table or view not found", "Spark"),
            vendor("table or view * cannot be found", "Spark TABLE_OR_VIEW_NOT_FOUND"),
            vendor("table|schema|column|catalog * cannot be resolved", "Trino"),
            vendor(
                "object|schema|database|table|view|stage|warehouse * does not exist or not authorized",
                "Snowflake 002003",
            ),
            vendor("no active warehouse selected", "Snowflake 000606"),
            vendor("specified bucket|key|upload does not exist", "AWS S3"),
            vendor("specified blob|container|queue|resource does not exist", "Azure Storage"),
            vendor("the resource * was not found", "Azure ARM"),
            vendor("not found , table|dataset|model|project *", "BigQuery"),
            vendor("no module named *", "Python ImportError"),
            vendor("manifest for * not found", "Docker registry"),
            vendor("manifest unknown", "Docker registry"),
            vendor("failed to resolve ref|reference * , not found", "containerd"),
            vendor("failed to resolve ref|reference * , * , not found", "containerd"),
            vendor("submitted by user * to unknown queue", "YARN"),
            exact("TableDoesNotExistError", "Pinot"),
            vendor("the conn_id * isn't defined", "Airflow"),
        ),
    ),
    Topic(
        "not_found",
        "resource",
        Retry.NO,
        Wait.NONE,
        "the message says: what it refers to is not there",
        (
            exact("no such file or directory", "POSIX ENOENT"),
            exact(
                "no such file|bucket|key|object|container|topic|queue|index|branch|image|database",
                "vendors' APIs",
            ),
            exact("system cannot find the file|path specified", "Windows"),
            exact("command not found", "POSIX shells"),
            exact("error from server , NotFound", "kubectl"),
            exact("could not find a version that satisfies the requirement", "pip"),
            exact("no matching distribution found", "pip"),
            exact("executable file not found", "Go, Docker"),
            exact(
                "file|directory|folder|path|bucket|key|object|blob|container|topic|queue|index|dataset|project"
                "|cluster|job|image|repository|branch|model|endpoint|secret|resource|page ... not found",
                "vendors' APIs",
            ),
            exact(
                "file|directory|folder|path|bucket|key|object|blob|container|topic|queue|index|dataset|project"
                "|cluster|job|image|repository|branch|model|endpoint|secret|resource ... does not exist",
                "vendors' APIs, Spark",
            ),
            exact("table|column|schema|view|database ... not found", "vendors' APIs"),
            exact("FileNotFoundException|NoSuchFileException", "Java"),
            vague("not found"),
            vague("does not exist"),
            vague("doesn't exist"),
            vague("no such"),
            vague("no longer exists"),
        ),
    ),
)
