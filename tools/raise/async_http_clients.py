# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "aiohttp==3.14.5",
#     "cryptography==50.0.2",
#     "httpx[http2,socks]==0.28.1",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What httpx and aiohttp raise against HTTP servers on this machine, the good and the broken."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any

import aiohttp
import httpx
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, html, http_server, json_answer
from servers.port import refused_port
from servers.tls import https_server

family = Family(
    __file__,
    "httpx",
    servers={
        "http": http_server,
        "https": https_server(),
        "expired": https_server(valid_days=(-30, -2)),
        "other_host": https_server("db.internal.example"),
        "old_tls": https_server(adjust=lambda context: setattr(context, "maximum_version", ssl.TLSVersion.TLSv1_2)),
    },
)
aiohttp_case = partial(family.case, library="aiohttp")
TOKEN = {"Authorization": f"Bearer {CANARY}"}


class LoadError(Exception):
    """A user's own."""


def get(url: str, path: str = "/v1/orders", **options: Any) -> httpx.Response:
    with httpx.Client(headers=TOKEN, timeout=options.pop("timeout", 1), **options) as client:
        response = client.get(url + path)
        response.raise_for_status()
        return response


async def fetch(url: str, path: str = "/v1/orders", timeout: Any = 1, reads: str = "json", **options: Any) -> Any:
    limits = aiohttp.ClientTimeout(total=timeout) if isinstance(timeout, int | float) else timeout
    async with (
        aiohttp.ClientSession(headers=TOKEN, timeout=limits) as session,
        session.get(url + path, **options) as response,
    ):
        response.raise_for_status()
        return await getattr(response, reads)()


ONLY_AIOHTTP = "only aiohttp's class misleads"


def both(title: str, answer: Answer, of_httpx: str, of_aiohttp: str, misleads: str = "") -> None:
    """Add a case for each client."""
    tags = [WRONG_READING] if misleads else []

    @family.case(f"httpx meets {title}", raises=of_httpx, tags=[] if misleads == ONLY_AIOHTTP else tags)
    def _(http: HttpServer) -> None:
        get(http.answers(answer)).json()

    @aiohttp_case(f"aiohttp meets {title}", raises=of_aiohttp, tags=tags)
    async def _(http: HttpServer) -> None:
        await fetch(http.answers(answer))


for title, answer, *tags in (
    ("400", Answer(400, '{"error": "start_date must be before end_date"}')),
    ("401 for an expired token", Answer(401, "", {"WWW-Authenticate": 'Bearer error="invalid_token"'})),
    ("403", Answer(403, '{"error": "you do not have access to this workspace"}')),
    ("403 that is a rate limit", json_answer(403, {"message": "You have exceeded a secondary rate limit."},
        {"Retry-After": "60"}), WRONG_READING),
    ("404", Answer(404, '{"error": "no such dataset"}')),
    ("407", Answer(407, "", {"Proxy-Authenticate": "Basic"})),
    ("409 for a job that runs already", Answer(409, '{"error": "an export is already running"}')),
    ("422", json_answer(422, {"detail": [{"loc": ["body", "amount"], "msg": "value is not a valid decimal"}]})),
    ("429 with Retry-After", Answer(429, "", {"Retry-After": "30"})),
    ("429 without a wait", Answer(429)),
    ("429 for a quota of the month", json_answer(429, {"code": "monthly_quota_exceeded", "message": "Upgrade your plan."}),
        WRONG_READING),
    ("500", Answer(500, '{"error": "internal error"}')),
    ("502 from nginx", html(502, "<html><head><title>502 Bad Gateway</title></head></html>")),
    ("503 with Retry-After", Answer(503, "", {"Retry-After": "120"})),
    ("504", Answer(504)),
):  # fmt: skip
    both(title, answer, "HTTPStatusError", "ClientResponseError", *tags)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"
