# /// script
# requires-python = "==3.11.*"
# dependencies = ["pymemcache==4.0.0"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What pymemcache raises."""

from __future__ import annotations

import contextlib
from typing import Any

import pymemcache
from harness import WRONG_READING, Family
from servers.broken import listener, port_that_closes, port_that_hangs, port_that_says
from servers.memcached import Memcached, memcached, memcached_server
from servers.port import refused_port

family = Family(__file__, "pymemcache", servers={"cache": memcached})


def cache_client(port: int, **options: Any) -> Any:
    return pymemcache.Client(("127.0.0.1", port), connect_timeout=1, timeout=1, **options)


@family.case("the connection is refused", raises="ConnectionRefusedError")
def _() -> None:
    with refused_port() as port:
        cache_client(port).get("orders")


@family.case("the host name does not exist", raises="gaierror")
def _() -> None:
    pymemcache.Client(("cache.invalid", 11211)).get("orders")


@family.case("the server does not answer in time", raises="TimeoutError")
def _() -> None:
    with port_that_hangs() as port:
        cache_client(port).get("orders")


@family.case("the server hangs up", raises="MemcacheUnexpectedCloseError")
def _() -> None:
    with port_that_closes(1) as port:
        cache_client(port).get("orders")


@family.case("the value is too large", raises="MemcacheServerError", tags=[WRONG_READING])
def _(cache: Memcached) -> None:
    cache_client(cache.port).set("orders", "x" * 2_000_000, noreply=False)


@family.case("memory is full", raises="MemcacheServerError")
def _() -> None:
    with memcached_server("-M", "-m", "1", "-I", "512k") as full:
        client = cache_client(full.port)
        for number in range(200):
            client.set(f"orders:{number}", "x" * 300_000, noreply=False)


@family.case("the key has a blank", raises="MemcacheIllegalInputError")
def _(cache: Memcached) -> None:
    cache_client(cache.port).get("orders of today")


@family.case("the key is too long", raises="MemcacheIllegalInputError")
def _(cache: Memcached) -> None:
    cache_client(cache.port).get("orders" * 60)


@family.case("the counter is no number", raises="MemcacheClientError")
def _(cache: Memcached) -> None:
    client = cache_client(cache.port)
    client.set("orders", "ten", noreply=False)
    client.incr("orders", 1)


@family.case("the command is not known", raises="MemcacheUnknownCommandError")
def _(cache: Memcached) -> None:
    cache_client(cache.port).raw_command("orders")


@family.case("the answer is of another protocol", raises="MemcacheUnknownError")
def _() -> None:
    with port_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        cache_client(port).get("orders")


@family.case("too many connections", raises=("OSError", "MemcacheError"), tags=[WRONG_READING])
def _() -> None:
    with memcached_server("-c", "60", "-o", "maxconns_fast") as small, contextlib.ExitStack() as open_ones:
        for _number in range(80):
            client = cache_client(small.port)
            open_ones.callback(client.close)
            client.get("orders")


@family.case("all servers of the hash client are down", raises="Exception")
def _() -> None:
    with refused_port() as port:
        client = pymemcache.HashClient([("127.0.0.1", port)], retry_attempts=0, dead_timeout=60, timeout=1)
        with contextlib.suppress(OSError):
            client.get("orders")
        client.get("orders")


@family.case("the connection breaks off within a value", raises="MemcacheUnexpectedCloseError")
def _() -> None:
    def talk(accepted: Any) -> None:
        accepted.recv(100)
        accepted.sendall(b"VALUE orders 0 100\r\nxx")

    with listener(talk) as port:
        cache_client(port).get("orders")


if __name__ == "__main__":
    family.run()
