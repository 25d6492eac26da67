# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-apache-kafka==2.1.0",
#     "apache-airflow-providers-elasticsearch==6.10.0",
#     "apache-airflow-providers-microsoft-azure==15.2.1",
#     "apache-airflow-providers-mongo==5.5.1",
#     "apache-airflow-providers-redis==4.7.1",
#     "apache-airflow-task-sdk==1.3.2",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""Redis, MongoDB, Elasticsearch, Kafka and Azure Blob Storage that fail below Airflow's hooks and operators."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any

from airflow.providers.apache.kafka.hooks.client import KafkaAdminClientHook
from airflow.providers.apache.kafka.operators.produce import ProduceToTopicOperator
from airflow.providers.elasticsearch.hooks.elasticsearch import ElasticsearchPythonHook
from airflow.providers.microsoft.azure.hooks.wasb import WasbHook
from airflow.providers.microsoft.azure.operators.wasb_delete_blob import WasbDeleteBlobOperator
from airflow.providers.microsoft.azure.sensors.wasb import WasbBlobSensor
from airflow.providers.mongo.hooks.mongo import MongoHook
from airflow.providers.redis.hooks.redis import RedisHook
from airflow.providers.redis.operators.redis_publish import RedisPublishOperator
from airflow.providers.redis.sensors.redis_key import RedisKeySensor
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.azure_errors import KEY, storage_error
from servers.http import Answer, HttpServer, http_server, json_answer
from servers.port import refused_port
from servers.redis import Redis, redis

family = Family(__file__, "apache-airflow-providers-redis", servers={"http": http_server, "redis": redis})
redis_case = partial(family.case, wrapped_by="RedisHook")
mongo_case = partial(family.case, library="apache-airflow-providers-mongo", wrapped_by="MongoHook")
kafka_case = partial(family.case, library="apache-airflow-providers-apache-kafka", wrapped_by="KafkaAdminClientHook")
elastic_case = partial(
    family.case,
    library="apache-airflow-providers-elasticsearch",
    wrapped_by="ElasticsearchPythonHook",
    is_wire_form=True,
)
wasb_case = partial(
    family.case, library="apache-airflow-providers-microsoft-azure", wrapped_by="WasbHook", is_wire_form=True
)
CONTEXT: Any = {"ti": None, "params": {}}


def connection(name: str, kind: str, **words: Any) -> None:
    os.environ[f"AIRFLOW_CONN_{name.upper()}"] = json.dumps({"conn_type": kind, **words})


# Redis.
def cache(server: Redis, login: str = "default", password: str = CANARY, db: int = 0) -> Any:
    connection(
        "redis_default", "redis", host="127.0.0.1", port=server.port, login=login, password=password, extra={"db": db}
    )
    return RedisHook().get_conn()


@redis_case("Redis password is wrong", raises="AuthenticationError")
def _(redis: Redis) -> None:
    cache(redis, password=f"{CANARY}-old").get("orders")


@redis_case("Redis user may not write", raises="NoPermissionError")
def _(redis: Redis) -> None:
    cache(redis, login="reader").set("orders", 1)


@redis_case("Redis key has another type", raises="ResponseError")
def _(redis: Redis) -> None:
    client = cache(redis)
    client.set("orders", "x")
    client.lpush("orders", 1)


@redis_case("Redis database is out of range", raises="ResponseError")
def _(redis: Redis) -> None:
    cache(redis, db=99).get("orders")


@redis_case("Redis memory is full", raises="OutOfMemoryError")
def _(redis: Redis) -> None:
    client = cache(redis)
    client.config_set("maxmemory", "1mb")
    try:
        client.set("orders", "x" * 2_000_000)
        client.set("more", "x")
    finally:
        client.config_set("maxmemory", "0")
        client.delete("orders")


