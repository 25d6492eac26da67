"""What a rule can ask for: which codes and facts there are, told without importing the readers that make them."""

from __future__ import annotations

__all__ = ["ALSO_CODES", "FACTS", "FLAGS", "NUMBERS", "PROTOCOLS", "TEXTS", "close_match", "is_fact", "is_header"]

PROTOCOLS = frozenset(
    """
    airflow amqp aws azure cassandra chromium clickhouse damaged databricks delta dns duckdb ecs elastic entra exit ftp
    google graphql grpc hana hdfs http job json jsonrpc jvm kafka kubernetes ldap mail mongo mqtt mssql mysql neo4j
    oracle os python redis salesforce sftp smb smtp snowflake soap spark sql sqlite ssh teradata text tls trino
    """.split()
)
"""How the code of a signal begins."""

NUMBERS = frozenset(
    """
    airflow.api_status amqp.code azure.sub_status dns.code google.login_status grpc.retry_delay_s
    http.body.cloudflare_code http.body.retry_after_s http.status json.doc_length json.pos kafka.code ldap.result
    mongo.code os.errno process.exit_code process.signal process.time_limit_s smtp.code sql.errno ssh.channel_code
    ssh.disconnect_code ssh.sftp_code tls.verify_code
    """.split()
)
FLAGS = frozenset(
    """
    azure.is_retryable google.is_made_up google.is_retryable http.body.has_password_field http.broken_answer
    http.retries_spent json.is_cut_word json.is_http kafka.fatal kafka.retriable os.has_path os.is_connect os.is_exec
    sql.connection_invalidated sql.recoverable
    """.split()
)
TEXTS = frozenset(
    """
    airflow.error_type aws.cancellations aws.code aws.operation aws.stop_reason azure.code azure.detail_codes
    dns.error elastic.durability elastic.items google.info_reason google.login_error google.reason graphql.codes
    grpc.code grpc.details grpc.reason http.body http.body.code http.body.message http.body.reason http.body.sqlstate
    http.body.status http.body.type http.landed_on http.method json.doc_start jvm.class jvm.message mongo.item_codes
    mongo.labels os.error process.logs process.output process.program process.stderr process.stdout redis.reply
    soap.code sql.dialect sql.name sql.sqlstate sql.type tls.library tls.reason
    """.split()
)
FACTS = NUMBERS | FLAGS | TEXTS
"""The whitelisted attributes of exceptions, but for headers, by what they hold."""

ALSO_CODES = frozenset({"http.broken_answer", "kafka.fatal", "kafka.retriable", "sql.connection_invalidated"})
"""Facts that are the code of a signal too."""

_HEADER = "http.header."
"""Any header may follow."""


def is_fact(name: str) -> bool:
    """Return whether there is such a fact."""
    return name in FACTS or is_header(name)


def is_header(name: str) -> bool:
    """Return whether a fact is a header of an answer, a number or a text."""
    return name.startswith(_HEADER) and len(name) > len(_HEADER)


def close_match(name: str, known: frozenset[str], likeness: float = 0.6) -> str | None:
    """Return what was probably meant."""
    from difflib import get_close_matches  # only a mistake pays for it

    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=likeness)), None)
