# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "aiohttp==3.14.3",
#     "cryptography==46.0.3",
#     "elasticsearch==9.5.1",
#     "opensearch-py==3.2.0",
#     "requests==2.34.2",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What the clients of Elasticsearch and of OpenSearch raise, of servers that speak their documented form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import elasticsearch
import elasticsearch.helpers
import opensearchpy
import opensearchpy.helpers
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, html, http_server, json_answer
from servers.port import refused_port
from servers.tls import https_server

family = Family(__file__, "elasticsearch", servers={"http": http_server, "https": https_server()}, is_wire_form=True)
plain = partial(family.case, is_wire_form=False)
open_search = partial(family.case, library="opensearch-py")
PRODUCT = {"X-Elastic-Product": "Elasticsearch"}
TRAP = [WRONG_READING]


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def elastic(url: str, **options: Any) -> elasticsearch.Elasticsearch:
    usual = {"basic_auth": ("etl", CANARY), "max_retries": 0, "request_timeout": 0.5}
    return elasticsearch.Elasticsearch(url, **{**usual, **options})


def opened(url: str, **options: Any) -> Any:
    usual = {"http_auth": ("etl", CANARY), "max_retries": 0, "timeout": 0.5}
    return opensearchpy.OpenSearch(url, **{**usual, **options})


def search(client: Any) -> Any:
    return client.search(index="orders", body={"query": {"match_all": {}}})


def index(client: Any) -> Any:
    return client.index(index="orders", body={"id": 1})


def create(client: Any) -> Any:
    return client.indices.create(index="orders")


def fails(status: int, kind: str, reason: str, headers: Any = None, **more: Any) -> Answer:
    cause = {"type": kind, "reason": reason}
    body = {"error": {"root_cause": [cause], **cause, **more}, "status": status}
    return json_answer(status, body, {**PRODUCT, **(headers or {})})


