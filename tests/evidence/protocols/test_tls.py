"""Real TLS servers with real certificates: what their clients leave behind says why the handshake failed."""

from __future__ import annotations

import asyncio
import datetime
import socket
import ssl
import urllib.request
from collections.abc import Callable

import aiohttp
import httpx
import pytest
import requests
import urllib3
from failure_reading import alive, conclusion, conclusion_code, logged, printed
from http_reading import raised_by
from loopback import sockets
from loopback.tls_server import Certificate, CertificateAuthority, serve_tls

from airflow_common_ai.evidence.model import Rank, Retry
from airflow_common_ai.evidence.protocols.system import tls

Client = Callable[[int, CertificateAuthority], None]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("certificates"), now=datetime.datetime.now(datetime.UTC))


@pytest.fixture(scope="module")
def certificates(authority: CertificateAuthority) -> dict[str, Certificate]:
    return {
        "good": authority.issue("good"),
        "expired": authority.issue("expired", valid_from_days=-20, valid_to_days=-10),
        "future": authority.issue("future", valid_from_days=5),
        "self-signed": authority.issue("self signed", is_self_signed=True),
        "other host": authority.issue("other host", addresses=("127.0.0.9",)),
    }


def with_ssl(port: int, authority: CertificateAuthority) -> None:
    with (
        socket.create_connection(("127.0.0.1", port), timeout=5) as connection,
        authority.client_context().wrap_socket(connection, server_hostname="127.0.0.1") as wrapped,
    ):
        wrapped.sendall(b"GET / HTTP/1.1\r\n\r\n")
        wrapped.recv(100)


def with_requests(port: int, authority: CertificateAuthority) -> None:
    requests.get(f"https://127.0.0.1:{port}/", verify=str(authority.root.path), timeout=5)


def with_httpx(port: int, authority: CertificateAuthority) -> None:
    httpx.get(f"https://127.0.0.1:{port}/", verify=authority.client_context())


def with_aiohttp(port: int, authority: CertificateAuthority) -> None:
    async def get() -> None:
        async with aiohttp.ClientSession() as session:
            await session.get(f"https://127.0.0.1:{port}/", ssl=authority.client_context())

    asyncio.run(get())


def with_urllib(port: int, authority: CertificateAuthority) -> None:
    urllib.request.urlopen(f"https://127.0.0.1:{port}/", context=authority.client_context(), timeout=5)


def with_urllib3(port: int, authority: CertificateAuthority) -> None:
    pool = urllib3.PoolManager(ssl_context=authority.client_context(), retries=0)
    pool.request("GET", f"https://127.0.0.1:{port}/", timeout=5)


CLIENTS = (with_ssl, with_requests, with_httpx, with_aiohttp, with_urllib, with_urllib3)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("expired", "has expired"),
        ("future", "is not valid yet"),
        ("self-signed", "is self-signed"),
        ("other host", "is for another"),
    ],
)
def test_a_bad_certificate_is_never_retried_and_its_fault_is_named(
    kind: str, fault: str, client: Client, authority: CertificateAuthority, certificates: dict[str, Certificate]
) -> None:
    with serve_tls(certificates[kind]) as port:
        error = raised_by(lambda: client(port, authority))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (
            "tls.certificate_verify_failed",
            "permanent",
            Retry.NO,
        )
        assert fault in signal.sentence


@pytest.mark.parametrize("client", CLIENTS)
def test_tls_on_a_plain_http_port_is_a_wrong_port(client: Client, authority: CertificateAuthority) -> None:
    with sockets.serve(sockets.say(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
        error = raised_by(lambda: client(port, authority))
    assert [conclusion_code(alive(error)), conclusion_code(logged(error))] == ["tls.wrong_version_number"] * 2


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_that_hangs_up_in_the_handshake_is_a_network_failure(
    client: Client, authority: CertificateAuthority
) -> None:
    with sockets.serve(sockets.hang_up) as port:
        error = raised_by(lambda: client(port, authority))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry) == ("network", Retry.YES)


def test_a_server_that_stays_silent_in_the_handshake_is_a_network_failure(authority: CertificateAuthority) -> None:
    def connect(port: int) -> None:
        requests.get(f"https://127.0.0.1:{port}/", verify=str(authority.root.path), timeout=0.2)

    with sockets.serve(sockets.stay_silent) as port:
        error = raised_by(lambda: connect(port))
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.category, signal.retry) == ("network", Retry.YES)


