# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "nats-py==2.16.0",
#     "paho-mqtt==2.1.0",
#     "pyzmq==27.2.0",
#     "stomp-py==9.0.0",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What clients of smaller brokers raise: nats-py, paho-mqtt, stomp.py and pyzmq."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from functools import partial
from typing import Any

import nats
import nats.errors
import nats.js.errors
import paho.mqtt.client
import paho.mqtt.enums
import paho.mqtt.publish
import stomp
import stomp.exception
import tenacity
import zmq
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.broken import listener, port_that_closes, port_that_hangs, port_that_says
from servers.mosquitto import Mosquitto, mosquitto
from servers.nats import Nats, nats_server
from servers.nats import nats as shared_nats
from servers.port import refused_port

family = Family(
    __file__,
    "nats-py",
    servers={
        "server": shared_nats,
        "small": lambda: nats_server("max_connections: 1"),
        "mqtt": mosquitto,
    },
)
mqtt_case = partial(family.case, library="paho-mqtt")
stomp_case = partial(family.case, library="stomp-py")
zmq_case = partial(family.case, library="pyzmq")
TRAP = [WRONG_READING]
QUICK_S = 0.5
QUICK_MS = 300


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


async def connect(port: int, **options: Any) -> Any:
    usual = {"user": "etl", "password": CANARY, "allow_reconnect": False, "connect_timeout": 1}
    return await nats.connect(f"nats://127.0.0.1:{port}", **{**usual, **options})


@family.case("the password is wrong", raises="Error")
async def _(server: Nats) -> None:
    await connect(server.port, password=f"old-{CANARY}")


@family.case("nobody has signed in", raises="Error")
async def _(server: Nats) -> None:
    await connect(server.port, user=None, password=None)


@family.case("tries are used up on refused connections", raises="NoServersError", tags=TRAP)
async def _() -> None:
    with refused_port() as port:
        await connect(port, allow_reconnect=True, max_reconnect_attempts=1, reconnect_time_wait=0)


@family.case("the host name does not exist", raises=("gaierror", "NoServersError"))
async def _() -> None:
    await nats.connect("nats://nats.invalid:4222", max_reconnect_attempts=1, reconnect_time_wait=0, connect_timeout=1)


@family.case("the server says nothing", raises=("TimeoutError", "Error"))
async def _() -> None:
    with port_that_hangs() as port:
        await connect(port)


@family.case("the server hangs up", raises=("Error", "OSError"))
async def _() -> None:
    with port_that_closes() as port:
        await connect(port)


@family.case("the server is none of NATS", raises=("Error", "OSError", "JSONDecodeError"))
async def _() -> None:
    with port_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n", first=True) as port:
        await connect(port)


@family.case("too many connections", raises=("Error", "OSError"), tags=TRAP)
async def _(small: Nats) -> None:
    await connect(small.port)
    await connect(small.port)


@family.case("nobody answers the request", raises="NoRespondersError")
async def _(server: Nats) -> None:
    await (await connect(server.port)).request("orders.load", b"1", timeout=1)


@family.case("the answer to a request does not come in time", raises="TimeoutError")
async def _(server: Nats) -> None:
    client = await connect(server.port)
    await client.subscribe("orders.slow")
    await client.request("orders.slow", b"1", timeout=QUICK_S)


@family.case("no message comes in time", raises="TimeoutError", tags=TRAP)
async def _(server: Nats) -> None:
    reader = await (await connect(server.port)).subscribe("orders.none")
    await reader.next_msg(timeout=QUICK_S)


@family.case("the message is larger than allowed", raises="MaxPayloadError")
async def _(server: Nats) -> None:
    await (await connect(server.port)).publish("orders", b"x" * 2000)


@family.case("the subject is not valid", raises="BadSubjectError")
async def _(server: Nats) -> None:
    await (await connect(server.port)).publish("", b"1")


@family.case("the connection is closed", raises="ConnectionClosedError")
async def _(server: Nats) -> None:
    client = await connect(server.port)
    await client.close()
    await client.publish("orders", b"1")