# Form: https://www.elastic.co/docs/api/doc/elasticsearch/ and the names of
# https://www.elastic.co/docs/reference/elasticsearch/rest-apis/common-options
SHARDS = {"phase": "query", "grouped": True, "failed_shards": []}
KINDS: tuple[tuple[str, Callable[[Any], Any], Answer, list[str]], ...] = (
    ("the queue of writes is full", index, fails(429, "es_rejected_execution_exception",
     "rejected execution of coordinating operation [coordinating_and_primary_bytes=52, max_bytes=50]"), []),
    ("the queue of searches is full", search, fails(503, "search_phase_execution_exception", "all shards failed", **SHARDS,
     caused_by={"type": "es_rejected_execution_exception", "reason": "rejected execution of task on search queue"}), TRAP),
    ("the circuit breaker trips for now", search, fails(429, "circuit_breaking_exception",
     "[parent] Data too large, data for [<http_request>] would be [1gb]", bytes_wanted=1, bytes_limit=1,
     durability="TRANSIENT"), []),
    ("the circuit breaker trips for good", search, fails(429, "circuit_breaking_exception",
     "[fielddata] Data too large, data for [customer] would be [1gb]", bytes_wanted=1, bytes_limit=1,
     durability="PERMANENT"), TRAP),
    ("the disk is above the flood stage", index, fails(429, "cluster_block_exception",
     "index [orders] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has"
     " read-only-allow-delete block];"), TRAP),
    ("the index is read-only", index, fails(403, "cluster_block_exception",
     "index [orders] blocked by: [FORBIDDEN/8/index write (api)];"), TRAP),
    ("the cluster has no master", index, fails(503, "cluster_block_exception", "blocked by: [SERVICE_UNAVAILABLE/2/no master];"), []),
    ("the cluster's state is not recovered", search, fails(503, "cluster_block_exception",
     "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];"), []),
    ("the master was not found in time", create, fails(503, "master_not_discovered_exception", "null"), []),
    ("the change of the cluster takes too long", create, fails(503, "process_cluster_event_timeout_exception",
     "failed to process cluster event (create-index [orders]) within 30s"), []),
    ("no shard is available", search, fails(503, "no_shard_available_action_exception", "no shard available"), []),
    ("the primary shard is not active", index, fails(503, "unavailable_shards_exception",
     "[orders][0] primary shard is not active Timeout: [1m]"), []),
    ("the node is closed", search, fails(500, "node_closed_exception", "node closed"), TRAP),
    ("the node was disconnected", search, fails(500, "node_disconnected_exception", "[es-2][10.0.0.2:9300] disconnected"), TRAP),
    ("the index does not exist", search, fails(404, "index_not_found_exception", "no such index [orders]", index="orders"), []),
    ("the index is closed", search, fails(400, "index_closed_exception", "closed", index="orders"), []),
    ("the index exists already", create, fails(400, "resource_already_exists_exception", "index [orders/x] already exists"), []),
    ("the document has changed meanwhile", index, fails(409, "version_conflict_engine_exception",
     "[1]: version conflict, required seqNo [1], primary term [1]. current document has seqNo [2]"), []),
    ("the document does not fit the mapping", index, fails(400, "document_parsing_exception",
     "[1:9] failed to parse field [placed] of type [date]",
     caused_by={"type": "illegal_argument_exception", "reason": "failed to parse date field [yesterday]"}), []),
    ("the mapping has too many fields", index, fails(400, "illegal_argument_exception",
     "Limit of total fields [1000] has been exceeded while adding new fields [1]"), TRAP),
    ("the mapping does not allow new fields", index, fails(400, "strict_dynamic_mapping_exception",
     "[1:8] mapping set to strict, dynamic introduction of [colour] within [_doc] is not allowed"), []),
    ("the query cannot be parsed", search, fails(400, "parsing_exception", "unknown query [mach]"), []),
    ("the script does not compile", search, fails(400, "script_exception", "compile error"), []),
    ("too many scripts are compiled", search, fails(429, "general_script_exception",
     "Failed to compile inline script [x] using lang [painless]", caused_by={"type": "circuit_breaking_exception",
     "reason": "[script] Too many dynamic script compilations within, max: [75/5m]"}), TRAP),
    ("the result window is too large", search, fails(400, "search_phase_execution_exception", "all shards failed", **SHARDS,
     caused_by={"type": "illegal_argument_exception", "reason": "Result window is too large, from + size must be less"
     " than or equal to: [10000] but was [20000]"}), []),
    ("too many buckets", search, fails(400, "search_phase_execution_exception", "all shards failed", **SHARDS,
     caused_by={"type": "too_many_buckets_exception", "reason": "Trying to create too many buckets. Must be less than"
     " or equal to: [65536]", "max_buckets": 65536}), TRAP),
    ("the scroll is gone", search, fails(404, "search_context_missing_exception", "No search context found for id [7]"), []),
    ("too many scrolls are open", search, fails(429, "search_phase_execution_exception",
     "Trying to create too many scroll contexts. Must be less than or equal to: [500]."), []),
    ("the task was cancelled", search, fails(400, "task_cancelled_exception", "task cancelled [by user request]"), []),
    ("the cluster takes no more shards", create, fails(400, "validation_exception",
     "Validation Failed: 1: this action would add [2] shards, but this cluster currently has [1000]/[1000] maximum"
     " normal shards open;"), TRAP),
    ("the request is larger than allowed", index, Answer(413, "", PRODUCT), []),
    ("the user is not known", search, fails(401, "security_exception", "unable to authenticate user [etl] for REST request"
     " [/orders/_search]", {"WWW-Authenticate": 'Basic realm="security"'}), []),
    ("the key has expired", search, fails(401, "security_exception", "failed to authenticate: api key is expired"), []),
    ("the user may not do that", search, fails(403, "security_exception",
     "action [indices:data/read/search] is unauthorized for user [etl] with roles [reader] on indices [orders]"), []),
    ("the license does not cover it", search, fails(403, "security_exception",
     "current license is non-compliant for [ml]", **{"license.expired.feature": "ml"}), TRAP),
    ("the snapshot is being made already", create, fails(503, "concurrent_snapshot_execution_exception",
     "[nightly:day] a snapshot is already running"), []),
    ("the snapshot's store does not exist", create, fails(404, "repository_missing_exception", "[nightly] missing"), []),
    ("a field data of text are not enabled", search, fails(400, "illegal_argument_exception",
     "Fielddata is disabled on [name] in [orders]. Text fields are not optimised for operations that require"
     " per-document field data"), []),
    ("the server has a bug", search, fails(500, "null_pointer_exception", "Cannot invoke because x is null"), []),
    ("a gateway gets no answer in time", search, Answer(504, '{"message":"Request timed out"}', PRODUCT), []),
    ("a gateway asks to wait", search, Answer(429, '{"ok":false,"message":"too many requests"}', {**PRODUCT, "Retry-After": "20"}), []),
)  # fmt: skip
for title, call, answer, tags in KINDS:

    @family.case(title, raises="ApiError", tags=tags)
    def _(http: HttpServer, call: Callable[[Any], Any] = call, answer: Answer = answer) -> None:
        call(elastic(http.answers(answer)))