def test_a_missing_client_certificate_is_a_matter_of_credentials(
    authority: CertificateAuthority, certificates: dict[str, Certificate]
) -> None:
    def listen(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            authority.client_context().wrap_socket(connection, server_hostname="127.0.0.1").recv(100)

    with serve_tls(certificates["good"], client_authority=authority.root) as port:
        error = raised_by(lambda: listen(port))
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.code, signal.category, signal.retry) == ("tls.certificate_required", "auth", Retry.NO)


def test_no_common_tls_version_is_not_retried(
    authority: CertificateAuthority, certificates: dict[str, Certificate]
) -> None:
    def connect(port: int) -> None:
        context = authority.client_context()
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            context.wrap_socket(connection, server_hostname="127.0.0.1")

    with serve_tls(certificates["good"], maximum_version=ssl.TLSVersion.TLSv1_2) as port:
        error = raised_by(lambda: connect(port))
    assert conclusion_code(alive(error)) == "tls.protocol_version"


@pytest.mark.parametrize("client", CLIENTS)
def test_the_number_of_a_tls_error_is_not_read_as_a_missing_permission(
    client: Client, authority: CertificateAuthority, certificates: dict[str, Certificate]
) -> None:
    # OpenSSL's SSL_ERROR_SSL is 1, as is EPERM. aiohttp copies it into errors of its own.
    with serve_tls(certificates["expired"]) as port:
        error = raised_by(lambda: client(port, authority))
    assert not any("os.errno" in node.facts for node in alive(error).nodes)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("[SSL: SSLV3_ALERT_HANDSHAKE_FAILURE] ssl/tls alert handshake failure (_ssl.c:1000)", "tls.handshake_failure"),
        ("[SSL: SSLV3_ALERT_BAD_RECORD_MAC] sslv3 alert bad record mac (_ssl.c:2580)", "tls.bad_record_mac"),
        ("[SSL: TLSV1_ALERT_UNKNOWN_CA] tlsv1 alert unknown ca (_ssl.c:2580)", "tls.unknown_ca"),
        ("EOF occurred in violation of protocol (_ssl.c:2427)", "tls.unexpected_eof_while_reading"),
        ("curl: (35) error:0A000410:SSL routines::ssl/tls alert handshake failure", "tls.handshake_failure"),
        ("error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED", "tls.certificate_verify_failed"),
        ("error:1408F10B:SSL routines:ssl3_get_record:wrong version number", "tls.wrong_version_number"),
        (
            'connection to server at "127.0.0.1", port 5432 failed: SSL error: certificate verify failed',
            "tls.certificate_verify_failed",
        ),
        ("SSL error: decryption failed or bad record mac", "tls.decryption_failed_or_bad_record_mac"),
    ],
)
def test_openssls_own_words_are_read_in_any_clients_message(message: str, code: str) -> None:
    signal = conclusion(printed("client.OperationalError", message))
    assert signal is not None
    assert (signal.code, signal.rank) == (code, Rank.OS)


def test_a_reason_without_a_row_is_a_hint() -> None:
    (found,) = tls.read_words("[SSL: SOMETHING_NEW] something new (_ssl.c:1000)")
    assert (found.code, found.is_conclusive) == ("tls.other", False)


@pytest.mark.parametrize("message", ["SSL", "[SSL]", "error in SSL routines", "the SSL error: x", "[ssl: a]"])
def test_talk_about_tls_is_no_reason(message: str) -> None:
    assert tls.read_words(message) == ()
