"""Real clients raise against a real server; what they leave in a log is read as well."""

from __future__ import annotations

import asyncio
import json
import urllib.request
import warnings
from collections.abc import Callable, Iterator

import aiohttp
import botocore.config
import botocore.session
import elasticsearch
import google.api_core.exceptions
import httpx
import httpx2
import kubernetes.client
import pytest
import requests
import requests.adapters
import urllib3
from azure.core import PipelineClient
from azure.core.pipeline.policies import RetryPolicy
from azure.core.rest import HttpRequest
from http_reading import NOW, printed_node, raised_by, signal_of, signals_of
from loopback.http_server import Answer, LoopbackServer, json_answer, serving

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import Rank, Retry, Wait
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.protocols.http import reader as http
from airflow_common_ai.evidence.redaction import Redactor, from_json


def with_requests(url: str) -> None:
    requests.get(url, timeout=5).raise_for_status()


def with_streaming_requests(url: str) -> None:
    requests.get(url, timeout=5, stream=True).raise_for_status()


def with_httpx(url: str) -> None:
    httpx.get(url).raise_for_status()


def with_httpx2(url: str) -> None:
    httpx2.get(url).raise_for_status()


def with_aiohttp(url: str) -> None:
    async def get() -> None:
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            response.raise_for_status()

    asyncio.run(get())


def with_urllib(url: str) -> None:
    urllib.request.urlopen(url, timeout=5)


def with_botocore(url: str) -> None:
    s3 = botocore.session.get_session().create_client(
        "s3",
        region_name="eu-north-1",
        endpoint_url=url,
        aws_access_key_id="id",
        aws_secret_access_key="secret",
        config=botocore.config.Config(retries={"total_max_attempts": 1}),
    )
    s3.head_object(Bucket="bucket", Key="key")


def with_google(url: str) -> None:
    raise google.api_core.exceptions.from_http_response(requests.get(url, timeout=5))


def with_azure(url: str) -> None:
    client = PipelineClient(url, policies=[RetryPolicy.no_retries()])
    client.send_request(HttpRequest("GET", url)).raise_for_status()


def with_kubernetes(url: str) -> None:
    configuration = kubernetes.client.Configuration(host=url)
    configuration.retries = False
    api = kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(configuration))
    api.list_namespaced_pod("default")


def with_elasticsearch(url: str) -> None:
    elasticsearch.Elasticsearch(url, max_retries=0, retry_on_status=()).search(index="index")


CLIENTS = [
    with_requests,
    with_streaming_requests,
    with_httpx,
    with_httpx2,
    with_aiohttp,
    with_urllib,
    with_botocore,
    with_google,
    with_azure,
    with_kubernetes,
    with_elasticsearch,
]

ANSWERS = [
    (json_answer(429, {}, {"Retry-After": "7"}), "http.429", "rate_limit", Retry.YES, 7),
    (json_answer(503, {}, {"Retry-After": "0"}), "http.503", "transient", Retry.YES, 0),
    (json_answer(500, {}), "http.500", "transient", Retry.YES, None),
    (json_answer(502, {}), "http.502", "network", Retry.YES, None),
    (json_answer(401, {}), "http.401", "auth", Retry.NO, None),
    (json_answer(403, {}), "http.403", "auth", Retry.NO, None),
    (json_answer(404, {}), "http.404", "resource", Retry.NO, None),
    (json_answer(409, {}), "http.409", "transient", Retry.DEPENDS, None),
]

PRODUCT = {"X-Elastic-Product": "Elasticsearch"}
"""Without it Elasticsearch's client refuses to believe that the server is one."""


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


def answer_with(server: LoopbackServer, answer: Answer) -> str:
    server.answer(Answer(answer.status, answer.body, {**answer.headers, **PRODUCT}))
    return server.url


@pytest.mark.parametrize(("answer", "code", "category", "retry", "asked"), ANSWERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gives_the_same_signal_for_the_same_answer(
    server: LoopbackServer,
    client: Callable[[str], None],
    answer: Answer,
    code: str,
    category: str,
    retry: Retry,
    asked: float | None,
) -> None:
    url = answer_with(server, answer)
    error = raised_by(lambda: client(url))
    alive, printed = signals_of(error), signals_of(printed_node(error))
    for signals in (alive, printed):
        assert {(signal.category, signal.retry) for signal in signals} == {(category, retry)}
        assert (signals[-1].code, signals[-1].rank) == (code, Rank.STATUS)
    assert alive[0].asked_delay_s == asked


@pytest.mark.parametrize("client", CLIENTS)
def test_a_recorded_answer_is_read_as_the_live_one_was(server: LoopbackServer, client: Callable[[str], None]) -> None:
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}
    url = answer_with(server, json_answer(429, {"error": {"code": "rate_limit_exceeded"}}, headers))
    evidence = Redactor().redact(collect(raised_by(lambda: client(url)), observed_at=NOW))
    replayed = from_json(json.loads(json.dumps(evidence.to_json())), Redactor())
    assert read_signals(replayed) == read_signals(evidence)
    assert read_signals(replayed)[0].asked_delay_s == 360


@pytest.mark.parametrize("client", CLIENTS)
def test_a_probe_triggers_no_warning_of_the_library(server: LoopbackServer, client: Callable[[str], None]) -> None:
    url = answer_with(server, json_answer(503, {}))
    error = raised_by(lambda: client(url))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert http.probe(error)["http.status"] == 503


SECRETS = {
    "Set-Cookie": "session=s3cret",
    "X-Api-Key": "s3cret",
    "WWW-Authenticate": 'Bearer realm="s3cret", error="invalid_token"',
}


