"""The file of a local socket is not there: the daemon behind it is down, restarting, or elsewhere."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import httpx
import psycopg
import pymysql
import pytest
import redis
from failure_reading import alive, conclusion, printed

from airflow_common_ai.evidence.model import Retry


def bare(path: str) -> None:
    socket.socket(socket.AF_UNIX).connect(path)


def through_asyncio(path: str) -> None:
    asyncio.run(asyncio.open_unix_connection(path))


def through_httpx(path: str) -> None:
    httpx.Client(transport=httpx.HTTPTransport(uds=path)).get("http://docker/info")


def through_redis(path: str) -> None:
    redis.Redis(unix_socket_path=path).ping()


def through_psycopg(path: str) -> None:
    psycopg.connect(f"host={Path(path).parent} dbname=orders")


def through_pymysql(path: str) -> None:
    pymysql.connect(unix_socket=path)


@pytest.mark.parametrize(
    "connect", [bare, through_asyncio, through_httpx, through_redis, through_psycopg, through_pymysql]
)
def test_who_connects_to_it_tries_a_few_times_more(connect: Callable[[str], None], tmp_path: Path) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each client has a class of its own
        connect(str(tmp_path / "nobody.sock"))
    signal = conclusion(alive(caught.value))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry) == ("os.enoent_socket", "network", Retry.DEPENDS)
    assert signal.max_attempts == 3


def load_certificate(path: str) -> None:
    """OpenSSL names no path either."""
    context = ssl.create_default_context()
    context.load_cert_chain(path)


def load_certificate_and_connect(path: str) -> None:
    ssl.create_default_context().load_cert_chain(path)
    socket.socket(socket.AF_UNIX).connect(path)


def open_file(path: str) -> None:
    Path(path).read_text()


@pytest.mark.parametrize("read", [load_certificate, load_certificate_and_connect, open_file])
def test_who_reads_a_file_that_is_not_there_does_not(read: Callable[[str], None], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        read(str(tmp_path / "nothing"))
    signal = conclusion(alive(caught.value))
    assert signal is not None
    assert (signal.category, signal.retry) == ("resource", Retry.NO)


@pytest.mark.parametrize(
    "message",
    [
        "Can't connect to local MySQL server through socket '/var/run/mysqld/mysqld.sock' (2)",
        'connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file or directory',
        "dial unix /var/run/docker.sock: connect: no such file or directory",
    ],
)
def test_the_words_of_other_clients_are_known(message: str) -> None:
    signal = conclusion(printed("acme.LoadError", message))
    assert signal is not None
    assert signal.code == "os.enoent_socket"


@pytest.mark.parametrize(
    "message", ["bash: /var/run/x.sh: No such file or directory", "socket.csv: No such file or directory"]
)
def test_a_file_that_is_no_socket_is_a_missing_file(message: str) -> None:
    signal = conclusion(printed("acme.LoadError", message))
    assert signal is not None
    assert signal.retry is Retry.NO
