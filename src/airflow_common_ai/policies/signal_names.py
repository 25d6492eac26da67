"""What a rule can ask for: which codes and facts there are, told without importing the readers that make them."""

from __future__ import annotations

__all__ = ["ALSO_CODES", "FACTS", "PROTOCOLS", "close_match", "is_fact"]

PROTOCOLS = frozenset(
    """
    airflow amqp aws azure cassandra clickhouse damaged databricks delta dns duckdb ecs elastic entra exit ftp google
    grpc http job json jvm kafka kubernetes ldap mongo mssql mysql oracle os python redis salesforce sftp smtp snowflake
    spark sql sqlite ssh text tls trino
    """.split()
)
"""How the code of a signal begins."""

FACTS = frozenset(
    """
    airflow.api_status airflow.error_type
    amqp.code
    aws.cancellations aws.code aws.operation aws.stop_reason
    azure.code azure.detail_codes azure.is_retryable azure.sub_status
    dns.code dns.error
    elastic.durability elastic.items
    google.info_reason google.is_made_up google.is_retryable google.login_error google.login_status google.reason
    grpc.code grpc.details grpc.reason grpc.retry_delay_s
    http.body http.body.cloudflare_code http.body.code http.body.has_password_field http.body.message http.body.reason
    http.body.retry_after_s http.body.sqlstate http.body.status http.body.type http.broken_answer http.landed_on
    http.method http.retries_spent http.status
    json.doc_length json.doc_start json.is_cut_word json.is_http json.pos
    jvm.class jvm.message
    kafka.code kafka.fatal kafka.retriable
    ldap.result
    mongo.code mongo.item_codes mongo.labels
    os.errno os.error os.has_path os.is_exec
    process.exit_code process.logs process.output process.program process.signal process.stderr process.stdout
    process.time_limit_s
    redis.reply
    smtp.code
    sql.connection_invalidated sql.dialect sql.errno sql.name sql.recoverable sql.sqlstate sql.type
    ssh.channel_code ssh.disconnect_code ssh.sftp_code
    tls.library tls.reason tls.verify_code
    """.split()
)
"""The whitelisted attributes of exceptions, but for headers."""

ALSO_CODES = frozenset({"http.broken_answer", "kafka.fatal", "kafka.retriable", "sql.connection_invalidated"})
"""Facts that are the code of a signal too."""

_HEADER = "http.header."
"""Any header may follow."""


def is_fact(name: str) -> bool:
    """Return whether there is such a fact."""
    return name in FACTS or (name.startswith(_HEADER) and len(name) > len(_HEADER))


def close_match(name: str, known: frozenset[str], likeness: float = 0.6) -> str | None:
    """Return what was probably meant."""
    from difflib import get_close_matches  # only a mistake pays for it

    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=likeness)), None)