@family.case("the user may not publish", raises="LoadError", tags=[FROM_TEXT])
async def _(server: Nats) -> None:
    heard: list[Exception] = []

    async def hear(error: Exception) -> None:
        heard.append(error)

    client = await connect(server.port, user="reader", error_cb=hear)
    await client.publish("orders", b"1")
    await client.flush()
    await asyncio.sleep(QUICK_S)
    raise LoadError(f"publishing failed: {heard[0]}")


@family.case("JetStream: the stream does not exist", raises="NotFoundError")
async def _(server: Nats) -> None:
    await (await connect(server.port)).jetstream().stream_info("orders")


@family.case("JetStream: no stream takes the subject", raises="NoStreamResponseError")
async def _(server: Nats) -> None:
    await (await connect(server.port)).jetstream().publish("nowhere", b"1", timeout=1)


@family.case("JetStream: the stream is there otherwise", raises="BadRequestError")
async def _(server: Nats) -> None:
    streams = (await connect(server.port)).jetstream()
    await streams.add_stream(name="taken", subjects=["taken.*"])
    await streams.add_stream(name="taken", subjects=["other.*"])


@family.case("JetStream: subjects overlap with another stream", raises="BadRequestError")
async def _(server: Nats) -> None:
    streams = (await connect(server.port)).jetstream()
    await streams.add_stream(name="first", subjects=["first.*"])
    await streams.add_stream(name="second", subjects=["first.1"])


@family.case("JetStream: the storage is used up", raises=("ServerError", "APIError"), tags=TRAP)
async def _(server: Nats) -> None:
    await (await connect(server.port)).jetstream().add_stream(name="big", subjects=["big.*"], max_bytes=50_000_000)


@family.case("JetStream: the stream is full", raises=("ServiceUnavailableError", "APIError"), tags=TRAP)
async def _(server: Nats) -> None:
    streams = (await connect(server.port)).jetstream()
    await streams.add_stream(name="full", subjects=["full.*"], max_msgs=1, discard="new")
    for _number in range(2):
        await streams.publish("full.1", b"1")


@family.case("JetStream: the message is not the one that was expected", raises="APIError")
async def _(server: Nats) -> None:
    streams = (await connect(server.port)).jetstream()
    await streams.add_stream(name="order", subjects=["order.*"])
    await streams.publish("order.1", b"1", headers={"Nats-Expected-Last-Sequence": "7"})


@family.case("JetStream: the key of the bucket does not exist", raises="KeyNotFoundError")
async def _(server: Nats) -> None:
    bucket = await (await connect(server.port)).jetstream().create_key_value(bucket="state")
    await bucket.get("day")


@family.case("JetStream: the key of the bucket has changed", raises="KeyWrongLastSequenceError")
async def _(server: Nats) -> None:
    bucket = await (await connect(server.port)).jetstream().create_key_value(bucket="locks")
    await bucket.create("load", b"1")
    await bucket.create("load", b"2")


@family.case("JetStream: the bucket does not exist", raises="BucketNotFoundError")
async def _(server: Nats) -> None:
    await (await connect(server.port)).jetstream().key_value("nothing")


@family.case("the server shuts down while a request waits", raises=("Error", "TimeoutError"), tags=TRAP)
async def _() -> None:
    with nats_server() as own:
        client = await connect(own.port)
        await client.subscribe("orders.slow")
        waiting = asyncio.create_task(client.request("orders.slow", b"1", timeout=1))
        await asyncio.sleep(QUICK_S)
        os.kill(own.pid, signal.SIGTERM)
        await waiting


@family.case("wrapped: the stream does not exist", raises="LoadError")
async def _(server: Nats) -> None:
    try:
        await (await connect(server.port)).jetstream().stream_info("orders")
    except nats.errors.Error as error:
        raise LoadError("cannot read the day's orders") from error


