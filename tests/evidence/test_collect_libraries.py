"""Where real libraries hide the real reason, raised by the libraries themselves on 127.0.0.1."""

from __future__ import annotations

import asyncio
import pickle
import socket
import threading
import urllib.request
from collections.abc import Callable, Iterator

import pytest

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.model import ExceptionNode

Chain = list[tuple[str, str]]


@pytest.fixture
def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@pytest.fixture
def rude_port() -> Iterator[int]:
    """A port that hangs up on everybody without a word."""
    server = socket.create_server(("127.0.0.1", 0))

    def hang_up() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            connection.close()

    threading.Thread(target=hang_up, daemon=True).start()
    yield int(server.getsockname()[1])
    server.close()


def raised_by(call: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - the point is to see what comes
        call()
    return caught.value


def way_to_innermost(exception: BaseException) -> Chain:
    """Return ``(kind, edge)`` from the root to the end of the explicit chain."""
    nodes = collect(exception).nodes
    way: list[ExceptionNode] = []
    index: int | None = max(index for index, node in enumerate(nodes) if _is_explicit(nodes, index))
    while index is not None:
        way.append(nodes[index])
        index = nodes[index].parent
    return [(f"{node.type_path.partition('.')[0]}.{node.class_name}", node.edge.value) for node in reversed(way)]


def _is_explicit(nodes: tuple[ExceptionNode, ...], index: int | None) -> bool:
    while index is not None:
        if not nodes[index].edge.is_explicit:
            return False
        index = nodes[index].parent
    return True


REFUSED = "builtins.ConnectionRefusedError"


def test_requests_to_a_closed_port(closed_port: int) -> None:
    import requests

    error = raised_by(lambda: requests.get(f"http://127.0.0.1:{closed_port}/", timeout=5))
    assert way_to_innermost(error) == [
        ("requests.ConnectionError", "root"),
        ("urllib3.MaxRetryError", "wrapped"),
        ("urllib3.NewConnectionError", "cause"),
        (REFUSED, "cause"),
    ]


def test_requests_to_a_server_that_hangs_up(rude_port: int) -> None:
    import requests

    error = raised_by(lambda: requests.get(f"http://127.0.0.1:{rude_port}/", timeout=5))
    assert way_to_innermost(error)[:2] == [("requests.ConnectionError", "root"), ("urllib3.ProtocolError", "wrapped")]
    assert any(node.is_a("http.RemoteDisconnected", "ConnectionResetError") for node in collect(error).nodes)


def test_urllib3_keeps_its_reason_when_the_cause_is_lost(closed_port: int) -> None:
    import urllib3

    error = raised_by(
        lambda: urllib3.PoolManager(retries=0).request("GET", f"http://127.0.0.1:{closed_port}/", timeout=5)
    )
    error.__cause__ = error.__context__ = None
    assert way_to_innermost(error)[:2] == [("urllib3.MaxRetryError", "root"), ("urllib3.NewConnectionError", "wrapped")]


def test_urllib_to_a_closed_port(closed_port: int) -> None:
    error = raised_by(lambda: urllib.request.urlopen(f"http://127.0.0.1:{closed_port}/", timeout=5))
    assert way_to_innermost(error) == [("urllib.URLError", "root"), (REFUSED, "wrapped")]


def test_httpx_to_a_closed_port(closed_port: int) -> None:
    import httpx

    error = raised_by(lambda: httpx.get(f"http://127.0.0.1:{closed_port}/", timeout=5))
    assert way_to_innermost(error) == [
        ("httpx.ConnectError", "root"),
        ("httpcore.ConnectError", "cause"),
        (REFUSED, "wrapped"),
    ]


def test_aiohttp_to_a_closed_port(closed_port: int) -> None:
    import aiohttp

    async def get() -> None:
        async with aiohttp.ClientSession() as session:
            await session.get(f"http://127.0.0.1:{closed_port}/")

    way = way_to_innermost(raised_by(lambda: asyncio.run(get())))
    assert (way[0], way[-1][0]) == (("aiohttp.ClientConnectorError", "root"), REFUSED)


def test_botocore_keeps_the_error_in_its_keywords(closed_port: int) -> None:
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "s3",
        region_name="eu-central-1",
        endpoint_url=f"http://127.0.0.1:{closed_port}",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(retries={"max_attempts": 0}),
    )
    way = way_to_innermost(raised_by(client.list_buckets))
    assert way[:2] == [("botocore.EndpointConnectionError", "root"), ("urllib3.NewConnectionError", "wrapped")]
    assert way[-1][0] == REFUSED


def test_sqlalchemy_keeps_the_drivers_error() -> None:
    import sqlalchemy

    def fail() -> None:
        with sqlalchemy.create_engine("sqlite://").connect() as connection:
            connection.execute(sqlalchemy.text("select * from missing"))

    error = raised_by(fail)
    assert way_to_innermost(error) == [("sqlalchemy.OperationalError", "root"), ("sqlite3.OperationalError", "cause")]
    sent = pickle.loads(pickle.dumps(error))
    assert sent.__cause__ is None
    assert way_to_innermost(sent) == [("sqlalchemy.OperationalError", "root"), ("sqlite3.OperationalError", "wrapped")]


