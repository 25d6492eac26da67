"""Words for two who want the same thing at the same time: one of them has to come again."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Retry, Wait
from airflow_common_ai.evidence.protocols.text.patterns.model import Topic, exact, vague

TOPICS = (
    Topic(
        "deadlock",
        "transient",
        Retry.YES,
        Wait.NOW,
        "the message says: deadlock",
        (
            exact("deadlock detected", "PostgreSQL 40P01"),
            exact("deadlock found when trying to get lock", "MySQL 1213"),
            exact("was deadlocked on", "SQL Server 1205"),
            exact("deadlock victim", "SQL Server 1205"),
            exact("deadlock detected while waiting for resource", "Oracle ORA-00060"),
            exact("would deadlock", "YugabyteDB, Vitess"),
            exact("aborted due to deadlock", "Teradata 2631"),
            vague("deadlock|deadlocked"),
        ),
    ),
    Topic(
        "lost_race",
        "transient",
        Retry.YES,
        Wait.NOW,
        "the message says: somebody else changed the same rows",
        (
            exact("could not serialize access due to", "PostgreSQL 40001"),
            exact("canceling statement due to conflict with recovery", "PostgreSQL 40001"),
            exact("can't serialize access for this transaction", "Oracle ORA-08177"),
            exact("restart transaction", "CockroachDB 40001"),
            exact("snapshot isolation transaction aborted due to update conflict", "SQL Server 3960"),
            exact("serialization failure", "databases"),
            exact("write|write-write conflict", "MongoDB 112, ArangoDB 1200"),
            exact("concurrent append|update|modification|transaction|write|delete", "Delta Lake, databases"),
            exact(
                "ConcurrentAppendException|ConcurrentDeleteReadException|ConcurrentDeleteDeleteException", "Delta Lake"
            ),
            exact("ConcurrentWriteException|ConcurrentTransactionException|MetadataChangedException", "Delta Lake"),
            exact("ConcurrentModificationException|CommitFailedException", "AWS, Iceberg"),
            exact("tuple concurrently updated", "PostgreSQL"),
            exact("optimistic lock|locking failed|failure", "ORMs"),
            exact("version conflict", "Elasticsearch"),
            exact("the object has been modified", "Kubernetes 409"),
            exact("has changed , expected * # , found", "Iceberg"),
            exact("transaction collision", "Exasol 40001"),
            exact("restart read required", "YugabyteDB 40001"),
            exact(
                "modified|changed|updated by another|other|a|some different? transaction|process|user|session|writer"
                "|client",
                "databases, vendors' APIs",
            ),
            exact("a conflicting conditional operation is currently in progress", "AWS S3 OperationAborted"),
            vague("conflict|conflicts"),
        ),
    ),
    Topic(
        "locked",
        "transient",
        Retry.YES,
        Wait.SHORT,
        "the message says: it is locked or busy",
        (
            exact("lock wait timeout exceeded", "MySQL 1205"),
            exact("canceling statement due to lock timeout", "PostgreSQL 55P03"),
            exact("could not obtain lock on", "PostgreSQL 55P03"),
            exact("lock request time out period exceeded", "SQL Server 1222"),
            exact("resource busy and acquire with nowait specified", "Oracle ORA-00054"),
            exact("database is locked", "SQLite"),
            exact("database table is locked", "SQLite"),
            exact("database schema is locked", "SQLite"),
            exact("could not acquire|get ... lock", "databases, Terraform, apt"),
            exact("lock-wait timeout exceeded", "SAP HANA 131"),
            exact("timed out * locking", "Vertica"),
            exact("another operation , * , is in progress", "Helm"),
            exact("failed|unable to acquire|obtain|get ... lock", "databases, apt, Terraform"),
            exact("error acquiring the state lock", "Terraform"),
            exact("lock timeout", "databases"),
            exact("number of waiters for this lock exceeds", "Snowflake 000625"),
            exact("resource is locked|busy", "vendors' APIs"),
            exact("unable to obtain exclusive access", "Salesforce UNABLE_TO_LOCK_ROW"),
            exact("device or resource busy", "POSIX EBUSY"),
            exact(
                "in ... creating|updating|modifying|pending|provisioning|starting|stopping|restarting|rebooting"
                "|resizing|scaling|resuming|upgrading|initializing state|status",
                "AWS, vendors' APIs",
            ),
            exact("text file busy", "POSIX ETXTBSY"),
            exact("stale file handle", "POSIX ESTALE"),
            exact("being used by another process", "Windows"),
            exact("is being accessed by other users", "PostgreSQL 55006"),
            exact("another operation is? in progress", "Azure, Google"),
            exact("operation is already in progress", "vendors' APIs"),
            exact("another|other operation|run|job|update|deployment|build|query ... in progress", "vendors' APIs"),
            exact("another|other run|job|instance|process|query|sync is? already? active|running", "vendors' APIs"),
            exact("job|run|sync|task|pipeline|instance|process|query is already running", "vendors' APIs"),
            exact("lock|locks is|are|was|were? already|currently? held|owned|taken by", "databases, Terraform, dpkg"),
            exact(
                "locked|held by another|other|a|some different? process|user|session|transaction|run|job|client"
                "|instance|connection",
                "databases, Windows, vendors' APIs",
            ),
            exact("another|other process|instance|client|session is? holds|holding|has the? lock", "daemons"),
            exact("another * process seems to be running", "git"),
            vague("locked"),
            vague("busy"),
        ),
    ),
)
