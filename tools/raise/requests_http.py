# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "requests==2.34.2", "urllib3==2.8.0"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What requests and urllib3 raise against HTTP servers on this machine, the good and the broken."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from typing import Any

import requests
import urllib3
from harness import CANARY, WRONG_READING, Family
from requests.adapters import HTTPAdapter
from servers.http import Answer, HttpServer, Request, html, http_server, json_answer
from servers.port import refused_port
from servers.tls import https_server
from urllib3.util import Retry, Timeout

family = Family(
    __file__,
    "requests",
    servers={
        "http": http_server,
        "https": https_server(),
        "expired": https_server(valid_days=(-30, -2)),
        "not_yet_valid": https_server(valid_days=(2, 30)),
        "self_signed": https_server(is_self_signed=True),
        "other_host": https_server("db.internal.example"),
        "old_tls": https_server(adjust=lambda context: setattr(context, "maximum_version", ssl.TLSVersion.TLSv1_2)),
    },
)
urllib3_case = partial(family.case, library="urllib3")


def get(url: str, **options: Any) -> requests.Response:
    """Ask as a task would, with a token."""
    headers = {"Authorization": f"Bearer {CANARY}", **options.pop("headers", {})}
    return requests.get(url, headers=headers, timeout=options.pop("timeout", 5), **options)


def fails_with(answer: Answer, path: str = "/v1/orders") -> Callable[[HttpServer], None]:
    """Return a case that asks a server with one answer, and takes a bad status for an error."""

    def case(http: HttpServer) -> None:
        get(http.answers(answer) + path).raise_for_status()

    return case


def reads_json(answer: Answer) -> Callable[[HttpServer], None]:
    """Return a case that takes the answer for JSON."""

    def case(http: HttpServer) -> None:
        response = get(http.answers(answer) + "/v1/orders")
        response.raise_for_status()
        response.json()

    return case


