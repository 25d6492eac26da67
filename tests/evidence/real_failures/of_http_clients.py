"""What HTTP clients raise, and the libraries around them."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import elasticsearch
import httpx
import requests
import tenacity
import urllib3
from azure.core import PipelineClient
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError, map_error
from azure.core.pipeline.policies import RetryPolicy
from azure.core.rest import HttpRequest
from google.api_core import exceptions as google_exceptions
from google.api_core import retry as google_retry
from kubernetes import client as kubernetes
from loopback.http_server import Answer, html_answer, json_answer

from real_failures import Failures, Try

FAILURES = Failures()
row = FAILURES.row


def _error(t: Try, code: int, /, **body: object) -> Answer:
    """An error as a service words it, with everything in it that is never the same twice."""
    headers = {"X-Request-Id": t.id, "Date": t.moment, "Retry-After": str(t.number), "X-RateLimit-Reset": str(t.number)}
    return json_answer(code, {**body, "request_id": t.id, "timestamp": t.moment}, headers)


# ---- requests


def _requests(t: Try, answer: Answer, **options: Any) -> requests.Response:
    response = requests.get(t.url(answer), timeout=5, **options)
    response.raise_for_status()
    return response


row(
    "requests", "status 400, column is missing", lambda t: _requests(t, _error(t, 400, message=f"no column '{t.name}'"))
)
row("requests", "status 400, date is bad", lambda t: _requests(t, _error(t, 400, message=f"bad date '{t.moment}'")))
row("requests", "status 401", lambda t: _requests(t, _error(t, 401)))
row("requests", "status 403", lambda t: _requests(t, _error(t, 403)))
row("requests", "status 404", lambda t: _requests(t, _error(t, 404)))
row("requests", "status 429, too fast", lambda t: _requests(t, _error(t, 429, code="rate_limit_exceeded")))
row("requests", "status 429, no money", lambda t: _requests(t, _error(t, 429, code="insufficient_quota")))
row("requests", "status 500", lambda t: _requests(t, _error(t, 500)))
row("requests", "status 503", lambda t: _requests(t, _error(t, 503)))
row("requests", "connection refused", lambda t: requests.get(t.refused_url))
row("requests", "silence", lambda t: requests.get(t.url(Answer(hang=True)), timeout=0.1 + t.number / 1e6))
row("requests", "hung up", lambda t: requests.get(t.url(Answer(raw=b""))))
row("requests", "answer breaks off", lambda t: _requests(t, Answer(body="x" * t.number * 2, cut_after_bytes=t.number)))
row("requests", "page instead of JSON", lambda t: _requests(t, html_answer(200)).json())
row("requests", "redirects in a circle", lambda t: _requests(t, Answer(302, headers={"Location": f"/{t.id}"})))
row("requests", "scheme is unknown", lambda t: requests.get(f"s3://{t.name}/{t.id}"))
row("requests", "host is missing", lambda t: requests.get(f"http:///{t.name}/{t.id}"))

# ---- urllib3


def _urllib3(t: Try, answer: Answer, **options: Any) -> None:
    urllib3.PoolManager().request("GET", t.url(answer), **options)


row("urllib3", "connection refused", lambda t: urllib3.PoolManager().request("GET", t.refused_url, retries=0))
row("urllib3", "silence", lambda t: _urllib3(t, Answer(hang=True), retries=0, timeout=0.1 + t.number / 1e6))
for _status in (429, 502, 503):
    row(
        "urllib3",
        f"too often {_status}",
        lambda t, status=_status: _urllib3(
            t, Answer(status), retries=urllib3.Retry(1, status_forcelist=[status], backoff_factor=0)
        ),
    )
row("urllib3", "hung up", lambda t: _urllib3(t, Answer(raw=b""), retries=0))
row("urllib3", "URL is garbled", lambda t: urllib3.PoolManager().request("GET", f"http://[{t.id}]/{t.name}"))

# ---- httpx


def _httpx_get(url: str, **options: Any) -> None:
    # Without verify=False each call reads all certificates of the system, for nothing: there is no TLS here.
    httpx.get(url, verify=False, **options).raise_for_status()


def _httpx(t: Try, answer: Answer, **options: Any) -> None:
    _httpx_get(t.url(answer), **options)


for _status in (400, 403, 404, 429, 500, 503):
    row("httpx", f"status {_status}", lambda t, status=_status: _httpx(t, _error(t, status)))
row("httpx", "connection refused", lambda t: _httpx_get(t.refused_url))
row("httpx", "silence", lambda t: _httpx(t, Answer(hang=True), timeout=0.1))
row("httpx", "hung up", lambda t: _httpx(t, Answer(raw=b"")))
row("httpx", "answer breaks off", lambda t: _httpx(t, Answer(body="x" * t.number * 2, cut_after_bytes=t.number)))
row(
    "httpx",
    "redirects in a circle",
    lambda t: _httpx(t, Answer(302, headers={"Location": f"/{t.id}"}), follow_redirects=True),
)
row("httpx", "scheme is unknown", lambda t: _httpx_get(f"s3://{t.name}/{t.id}"))

# ---- aiohttp


def _aiohttp(url: str) -> Any:
    async def get() -> Any:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(5)) as session,
            session.get(url, raise_for_status=True) as response,
        ):
            return await response.json()

    return asyncio.run(get())


for _status in (401, 404, 429, 500, 503):
    row("aiohttp", f"status {_status}", lambda t, status=_status: _aiohttp(t.url(_error(t, status))))
row("aiohttp", "connection refused", lambda t: _aiohttp(t.refused_url))
row("aiohttp", "hung up", lambda t: _aiohttp(t.url(Answer(raw=b""))))
row(
    "aiohttp", "answer breaks off", lambda t: _aiohttp(t.url(Answer(body="x" * t.number * 2, cut_after_bytes=t.number)))
)
row("aiohttp", "page instead of JSON", lambda t: _aiohttp(t.url(html_answer(200))))
row("aiohttp", "no HTTP", lambda t: _aiohttp(t.url(Answer(raw=t.id.encode()))))
row("aiohttp", "URL is garbled", lambda t: _aiohttp(f"/{t.name}/{t.id}"))

# ---- google.api_core


def _google(t: Try, status: int, reason: str, message: str) -> None:
    error = {"code": status, "message": message, "errors": [{"reason": reason, "message": message}]}
    response = requests.get(t.url(_error(t, status, error=error)))
    raise google_exceptions.from_http_response(response)


row("google", "table is missing", lambda t: _google(t, 404, "notFound", f"Not found: Table p:d.{t.name}_{t.number}"))
row("google", "job is missing", lambda t: _google(t, 404, "notFound", f"Not found: Job p:EU.{t.id}"))
row("google", "no rights", lambda t: _google(t, 403, "accessDenied", f"Access Denied: Dataset p:d_{t.number}: no read"))
row("google", "too fast", lambda t: _google(t, 403, "rateLimitExceeded", "Exceeded rate limits: too many api requests"))
row("google", "quota is used up", lambda t: _google(t, 403, "quotaExceeded", "Quota exceeded: too many api requests"))
row("google", "backend", lambda t: _google(t, 503, "backendError", f"Error encountered during execution of {t.id}"))
row("google", "retries are spent", lambda t: _google_retries(t))


def _google_retries(t: Try) -> None:
    retry = google_retry.Retry(initial=0.001, maximum=0.001, timeout=0.01 + t.number / 1e6)
    retry(_google)(t, 503, "backendError", f"Error encountered during execution of {t.id}")


# ---- azure.core


def _azure(url: str) -> None:
    with PipelineClient(url, retry_policy=RetryPolicy.no_retries()) as client:
        response = client.send_request(HttpRequest("GET", f"{url}/container"))
        map_error(response.status_code, response, {404: ResourceNotFoundError, 409: ResourceExistsError})
        response.raise_for_status()


def _azure_error(t: Try, status: int, code: str, message: str) -> None:
    text = f"{message}\nRequestId:{t.id}\nTime:{t.moment}"
    _azure(t.endpoint(_error(t, status, error={"code": code, "message": text})))


row("azure", "blob is missing", lambda t: _azure_error(t, 404, "BlobNotFound", "The specified blob does not exist."))
row(
    "azure",
    "container is missing",
    lambda t: _azure_error(t, 404, "ContainerNotFound", "The specified container does not exist."),
)
row("azure", "no rights", lambda t: _azure_error(t, 403, "AuthorizationFailure", "This request is not authorized."))
row("azure", "busy", lambda t: _azure_error(t, 503, "ServerBusy", "The server is busy."))
row(
    "azure",
    "deployment is locked",
    lambda t: _azure_error(t, 409, "AnotherOperationInProgress", f"Operation {t.id} runs."),
)
row("azure", "connection refused", lambda t: _azure(f"http://127.0.0.1:{t.refused_port}"))

# ---- kubernetes


def _kubernetes(t: Try, host: str) -> None:
    configuration = kubernetes.Configuration(host=host)
    configuration.retries = False
    kubernetes.CoreV1Api(kubernetes.ApiClient(configuration)).read_namespaced_pod(f"{t.name}-x7k2p", "jobs")


def _kubernetes_error(t: Try, status: int, reason: str, message: str) -> None:
    _kubernetes(
        t, t.endpoint(_error(t, status, kind="Status", status="Failure", message=message, reason=reason, code=status))
    )


row("kubernetes", "pod is missing", lambda t: _kubernetes_error(t, 404, "NotFound", f'pods "{t.name}-x7k2p" not found'))
row(
    "kubernetes",
    "quota is used up",
    lambda t: _kubernetes_error(
        t,
        403,
        "Forbidden",
        f'pods "{t.name}" is forbidden: exceeded quota: jobs, requested: cpu=1, used: cpu={t.number}',
    ),
)
row(
    "kubernetes",
    "no rights",
    lambda t: _kubernetes_error(
        t, 403, "Forbidden", f'pods "{t.name}" is forbidden: User "{t.id}" cannot get resource'
    ),
)
row(
    "kubernetes",
    "conflict",
    lambda t: _kubernetes_error(t, 409, "Conflict", f'Operation cannot be fulfilled on "{t.name}"'),
)
row(
    "kubernetes",
    "there already",
    lambda t: _kubernetes_error(t, 409, "AlreadyExists", f'pods "{t.name}" already exists'),
)
row(
    "kubernetes",
    "server is ill",
    lambda t: _kubernetes_error(t, 500, "InternalError", f"etcd failed after {t.number} tries"),
)
row("kubernetes", "connection refused", lambda t: _kubernetes(t, f"http://127.0.0.1:{t.refused_port}"))

# ---- elasticsearch


def _elasticsearch(url: str, index: str) -> None:
    with elasticsearch.Elasticsearch(url, max_retries=0, request_timeout=5) as client:
        client.search(index=index)


def _elasticsearch_error(t: Try, status: int, kind: str, reason: str) -> None:
    index = f"{t.name}-2026.01.{t.number % 28:02}"
    error = {"type": kind, "reason": reason.format(index=index), "index": index, "index_uuid": t.id}
    answer = json_answer(
        status, {"error": {**error, "root_cause": [error]}, "status": status}, {"X-Elastic-Product": "Elasticsearch"}
    )
    _elasticsearch(t.endpoint(answer), index)


row(
    "elasticsearch",
    "index is missing",
    lambda t: _elasticsearch_error(t, 404, "index_not_found_exception", "no such index [{index}]"),
)
row(
    "elasticsearch",
    "query is bad",
    lambda t: _elasticsearch_error(t, 400, "parsing_exception", f"unknown query [{t.name}]"),
)
row(
    "elasticsearch",
    "shards failed",
    lambda t: _elasticsearch_error(t, 503, "search_phase_execution_exception", "all shards failed"),
)
row(
    "elasticsearch",
    "queue is full",
    lambda t: _elasticsearch_error(t, 429, "es_rejected_execution_exception", f"queue capacity = {t.number}"),
)
row(
    "elasticsearch",
    "memory is short",
    lambda t: _elasticsearch_error(t, 429, "circuit_breaking_exception", f"[parent] Data too large, [{t.number}b]"),
)
row("elasticsearch", "connection refused", lambda t: _elasticsearch(f"http://127.0.0.1:{t.refused_port}", t.name))
row("elasticsearch", "no Elasticsearch", lambda t: _elasticsearch(t.endpoint(json_answer(200, {"id": t.id})), t.name))

# ---- tenacity


def _tenacity(attempts: int, fail: Any) -> None:
    tenacity.Retrying(stop=tenacity.stop_after_attempt(attempts))(fail)


row("tenacity", "refused each time", lambda t: _tenacity(1 + t.number % 3, lambda: requests.get(t.refused_url)))
row("tenacity", "404 each time", lambda t: _tenacity(1 + t.number % 3, lambda: _requests(t, _error(t, 404))))
row("tenacity", "bad number each time", lambda t: _tenacity(1 + t.number % 3, lambda: int(t.name)))
