"""An Elasticsearch server on loopback answers bulk requests; the client's helpers raise what went wrong."""

from __future__ import annotations

import json

import elasticsearch
import elasticsearch.helpers
import pytest
from failure_reading import alive, codes, conclusion
from http_reading import raised_by
from loopback.http_server import Answer, serving
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Rank, Retry
from airflow_common_ai.evidence.protocols.clients import elastic

PRODUCT = {"Content-Type": "application/json", "X-Elastic-Product": "Elasticsearch"}


def answered(status: int, body: object) -> BaseException:
    """Return what a bulk request of two documents raises."""
    answer = Answer(status, headers=PRODUCT, body=json.dumps(body).encode())
    documents = [{"_index": "orders", "_id": number, "card": "secret"} for number in (1, 2)]
    with serving(answer) as server, elasticsearch.Elasticsearch(server.url, max_retries=0) as client:
        return raised_by(lambda: elasticsearch.helpers.bulk(client, documents))


def items(*failures: tuple[int, str]) -> dict[str, object]:
    results = [{"index": {"_id": "1", "status": s, "error": {"type": t, "reason": "no"}}} for s, t in failures]
    return {"errors": True, "took": 1, "items": results}


@pytest.mark.parametrize(
    ("failures", "code", "category", "retry"),
    [
        ([(429, "es_rejected_execution_exception")] * 2, "es_rejected_execution_exception", "rate_limit", Retry.YES),
        ([(503, "unavailable_shards_exception")] * 2, "unavailable_shards_exception", "transient", Retry.YES),
        ([(409, "version_conflict_engine_exception")] * 2, "version_conflict_engine_exception", "transient", Retry.YES),
        ([(400, "document_parsing_exception")] * 2, "document_parsing_exception", "data", Retry.NO),
        ([(404, "index_not_found_exception")] * 2, "index_not_found_exception", "resource", Retry.NO),
        (
            [(429, "es_rejected_execution_exception"), (400, "mapper_parsing_exception")],
            "mapper_parsing_exception",
            "data",
            Retry.NO,
        ),
    ],
)
def test_the_worst_item_decides(failures: list[tuple[int, str]], code: str, category: str, retry: Retry) -> None:
    error = answered(200, items(*failures))
    assert isinstance(error, elasticsearch.helpers.BulkIndexError)
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry) == (f"elastic.item.{code}", category, retry)


def test_no_document_is_copied() -> None:
    error = answered(200, items((400, "mapper_parsing_exception"), (400, "mapper_parsing_exception")))
    assert "secret" in str(error.errors)  # type: ignore[attr-defined]
    assert elastic.probe(error) == {"elastic.items": "400:mapper_parsing_exception"}


@pytest.mark.parametrize(
    ("durability", "code", "rank"),
    [
        ("PERMANENT", "elastic.circuit_breaker", Rank.VERDICT),
        ("TRANSIENT", "http.circuit_breaking_exception", Rank.VENDOR_CODE),
    ],
)
def test_a_circuit_breaker_says_whether_it_recovers(durability: str, code: str, rank: Rank) -> None:
    failure = {"type": "circuit_breaking_exception", "reason": "Data too large", "durability": durability}
    signal = conclusion(alive(answered(429, {"error": failure, "status": 429})))
    assert signal is not None
    assert (signal.code, signal.rank) == (code, rank)
    assert signal.retry is not Retry.NO


def test_items_that_opensearch_prints_are_read() -> None:
    """opensearch-py 2 keeps the items in the arguments, so that a log has them too."""
    message = (
        "('1 document(s) failed to index.', [{'index': {'status': 429, 'error': {'type': 'rejected_execution'}}}])"
    )
    assert codes(alive(stand_in("opensearchpy.helpers.errors.BulkIndexError", message)), "elastic.") == [
        "elastic.item.rejected_execution"
    ]


@pytest.mark.parametrize(
    "errors",
    [None, "x", [None], [{}], [{"index": 7}], [{"index": {"status": "429"}}], [{"index": {"error": "x"}}]],
)
def test_other_values_in_the_place_of_the_items_are_left_alone(errors: object) -> None:
    assert elastic.probe(stand_in("elasticsearch.helpers.BulkIndexError", "x", errors=errors)) == {}


def test_a_document_that_was_to_be_new_and_exists_is_no_race() -> None:
    error = {"type": "version_conflict_engine_exception", "reason": "document already exists"}
    errors = [{"create": {"_id": "1", "status": 409, "error": error}}]
    signal = conclusion(alive(stand_in("elasticsearch.helpers.BulkIndexError", "x", errors=errors)))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry) == ("elastic.item.document_exists", "data", Retry.NO)


def test_an_item_without_a_type_is_read_by_its_status() -> None:
    error = stand_in("elasticsearch.helpers.BulkIndexError", "x", errors=[{"delete": {"status": 503}}])
    assert codes(alive(error), "elastic.") == ["elastic.item.503"]