@family.case("some of a bulk's documents fail", raises="BulkIndexError", tags=TRAP)
def _(http: HttpServer) -> None:
    cause = {"type": "document_parsing_exception", "reason": "failed to parse"}
    items = [{"index": {"_index": "orders", "_id": "1", "status": 400, "error": cause}}]
    http.answers(json_answer(200, {"took": 3, "errors": True, "items": items}, PRODUCT))
    elasticsearch.helpers.bulk(elastic(http.url), [{"_index": "orders", "id": 1}])


@family.case("a bulk's documents are rejected by a full queue", raises="BulkIndexError", tags=TRAP)
def _(http: HttpServer) -> None:
    cause = {"type": "es_rejected_execution_exception", "reason": "rejected execution of primary operation"}
    items = [{"index": {"_index": "orders", "_id": "1", "status": 429, "error": cause}}]
    http.answers(json_answer(200, {"took": 3, "errors": True, "items": items}, PRODUCT))
    elasticsearch.helpers.bulk(elastic(http.url), [{"_index": "orders", "id": 1}])


@family.case("a scan loses some of its shards", raises="ScanError")
def _(http: HttpServer) -> None:
    shards = {"total": 5, "successful": 3, "skipped": 0, "failed": 2}
    hits = {"hits": [{"_id": "1", "_source": {}}], "total": {"value": 1}}
    http.answers(json_answer(200, {"_scroll_id": "7", "_shards": shards, "hits": hits}, PRODUCT))
    list(elasticsearch.helpers.scan(elastic(http.url), index="orders"))


@family.case("the server is no Elasticsearch", raises="UnsupportedProductError")
def _(http: HttpServer) -> None:
    search(elastic(http.answers(json_answer(200, {"version": {"number": "2.11.0", "distribution": "opensearch"}}))))


@family.case("the server is older than the client", raises="BadRequestError", tags=TRAP)
def _(http: HttpServer) -> None:
    reason = "Invalid media-type value on headers [Accept, Content-Type]"
    search(elastic(http.answers(fails(400, "media_type_header_exception", reason))))


@family.case(
    "a login page instead of JSON", raises=("ApiError", "UnsupportedProductError", "SerializationError"), tags=TRAP
)
def _(http: HttpServer) -> None:
    search(elastic(http.answers(html(200))))


@family.case("JSON that is cut off", raises="SerializationError")
def _(http: HttpServer) -> None:
    search(elastic(http.answers(Answer(200, '{"hits": {', {**PRODUCT, "Content-Type": "application/json"}))))


