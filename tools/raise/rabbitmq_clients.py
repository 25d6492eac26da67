# /// script
# requires-python = "==3.11.*"
# dependencies = ["cryptography==46.0.3", "pika==1.4.4"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What pika raises of RabbitMQ."""

from __future__ import annotations

import ssl
import time
from threading import Thread
from typing import Any

import pika
import pika.exceptions
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs, port_that_resets, port_that_says
from servers.port import refused_port
from servers.rabbitmq import RabbitMQ, rabbitmq
from servers.tls import https_server

family = Family(__file__, "pika", servers={"rabbit": rabbitmq, "https": https_server()})
LAG_S = 0.5


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def settings(port: int, **options: Any) -> pika.ConnectionParameters:
    user = options.pop("user", "etl")
    usual = {
        "credentials": pika.PlainCredentials(user, options.pop("password", CANARY)),
        "socket_timeout": 1,
        "stack_timeout": 2,
        "blocked_connection_timeout": 1,
    }
    return pika.ConnectionParameters("127.0.0.1", port, **{**usual, **options})


def connect(port: int, **options: Any) -> Any:
    return pika.BlockingConnection(settings(port, **options))


def channel(rabbit: RabbitMQ, **options: Any) -> Any:
    return connect(rabbit.port, **options).channel()


# Who may.
@family.case("the password is wrong", raises="ProbableAuthenticationError")
def _(rabbit: RabbitMQ) -> None:
    connect(rabbit.port, password=f"old-{CANARY}")


@family.case("the user does not exist", raises="AMQPConnectionError")
def _(rabbit: RabbitMQ) -> None:
    connect(rabbit.port, user="nobody")


@family.case("the user may not enter the virtual host", raises="AMQPConnectionError")
def _(rabbit: RabbitMQ) -> None:
    connect(rabbit.port, user="stranger")