JSON = {"Content-Type": "application/json"}
for title, answer, of_httpx, of_aiohttp, *tags in (
    ("a connection that is reset", Answer(is_reset=True), "ReadError", "ClientOSError"),
    ("a connection closed without an answer", Answer(raw=b""), "RemoteProtocolError", "ServerDisconnectedError"),
    ("a body that is cut off", Answer(200, '{"rows": [1, 2, 3]}', JSON, cut_after_bytes=8), "RemoteProtocolError",
        "ClientPayloadError", ONLY_AIOHTTP),
    ("chunks that end early", Answer(raw=CHUNKED + b"40\r\n{\"rows\": ["), "RemoteProtocolError", "ClientPayloadError",
        ONLY_AIOHTTP),
    ("an answer that is no HTTP", Answer(raw=b"SSH-2.0-OpenSSH_9.2\r\n"), "RemoteProtocolError", "ClientResponseError",
        ONLY_AIOHTTP),
    ("gzip that is none", Answer(200, b"plain", {"Content-Encoding": "gzip", **JSON}), "DecodingError",
        "ClientPayloadError"),
    ("a login page instead of JSON", html(200), "JSONDecodeError", "ContentTypeError", WRONG_READING),
    ("JSON that is half", Answer(200, '{"rows": [1, 2', JSON), "JSONDecodeError", "JSONDecodeError", WRONG_READING),
    ("bytes that are no UTF-8", Answer(200, b'{"name": "\xe4"}', JSON), "UnicodeDecodeError", "UnicodeDecodeError"),
    ("silence", Answer(silent_s=4), "ReadTimeout", "TimeoutError"),
):  # fmt: skip
    both(title, answer, of_httpx, of_aiohttp, *tags)


def redirects(add: Any, who: str, ask: Callable[[str], Any], raises: str) -> None:
    @add(f"{who} is redirected for ever", raises=raises)
    def _(http: HttpServer) -> Any:
        return ask(http.answers(Answer(301, headers={"Location": "/again"})))

    @add(f"{who} does not find a host", raises=("ConnectError", "ClientConnectorError"))
    def _() -> Any:
        return ask("http://orders.invalid")

    @add(f"{who} is refused", raises=("ConnectError", "ClientConnectorError"))
    def _() -> Any:
        with refused_port() as port:
            result = ask(f"http://127.0.0.1:{port}")
            return asyncio.run(result) if asyncio.iscoroutine(result) else result

    @add(f"{who} does not trust a certificate", raises=("ConnectError", "ClientConnectorCertificateError"))
    def _(https: Any) -> Any:
        return ask(https.answers(Answer()))

    @add(f"{who} meets an expired certificate", raises=("ConnectError", "ClientConnectorCertificateError"))
    def _(expired: Any) -> Any:
        return ask_trusting(who, expired)

    @add(f"{who} meets a certificate of another host", raises=("ConnectError", "ClientConnectorCertificateError"))
    def _(other_host: Any) -> Any:
        return ask_trusting(who, other_host)

    @add(f"{who} speaks plain HTTP to a TLS port", raises="Exception", tags=[WRONG_READING])
    def _(https: Any) -> Any:
        return ask(https.answers(Answer()).replace("https", "http"))

    @add(f"{who} speaks TLS to a plain port", raises="Exception", tags=[WRONG_READING])
    def _(http: HttpServer) -> Any:
        return ask(http.answers(Answer()).replace("http", "https"))

    @add(f"{who} gets a URL without a scheme", raises=("UnsupportedProtocol", "InvalidURL", "NonHttpUrlClientError"))
    def _() -> Any:
        return ask("orders.example")


def ask_trusting(who: str, server: Any) -> Any:
    context = ssl.create_default_context(cafile=server.root)
    url = server.answers(Answer())
    return get(url, verify=context) if who == "httpx" else fetch(url, ssl=context)


redirects(family.case, "httpx", partial(get, follow_redirects=True), "TooManyRedirects")
redirects(aiohttp_case, "aiohttp", fetch, "TooManyRedirects")


@family.case("httpx takes a redirect for an error", raises="HTTPStatusError")
def _(http: HttpServer) -> None:
    get(http.answers(Answer(302, headers={"Location": "/login"})))