@family.case("several requests at once get no answer", raises="ExceptionGroup")
async def _(server: Nats) -> None:
    client = await connect(server.port)
    await client.subscribe("orders.slow")

    async def ask(subject: str) -> None:
        try:
            await client.request(subject, b"1", timeout=QUICK_S)
        except nats.errors.Error:
            await asyncio.sleep(0)
            raise

    async with asyncio.TaskGroup() as group:
        group.create_task(ask("orders.slow"))
        group.create_task(ask("orders.slow"))


# MQTT.
def publish(port: int, topic: str = "orders/new", payload: str = "1", **options: Any) -> None:
    signing: Any = {"username": "etl", "password": options.pop("password", CANARY)}
    paho.mqtt.publish.single(topic, payload, 1, hostname="127.0.0.1", port=port, auth=signing, keepalive=5, **options)


@mqtt_case("MQTT: the password is wrong", raises="MQTTException")
def _(mqtt: Mosquitto) -> None:
    publish(mqtt.port, password=f"old-{CANARY}")


@mqtt_case("MQTT: the connection is refused", raises="ConnectionRefusedError")
def _() -> None:
    with refused_port() as port:
        publish(port)


@mqtt_case("MQTT: the host name does not exist", raises="gaierror")
def _() -> None:
    paho.mqtt.publish.single("orders/new", "1", hostname="mqtt.invalid")


@mqtt_case("MQTT: the topic has a wildcard", raises="ValueError")
def _(mqtt: Mosquitto) -> None:
    publish(mqtt.port, "orders/#")


@mqtt_case("MQTT: the payload cannot be sent", raises="TypeError")
def _(mqtt: Mosquitto) -> None:
    client = mqtt_client()
    client.publish("orders/new", {"id": 1})


def mqtt_client(**options: Any) -> paho.mqtt.client.Client:
    client = paho.mqtt.client.Client(paho.mqtt.enums.CallbackAPIVersion.VERSION2, **options)
    client.username_pw_set("etl", CANARY)
    return client


@mqtt_case("MQTT: the message was not published because nobody is connected", raises=("ValueError", "RuntimeError"))
def _() -> None:
    sent = mqtt_client().publish("orders/new", "1", qos=1)
    sent.wait_for_publish(QUICK_S)


@mqtt_case("MQTT: the connection says why it was refused", raises="LoadError", tags=[FROM_TEXT])
def _(mqtt: Mosquitto) -> None:
    reasons: list[Any] = []
    client = mqtt_client(protocol=paho.mqtt.enums.MQTTProtocolVersion.MQTTv5)
    client.username_pw_set("nobody", CANARY)
    client.on_connect = lambda _client, _data, _flags, reason, _more: reasons.append(reason)
    client.connect("127.0.0.1", mqtt.port)
    while not reasons:
        client.loop(QUICK_S)
    raise LoadError(f"broker refused: {reasons[0]}")


for title, code in (
    # http://docs.oasis-open.org/mqtt/mqtt/v3.1.1/os/mqtt-v3.1.1-os.html, table 3.1
    ("the version is not accepted", 1),
    ("the identifier is rejected", 2),
    ("the server is not available", 3),
    ("the user is not authorized", 5),
):

    @mqtt_case(f"MQTT: {title}", raises="MQTTException", is_wire_form=True)
    def _(code: int = code) -> None:
        with port_that_says(bytes([0x20, 2, 0, code])) as port:
            publish(port)


# STOMP: https://stomp.github.io/stomp-specification-1.2.html#ERROR
def stomp_connect(port: int, **options: Any) -> Any:
    usual = {"reconnect_attempts_max": 1, "timeout": 1}
    client = stomp.Connection12([("127.0.0.1", port)], **{**usual, **options})
    client.connect("etl", CANARY, wait=True)
    return client


class Heard(stomp.ConnectionListener):
    """Keeps the error that the broker sends."""

    def __init__(self) -> None:
        self.words = ""
        self.is_heard = threading.Event()

    def on_error(self, frame: Any) -> None:
        self.words = f"{frame.headers.get('message')}: {frame.body}"
        self.is_heard.set()