@pytest.mark.parametrize("client", CLIENTS)
def test_only_whitelisted_headers_are_collected(server: LoopbackServer, client: Callable[[str], None]) -> None:
    headers = {**SECRETS, "Retry-After": "7", "X-RateLimit-Remaining": "0", "Date": "Thu, 01 Jan 2026 00:00:00 GMT"}
    url = answer_with(server, json_answer(401, {}, headers))
    facts = http.probe(raised_by(lambda: client(url)))
    assert "s3cret" not in str(facts)
    assert facts["http.header.www-authenticate"] == "Bearer invalid_token"
    assert facts["http.header.retry-after"] == 7
    assert facts["http.header.x-ratelimit-remaining"] == 0
    assert facts["http.header.date"] == "Thu, 01 Jan 2026 00:00:00 GMT"


BODY_KEPT_IN_MEMORY = [
    with_requests,
    with_httpx,
    with_httpx2,
    with_google,
    with_azure,
    with_kubernetes,
    with_elasticsearch,
]


@pytest.mark.parametrize("client", BODY_KEPT_IN_MEMORY)
def test_a_code_in_the_body_is_found_where_the_client_keeps_the_body(
    server: LoopbackServer, client: Callable[[str], None]
) -> None:
    body = {"error": {"code": "rate_limit_exceeded", "message": "Slow down."}}
    url = answer_with(server, json_answer(403, body))
    signal = signal_of(raised_by(lambda: client(url)))
    assert (signal.code, signal.rank, signal.category) == ("http.rate_limit_exceeded", Rank.VENDOR_CODE, "rate_limit")


def test_a_body_that_was_not_read_is_not_read_by_a_probe() -> None:
    """Reading it could block for as long as the server likes, and takes it away from whoever wants it next."""
    with serving(json_answer(403, {"error": {"code": "rate_limit_exceeded"}})) as server:
        streamed = raised_by(lambda: with_streaming_requests(server.url))
        assert isinstance(streamed, requests.HTTPError)
        assert "http.body.code" not in http.probe(streamed)
        assert b"rate_limit_exceeded" in streamed.response.content

        opened = raised_by(lambda: with_urllib(server.url))
        assert isinstance(opened, urllib.request.HTTPError)
        assert "http.body.code" not in http.probe(opened)
        assert b"rate_limit_exceeded" in opened.read()

        def stream() -> None:
            with httpx.stream("GET", server.url) as response:
                response.raise_for_status()

        assert "http.body.code" not in http.probe(raised_by(stream))


def test_the_method_of_the_request_is_kept() -> None:
    with serving(Answer(504)) as server:
        error = raised_by(lambda: requests.post(server.url, timeout=5).raise_for_status())
        assert "may have been carried out" in signal_of(error).sentence


def test_the_codes_of_aws_are_kept_for_their_reader_and_their_words_are_heeded() -> None:
    body = '{"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "Rate exceeded"}'
    with serving(Answer(400, body, {"Content-Type": "application/x-amz-json-1.0"})) as server:
        dynamodb = botocore.session.get_session().create_client(
            "dynamodb",
            region_name="eu-north-1",
            endpoint_url=server.url,
            aws_access_key_id="id",
            aws_secret_access_key="secret",
            config=botocore.config.Config(retries={"total_max_attempts": 1}),
        )
        error = raised_by(dynamodb.list_tables)
    assert http.probe(error)["http.body.code"] == "ThrottlingException"
    for signal in (signal_of(error), signal_of(printed_node(error))):
        assert (signal.category, signal.retry, signal.rank) == ("rate_limit", Retry.YES, Rank.STATUS)


def test_retries_that_the_client_spent_already_call_for_a_longer_wait() -> None:
    retries = urllib3.Retry(1, status_forcelist=[502], backoff_factor=0)
    session = requests.Session()
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retries))
    with serving(Answer(502)) as server:
        error = raised_by(lambda: session.get(server.url, timeout=5))
        assert len(server.seen) == 2
    assert isinstance(error, requests.exceptions.RetryError)
    signal = signal_of(error)
    assert (signal.code, signal.category, signal.wait) == ("http.502", "network", Wait.MEDIUM)


def test_a_google_reason_is_found_in_errors_that_have_no_response() -> None:
    """BigQuery raises for a finished job: its result is all that there is."""
    errors = [{"reason": "quotaExceeded", "location": "partition", "message": "Quota exceeded"}]
    signal = signal_of(google.api_core.exceptions.Forbidden("Quota exceeded", errors=errors))
    assert (signal.code, signal.retry) == ("http.quotaExceeded", Retry.DEPENDS)


def test_a_grpc_status_is_told_from_the_http_status_that_it_maps_to() -> None:
    lost = google.api_core.exceptions.DataLoss("The stream is damaged")
    assert (signal_of(lost).code, signal_of(lost).retry) == ("http.DATA_LOSS", Retry.NO)
    assert signal_of(printed_node(lost)).retry is Retry.NO
    lost_race = google.api_core.exceptions.Aborted("Transaction lock timeout")
    assert (signal_of(lost_race).retry, signal_of(lost_race).wait) == (Retry.YES, Wait.NOW)


def test_a_wait_of_google_rpc_is_read_from_json_and_from_protobuf() -> None:
    from google.protobuf.duration_pb2 import Duration
    from google.rpc.error_details_pb2 import RetryInfo

    info = RetryInfo(retry_delay=Duration(seconds=34, nanos=500_000_000))
    error = google.api_core.exceptions.ResourceExhausted("Quota exceeded for requests per minute", details=[info])
    assert signal_of(error).asked_delay_s == 34.5
    assert signal_of(printed_node(error)).asked_delay_s == 34
