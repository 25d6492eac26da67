# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "redis==8.1.0", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What redis raises on the way to a server, or to a cluster of them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from threading import Thread
from typing import Any

import redis
import redis.asyncio
import redis.cluster
import redis.sentinel
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from redis.backoff import NoBackoff
from redis.retry import Retry
from servers.broken import port_that_closes, port_that_hangs, port_that_resets, port_that_says
from servers.port import refused_port
from servers.redis import Redis, redis_server
from servers.redis import redis as shared_redis
from servers.tls import https_server

family = Family(
    __file__,
    "redis",
    servers={
        "shop": shared_redis,
        "clustered": lambda: redis_server("--cluster-enabled", "yes"),
        "https": https_server(),
    },
)
LAG_S = 0.3


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def connect(port: int, **options: Any) -> Any:
    """Connect as a task would, without tries of the client's own."""
    usual = {"password": CANARY, "socket_timeout": 2, "retry": Retry(NoBackoff(), 0), "protocol": 2}
    return redis.Redis(host="127.0.0.1", port=port, **{**usual, **options})


def emptied(shop: Redis) -> Any:
    client = connect(shop.port)
    client.flushall()
    return client


@contextlib.contextmanager
def configured(client: Any, **settings: str) -> Iterator[None]:
    """Change settings of the server while the block runs."""
    before = {name: client.config_get(name.replace("_", "-")) for name in settings}
    for name, value in settings.items():
        client.config_set(name.replace("_", "-"), value)
    try:
        yield
    finally:
        for found in before.values():
            for name, value in found.items():
                client.config_set(name, value)


# Clusters.
@family.case("no node serves the slot", raises="ClusterDownError")
def _(clustered: Redis) -> None:
    connect(clustered.port).get("orders")


@family.case("keys of two slots", raises="ResponseError")
def _(clustered: Redis) -> None:
    client = connect(clustered.port)
    client.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
    try:
        client.mget("orders", "customers")
    finally:
        client.execute_command("CLUSTER RESET", "HARD")


@family.case("the slot was moved", raises="MovedError", is_wire_form=True)
def _() -> None:
    # https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#moved-redirection
    with port_that_says(b"-MOVED 3999 127.0.0.1:6381\r\n") as port:
        connect(port, password=None, lib_name=None, lib_version=None).get("orders")


@family.case("the cluster has no node that can be reached", raises="RedisClusterException")
def _() -> None:
    with refused_port() as port:
        redis.cluster.RedisCluster(host="127.0.0.1", port=port, password=CANARY)


@family.case("the server is no cluster", raises="RedisClusterException")
def _(shop: Redis) -> None:
    redis.cluster.RedisCluster(host="127.0.0.1", port=shop.port, password=CANARY)


@family.case("the cluster does not cover all slots", raises="RedisClusterException")
def _(clustered: Redis) -> None:
    redis.cluster.RedisCluster(host="127.0.0.1", port=clustered.port, password=CANARY, require_full_coverage=True).get(
        "orders"
    )


@family.case("no sentinel knows the master", raises="MasterNotFoundError")
def _() -> None:
    with refused_port() as port:
        redis.sentinel.Sentinel([("127.0.0.1", port)]).master_for("shop", password=CANARY).get("orders")