def http_date(seconds: float) -> str:
    """Return a moment from now as headers have it."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def epoch(seconds: float) -> int:
    return int(datetime.now(UTC).timestamp() + seconds)


# Statuses, each as plain as it comes.
for status, body in {
    400: '{"error": "start_date must be before end_date"}',
    401: '{"error": "invalid credentials"}',
    402: '{"error": "payment required"}',
    403: '{"error": "you do not have access to this workspace"}',
    404: '{"error": "no such dataset"}',
    405: '{"error": "method not allowed"}',
    406: "",
    407: "",
    408: "",
    409: '{"error": "an export of this dataset is already running"}',
    410: '{"error": "this API was removed, use /v2"}',
    411: "",
    412: '{"error": "ETag does not match"}',
    413: '{"error": "request body larger than 10 MB"}',
    414: "",
    415: "",
    416: "",
    421: "",
    422: '{"detail": [{"loc": ["body", "amount"], "msg": "value is not a valid decimal"}]}',
    423: '{"error": "the resource is locked"}',
    424: "",
    425: "",
    426: "",
    428: "",
    429: '{"error": "too many requests"}',
    431: "",
    451: "",
    500: '{"error": "internal error"}',
    501: "",
    502: "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
    503: "<html><body>Service Unavailable</body></html>",
    504: "<html><body>504 Gateway Time-out</body></html>",
    505: "",
    507: "",
    508: "",
    511: "",
    520: "",
    521: "",
    522: "",
    524: "",
    525: "",
    526: "",
    529: '{"error": {"type": "overloaded_error"}}',
    530: "",
}.items():
    family.case(f"status {status}", raises="HTTPError")(fails_with(Answer(status, body)))

# How long to wait, in every unit and place that servers use.
for where, answer in {
    "429 with Retry-After in seconds": lambda: Answer(429, headers={"Retry-After": "30"}),
    "429 with Retry-After as a date": lambda: Answer(429, headers={"Retry-After": http_date(90)}),
    "429 with Retry-After as a date that has passed": lambda: Answer(429, headers={"Retry-After": http_date(-60)}),
    "429 with Retry-After of zero": lambda: Answer(429, headers={"Retry-After": "0"}),
    "429 with Retry-After of a fraction": lambda: Answer(429, headers={"Retry-After": "1.5"}),
    "429 with Retry-After of one hour": lambda: Answer(429, headers={"Retry-After": "3600"}),
    "429 with Retry-After that is no number": lambda: Answer(429, headers={"Retry-After": "soon"}),
    "429 with Retry-After of a year": lambda: Answer(429, headers={"Retry-After": "31536000"}),
    "429 with Retry-After below zero": lambda: Answer(429, headers={"Retry-After": "-5"}),
    "429 with retry-after-ms": lambda: Answer(429, headers={"retry-after-ms": "2500"}),
    "429 with x-ms-retry-after-ms": lambda: Answer(429, headers={"x-ms-retry-after-ms": "12000"}),
    "429 with RateLimit-Reset in seconds": lambda: Answer(
        429, headers={"RateLimit-Limit": "100", "RateLimit-Remaining": "0", "RateLimit-Reset": "45"}
    ),
    "429 with X-RateLimit-Reset as an epoch": lambda: Answer(
        429, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(epoch(120))}
    ),
    "429 with X-RateLimit-Reset as an epoch in milliseconds": lambda: Answer(
        429, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(epoch(120) * 1000)}
    ),
    "429 with x-ratelimit-reset-requests as a duration": lambda: Answer(
        429, headers={"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}
    ),
    "429 with a wait in the body only": lambda: json_answer(
        429, {"error": "Rate limit exceeded. Please try again in 20 seconds."}
    ),
    "503 with Retry-After in seconds": lambda: Answer(503, headers={"Retry-After": "120"}),
    "503 with Retry-After as a date": lambda: Answer(503, headers={"Retry-After": http_date(300)}),
    "503 for maintenance of two hours": lambda: html(
        503, "<html><body>Down for maintenance, back at 04:00 UTC</body></html>", {"Retry-After": "7200"}
    ),
}.items():
    family.case(where, raises="HTTPError")(lambda http, answer=answer: fails_with(answer())(http))


@family.case("429 for a monthly quota that is used up", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    body = {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota, check your plan."}}
    fails_with(json_answer(429, body))(http)


@family.case("403 that is a rate limit, as GitHub says it", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    # https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
    body = {"message": "API rate limit exceeded for user ID 1.", "documentation_url": "https://docs.github.com/rest"}
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(epoch(600))}
    fails_with(json_answer(403, body, headers))(http)


@family.case("403 that is a secondary rate limit with Retry-After", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    body = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
    fails_with(json_answer(403, body, {"Retry-After": "60"}))(http)


@family.case("401 for a token that has expired", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    headers = {"WWW-Authenticate": 'Bearer error="invalid_token", error_description="The access token expired"'}
    fails_with(json_answer(401, {"error": "invalid_token"}, headers))(http)


@family.case("400 that says the server is throttling", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    body = {"__type": "ThrottlingException", "message": "Rate exceeded"}
    fails_with(json_answer(400, body))(http)


@family.case("500 for a request that can never work", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    body = {"error": "ValidationError: column 'amount' does not exist in table 'orders'"}
    fails_with(json_answer(500, body))(http)


@family.case("404 from a proxy while the service is deployed", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    fails_with(Answer(404, "default backend - 404", {"Content-Type": "text/plain"}))(http)


@family.case("a path that is named like a timeout", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    fails_with(Answer(404, '{"error": "no such table"}'), "/v1/tables/connection_timeout_events")(http)


@family.case("a path that has 429 in it", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    fails_with(Answer(422, '{"error": "bad order"}'), "/v1/orders/429")(http)


# Secrets where clients print them.
for title, path in {
    "401 for a URL with a key in its query": f"/v1/orders?day=2026-01-31&api_key={CANARY}",
    "403 for a signed URL that has expired": f"/exports/orders.csv?X-Amz-Expires=60&X-Amz-Signature={CANARY}",
}.items():
    family.case(title, raises="HTTPError")(fails_with(Answer(int(title[:3])), path))


@family.case("a refused connection to a URL with a password", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        get(f"http://etl:{CANARY}@127.0.0.1:{port}/v1/orders?token={CANARY}")


@family.case("a server that sends the token back in its error", raises="HTTPError")
def _(http: HttpServer) -> None:
    url = http.routes(lambda request: json_answer(400, {"error": "bad request", "headers": dict(request.headers)}))
    get(url).raise_for_status()


# Not JSON where JSON was asked for.
for title, answer, tags in (
    ("a login page instead of JSON", html(200), [WRONG_READING]),
    (
        "an error page with status 200 instead of JSON",
        html(200, "<html><h1>Service Unavailable</h1></html>"),
        [WRONG_READING],
    ),
    ("nothing instead of JSON", Answer(200, "", {"Content-Type": "application/json"}), [WRONG_READING]),
    ("JSON that is cut off though complete by its length", Answer(200, '{"rows": [{"id": 1}, {"i'), [WRONG_READING]),
    ("JSON with a trailing comma", Answer(200, '{"rows": [1, 2,]}'), []),
    ("JSON with single quotes", Answer(200, "{'rows': []}"), []),
    ("two JSON documents in one answer", Answer(200, '{"id": 1}\n{"id": 2}\n'), []),
    ("plain words instead of JSON", Answer(200, "OK", {"Content-Type": "text/plain"}), []),
):
    family.case(title, raises=("JSONDecodeError", "UnicodeDecodeError"), tags=tags)(reads_json(answer))


# Answers that break off, or are not what they say.
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
GZIP = {"Content-Encoding": "gzip"}
BAD_CHECKSUM = gzip.compress(b"x" * 100)[:-8] + b"\0" * 8

for title, answer, raises in (
    ("the connection is reset before the answer", Answer(is_reset=True), "ConnectionError"),
    ("the connection is closed without an answer", Answer(raw=b""), "ConnectionError"),
    ("the body is cut off", Answer(200, "x" * 1000, cut_after_bytes=100), "ChunkedEncodingError"),
    ("chunks end in the middle", Answer(raw=CHUNKED + b"10\r\nabc"), "ChunkedEncodingError"),
    ("a chunk whose size is no number", Answer(raw=CHUNKED + b"zz\r\nabc\r\n"), "ChunkedEncodingError"),
    ("an answer that is not HTTP", Answer(raw=b"SSH-2.0-OpenSSH_9.6\r\n"), "ConnectionError"),
    ("a status line without a number", Answer(raw=b"HTTP/1.1 OK\r\n\r\n"), "ConnectionError"),
    ("gzip that is none", Answer(200, b"not gzip", GZIP), "ContentDecodingError"),
    ("gzip with a wrong checksum", Answer(200, BAD_CHECKSUM, GZIP), "ContentDecodingError"),
    ("an answer that does not come in time", Answer(silent_s=10), "ReadTimeout"),
    ("a redirect to itself", Answer(302, headers={"Location": "/v1/orders"}), "TooManyRedirects"),
    ("a redirect to a host that is none", Answer(302, headers={"Location": "http://.example/"}), "LocationParseError"),
    ("a redirect to another scheme", Answer(302, headers={"Location": "ftp://files.example/orders"}), "InvalidSchema"),
):
    family.case(title, raises=raises)(lambda http, answer=answer: get(http.answers(answer) + "/v1/orders", timeout=0.5))


@family.case("the body stops coming in time", raises="ConnectionError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    slow = Answer(200, "x" * 10, {"Content-Length": "1000"})  # keeps the connection open
    get(http.answers(slow), timeout=0.5)


@family.case("a proxy of tries gives up on 503", raises="RetryError")
def _(http: HttpServer) -> None:
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=Retry(2, status_forcelist=[503], backoff_factor=0)))
    session.get(http.answers(Answer(503)) + "/v1/orders", timeout=5)


@family.case("a session of tries gives up on 429 with Retry-After", raises="RetryError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    session = requests.Session()
    retry = Retry(1, status_forcelist=[429], backoff_factor=0, respect_retry_after_header=False)
    session.mount("http://", HTTPAdapter(max_retries=retry))
    session.get(http.answers(Answer(429, headers={"Retry-After": "30"})) + "/v1/orders", timeout=5)


# No way to the server.
@family.case("the connection is refused", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        get(f"http://127.0.0.1:{port}/v1/orders")


@family.case("a session of tries gives up on refused connections", raises="ConnectionError")
def _() -> None:
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=Retry(2, backoff_factor=0)))
    with refused_port() as port:
        session.get(f"http://127.0.0.1:{port}/v1/orders", timeout=5)


@family.case("a host name that does not exist", raises="ConnectionError")
def _() -> None:
    get("http://orders.invalid/v1/orders")


@family.case("a host name with an empty label", raises="InvalidURL")
def _() -> None:
    get("http://.example/v1/orders")


@family.case("a URL without a scheme", raises="MissingSchema")
def _() -> None:
    get("orders.example/v1/orders")


@family.case("a scheme that requests does not know", raises="InvalidSchema")
def _() -> None:
    get("s3://bucket/orders.csv")


@family.case("a port that is no number", raises="InvalidURL")
def _() -> None:
    get("http://127.0.0.1:http/v1/orders")


@family.case("a header with a line break", raises="InvalidHeader")
def _(http: HttpServer) -> None:
    get(http.answers(Answer()), headers={"X-Run": "scheduled\n2026"})


@family.case("a body that is not JSON serializable", raises="InvalidJSONError")
def _(http: HttpServer) -> None:
    requests.post(http.answers(Answer()), json={"value": float("nan")}, timeout=5)


# Proxies.
@family.case("a proxy that refuses connections", raises="ProxyError")
def _() -> None:
    with refused_port() as port:
        get("https://api.example/v1", proxies={"https": f"http://user:{CANARY}@127.0.0.1:{port}"})


@family.case("a proxy that wants to know who asks", raises="ProxyError")
def _(http: HttpServer) -> None:
    proxy = http.answers(Answer(407, headers={"Proxy-Authenticate": "Basic"})).replace("://", f"://user:{CANARY}@")
    get("https://api.example/v1", proxies={"https": proxy})


@family.case("a proxy that forbids the host", raises="ProxyError")
def _(http: HttpServer) -> None:
    get("https://api.example/v1", proxies={"https": http.answers(Answer(403, reason="Forbidden by policy"))})


@family.case("a proxy that cannot reach the host", raises="ProxyError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    get("https://api.example/v1", proxies={"https": http.answers(Answer(503))})


@family.case("a proxy that waits too long for the host", raises="ProxyError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    get("https://api.example/v1", proxies={"https": http.answers(Answer(504))})


@family.case("a proxy that hangs up", raises=("ProxyError", "ConnectionError"))
def _(http: HttpServer) -> None:
    get("https://api.example/v1", proxies={"https": http.answers(Answer(raw=b""))})


@family.case("407 from a proxy for plain HTTP", raises="HTTPError")
def _(http: HttpServer) -> None:
    get("http://api.example/v1", proxies={"http": http.answers(Answer(407))}).raise_for_status()


# TLS.
@family.case("a certificate that has expired", raises="SSLError")
def _(expired: Any) -> None:
    get(expired.answers(Answer()), verify=str(expired.root))


@family.case("a certificate that is not valid yet", raises="SSLError")
def _(not_yet_valid: Any) -> None:
    get(not_yet_valid.answers(Answer()), verify=str(not_yet_valid.root))


@family.case("a self-signed certificate", raises="SSLError")
def _(self_signed: Any) -> None:
    get(self_signed.answers(Answer()))


@family.case("a certificate of an unknown authority", raises="SSLError")
def _(https: Any) -> None:
    get(https.answers(Answer()))


@family.case("a certificate for another host", raises="SSLError")
def _(other_host: Any) -> None:
    get(other_host.answers(Answer()), verify=str(other_host.root))


@family.case("HTTPS asked of a plain server", raises="SSLError")
def _(http: HttpServer) -> None:
    get(http.answers(Answer()).replace("http://", "https://"))


@family.case("HTTP asked of a TLS server", raises="ConnectionError")
def _(https: Any) -> None:
    get(https.answers(Answer()).replace("https://", "http://"))


@family.case("a TLS handshake that is cut off", raises=("SSLError", "ConnectionError"), tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    get(http.answers(Answer(is_reset=True)).replace("http://", "https://"))


@family.case("a file of authorities that is not there", raises="OSError")
def _(https: Any) -> None:
    get(https.answers(Answer()), verify="/etc/ssl/certs/company-root.pem")


@family.case("a TLS version that the server does not speak", raises="SSLError")
def _(old_tls: Any) -> None:
    context = ssl.create_default_context(cafile=str(old_tls.root))
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    session = requests.Session()
    adapter = HTTPAdapter()
    adapter.init_poolmanager(1, 1, ssl_context=context)
    session.mount("https://", adapter)
    session.get(old_tls.answers(Answer()), verify=str(old_tls.root), timeout=5)


# urllib3 alone.
def pool(**options: Any) -> urllib3.PoolManager:
    return urllib3.PoolManager(**{"retries": False, "timeout": Timeout(0.5), **options})


@urllib3_case("urllib3 is refused", raises="NewConnectionError")
def _() -> None:
    with refused_port() as port:
        pool().request("GET", f"http://127.0.0.1:{port}/v1")


@urllib3_case("urllib3 gives up after two refused connections", raises="MaxRetryError")
def _() -> None:
    with refused_port() as port:
        pool(retries=Retry(1, backoff_factor=0)).request("GET", f"http://127.0.0.1:{port}/v1")


@urllib3_case("urllib3 waits too long for an answer", raises="ReadTimeoutError")
def _(http: HttpServer) -> None:
    pool().request("GET", http.answers(Answer(silent_s=5)))


@urllib3_case("urllib3 gives up after slow answers", raises="MaxRetryError")
def _(http: HttpServer) -> None:
    pool(retries=Retry(1, backoff_factor=0)).request("GET", http.answers(Answer(silent_s=5)))


@urllib3_case("urllib3 gives up on 502", raises="MaxRetryError")
def _(http: HttpServer) -> None:
    retries = Retry(1, status_forcelist=[502], backoff_factor=0)
    pool(retries=retries).request("GET", http.answers(Answer(502)))


@urllib3_case("urllib3 gives up on redirects", raises="MaxRetryError")
def _(http: HttpServer) -> None:
    pool(retries=Retry(redirect=2)).request("GET", http.answers(Answer(301, headers={"Location": "/again"})))


@urllib3_case("urllib3 reads a body that is cut off", raises="ProtocolError")
def _(http: HttpServer) -> None:
    pool().request("GET", http.answers(Answer(200, "x" * 500, cut_after_bytes=10)))


@urllib3_case("urllib3 is reset", raises="ProtocolError")
def _(http: HttpServer) -> None:
    pool().request("GET", http.answers(Answer(is_reset=True)))


@urllib3_case("urllib3 cannot decode gzip", raises="DecodeError")
def _(http: HttpServer) -> None:
    pool().request("GET", http.answers(Answer(200, b"plain", {"Content-Encoding": "gzip"})))


@urllib3_case("urllib3 does not find a host", raises="NameResolutionError")
def _() -> None:
    pool().request("GET", "http://orders.invalid/")


@urllib3_case("urllib3 cannot parse a place", raises="LocationParseError")
def _() -> None:
    pool().request("GET", "http://[::1/orders")


@urllib3_case("urllib3 meets a full pool", raises="EmptyPoolError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    http.answers(Answer(200, "x"))
    one = urllib3.HTTPConnectionPool("127.0.0.1", http.port, maxsize=1, block=True)
    one.request("GET", "/", preload_content=False)  # and does not give its connection back
    one.request("GET", "/", pool_timeout=0.2, retries=False)


@urllib3_case("urllib3 does not trust a certificate", raises="MaxRetryError")
def _(https: Any) -> None:
    pool(retries=Retry(0)).request("GET", https.answers(Answer()))


def _is_login(request: Request) -> bool:
    return request.path.startswith("/login")


@family.case("a redirect to a login page that wants a POST", raises="HTTPError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    url = http.routes(
        lambda request: (
            Answer(405, headers={"Allow": "POST"})
            if _is_login(request)
            else Answer(302, headers={"Location": "/login?next=/v1/orders"})
        )
    )
    get(f"{url}/v1/orders").raise_for_status()


if __name__ == "__main__":
    family.run()