def test_psycopg_to_a_closed_port(closed_port: int) -> None:
    import psycopg
    import sqlalchemy

    url = f"postgresql+psycopg://u@127.0.0.1:{closed_port}/d"
    error = raised_by(sqlalchemy.create_engine(url, connect_args={"connect_timeout": 5}).connect)
    assert way_to_innermost(error)[:2] == [
        ("sqlalchemy.OperationalError", "root"),
        ("psycopg.OperationalError", "cause"),
    ]
    error = raised_by(lambda: psycopg.connect(f"postgresql://u@127.0.0.1:{closed_port}/d", connect_timeout=5))
    [node] = collect(error).nodes
    assert node.is_a("psycopg.OperationalError")
    assert "Connection refused" in node.message


def test_pymysql_to_a_closed_port(closed_port: int) -> None:
    import pymysql

    error = raised_by(lambda: pymysql.connect(host="127.0.0.1", port=closed_port, connect_timeout=5))
    assert way_to_innermost(error) == [("pymysql.OperationalError", "root"), (REFUSED, "wrapped")]


def test_redis_to_a_closed_port(closed_port: int) -> None:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    client = redis.Redis(port=closed_port, retry=Retry(NoBackoff(), 0))
    nodes = collect(raised_by(client.ping)).nodes
    assert nodes[0].is_a("redis.ConnectionError")
    assert [node.type_path for node in nodes if node.is_a("OSError")] == [REFUSED]


def test_paramiko_keeps_an_error_for_each_address(closed_port: int) -> None:
    import paramiko

    error = raised_by(lambda: paramiko.SSHClient().connect("127.0.0.1", port=closed_port, timeout=5))
    assert way_to_innermost(error) == [("paramiko.NoValidConnectionsError", "root"), (REFUSED, "wrapped")]


def test_elasticsearch_keeps_the_errors_of_earlier_tries(closed_port: int) -> None:
    from elasticsearch import Elasticsearch

    client = Elasticsearch(f"http://127.0.0.1:{closed_port}", max_retries=2, retry_on_timeout=True)
    nodes = collect(raised_by(client.info)).nodes
    assert nodes[0].is_a("elastic_transport.ConnectionError")
    tries = [node for node in nodes if node.parent == 0 and node.is_a("elastic_transport.ConnectionError")]
    assert [node.edge.value for node in tries] == ["wrapped", "wrapped"]
    assert any(node.type_path == REFUSED for node in nodes)


def test_azure_keeps_the_error_of_its_transport(closed_port: int) -> None:
    from azure.core.pipeline.transport import HttpRequest, RequestsTransport

    def send() -> None:
        with RequestsTransport() as transport:
            transport.send(HttpRequest("GET", f"http://127.0.0.1:{closed_port}/"), connection_timeout=5)

    error = raised_by(send)
    assert way_to_innermost(error) == [
        ("azure.ServiceRequestError", "root"),
        ("urllib3.NewConnectionError", "wrapped"),
        (REFUSED, "cause"),
    ]


def test_google_keeps_the_last_error_of_its_retries() -> None:
    from google.api_core import exceptions, retry

    @retry.Retry(initial=0.001, maximum=0.001, timeout=0.01)
    def call() -> None:
        raise exceptions.ServiceUnavailable("try later")

    error = raised_by(call)
    assert way_to_innermost(error) == [("google.RetryError", "root"), ("google.ServiceUnavailable", "cause")]
    error.__cause__ = error.__context__ = None
    assert way_to_innermost(error) == [("google.RetryError", "root"), ("google.ServiceUnavailable", "wrapped")]


def test_tenacity_keeps_its_last_attempt() -> None:
    import tenacity

    @tenacity.retry(stop=tenacity.stop_after_attempt(2))
    def call() -> None:
        raise ConnectionResetError(104, "Connection reset by peer")

    error = raised_by(call)
    assert way_to_innermost(error) == [("tenacity.RetryError", "root"), ("builtins.ConnectionResetError", "cause")]
    error.__cause__ = error.__context__ = None
    assert way_to_innermost(error) == [("tenacity.RetryError", "root"), ("builtins.ConnectionResetError", "wrapped")]


def test_tenacity_with_an_attempt_that_goes_on_says_nothing_more() -> None:
    import tenacity

    assert len(collect(tenacity.RetryError(tenacity.Future(1))).nodes) == 1


def test_grpc_to_a_closed_port(closed_port: int) -> None:
    import grpc
    from google.api_core import exceptions, grpc_helpers

    with grpc.insecure_channel(f"127.0.0.1:{closed_port}") as channel:
        call = grpc_helpers.wrap_errors(channel.unary_unary("/service/Method"))
        error = raised_by(lambda: call(b"", timeout=5))
    assert isinstance(error, exceptions.ServiceUnavailable)
    assert way_to_innermost(error) == [("google.ServiceUnavailable", "root"), ("grpc._InactiveRpcError", "cause")]


def test_a_task_group_gives_its_members() -> None:
    async def fail() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(_refuse())
            group.create_task(_refuse())

    async def _refuse() -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    nodes = collect(raised_by(lambda: asyncio.run(fail()))).nodes
    assert [(node.class_name, node.edge.value) for node in nodes] == [
        ("ExceptionGroup", "root"),
        ("ConnectionRefusedError", "member"),
        ("ConnectionRefusedError", "member"),
    ]
