"""A server of another protocol on the port stays there: no try helps, whatever class the client makes of it."""

from __future__ import annotations

import ftplib
import smtplib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pymongo
import pytest
import redis
from failure_reading import alive, conclusion, printed

from airflow_common_ai.evidence.model import Retry

HTTP = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n<!DOCTYPE HTML><html><body>Bad request</body></html>"
BODY_ALONE = (
    b'<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"><html><head><title>Error response</title></head></html>'
)


@contextmanager
def answering(words: bytes, *, greets: bool = False) -> Iterator[int]:
    """Serve these words to whoever connects, or to whoever has said something."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        is_over = threading.Event()

        def serve() -> None:
            while not is_over.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(1)
                    try:
                        if not greets:
                            connection.recv(4096)
                        connection.sendall(words)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            is_over.set()
            thread.join()


def ask_redis(port: int) -> None:
    redis.Redis(port=port, socket_timeout=2).ping()


def ask_mongo(port: int) -> None:
    pymongo.MongoClient(port=port, serverSelectionTimeoutMS=300).admin.command("ping")


def ask_ftp(port: int) -> None:
    ftplib.FTP(timeout=2).connect("127.0.0.1", port)


def ask_smtp(port: int) -> None:
    smtplib.SMTP("127.0.0.1", port, timeout=2)


def raised_by(ask: Callable[[int], None], words: bytes, *, greets: bool) -> BaseException:
    with answering(words, greets=greets) as port, pytest.raises(Exception) as caught:  # noqa: PT011 - that is the question
        ask(port)
    return caught.value


@pytest.mark.parametrize(
    ("ask", "words", "greets"),
    [
        (ask_redis, HTTP, False),
        (ask_mongo, BODY_ALONE, False),
        (ask_ftp, BODY_ALONE, True),
        (ask_smtp, b"SSH-2.0-OpenSSH_9.6\r\n", True),
        (ask_smtp, HTTP, True),
    ],
)
def test_a_real_client_at_the_wrong_port_is_not_retried(ask: Callable[[int], None], words: bytes, greets: bool) -> None:
    signal = conclusion(alive(raised_by(ask, words, greets=greets)))
    assert signal is not None
    assert (signal.code.partition(".")[2], signal.category, signal.retry) == ("other_protocol", "permanent", Retry.NO)


def test_a_proxy_whose_server_is_down_is_no_other_protocol() -> None:
    error = raised_by(ask_redis, HTTP.replace(b"400 Bad Request", b"503 Service Unavailable"), greets=False)
    signal = conclusion(alive(error))
    assert signal is None or signal.retry is not Retry.NO


@pytest.mark.parametrize(
    "message",
    [
        "Invalid receive (size = 1213486160 larger than 104857600)",
        "Frame size (1213486160) larger than protocol max length (16384000)!",
        "Invalid receive (size = 369295617 larger than 104857600)",
        "Message length (1347703880) is larger than server max message size (48000000)",
        "Invalid frame length 1397966893",
    ],
)
def test_a_length_that_is_text_or_tls_is_another_protocol(message: str) -> None:
    signal = conclusion(printed("acme.LoadError", message))
    assert signal is not None
    assert signal.code == "http.other_protocol"


@pytest.mark.parametrize(
    "message",
    [
        "order 1213486160 was not loaded",
        "file size 1213486161 of orders",
        "the message size of 1.213486160 MB",
        "Got response id 7 but expected 9",
        "HTTP/1.1 400 Bad Request",
        "<html><title>Reports</title></html>",
    ],
)
def test_other_numbers_and_other_clients_are_not(message: str) -> None:
    signal = conclusion(printed("acme.LoadError", message))
    assert signal is None or signal.code != "http.other_protocol"