@redis_case("Redis is refused", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        connection("redis_default", "redis", host="127.0.0.1", port=port, password=CANARY)
        RedisHook().get_conn().get("orders")


@redis_case("Redis host is none", raises="ConnectionError", tags=[FROM_TEXT])
def _() -> None:
    connection("redis_default", "redis", host="cache.invalid", port=6379, password=CANARY)
    RedisHook().get_conn().get("orders")


@redis_case("Redis cluster has a database", raises="ValueError")
def _() -> None:
    connection("redis_default", "redis", host="127.0.0.1", port=6379, extra={"cluster": True, "db": 3})
    RedisHook().get_conn()


@redis_case("Redis operator may not publish", raises="NoPermissionError", wrapped_by="RedisPublishOperator")
def _(redis: Redis) -> None:
    cache(redis, login="reader")
    RedisPublishOperator(task_id="tell", channel="orders", message="done", redis_conn_id="redis_default").execute(
        CONTEXT
    )


@redis_case(
    "Redis sensor waits too long", raises="AirflowSensorTimeout", tags=[WRONG_READING], wrapped_by="RedisKeySensor"
)
def _(redis: Redis) -> None:
    cache(redis)
    RedisKeySensor(
        task_id="wait", key="orders:ready", redis_conn_id="redis_default", poke_interval=0.1, timeout=0.3
    ).execute(CONTEXT)


# MongoDB, of which there is none: what the hook says about that.
def mongo(**words: Any) -> Any:
    extra = {"serverSelectionTimeoutMS": 300, "connectTimeoutMS": 300, "socketTimeoutMS": 300, **words.pop("extra", {})}
    connection("mongo_default", "mongo", login="etl", password=CANARY, extra=extra, **words)
    return MongoHook()


@mongo_case("MongoHook is refused", raises="ServerSelectionTimeoutError", tags=[WRONG_READING])
def _() -> None:
    with refused_port() as port:
        mongo(host="127.0.0.1", port=port).find("orders", {}, mongo_db="shop").next()


@mongo_case("MongoHook host is none", raises="ServerSelectionTimeoutError", tags=[WRONG_READING])
def _() -> None:
    mongo(host="mongo.invalid", port=27017).find("orders", {}, mongo_db="shop").next()


@mongo_case("MongoHook speaks to HTTP", raises="PyMongoError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    http.answers(Answer(raw=b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    mongo(host="127.0.0.1", port=http.port).find("orders", {}, mongo_db="shop").next()


@mongo_case("MongoHook option is none")
def _() -> None:
    mongo(host="127.0.0.1", port=1, extra={"readPreference": "primry"}).get_conn()


@mongo_case("MongoHook has a port beside SRV")
def _() -> None:
    mongo(host="mongo.example", port=27017, extra={"srv": True}).get_conn()


# Kafka, of which there is none either.
@kafka_case("Kafka broker is refused", limit_s=60)
def _() -> None:
    with refused_port() as port:
        connection("kafka_default", "kafka", extra={"bootstrap.servers": f"127.0.0.1:{port}", "socket.timeout.ms": 500})
        KafkaAdminClientHook("kafka_default").get_conn.list_topics(timeout=1)


@kafka_case("Kafka connection has no servers", raises="ValueError")
def _() -> None:
    connection("kafka_default", "kafka", extra={"group.id": "etl"})
    _ = KafkaAdminClientHook("kafka_default").get_conn


@kafka_case("Kafka connection has a setting that is none")
def _() -> None:
    connection("kafka_default", "kafka", extra={"bootstrap.servers": "127.0.0.1:1", "acks.all": "yes"})
    _ = KafkaAdminClientHook("kafka_default").get_conn


@kafka_case(
    "Kafka operator has no topic", raises=("AirflowException", "TypeError"), wrapped_by="ProduceToTopicOperator"
)
def _() -> None:
    ProduceToTopicOperator(task_id="tell", topic="", producer_function=list).execute(CONTEXT)


@kafka_case("Kafka operator does not find its function", raises="ImportError", wrapped_by="ProduceToTopicOperator")
def _() -> None:
    connection("kafka_default", "kafka", extra={"bootstrap.servers": "127.0.0.1:1"})
    ProduceToTopicOperator(task_id="tell", topic="orders", producer_function="shop.orders.messages").execute(CONTEXT)


@kafka_case("Kafka function raises", raises="KeyError", wrapped_by="ProduceToTopicOperator")
def _() -> None:
    connection("kafka_default", "kafka", extra={"bootstrap.servers": "127.0.0.1:1"})
    ProduceToTopicOperator(task_id="tell", topic="orders", producer_function=lambda: {}["rows"]).execute(CONTEXT)


# Elasticsearch: https://www.elastic.co/docs/api/doc/elasticsearch/
PRODUCT = {"X-Elastic-Product": "Elasticsearch"}


def elastic(url: str) -> Any:
    hook = ElasticsearchPythonHook(
        hosts=[url], es_conn_args={"basic_auth": ("etl", CANARY), "max_retries": 0, "request_timeout": 1}
    )
    return hook.search({"query": {"match_all": {}}}, index="orders")


for title, status, kind, reason, tags in (
    ("Elasticsearch index is none", 404, "index_not_found_exception", "no such index [orders]", []),
    ("Elasticsearch login fails", 401, "security_exception", "unable to authenticate user [etl] for REST request [/orders/_search]", []),
    ("Elasticsearch user may not search", 403, "security_exception", "action [indices:data/read/search] is unauthorized for user [etl]", []),
    ("Elasticsearch index is read only since its disk is full", 403, "cluster_block_exception", "index [orders] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];", [WRONG_READING]),
    ("Elasticsearch queue is full", 429, "es_rejected_execution_exception", "rejected execution of coordinating operation [queue capacity = 1000]", []),
    ("Elasticsearch breaker trips", 429, "circuit_breaking_exception", "[parent] Data too large, data for [<http_request>] would be [1gb], which is larger than the limit of [900mb]", [WRONG_READING]),
    ("Elasticsearch query is wrong", 400, "parsing_exception", "unknown query [mach_all] did you mean [match_all]?", []),
    ("Elasticsearch has no master", 503, "master_not_discovered_exception", "no master", []),
    ("Elasticsearch shards fail", 503, "search_phase_execution_exception", "all shards failed", []),
):  # fmt: skip

    @elastic_case(title, tags=tags)
    def _(http: HttpServer, status: int = status, kind: str = kind, reason: str = reason) -> None:
        error = {"type": kind, "reason": reason, "root_cause": [{"type": kind, "reason": reason}]}
        elastic(http.answers(json_answer(status, {"error": error, "status": status}, PRODUCT)))


@elastic_case("Elasticsearch is refused")
def _() -> None:
    with refused_port() as port:
        elastic(f"http://127.0.0.1:{port}")


@elastic_case("Elasticsearch is something else", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    elastic(http.answers(json_answer(200, {"hits": {}})))


# Azure Blob Storage.
def wasb(url: str) -> WasbHook:
    text = f"DefaultEndpointsProtocol=http;AccountName=etl;AccountKey={KEY};BlobEndpoint={url}/etl;"
    extra = {"connection_string": text, "retry_total": 0, "connection_timeout": 1, "read_timeout": 1}
    connection("wasb_default", "wasb", extra=extra)
    return WasbHook("wasb_default")


AUTH = "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature."
for title, status, code, message, tags in (
    ("WasbHook blob is none", 404, "BlobNotFound", "The specified blob does not exist.", []),
    ("WasbHook container is none", 404, "ContainerNotFound", "The specified container does not exist.", []),
    ("WasbHook key is wrong", 403, "AuthenticationFailed", AUTH, []),
    ("WasbHook may not read", 403, "AuthorizationPermissionMismatch", "This request is not authorized to perform this operation using this permission.", []),
    ("WasbHook network is not allowed", 403, "AuthorizationFailure", "This request is not authorized to perform this operation.", [WRONG_READING]),
    ("WasbHook account is disabled", 403, "AccountIsDisabled", "The specified account is disabled.", [WRONG_READING]),
    ("WasbHook server is busy", 503, "ServerBusy", "The server is busy.", []),
    ("WasbHook operation timed out", 500, "OperationTimedOut", "The operation could not be completed within the permitted time.", []),
    ("WasbHook is over the limit of the account", 503, "ServerBusy", "Ingress is over the account limit.", []),
    ("WasbHook blob is archived", 409, "BlobArchived", "This operation is not permitted on an archived blob.", [WRONG_READING]),
    ("WasbHook blob is leased", 412, "LeaseIdMissing", "There is currently a lease on the blob and no lease ID was specified in the request.", []),
):  # fmt: skip

    @wasb_case(title, tags=tags)
    def _(http: HttpServer, answer: Answer = storage_error(status, code, message)) -> None:  # noqa: B008
        wasb(http.answers(answer)).read_file("lake", "orders.csv")


@wasb_case("WasbHook blob is there already", raises="ResourceExistsError")
def _(http: HttpServer) -> None:
    said = storage_error(409, "BlobAlreadyExists", "The specified blob already exists.")
    wasb(http.answers(said)).load_string("1,2", "lake", "orders.csv")


@wasb_case("WasbHook is refused")
def _() -> None:
    with refused_port() as port:
        wasb(f"http://127.0.0.1:{port}").read_file("lake", "orders.csv")


@wasb_case("WasbHook connection string is none", raises="ValueError")
def _() -> None:
    connection("wasb_default", "wasb", extra={"connection_string": f"AccountKey={KEY}"})
    WasbHook("wasb_default").read_file("lake", "orders.csv")


@wasb_case("Wasb operator deletes a blob that is none", raises="AirflowException", wrapped_by="WasbDeleteBlobOperator")
def _(http: HttpServer) -> None:
    wasb(http.answers(storage_error(404, "BlobNotFound", "The specified blob does not exist.")))
    WasbDeleteBlobOperator(task_id="clean", container_name="lake", blob_name="orders.csv").execute(CONTEXT)


@wasb_case(
    "Wasb sensor waits too long", raises="AirflowSensorTimeout", tags=[WRONG_READING], wrapped_by="WasbBlobSensor"
)
def _(http: HttpServer) -> None:
    wasb(http.answers(storage_error(404, "BlobNotFound", "The specified blob does not exist.")))
    WasbBlobSensor(
        task_id="wait", container_name="lake", blob_name="orders.csv", poke_interval=0.1, timeout=0.3
    ).execute(CONTEXT)


if __name__ == "__main__":
    family.run()