# No way to the server.
@plain("the connection is refused", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        search(elastic(f"http://127.0.0.1:{port}"))


@plain("the host name does not exist", raises="ConnectionError")
def _() -> None:
    search(elastic("http://search.invalid:9200"))


@plain("the answer does not come in time", raises="ConnectionTimeout")
def _(http: HttpServer) -> None:
    search(elastic(http.answers(Answer(silent_s=5))))


@plain("the connection is reset", raises="ConnectionError")
def _(http: HttpServer) -> None:
    search(elastic(http.answers(Answer(is_reset=True))))


@plain("the certificate is of an unknown authority", raises="ConnectionError")
def _(https: Any) -> None:
    search(elastic(https.answers(Answer())))


@plain("tries are used up", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        search(elastic(f"http://127.0.0.1:{port}", max_retries=2))


@family.case("tries are used up on 429", raises="ApiError")
def _(http: HttpServer) -> None:
    answer = fails(429, "es_rejected_execution_exception", "rejected execution")
    search(elastic(http.answers(answer), max_retries=1, retry_on_status=[429], retry_on_timeout=True))


@plain("a host without a scheme", raises="ValueError")
def _() -> None:
    elastic("search.example:9200")


@plain("a body that is not JSON serializable", raises="SerializationError")
def _(http: HttpServer) -> None:
    elastic(http.url).index(index="orders", document={"order": object()})


@family.case("asyncio: the queue of writes is full", raises="ApiError")
async def _(http: HttpServer) -> None:
    http.answers(fails(429, "es_rejected_execution_exception", "rejected execution"))
    async with elasticsearch.AsyncElasticsearch(http.url, max_retries=0, request_timeout=1) as client:
        await client.index(index="orders", document={"id": 1})


@family.case("wrapped: the index does not exist", raises="LoadError")
def _(http: HttpServer) -> None:
    try:
        search(elastic(http.answers(fails(404, "index_not_found_exception", "no such index [orders]"))))
    except elasticsearch.ApiError as error:
        raise LoadError("cannot search the day's orders") from error


@family.case("wrapped in words: the disk is above the flood stage", raises="LoadError", tags=[FROM_TEXT, WRONG_READING])
def _(http: HttpServer) -> None:
    reason = "index [orders] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark];"
    try:
        index(elastic(http.answers(fails(429, "cluster_block_exception", reason))))
    except elasticsearch.ApiError as error:
        raise LoadError(f"bulk failed: {error}") from None


@family.case("tenacity gives up: the queue of searches is full", raises="RetryError")
def _(http: HttpServer) -> None:
    client = elastic(http.answers(fails(429, "es_rejected_execution_exception", "rejected execution of task")))
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(search, client)


# OpenSearch: https://docs.opensearch.org/latest/api-reference/common-parameters/
for title, call, answer, tags in (
    ("the queue of writes is full", index, fails(429, "rejected_execution_exception",
     "rejected execution of coordinating operation [shard_detail=[orders][0]]"), []),
    ("the node is under duress", search, fails(429, "rejected_execution_exception", "admission control: cpu usage is above"
     " the limit"), []),
    ("the index does not exist", search, fails(404, "index_not_found_exception", "no such index [orders]"), []),
    ("the document does not fit the mapping", index, fails(400, "mapper_parsing_exception",
     "failed to parse field [placed] of type [date] in document with id '1'"), []),
    ("the document has changed meanwhile", index, fails(409, "version_conflict_engine_exception", "[1]: version conflict"), []),
    ("the user may not do that", search, fails(403, "security_exception",
     "no permissions for [indices:data/read/search] and User [name=etl, backend_roles=[], requestedTenant=null]"), []),
    ("the password is wrong", search, Answer(401, "Unauthorized", {"WWW-Authenticate": "Basic"}), []),
    ("the cluster is blocked because the disk is full", create, fails(403, "index_create_block_exception",
     "blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];"), TRAP),
    ("the circuit breaker trips for now", search, fails(429, "circuit_breaking_exception", "[parent] Data too large",
     durability="TRANSIENT"), []),
    ("no manager node was found", index, fails(503, "cluster_manager_not_discovered_exception", "null"), []),
    ("the cloud's signature is not valid", search, json_answer(403, {"message": "The request signature we calculated does"
     " not match the signature you provided."}), []),
    ("the cloud says the user is not authorized", search, json_answer(403, {"Message": "User: anonymous is not authorized"
     " to perform: es:ESHttpPost"}), []),
    ("the cloud says that the request is throttled", index, json_answer(429, {"message": "429 Too Many Requests"}), []),
    ("the collection of the cloud has reached its capacity", index, fails(429, "ocu_limit_exceeded_exception",
     "Max capacity for OCUs has been reached"), TRAP),
    ("a gateway has no server", search, html(502, "<html><body>502 Bad Gateway</body></html>"), []),
):  # fmt: skip

    @open_search(f"opensearch: {title}", raises="TransportError", tags=tags)
    def _(http: HttpServer, call: Callable[[Any], Any] = call, answer: Answer = answer) -> None:
        call(opened(http.answers(answer)))


@open_search("opensearch: the connection is refused", raises="ConnectionError", is_wire_form=False)
def _() -> None:
    with refused_port() as port:
        search(opened(f"http://127.0.0.1:{port}"))


@open_search("opensearch: the host name does not exist", raises="ConnectionError", is_wire_form=False)
def _() -> None:
    search(opened("http://search.invalid:9200"))


@open_search("opensearch: the answer does not come in time", raises="ConnectionTimeout", is_wire_form=False)
def _(http: HttpServer) -> None:
    search(opened(http.answers(Answer(silent_s=5))))


@open_search("opensearch: the certificate is of an unknown authority", raises="SSLError", is_wire_form=False)
def _(https: Any) -> None:
    search(opened(https.answers(Answer())))


@open_search("opensearch: some of a bulk's documents fail", raises="BulkIndexError", tags=TRAP)
def _(http: HttpServer) -> None:
    cause = {"type": "version_conflict_engine_exception", "reason": "[1]: version conflict, document already exists"}
    items = [{"create": {"_index": "orders", "_id": "1", "status": 409, "error": cause}}]
    http.answers(json_answer(200, {"took": 3, "errors": True, "items": items}))
    opensearchpy.helpers.bulk(opened(http.url), [{"_index": "orders", "_op_type": "create", "id": 1}])


@plain("wrapped in words with the URL: the connection is refused", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    with refused_port() as port:
        url = f"http://etl:{CANARY}@127.0.0.1:{port}"
        try:
            search(elasticsearch.Elasticsearch(url, max_retries=0))
        except elasticsearch.TransportError as error:
            raise LoadError(f"search at {url} is not usable: {error}") from None


if __name__ == "__main__":
    family.run()