@family.case("httpx waits for a connection of a full pool", raises="PoolTimeout", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    url = http.answers(Answer(200, "x"))
    client = httpx.Client(limits=httpx.Limits(max_connections=1), timeout=httpx.Timeout(2, pool=0.2))
    with client.stream("GET", url):
        client.get(url)


@family.case("httpx goes through a proxy that wants a password", raises="ProxyError")
def _(http: HttpServer) -> None:
    url = http.answers(Answer(407, "", {"Proxy-Authenticate": "Basic"}))
    get("https://orders.example", proxy=url.replace("://", f"://etl:{CANARY}@"))


@family.case("httpx goes through a proxy that does not reach the host", raises="ProxyError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    get("https://orders.example", proxy=http.answers(Answer(503)))


@family.case("httpx goes through a SOCKS proxy that is down", raises="ConnectError")
def _() -> None:
    with refused_port() as port:
        get("http://orders.example", proxy=f"socks5://127.0.0.1:{port}")


@family.case("httpx client that was closed", raises="RuntimeError")
def _(http: HttpServer) -> None:
    client = httpx.Client()
    client.close()
    client.get(http.url)


@family.case("httpx reads a stream that was read before", raises="StreamConsumed")
def _(http: HttpServer) -> None:
    with httpx.stream("GET", http.answers(Answer(200, "x"))) as response:
        list(response.iter_raw())
        list(response.iter_raw())


@family.case("httpx header with a line break", raises="LocalProtocolError")
def _(http: HttpServer) -> None:
    httpx.get(http.url, headers={"X-Run": "a\nb"})


@family.case("httpx is silent under a user's own exception", raises="LoadError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    try:
        get(http.answers(Answer(silent_s=4)), timeout=0.3)
    except httpx.HTTPError as error:
        raise LoadError(f"orders of 2026-01-31 could not be loaded ({type(error).__name__}: {error})") from None


@family.case("httpx meets 503 until tenacity gives up", raises="RetryError")
def _(http: HttpServer) -> None:
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(get)(http.answers(Answer(503)))


@family.case("httpx asks many in a group and all are limited", raises="ExceptionGroup")
async def _(http: HttpServer) -> None:
    url = http.answers(Answer(429, "", {"Retry-After": "15"}))

    together = asyncio.Barrier(3)  # or the first one's error cancels the others

    async def one(client: httpx.AsyncClient, number: int) -> None:
        response = await client.get(f"{url}/v1/orders/{number}")
        await together.wait()
        response.raise_for_status()

    async with httpx.AsyncClient(headers=TOKEN) as client, asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(one(client, number))


@aiohttp_case("aiohttp does not connect in time", raises="TimeoutError")
async def _(https: Any) -> None:
    with_hang = aiohttp.ClientTimeout(sock_read=0.3)
    await fetch(https.answers(Answer(silent_s=4)), timeout=with_hang, ssl=False)


@aiohttp_case("aiohttp waits for a connection of a full pool", raises="TimeoutError", tags=[WRONG_READING])
async def _(http: HttpServer) -> None:
    url = http.answers(Answer(200, "x" * 5_000_000))
    timeout = aiohttp.ClientTimeout(connect=0.3)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1), timeout=timeout) as session:
        held = session.get(url)
        async with held:
            await session.get(url)


@aiohttp_case("aiohttp takes nothing for JSON and the task reads it", raises="TypeError", tags=[WRONG_READING])
async def _(http: HttpServer) -> None:
    (await fetch(http.answers(Answer(200, "", JSON))))["rows"]


@aiohttp_case("aiohttp session that was closed", raises="RuntimeError")
async def _(http: HttpServer) -> None:
    session = aiohttp.ClientSession()
    await session.close()
    await session.get(http.url)


@aiohttp_case("aiohttp header line that is too long", raises="ClientResponseError", tags=[WRONG_READING])
async def _(http: HttpServer) -> None:
    await fetch(http.answers(Answer(200, "{}", {"X-Trace": "x" * 9000})))


@aiohttp_case("aiohttp websocket that the server does not upgrade", raises="WSServerHandshakeError")
async def _(http: HttpServer) -> None:
    async with aiohttp.ClientSession(headers=TOKEN) as session:
        await session.ws_connect(http.answers(Answer(403)))


@aiohttp_case("aiohttp goes through a proxy that wants a password", raises="ClientHttpProxyError")
async def _(http: HttpServer) -> None:
    proxy = http.answers(Answer(407, "", {"Proxy-Authenticate": "Basic"}))
    await fetch("https://orders.example", proxy=proxy)


@aiohttp_case("aiohttp is cut off and a clean-up fails as well", raises="KeyError", tags=[WRONG_READING])
async def _(http: HttpServer) -> None:
    progress: dict[str, int] = {}
    try:
        await fetch(http.answers(Answer(200, '{"rows": []}', JSON, cut_after_bytes=4)))
    finally:
        progress["rows"] += 1


if __name__ == "__main__":
    family.run()
