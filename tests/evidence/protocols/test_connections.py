"""Real clients lose real connections; the reason is the operating system's, however deep it is wrapped."""

from __future__ import annotations

import asyncio
import socket
import urllib.request
from collections.abc import Callable

import aiohttp
import botocore.config
import botocore.session
import elasticsearch
import httpx
import httpx2
import pymongo
import pytest
import redis
import requests
import urllib3
from failure_reading import NOW, alive, conclusion, conclusion_code, logged
from http_reading import raised_by
from loopback import sockets

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import Retry, Wait
from airflow_common_ai.evidence.redaction import Redactor

HALF_A_SECOND = 0.5


def with_requests(port: int) -> None:
    requests.get(f"http://127.0.0.1:{port}/", timeout=HALF_A_SECOND)


def with_httpx(port: int) -> None:
    httpx.get(f"http://127.0.0.1:{port}/", timeout=HALF_A_SECOND)


def with_httpx2(port: int) -> None:
    httpx2.get(f"http://127.0.0.1:{port}/", timeout=HALF_A_SECOND)


def with_aiohttp(port: int) -> None:
    async def get() -> None:
        limit = aiohttp.ClientTimeout(sock_read=HALF_A_SECOND)
        async with aiohttp.ClientSession(timeout=limit) as session, session.get(f"http://127.0.0.1:{port}/") as answer:
            await answer.read()

    asyncio.run(get())


def with_urllib(port: int) -> None:
    urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=HALF_A_SECOND).read()


def with_urllib3(port: int) -> None:
    urllib3.PoolManager(retries=0).request("GET", f"http://127.0.0.1:{port}/", timeout=HALF_A_SECOND)


def with_a_socket(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=HALF_A_SECOND) as connection:
        connection.sendall(b"hello\r\n\r\n")
        connection.recv(1)


def with_redis(port: int) -> None:
    redis.Redis(port=port, socket_timeout=HALF_A_SECOND, retry=None).ping()


def with_elasticsearch(port: int) -> None:
    client = elasticsearch.Elasticsearch(
        f"http://127.0.0.1:{port}", request_timeout=HALF_A_SECOND, max_retries=0, retry_on_timeout=False
    )
    client.info()


def with_mongo(port: int) -> None:
    client: pymongo.MongoClient[dict[str, object]] = pymongo.MongoClient(
        "127.0.0.1", port, serverSelectionTimeoutMS=300, connectTimeoutMS=300, socketTimeoutMS=300
    )
    with client:
        client.admin.command("ping")


def with_botocore(port: int) -> None:
    session = botocore.session.Session()
    session.set_credentials("key", "secret")
    config = botocore.config.Config(retries={"total_max_attempts": 1}, read_timeout=HALF_A_SECOND, proxies={})
    session.create_client("s3", "eu-west-1", endpoint_url=f"http://127.0.0.1:{port}", config=config).list_buckets()


HTTP_CLIENTS = (with_requests, with_httpx, with_httpx2, with_aiohttp, with_urllib, with_urllib3)
CLIENTS = (*HTTP_CLIENTS, with_a_socket, with_redis, with_elasticsearch, with_mongo, with_botocore)
Client = Callable[[int], None]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_refused_connection_is_retried_after_a_while_without_a_cap(client: Client) -> None:
    with sockets.refused_port() as port:
        error = raised_by(lambda: client(port))
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.category, signal.retry, signal.max_attempts) == ("network", Retry.YES, None)


@pytest.mark.parametrize("client", [client for client in CLIENTS if client not in (with_mongo, with_botocore)])
def test_a_refused_connection_is_found_under_every_wrapper_and_in_its_log(client: Client) -> None:
    with sockets.refused_port() as port:
        error = raised_by(lambda: client(port))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.wait) == ("os.econnrefused", Wait.MEDIUM)


@pytest.mark.parametrize("client", HTTP_CLIENTS)
def test_a_reset_connection_is_found_under_every_wrapper_and_in_its_log(client: Client) -> None:
    with sockets.serve(sockets.reset) as port:
        error = raised_by(lambda: client(port))
    assert [conclusion_code(alive(error)), conclusion_code(logged(error))] == ["os.econnreset"] * 2


# The end of a stream is no error on a bare socket.
BROKEN = [
    (server, client)
    for server in (sockets.hang_up, sockets.reset, sockets.stay_silent)
    for client in CLIENTS
    if (server, client) != (sockets.hang_up, with_a_socket)
]


@pytest.mark.parametrize(("server", "client"), BROKEN)
def test_a_server_that_hangs_up_resets_or_stays_silent_is_a_network_failure(
    server: sockets.Conversation, client: Client
) -> None:
    with sockets.serve(server) as port:
        error = raised_by(lambda: client(port))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry) == ("network", Retry.YES)


@pytest.mark.parametrize("client", HTTP_CLIENTS)
def test_an_answer_that_is_cut_short_is_a_network_failure(client: Client) -> None:
    # aiohttp's error about it carries the number 400, which is no status of the server.
    with sockets.serve(sockets.say(sockets.http(b'{"a', declared_length=100))) as port:
        error = raised_by(lambda: client(port))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry) == ("network", Retry.YES)


def test_the_whole_time_of_an_aiohttp_request_is_a_timeout_without_words() -> None:
    async def get(port: int) -> None:
        limit = aiohttp.ClientTimeout(total=0.1)
        async with aiohttp.ClientSession(timeout=limit) as session, session.get(f"http://127.0.0.1:{port}/"):
            pass

    with sockets.serve(sockets.stay_silent) as port:
        error = raised_by(lambda: asyncio.run(get(port)))
    assert str(error) == ""
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.code, signal.category, signal.max_attempts) == ("python.timeout_error", "network", 4)


@pytest.mark.parametrize("client", HTTP_CLIENTS)
def test_common_words_that_are_somebodys_password_do_not_hide_the_reason(client: Client) -> None:
    def mask(text: str) -> str:
        for word in ("postgres", "default", "timeout", "connection", "Connection", "refused"):
            text = text.replace(word, "***")
        return text

    with sockets.refused_port() as port:
        error = raised_by(lambda: client(port))
    evidence = Redactor(mask).redact(collect(error, observed_at=NOW))
    assert "refused" not in str(evidence)
    assert conclusion_code(evidence) == "os.econnrefused"
