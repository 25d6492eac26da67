# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "redis==8.1.0", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What redis raises when the server says no, and around locks and pools."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from threading import Thread
from typing import Any

import redis
import redis.asyncio
import redis.cluster
import redis.sentinel
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from redis.backoff import NoBackoff
from redis.retry import Retry
from servers.broken import port_that_says
from servers.port import refused_port
from servers.redis import Redis, redis_server
from servers.redis import redis as shared_redis

family = Family(
    __file__,
    "redis",
    servers={
        "shop": shared_redis,
        "small": lambda: redis_server("--maxclients", "3"),
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


# Who may.
@family.case("no password was given", raises="AuthenticationError")
def _(shop: Redis) -> None:
    connect(shop.port, password=None).get("orders:1")


@family.case("the password is wrong", raises="AuthenticationError", tags=[WRONG_READING])
def _(shop: Redis) -> None:
    connect(shop.port, password=f"old-{CANARY}").get("orders:1")


@family.case("the user does not exist", raises="AuthenticationError")
def _(shop: Redis) -> None:
    connect(shop.port, username="nobody").ping()


@family.case("the user is switched off", raises="AuthenticationError")
def _(shop: Redis) -> None:
    connect(shop.port, username="retired").ping()


@family.case("the user may not run the command", raises="NoPermissionError")
def _(shop: Redis) -> None:
    connect(shop.port, username="reader").set("orders:1", "open")


@family.case("the user may not touch the key", raises="NoPermissionError")
def _(shop: Redis) -> None:
    connect(shop.port, username="orders").set("customers:1", "Ada")


@family.case("the user may not publish to the channel", raises="NoPermissionError")
def _(shop: Redis) -> None:
    connect(shop.port, username="orders").publish("customers", "new")


@family.case("the user's script runs a command that it may not", raises="ResponseError", tags=[WRONG_READING])
def _(shop: Redis) -> None:
    connect(shop.port, username="orders").eval("return redis.call('set', 'customers:1', 'Ada')", 0)


@family.case("a password was given that the server does not have", raises="AuthenticationError", tags=[WRONG_READING])
def _(shop: Redis) -> None:
    client = connect(shop.port)
    with configured(client, requirepass=""):
        connect(shop.port).get("orders:1")


@family.case("protected mode refuses those from elsewhere", raises="ConnectionError", is_wire_form=True)
def _() -> None:
    # https://redis.io/docs/latest/operate/oss_and_stack/management/security/#protected-mode
    words = b"-DENIED Redis is running in protected mode because protected mode is enabled and no password is set\r\n"
    with port_that_says(words) as port:
        connect(port, password=None).get("orders:1")


# What the data are.
@family.case("the key holds another type", raises="ResponseError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.lpush("orders", "1")
    client.incr("orders")


@family.case("the value is no integer", raises="ResponseError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.set("orders", "ten")
    client.incr("orders")


@family.case("the counter would overflow", raises="ResponseError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.set("orders", "9223372036854775807")
    client.incr("orders")


@family.case("the value is of a type that cannot be sent", raises="DataError")
def _(shop: Redis) -> None:
    connect(shop.port).set("orders", {"id": 1})


@family.case("an expiry below zero", raises="ResponseError")
def _(shop: Redis) -> None:
    connect(shop.port).set("orders", 1, ex=-5)


@family.case("bytes that are no UTF-8", raises="UnicodeDecodeError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.set("orders", b"\xff\xfe")
    connect(shop.port, decode_responses=True).get("orders")


@family.case("a dump with a wrong checksum", raises="ResponseError")
def _(shop: Redis) -> None:
    emptied(shop).restore("orders", 0, b"not a dump")


@family.case("restoring a key that is there", raises="ResponseError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.set("orders", 1)
    client.restore("orders", 0, client.dump("orders"))


@family.case("a string longer than allowed", raises="ResponseError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.setrange("orders", 600 * 1024 * 1024, "x")


@family.case("an entry of a stream that is not newer", raises="ResponseError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.xadd("orders", {"id": 1}, id="5-1")
    client.xadd("orders", {"id": 1}, id="4-1")


# What is not there.
@family.case("renaming a key that is not there", raises="ResponseError")
def _(shop: Redis) -> None:
    emptied(shop).rename("orders:staging", "orders")


@family.case("the script is not in the cache", raises="NoScriptError")
def _(shop: Redis) -> None:
    connect(shop.port).evalsha("0" * 40, 0)


@family.case("the consumer group does not exist", raises="ResponseError")
def _(shop: Redis) -> None:
    emptied(shop).xreadgroup("loaders", "one", {"orders": ">"})


@family.case("the stream of a new group does not exist", raises="ResponseError")
def _(shop: Redis) -> None:
    emptied(shop).xgroup_create("orders", "loaders")


@family.case("the consumer group exists already", raises="ResponseError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.xgroup_create("orders", "loaders", mkstream=True)
    client.xgroup_create("orders", "loaders")


@family.case("the database number is out of range", raises="ResponseError")
def _(shop: Redis) -> None:
    connect(shop.port, db=99).get("orders")


@family.case("the command does not exist", raises="ResponseError")
def _(shop: Redis) -> None:
    connect(shop.port).execute_command("JSON.GET", "orders")


@family.case("too few arguments", raises="ResponseError")
def _(shop: Redis) -> None:
    connect(shop.port).execute_command("SET", "orders")


@family.case("a setting that cannot be changed", raises="ResponseError")
def _(shop: Redis) -> None:
    connect(shop.port).config_set("cluster-enabled", "yes")


@family.case("the script has a mistake", raises="ResponseError")
def _(shop: Redis) -> None:
    connect(shop.port).eval("return redis.call('incr', nothing.key)", 0)


@family.case("the script does not compile", raises="ResponseError")
def _(shop: Redis) -> None:
    connect(shop.port).eval("return return", 0)


# What passes, or does not.
@family.case("memory is full", raises="OutOfMemoryError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    with configured(client, maxmemory="1mb", maxmemory_policy="noeviction"):
        client.set("orders", "x" * 10)


@family.case("memory is full within a transaction", raises=("ExecAbortError", "ResponseError"), tags=[WRONG_READING])
def _(shop: Redis) -> None:
    client = emptied(shop)
    with configured(client, maxmemory="1mb", maxmemory_policy="noeviction"):
        pipe = client.pipeline(transaction=True)
        pipe.set("orders", "x" * 10)
        pipe.execute()


@family.case("the server is a replica that may not be written", raises="ReadOnlyError")
def _(shop: Redis) -> None:
    with replica(shop) as client:
        client.set("orders", 1)


@family.case("the replica has lost its master", raises="ResponseError")
def _(shop: Redis) -> None:
    with replica(shop, replica_serve_stale_data="no") as client:
        client.get("orders")


@contextlib.contextmanager
def replica(shop: Redis, **settings: str) -> Iterator[Any]:
    """Make the server a replica of one that is not there."""
    client = connect(shop.port)
    with refused_port() as port, configured(client, **settings):
        client.replicaof("127.0.0.1", port)
        try:
            yield client
        finally:
            client.replicaof("NO", "ONE")


@family.case("too few replicas take part", raises="ResponseError")
def _(shop: Redis) -> None:
    client = connect(shop.port)
    with configured(client, min_replicas_to_write="1"):
        client.set("orders", 1)


@family.case("the disk does not take snapshots", raises="ResponseError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    in_the_way = shop.folder / "dump.rdb" / "old"
    in_the_way.mkdir(parents=True)
    with configured(client, save="3600 1", stop_writes_on_bgsave_error="yes"):
        client.bgsave()
        while client.info("persistence")["rdb_last_bgsave_status"] == "ok":
            time.sleep(LAG_S)
        try:
            client.set("orders", 1)
        finally:
            shutil.rmtree(in_the_way.parent)
            client.bgsave()
            time.sleep(LAG_S)


@family.case("a snapshot is being written already", raises="ResponseError", tags=[WRONG_READING])
def _(shop: Redis) -> None:
    client = emptied(shop)
    with configured(client, rdb_key_save_delay="200000"):
        client.mset({f"orders:{number}": number for number in range(20)})
        client.bgsave()
        client.bgsave()


def busy(shop: Redis) -> Thread:
    """Keep the server at a script until it is killed."""

    def work() -> None:
        with contextlib.suppress(redis.RedisError):
            connect(shop.port, socket_timeout=20).eval("while true do end", 0)

    thread = Thread(target=work)
    thread.start()
    time.sleep(LAG_S)
    return thread


@family.case("a script keeps the server busy", raises="ResponseError")
def _(shop: Redis) -> None:
    client = connect(shop.port)
    thread = busy(shop)
    try:
        client.get("orders")
    finally:
        client.script_kill()
        thread.join()


@family.case("a long script is killed", raises="ResponseError")
def _(shop: Redis) -> None:
    other = connect(shop.port)

    def kill() -> None:
        time.sleep(LAG_S)
        other.script_kill()

    Thread(target=kill).start()
    connect(shop.port, socket_timeout=10).eval("while true do end", 0)


@family.case("no script is there to be killed", raises="ResponseError")
def _(shop: Redis) -> None:
    connect(shop.port).script_kill()


@family.case("no more connections are taken", raises=("ConnectionError", "MaxConnectionsError"), tags=[WRONG_READING])
def _(small: Redis) -> None:
    held = [connect(small.port) for _ in range(4)]
    with contextlib.ExitStack() as open_ones:
        for client in held:
            open_ones.callback(client.close)
            client.ping()


@family.case("the client's own pool is full", raises="MaxConnectionsError", tags=[WRONG_READING])
def _(shop: Redis) -> None:
    pool = redis.ConnectionPool(host="127.0.0.1", port=shop.port, password=CANARY, max_connections=1)
    held = pool.get_connection()
    try:
        redis.Redis(connection_pool=pool).get("orders")
    finally:
        pool.release(held)
        pool.disconnect()


@family.case("the client's blocking pool is full", raises="ConnectionError", tags=[WRONG_READING])
def _(shop: Redis) -> None:
    pool = redis.BlockingConnectionPool(
        host="127.0.0.1", port=shop.port, password=CANARY, max_connections=1, timeout=LAG_S
    )
    held = pool.get_connection()
    try:
        redis.Redis(connection_pool=pool).get("orders")
    finally:
        pool.release(held)
        pool.disconnect()


@family.case("a watched key was changed", raises="WatchError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    with client.pipeline() as pipe:
        pipe.watch("orders")
        pipe.multi()
        client.set("orders", 2)
        pipe.set("orders", 1)
        pipe.execute()


@family.case("a command within a pipeline fails", raises="ResponseError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.lpush("orders", 1)
    client.pipeline().set("customers", 1).get("orders").execute()


@family.case("the lock is held by another", raises="LockError")
def _(shop: Redis) -> None:
    client = emptied(shop)
    client.lock("load", timeout=30).acquire()
    with client.lock("load", blocking_timeout=LAG_S):
        pass


@family.case("the lock has expired before its release", raises="LockNotOwnedError", tags=[WRONG_READING])
def _(shop: Redis) -> None:
    with emptied(shop).lock("load", timeout=0.1):
        time.sleep(LAG_S)


@family.case("the lock was never taken", raises="LockError")
def _(shop: Redis) -> None:
    emptied(shop).lock("load").release()


for title, words, raises, tags in (
    # https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors and the server's own words
    ("data are still loaded from disk", "LOADING Redis is loading the dataset in memory", "BusyLoadingError", []),
    ("keys are being moved", "TRYAGAIN Multiple keys request during rehashing of slot", "TryAgainError", []),
    ("the master cannot be reached", "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
     "MasterDownError", []),
    ("the module runs into its timeout", "Timeout limit was reached", "ResponseError", [FROM_TEXT]),
    ("the service asks to slow down", "ERR max request rate of the plan exceeded", "ResponseError", [FROM_TEXT]),
    ("the day's requests of the plan are used up", "ERR max requests limit exceeded. Limit: 500000, Usage: 500001.",
     "ResponseError", [FROM_TEXT, WRONG_READING]),
    ("the database is too big for the plan", "ERR max database size exceeded. Limit: 268435456 bytes",
     "ResponseError", [FROM_TEXT]),
    ("the connections of the plan are used up", "ERR max concurrent connections exceeded", "ResponseError", [FROM_TEXT]),
    ("the command is not available in the service", "ERR unknown command 'CONFIG', with args beginning with: 'GET'",
     "ResponseError", []),
    ("the connection was blocked by a failover", "UNBLOCKED force unblock from blocking operation, instance state"
     " changed (master -> replica?)", "ResponseError", []),
    ("too few replicas are good", "NOREPLICAS Not enough good replicas to write.", "ResponseError", []),
    ("the index of a search is none", "orders_idx: no such index", "ResponseError", [FROM_TEXT]),
):  # fmt: skip

    @family.case(title, raises=raises, tags=tags, is_wire_form=True)
    def _(words: str = words) -> None:
        with port_that_says(f"-{words}\r\n".encode()) as port:
            connect(port, password=None, lib_name=None, lib_version=None).get("orders")


if __name__ == "__main__":
    family.run()
