"""The families of libraries by which the model card tells how good the model is."""

from __future__ import annotations

__all__ = ["FAMILIES", "family_of"]

FAMILIES = {
    "Airflow": ("airflow_http", "airflow_jobs", "airflow_mail_ftp", "airflow_processes", "airflow_sdk", "airflow_sql",
                "airflow_stores"),
    "AWS": ("airflow_amazon", "airflow_s3", "aws_client", "aws_dynamodb", "aws_json", "aws_moto", "aws_rest"),
    "Azure": ("azure_cosmos_tables", "azure_messaging", "azure_resources", "azure_sign_in", "azure_storage"),
    "brokers": ("kafka_clients", "message_clients", "rabbitmq_clients", "rabbitmq_frameworks"),
    "caches": ("memcached_caches", "redis_caches", "redis_connections"),
    "containers": ("airflow_kubernetes", "containers_vaults", "kubernetes_api", "kubernetes_client", "kubernetes_pods"),
    "data frames and jobs": ("dataframes", "dbt_projects", "spark_local"),
    "document stores": ("documents_schemas", "mongo_drivers", "object_stores", "search_engines", "stores_over_wires"),
    "files, mail and shells": ("airflow_ssh", "directories_and_names", "mail_and_ftp", "remote_files", "remote_shells",
                               "remote_shells_asyncssh"),
    "Google": ("airflow_google", "google_apis", "google_auth_tokens", "google_bigquery", "google_grpc",
               "google_storage"),
    "HTTP and gRPC": ("async_http_clients", "grpc_status_codes", "requests_http", "soap_graphql_slack"),
    "language models": ("llm_openai_anthropic", "llm_other_services"),
    "processes and Python": ("airflow_command_lines", "python_builtin"),
    "SaaS": ("saas_business", "saas_developers_search", "saas_payments_messages"),
    "SQL": ("clickhouse_trino", "database_drivers", "embedded_databases", "mariadb_connectors", "mariadb_pymysql",
            "odbc_connections", "postgres_asyncpg", "postgres_pg8000", "postgres_psycopg2", "postgres_psycopg3",
            "sqlalchemy_engines"),
    "warehouses": ("databricks_api", "databricks_sql", "snowflake_sql", "snowflake_sql_3"),
}  # fmt: skip
"""Each family, and the files of the corpus that are of it."""

OTHERS = "others"

_OF_FILE = {file: family for family, files in FAMILIES.items() for file in files}


def family_of(file: str) -> str:
    """Return the family of a file of the corpus, named without its ending; ``others`` for one that has no row yet."""
    return _OF_FILE.get(file, OTHERS)
