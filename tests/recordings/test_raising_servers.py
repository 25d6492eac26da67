"""The servers that cases fail against do what their names say."""

from __future__ import annotations

import socket
import ssl
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from harness import ServerUnavailable
from servers.http import Answer, HttpServer, http_server, json_answer
from servers.port import free_port, refused_port
from servers.process import accepts_connections, find_program, running_process, server_folder
from servers.tls import https_server


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with http_server() as running:
        yield running


def test_it_answers_one_after_the_other_and_the_last_again_and_again(server: HttpServer) -> None:
    url = server.answers(Answer(503, headers={"Retry-After": "1"}), json_answer(200, {"id": 1}))

    answers = [requests.get(url, timeout=5) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [503, 200, 200]
    assert answers[0].headers["Retry-After"] == "1"
    assert answers[2].json() == {"id": 1}


def test_a_route_sees_what_was_sent(server: HttpServer) -> None:
    url = server.routes(lambda request: Answer(200, request.body[::-1], {"X-Path": request.path}))

    answer = requests.post(f"{url}/v1/orders?day=1", data=b"abc", timeout=5)

    assert answer.content == b"cba"
    assert answer.headers["X-Path"] == "/v1/orders?day=1"
    assert [request.method for request in server.seen] == ["POST"]


def test_a_chunked_body_is_read_to_its_end(server: HttpServer) -> None:
    url = server.routes(lambda request: Answer(200, request.body))
    session = requests.Session()

    for _ in range(2):  # on one connection
        assert session.post(url, data=iter([b"ab", b"c"]), timeout=5).content == b"abc"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(is_reset=True), requests.ConnectionError),
        (Answer(raw=b""), requests.ConnectionError),
        (Answer(200, "x" * 100, cut_after_bytes=5), requests.exceptions.ChunkedEncodingError),
        (Answer(silent_s=60), requests.ReadTimeout),
    ],
)
def test_broken_answers_are_broken(server: HttpServer, answer: Answer, error: type[Exception]) -> None:
    with pytest.raises(error):
        requests.get(server.answers(answer), timeout=0.3)


def test_a_status_without_a_name_is_sent_all_the_same(server: HttpServer) -> None:
    assert requests.get(server.answers(Answer(529)), timeout=5).status_code == 529


def test_a_good_certificate_is_trusted_and_an_expired_one_is_not() -> None:
    with https_server()() as good:
        url = good.answers(Answer(200, "ok"))
        assert requests.get(url, verify=str(good.root), timeout=5).text == "ok"
    with https_server(valid_days=(-9, -1))() as expired, pytest.raises(requests.exceptions.SSLError, match="expired"):
        requests.get(expired.answers(Answer()), verify=str(expired.root), timeout=5)


def test_a_certificate_for_another_host_is_refused() -> None:
    with https_server("db.example")() as other, socket.create_connection(("127.0.0.1", other.port)) as plain:
        context = ssl.create_default_context(cafile=str(other.root))
        with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
            context.wrap_socket(plain, server_hostname="127.0.0.1")


def test_a_refused_port_refuses() -> None:
    with refused_port() as port, pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def http_program(port: int) -> list[str]:
    return [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]


def test_a_program_runs_until_the_block_ends() -> None:
    port = free_port()
    with server_folder() as folder:
        with running_process(http_program(port), is_ready=accepts_connections(port), folder=folder) as process:
            assert requests.get(f"http://127.0.0.1:{port}/", timeout=5).ok
        assert process.poll() is not None
    assert not folder.exists()


def test_a_program_that_ends_at_once_is_unavailable_and_its_last_words_say_why() -> None:
    command = [sys.executable, "-c", "raise SystemExit('no license')"]
    with (
        server_folder() as folder,
        pytest.raises(ServerUnavailable, match="ended with exit code 1: no license"),
        running_process(command, is_ready=lambda: False, folder=folder),
    ):
        pass


def test_a_program_that_is_never_ready_is_stopped() -> None:
    command = ["sleep", "60"]
    with (
        server_folder() as folder,
        pytest.raises(ServerUnavailable, match=r"sleep was not ready within 0\.3 s"),
        running_process(command, is_ready=lambda: False, folder=folder, ready_within_s=0.3),
    ):
        pass


def test_what_a_program_has_started_is_stopped_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    command = ["sh", "-c", f"sleep 60 & echo $! > {pid_file}; wait"]

    def has_started() -> bool:
        return pid_file.exists() and pid_file.read_text() != ""

    with server_folder() as folder, running_process(command, is_ready=has_started, folder=folder):
        child = Path(f"/proc/{pid_file.read_text().strip()}/status")
        assert child.exists()

    for _ in range(100):
        if not child.exists() or "\nState:\tZ" in child.read_text():
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child is still running")


def test_a_program_that_is_not_installed_says_how_to_get_it() -> None:
    with pytest.raises(ServerUnavailable, match=r"no-such-server is not installed. Get it with: apt-get install x"):
        find_program("no-such-server", "/nowhere/*/bin/no-such-server", install="apt-get install x")
