# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "aio-pika==10.2.1",
#     "amqp==5.4.1",
#     "celery==5.6.3",
#     "kombu==5.6.2",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What clients of RabbitMQ raise that hide the protocol: kombu, celery and aio-pika."""

from __future__ import annotations

from functools import partial
from threading import Thread
from typing import Any

import aio_pika
import celery
import celery.exceptions
import kombu
from harness import CANARY, WRONG_READING, Family
from servers.port import refused_port
from servers.rabbitmq import RabbitMQ, rabbitmq

family = Family(__file__, "kombu", servers={"rabbit": rabbitmq})
kombu_case = family.case
celery_case = partial(family.case, library="celery")
aio_case = partial(family.case, library="aio-pika")
LAG_S = 0.5


# kombu, and amqp below it.
def kombu_connection(rabbit: RabbitMQ | None = None, *, port: int = 0, **options: Any) -> kombu.Connection:
    usual = {"userid": "etl", "password": CANARY, "connect_timeout": 1}
    return kombu.Connection("amqp://127.0.0.1", port=rabbit.port if rabbit else port, **{**usual, **options})


@kombu_case("kombu: the connection is refused", raises="OSError")
def _() -> None:
    with refused_port() as port:
        kombu_connection(port=port).connect()


@kombu_case("kombu: tries of the connection are used up", raises="OperationalError")
def _() -> None:
    with refused_port() as port:
        kombu_connection(port=port).ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=1)


@kombu_case("kombu: the password is wrong", raises="AccessRefused")
def _(rabbit: RabbitMQ) -> None:
    kombu_connection(rabbit, password=f"old-{CANARY}").connect()


@kombu_case("kombu: the virtual host does not exist", raises="NotAllowed")
def _(rabbit: RabbitMQ) -> None:
    kombu_connection(rabbit, virtual_host="shop").connect()


@kombu_case("kombu: the queue does not exist", raises="NotFound")
def _(rabbit: RabbitMQ) -> None:
    kombu.Queue("orders:none", channel=kombu_connection(rabbit).channel()).queue_declare(passive=True)


@kombu_case("kombu: the queue is declared otherwise", raises="PreconditionFailed")
def _(rabbit: RabbitMQ) -> None:
    lane = kombu_connection(rabbit).channel()
    kombu.Queue("kombu", channel=lane, durable=False).declare()
    kombu.Queue("kombu", channel=lane, durable=False, max_length=2).declare()


@kombu_case("kombu: the queue belongs to another connection", raises="ResourceLocked")
def _(rabbit: RabbitMQ) -> None:
    first = kombu_connection(rabbit)
    kombu.Queue("alone", channel=first.channel(), exclusive=True).declare()
    kombu.Queue("alone", channel=kombu_connection(rabbit).channel(), exclusive=True).declare()


@kombu_case("kombu: no message comes in time", raises="TimeoutError", tags=[WRONG_READING])
def _(rabbit: RabbitMQ) -> None:
    kombu_connection(rabbit).drain_events(timeout=LAG_S)


@kombu_case("kombu: the simple queue is empty", raises="Empty")
def _(rabbit: RabbitMQ) -> None:
    kombu_connection(rabbit).SimpleQueue("empty").get(timeout=LAG_S)


@kombu_case("kombu: an administrator closes the connection", raises=("ConnectionForced", "RecoverableConnectionError"))
def _(rabbit: RabbitMQ) -> None:
    connection = kombu_connection(rabbit)
    connection.connect()
    Thread(target=rabbit.control, args=("close_all_connections", "maintenance at noon")).start()
    connection.drain_events(timeout=10)


@kombu_case("kombu: the message cannot be made JSON", raises="EncodeError")
def _(rabbit: RabbitMQ) -> None:
    kombu_connection(rabbit).Producer().publish({"orders": object()}, routing_key="orders", serializer="json")


@kombu_case("kombu: the message is of a kind that is not accepted", raises="ContentDisallowed")
def _(rabbit: RabbitMQ) -> None:
    connection = kombu_connection(rabbit)
    queue = connection.SimpleQueue("pickles", accept=["json"])
    queue.put({"id": 1}, serializer="pickle")
    queue.get(timeout=2).decode()


@kombu_case("kombu: the transport is not known", raises="KeyError")
def _() -> None:
    kombu.Connection(f"kafka3://etl:{CANARY}@127.0.0.1//").connect()


# celery.
def application(port: int, **options: Any) -> celery.Celery:
    app = celery.Celery("shop", broker=f"amqp://etl:{CANARY}@127.0.0.1:{port}//", backend=options.pop("backend", None))
    app.conf.update(broker_connection_timeout=1, task_publish_retry=False, **options)
    return app


@celery_case("celery: the broker is not there", raises="OperationalError")
def _() -> None:
    with refused_port() as port:
        application(port).send_task("load")


@celery_case("celery: the result does not come in time", raises="TimeoutError")
def _(rabbit: RabbitMQ) -> None:
    application(rabbit.port, backend="rpc://").send_task("load").get(timeout=LAG_S)


@celery_case("celery: no backend keeps results", raises="NotImplementedError")
def _(rabbit: RabbitMQ) -> None:
    application(rabbit.port).send_task("load").get(timeout=LAG_S)


@celery_case("celery: the task is not known here", raises="NotRegistered")
def _() -> None:
    _ = application(1).tasks["load"]


@celery_case("celery: the arguments cannot be made JSON", raises="EncodeError")
def _(rabbit: RabbitMQ) -> None:
    application(rabbit.port).send_task("load", args=[object()])


@celery_case("celery: a task has used its tries", raises="MaxRetriesExceededError")
def _() -> None:
    app = application(1, task_always_eager=True, task_eager_propagates=True)

    @app.task(bind=True, max_retries=0)
    def load(self: Any) -> None:
        raise self.retry(countdown=0)

    load.delay()


# aio-pika.
@aio_case("aio-pika: the connection is refused", raises="AMQPConnectionError")
async def _() -> None:
    with refused_port() as port:
        await aio_pika.connect(f"amqp://etl:{CANARY}@127.0.0.1:{port}/", timeout=2)


@aio_case("aio-pika: the password is wrong", raises="AMQPConnectionError")
async def _(rabbit: RabbitMQ) -> None:
    await aio_pika.connect(f"amqp://etl:old-{CANARY}@127.0.0.1:{rabbit.port}/", timeout=2)


@aio_case("aio-pika: the queue does not exist", raises="ChannelNotFoundEntity")
async def _(rabbit: RabbitMQ) -> None:
    connection = await aio_pika.connect(f"amqp://etl:{CANARY}@127.0.0.1:{rabbit.port}/", timeout=2)
    await (await connection.channel()).declare_queue("orders:none", passive=True)


@aio_case("aio-pika: nobody takes the message", raises=("DeliveryError", "PublishError"))
async def _(rabbit: RabbitMQ) -> None:
    connection = await aio_pika.connect(f"amqp://etl:{CANARY}@127.0.0.1:{rabbit.port}/", timeout=2)
    lane = await connection.channel(on_return_raises=True)
    await lane.default_exchange.publish(aio_pika.Message(b"1"), "orders:none")


if __name__ == "__main__":
    family.run()
