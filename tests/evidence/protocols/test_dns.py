"""The resolver's codes are a namespace of their own. Real ones are raised without asking any name server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import aiohttp
import aiohttp.abc
import pytest
import requests
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from http_reading import raised_by

from airflow_common_ai.evidence.model import RedactedNode, Retry, Wait
from airflow_common_ai.evidence.protocols.system import dns


@pytest.mark.parametrize(
    ("resolve", "code", "retry"),
    [
        # AI_NUMERICHOST forbids to ask a name server, so a name is unknown at once.
        (lambda: socket.getaddrinfo("name", 80, flags=socket.AI_NUMERICHOST), "dns.noname", Retry.DEPENDS),
        (lambda: socket.getaddrinfo("127.0.0.1", "no-such-service"), "dns.service", Retry.NO),
        (lambda: socket.getaddrinfo("127.0.0.1", 80, family=77), "dns.family", Retry.NO),
        (lambda: socket.getaddrinfo("127.0.0.1", 80, type=99), "dns.socktype", Retry.NO),
        (lambda: socket.getaddrinfo("127.0.0.1", 80, flags=1 << 30), "dns.badflags", Retry.NO),
        (
            lambda: socket.getaddrinfo("127.0.0.1", 80, socket.AF_INET6, flags=socket.AI_NUMERICHOST),
            "dns.addrfamily",
            Retry.NO,
        ),
    ],
)
def test_a_resolvers_error_is_read_alive_and_from_its_log(
    resolve: Callable[[], object], code: str, retry: Retry
) -> None:
    error = raised_by(resolve)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.retry) == (code, retry)


@pytest.mark.parametrize(
    ("name", "retry", "wait", "max_attempts"),
    [
        ("EAI_AGAIN", Retry.YES, Wait.SHORT, None),
        ("EAI_FAIL", Retry.YES, Wait.MEDIUM, None),
        ("EAI_SYSTEM", Retry.YES, Wait.SHORT, None),
        ("EAI_MEMORY", Retry.YES, Wait.SHORT, None),
        ("EAI_NONAME", Retry.DEPENDS, Wait.MEDIUM, 3),
        ("EAI_NODATA", Retry.DEPENDS, Wait.MEDIUM, 3),
    ],
)
def test_constructed_codes_that_only_a_name_server_gives(
    name: str, retry: Retry, wait: Wait, max_attempts: int | None
) -> None:
    signal = conclusion(alive(socket.gaierror(getattr(socket, name), "words of some other system")))
    assert signal is not None
    assert (signal.category, signal.retry, signal.wait, signal.max_attempts) == (
        "network",
        retry,
        wait,
        max_attempts,
    )


@pytest.mark.parametrize(("h_errno", "code"), [(1, "dns.noname"), (2, "dns.again"), (3, "dns.fail"), (4, "dns.nodata")])
def test_codes_of_gethostbyname_mean_the_same(h_errno: int, code: str) -> None:
    # 1 and 2 would be EPERM and ENOENT of the operating system.
    assert conclusion_code(alive(socket.herror(h_errno, "Unknown host"))) == code


def test_a_code_is_kept_by_name_since_its_number_differs_between_systems() -> None:
    facts = dns.probe(socket.gaierror(socket.EAI_NONAME, "Name or service not known"))
    assert facts == {"dns.code": int(socket.EAI_NONAME), "dns.error": "EAI_NONAME"}
    recorded_on_macos = RedactedNode("socket.gaierror", facts={"dns.code": 8, "dns.error": "EAI_NONAME"})
    assert [signal.code for signal in dns.read(recorded_on_macos)] == ["dns.noname"]


class _NoName(aiohttp.abc.AbstractResolver):
    """Fails as the system's resolver does, with its error, for a literal name that needs no name server."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[aiohttp.abc.ResolveResult]:
        socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST)
        return []

    async def close(self) -> None:
        pass


def test_aiohttp_copies_the_resolvers_number_where_others_keep_an_errno() -> None:
    async def get() -> None:
        connector = aiohttp.TCPConnector(resolver=_NoName())
        async with aiohttp.ClientSession(connector=connector) as session:
            await session.get("http://name.invalid/")

    error = raised_by(lambda: asyncio.run(get()))
    assert isinstance(error, OSError)
    assert isinstance(error, aiohttp.ClientConnectorDNSError)
    evidence = alive(error)
    assert evidence.nodes[0].facts["dns.error"] == "EAI_NONAME"
    assert not any("os.errno" in node.facts for node in evidence.nodes)
    assert conclusion_code(evidence) == "dns.noname"


def test_a_name_that_is_no_name_is_no_reason_to_retry() -> None:
    error = raised_by(lambda: socket.getaddrinfo("x" * 70, 80))
    assert isinstance(error, UnicodeError)
    assert conclusion_code(alive(error)) == "python.unicode_error"


def test_a_wrapper_that_only_prints_the_reason_is_read_by_its_words() -> None:
    message = (
        "HTTPSConnectionPool(host='api.example', port=443): Max retries exceeded with url: / (Caused by "
        "NameResolutionError(\"HTTPSConnection(host='api.example', port=443): Failed to resolve 'api.example' "
        '([Errno -2] Name or service not known)"))'
    )
    signal = conclusion(alive(requests.ConnectionError(message)))
    assert signal is not None
    assert (signal.code, signal.max_attempts) == ("dns.noname", 3)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("[Errno -3] Temporary failure in name resolution", "dns.again"),
        ("[Errno -5] No address associated with hostname", "dns.nodata"),
        ("[Errno 8] nodename nor servname provided, or not known", "dns.noname"),
        ("[Errno -2] Name does not resolve", "dns.noname"),
        ("could not translate host name \"db\" to address: Name or service not known\n", "dns.noname"),
        ("Error -3 connecting to redis:6379. Temporary failure in name resolution.", "dns.again"),
        ("error trying to connect: dns error: failed to lookup address information: Name or service not known",
         "dns.noname"),
        ("request to https://x failed, reason: getaddrinfo EAI_AGAIN x", "dns.again"),
        ("getaddrinfo ENOTFOUND api.example", "dns.noname"),
        ("gaierror(-2, 'something')", "dns.noname"),
    ],
)  # fmt: skip
def test_the_words_of_each_system_are_read_in_any_message(message: str, code: str) -> None:
    assert codes(printed("client.SomeError", message), "dns", "os") == [code]


@pytest.mark.parametrize(
    "message", ["[Errno -1000] x", "error -2", "the name of the service is not known", "EAI_SOMETHING", "-3"]
)
def test_near_misses_are_not_the_resolvers_words(message: str) -> None:
    assert codes(printed("client.SomeError", message), "dns") == []