# No way to the server.
@family.case("the connection is refused", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        connect(port).get("orders")


@family.case("the host name does not exist", raises="ConnectionError")
def _() -> None:
    redis.Redis.from_url(f"redis://:{CANARY}@cache.invalid:6379/0", retry=Retry(NoBackoff(), 0)).get("orders")


@family.case("the server does not answer in time", raises="TimeoutError")
def _() -> None:
    with port_that_hangs() as port:
        connect(port, socket_timeout=LAG_S).get("orders")


@family.case("the server hangs up", raises="ConnectionError")
def _() -> None:
    with port_that_closes(1) as port:
        connect(port).get("orders")


@family.case("the connection is reset", raises="ConnectionError")
def _() -> None:
    with port_that_resets() as port:
        connect(port).get("orders")


@family.case("the answer is no Redis", raises=("InvalidResponse", "ProtocolError"), tags=[WRONG_READING])
def _() -> None:
    with port_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        connect(port, password=None).get("orders")


@family.case("the connection is killed by an administrator", raises="ConnectionError")
def _(shop: Redis) -> None:
    client, other = connect(shop.port, single_connection_client=True), connect(shop.port)
    number = client.client_id()
    Thread(target=lambda: (time.sleep(LAG_S), other.execute_command("CLIENT KILL ID", number))).start()
    client.blpop("orders", 2)


@family.case("the server shuts down in mid command", raises="ConnectionError")
def _() -> None:
    with redis_server() as own:
        client, other = connect(own.port), connect(own.port)
        Thread(target=lambda: (time.sleep(LAG_S), other.shutdown(nosave=True))).start()
        client.blpop("orders", 2)


@family.case("the server speaks TLS and the client does not", raises="ConnectionError", tags=[WRONG_READING])
def _(https: Any) -> None:
    connect(https.port).get("orders")


@family.case("the client speaks TLS and the server does not", raises="TimeoutError", tags=[WRONG_READING])
def _(shop: Redis) -> None:
    connect(shop.port, ssl=True).get("orders")


@family.case("the certificate is of an unknown authority", raises="ConnectionError")
def _(https: Any) -> None:
    connect(https.port, ssl=True).get("orders")


@family.case("a URL of another scheme", raises="ValueError")
def _() -> None:
    redis.Redis.from_url(f"http://:{CANARY}@127.0.0.1:6379/0")


@family.case("a socket file that is not there", raises="ConnectionError")
def _() -> None:
    redis.Redis(unix_socket_path="/run/redis/none.sock", retry=Retry(NoBackoff(), 0)).get("orders")


# As tasks meet them.
@family.case("asyncio: the connection is refused", raises="ConnectionError")
async def _() -> None:
    with refused_port() as port:
        await redis.asyncio.Redis(host="127.0.0.1", port=port, retry=None).get("orders")


@family.case("asyncio: the server does not answer in time", raises="TimeoutError")
async def _() -> None:
    with port_that_hangs() as port:
        await redis.asyncio.Redis(
            host="127.0.0.1", port=port, socket_timeout=LAG_S, retry=redis.asyncio.retry.Retry(NoBackoff(), 0)
        ).get("orders")


@family.case("wrapped: memory is full", raises="LoadError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    with configured(client, maxmemory="1mb", maxmemory_policy="noeviction"):
        try:
            client.set("orders", "x" * 10)
        except redis.RedisError as error:
            raise LoadError("cannot write the day's orders to the cache") from error


@family.case("wrapped in words: the password is wrong", raises="LoadError", tags=[FROM_TEXT])
def _(shop: Redis) -> None:
    try:
        connect(shop.port, password=f"old-{CANARY}").ping()
    except redis.RedisError as error:
        raise LoadError(f"cache is not usable: {error}") from None


@family.case("tenacity gives up: the connection is refused", raises="RetryError")
def _() -> None:
    with refused_port() as port:
        tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(connect(port).get, "orders")


@family.case("the lock's release fails after the work has failed", raises="LockNotOwnedError", tags=[WRONG_READING])
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.lpush("orders", 1)
    with client.lock("load", timeout=0.1):
        time.sleep(LAG_S)
        client.incr("orders")


@family.case("wrapped in words with the URL: the connection is refused", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    with refused_port() as port:
        url = f"redis://etl:{CANARY}@127.0.0.1:{port}/0"
        try:
            redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0)).get("orders")
        except redis.RedisError as error:
            raise LoadError(f"cache {url} cannot be read: {error}") from error


if __name__ == "__main__":
    family.run()