@stomp_case("STOMP: the connection is refused", raises="ConnectFailedException")
def _() -> None:
    with refused_port() as port:
        stomp_connect(port)


@stomp_case("STOMP: the broker says bad credentials", raises="ConnectFailedException", is_wire_form=True, tags=TRAP)
def _() -> None:
    with port_that_says(b"ERROR\nmessage:Bad CONNECT\n\nAccess refused for user 'etl'\0") as port:
        stomp_connect(port)


@stomp_case("STOMP: nobody is connected", raises="NotConnectedException")
def _() -> None:
    stomp.Connection12([("127.0.0.1", 1)]).send("/queue/orders", "1")


@stomp_case("STOMP: the broker's error comes afterwards", raises="LoadError", is_wire_form=True, tags=[FROM_TEXT])
def _() -> None:
    def talk(accepted: socket.socket) -> None:
        accepted.recv(4096)
        accepted.sendall(b"CONNECTED\nversion:1.2\n\n\0")
        accepted.recv(4096)
        accepted.sendall(b"ERROR\nmessage:not_found\n\nNOT_FOUND - no exchange 'shop' in vhost '/'\0")
        accepted.recv(4096)

    heard = Heard()
    with listener(talk) as port:
        client = stomp.Connection12([("127.0.0.1", port)])
        client.set_listener("", heard)
        client.connect("etl", CANARY, wait=True)
        client.send("/exchange/shop/orders", "1")
        heard.is_heard.wait(2)
    raise LoadError(f"broker says {heard.words}")


# ZeroMQ.
@zmq_case("ZeroMQ: no message comes in time", raises="Again", tags=TRAP)
def _() -> None:
    with zmq.Context() as context, context.socket(zmq.PULL) as puller:
        puller.bind_to_random_port("tcp://127.0.0.1")
        puller.setsockopt(zmq.RCVTIMEO, QUICK_MS)
        puller.recv()


@zmq_case("ZeroMQ: nobody takes the message", raises="Again")
def _() -> None:
    with zmq.Context() as context, context.socket(zmq.PUSH) as pusher:
        pusher.setsockopt(zmq.SNDTIMEO, QUICK_MS)
        pusher.bind_to_random_port("tcp://127.0.0.1")
        pusher.send(b"1")


@zmq_case("ZeroMQ: the address is in use", raises="ZMQError")
def _() -> None:
    with refused_port() as port, zmq.Context() as context, context.socket(zmq.PULL) as puller:
        puller.bind(f"tcp://127.0.0.1:{port}")


@zmq_case("ZeroMQ: the protocol is not known", raises="ZMQError")
def _() -> None:
    with zmq.Context() as context, context.socket(zmq.PULL) as puller:
        puller.connect("http://127.0.0.1:80")


@zmq_case("ZeroMQ: two requests in a row", raises="ZMQError")
def _() -> None:
    with zmq.Context() as context, context.socket(zmq.REQ) as asker:
        asker.setsockopt(zmq.LINGER, 0)
        asker.connect("tcp://127.0.0.1:1")
        asker.send(b"1")
        asker.send(b"2")


@zmq_case("ZeroMQ: the socket is closed", raises="ZMQError")
def _() -> None:
    with zmq.Context() as context:
        closed = context.socket(zmq.REQ)
        closed.close()
        closed.send(b"1")


@zmq_case("ZeroMQ: the context has ended", raises="ContextTerminated")
def _() -> None:
    context = zmq.Context()
    puller = context.socket(zmq.PULL)
    puller.bind_to_random_port("tcp://127.0.0.1")
    ending = threading.Timer(QUICK_S, context.term)
    ending.start()
    try:
        puller.recv()
    finally:
        puller.close()
        ending.join()


@mqtt_case("tenacity gives up: the MQTT broker is not there", raises="RetryError")
def _() -> None:
    with refused_port() as port:
        tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(publish, port)


if __name__ == "__main__":
    family.run()