@family.case("the virtual host does not exist", raises="AMQPConnectionError", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    connect(rabbit.port, virtual_host="shop")


@family.case("the user may not declare a queue", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    channel(rabbit, user="reader").queue_declare("orders")


@family.case("the user may not write to the exchange", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit, user="reader")
    lane.confirm_delivery()
    lane.basic_publish("amq.direct", "orders", b"1")


@family.case("the mechanism is not offered", raises="AMQPConnectionError", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    connect(rabbit.port, credentials=pika.credentials.ExternalCredentials())


# What is not there, or is otherwise.
@family.case("the queue does not exist", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    channel(rabbit).queue_declare("orders:none", passive=True)


@family.case("the queue of a consumer does not exist", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    next(lane.consume("orders:none", inactivity_timeout=2))


@family.case("the exchange does not exist", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    lane.confirm_delivery()
    lane.basic_publish("shop", "orders", b"1")


@family.case("nobody has bound a queue to the key", raises="UnroutableError")
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    lane.confirm_delivery()
    lane.basic_publish("amq.direct", "orders:none", b"1", mandatory=True)


@family.case("the queue is declared otherwise", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    lane.queue_declare("customers", auto_delete=True)
    lane.queue_declare("customers", durable=True)


@family.case("the exchange is of another type", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    channel(rabbit).exchange_declare("amq.direct", "fanout", durable=True)


@family.case("the name is reserved", raises="ChannelClosedByBroker", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    channel(rabbit).queue_declare("amq.orders")


@family.case("the type of exchange is not known", raises=("ConnectionClosedByBroker", "ChannelClosedByBroker"))
def _(rabbit: RabbitMQ) -> None:
    channel(rabbit).exchange_declare("shop", "x-delayed-message")


@family.case("an argument of the queue is no number", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    channel(rabbit).queue_declare("late", arguments={"x-message-ttl": "soon"})


@family.case("the queue belongs to another connection", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    channel(rabbit).queue_declare("mine", exclusive=True)
    channel(rabbit).queue_declare("mine", passive=True)


@family.case("the queue has a consumer that wants it for itself", raises="ChannelClosedByBroker", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    lane.queue_declare("single", auto_delete=True)
    lane.basic_consume("single", lambda *_: None, exclusive=True)
    next(channel(rabbit).consume("single", inactivity_timeout=2))


@family.case("a queue that is not empty is deleted", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    lane.confirm_delivery()
    lane.queue_declare("full")
    lane.basic_publish("", "full", b"1")
    lane.queue_delete("full", if_empty=True)


@family.case("a message is acknowledged twice", raises="ChannelClosedByBroker", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    lane.queue_declare("twice", auto_delete=True)
    lane.basic_ack(7)
    lane.queue_declare("twice", auto_delete=True)


@family.case("the message is larger than allowed", raises="ChannelClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    lane.confirm_delivery()
    lane.basic_publish("", "orders", b"x" * 1_100_000)


@family.case("the queue takes no more", raises="NackError")
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    lane.confirm_delivery()
    lane.queue_declare("short", auto_delete=True, arguments={"x-max-length": 1, "x-overflow": "reject-publish"})
    for _number in range(3):
        lane.basic_publish("", "short", b"1")


# What comes from without.
@family.case("an administrator closes the connection", raises="ConnectionClosedByBroker")
def _(rabbit: RabbitMQ) -> None:
    connection = connect(rabbit.port)
    Thread(target=rabbit.control, args=("close_all_connections", "maintenance at noon")).start()
    for _number in range(20):
        connection.process_data_events(LAG_S)


@family.case("the server is out of memory and blocks publishers", raises="ConnectionBlockedTimeout")
def _(rabbit: RabbitMQ) -> None:
    connection = connect(rabbit.port)
    lane = connection.channel()
    lane.confirm_delivery()
    rabbit.control("set_vm_memory_high_watermark", "absolute", "1000")
    try:
        time.sleep(LAG_S)
        for _number in range(10):
            lane.basic_publish("", "", b"1")
            connection.process_data_events(LAG_S)
    finally:
        rabbit.control("set_vm_memory_high_watermark", "0.4")


@family.case("the virtual host takes no more connections", raises="AMQPConnectionError", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    held = connect(rabbit.port)
    rabbit.control("set_vhost_limits", '{"max-connections": 1}')
    try:
        connect(rabbit.port)
    finally:
        rabbit.control("clear_vhost_limits")
        held.close()


@family.case("the virtual host takes no more queues", raises="ChannelClosedByBroker", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    channel(rabbit).queue_declare("enough", auto_delete=True)
    rabbit.control("set_vhost_limits", '{"max-queues": 1}')
    try:
        channel(rabbit).queue_declare("more", auto_delete=True)
    finally:
        rabbit.control("clear_vhost_limits")


@family.case("the user has too many connections", raises="AMQPConnectionError", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    held = connect(rabbit.port)
    rabbit.control("set_user_limits", "etl", '{"max-connections": 1}')
    try:
        connect(rabbit.port)
    finally:
        rabbit.control("clear_user_limits", "etl", "all")
        held.close()


@family.case("the user has too many channels", raises="ConnectionClosedByBroker", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    held = channel(rabbit)
    rabbit.control("set_user_limits", "etl", '{"max-channels": 1}')
    try:
        channel(rabbit)
    finally:
        rabbit.control("clear_user_limits", "etl", "all")
        held.close()


@family.case("the connection has too many channels", raises="NoFreeChannels")
def _(rabbit: RabbitMQ) -> None:
    connection = connect(rabbit.port)
    for _number in range(20):
        connection.channel()


@family.case("the user is deleted while connected", raises="ConnectionClosedByBroker", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    rabbit.control("add_user", "leaver", CANARY)
    rabbit.control("set_permissions", "leaver", ".*", ".*", ".*")
    connection = connect(rabbit.port, user="leaver")
    rabbit.control("delete_user", "leaver")
    for _number in range(6):
        connection.process_data_events(LAG_S)


# The client's own.
@family.case("the channel is closed already", raises="ChannelWrongStateError")
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    lane.close()
    lane.basic_publish("", "orders", b"1")


@family.case("the connection is closed already", raises="ConnectionWrongStateError")
def _(rabbit: RabbitMQ) -> None:
    connection = connect(rabbit.port)
    connection.close()
    connection.channel()


@family.case(
    "the channel is used after the broker has closed it", raises="ChannelWrongStateError", tags=[WRONG_READING]
)
def _(rabbit: RabbitMQ) -> None:
    lane = channel(rabbit)
    try:
        lane.queue_declare("orders:none", passive=True)
    except pika.exceptions.ChannelClosedByBroker:
        lane.basic_publish("", "orders", b"1")


@family.case("a URL with a heartbeat below zero", raises="ValueError")
def _() -> None:
    pika.URLParameters(f"amqp://etl:{CANARY}@127.0.0.1:5672/%2F?heartbeat=-1")


# No way to the server.
@family.case("the connection is refused", raises="AMQPConnectionError")
def _() -> None:
    with refused_port() as port:
        connect(port)


@family.case("the host name does not exist", raises=("gaierror", "AMQPConnectionError"))
def _() -> None:
    pika.BlockingConnection(pika.URLParameters(f"amqp://etl:{CANARY}@queue.invalid:5672/%2F"))


@family.case("the server hangs up", raises="AMQPConnectionError", tags=[WRONG_READING])
def _() -> None:
    with port_that_closes(1) as port:
        connect(port)


@family.case("the server resets the connection", raises="AMQPConnectionError")
def _() -> None:
    with port_that_resets() as port:
        connect(port)


@family.case("the server does not answer in time", raises="AMQPConnectorStackTimeout")
def _() -> None:
    with port_that_hangs() as port:
        connect(port)


@family.case("the server speaks another version", raises="AMQPConnectionError", is_wire_form=True)
def _() -> None:
    # https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf, 4.2.2 Protocol Header
    with port_that_says(b"AMQP\x00\x01\x00\x00") as port:
        connect(port)


@family.case("the server is none of RabbitMQ", raises="AMQPConnectionError")
def _() -> None:
    with port_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        connect(port)


@family.case("the certificate is of an unknown authority", raises="SSLError")
def _(https: Any) -> None:
    connect(https.port, ssl_options=pika.SSLOptions(ssl.create_default_context(), "localhost"))


# As tasks meet them.
@family.case("wrapped: the queue does not exist", raises="LoadError")
def _(rabbit: RabbitMQ) -> None:
    try:
        channel(rabbit).queue_declare("orders:none", passive=True)
    except pika.exceptions.AMQPError as error:
        raise LoadError("cannot read the day's orders") from error


@family.case("wrapped in words: the password is wrong", raises="LoadError", tags=[FROM_TEXT])
def _(rabbit: RabbitMQ) -> None:
    try:
        connect(rabbit.port, password=f"old-{CANARY}")
    except pika.exceptions.AMQPError as error:
        raise LoadError(f"broker says {error}") from None


@family.case(
    "closing fails after the channel was closed by the broker", raises="ConnectionWrongStateError", tags=[WRONG_READING]
)
def _(rabbit: RabbitMQ) -> None:
    connection = connect(rabbit.port)
    try:
        connection.channel().queue_declare("orders:none", passive=True)
    finally:
        connection.close()
        connection.close()


@family.case("wrapped in words with the URL: the connection is refused", raises="LoadError", tags=[FROM_TEXT])
def _() -> None:
    with refused_port() as port:
        url = f"amqp://etl:{CANARY}@127.0.0.1:{port}/%2F?connection_attempts=1"
        try:
            pika.BlockingConnection(pika.URLParameters(url))
        except pika.exceptions.AMQPError as error:
            raise LoadError(f"no broker at {url}") from error


if __name__ == "__main__":
    family.run()
