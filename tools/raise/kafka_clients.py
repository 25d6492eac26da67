# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "aiokafka==0.14.0",
#     "confluent-kafka==2.16.1",
#     "cryptography==46.0.3",
#     "kafka-python==3.0.12",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What clients of Kafka raise: confluent-kafka, kafka-python and aiokafka."""

from __future__ import annotations

from functools import partial
from typing import Any

import aiokafka
import confluent_kafka
import confluent_kafka.admin
import kafka
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.broken import port_that_closes, port_that_hangs
from servers.kafka import TOPIC, Kafka
from servers.kafka import kafka as one_broker
from servers.port import refused_port
from servers.tls import https_server

family = Family(__file__, "confluent-kafka", servers={"broker": one_broker, "https": https_server()}, is_wire_form=True)
plain = partial(family.case, is_wire_form=False)
python_case = partial(family.case, library="kafka-python")
aio_case = partial(family.case, library="aiokafka")
TRAP = [WRONG_READING]
QUICK_MS = 1000


class LoadError(Exception):
    """What a team raises for whatever its loads meet."""


def settings(address: str, **more: Any) -> dict[str, Any]:
    usual = {"bootstrap.servers": address, "socket.timeout.ms": QUICK_MS, "log_level": 0, "broker.address.family": "v4"}
    return {**usual, **more}


def raise_if_failed(error: Any, _message: Any) -> None:
    if error is not None:
        raise confluent_kafka.KafkaException(error)


def produce(address: str, **more: Any) -> None:
    """Send a message as a task does, and raise what the report of its delivery says."""
    producer = confluent_kafka.Producer(settings(address, **{"message.timeout.ms": QUICK_MS, "retries": 0, **more}))
    producer.produce(TOPIC, b"1", on_delivery=raise_if_failed)
    producer.flush(5)


def create(address: str, **more: Any) -> None:
    admin = confluent_kafka.admin.AdminClient(settings(address, **more))
    topic = confluent_kafka.admin.NewTopic(TOPIC, 1, 1)
    for future in admin.create_topics([topic], request_timeout=1, operation_timeout=1).values():
        future.result(3)


def consume(address: str, **more: Any) -> None:
    usual = {"group.id": "loaders", "auto.offset.reset": "error", "session.timeout.ms": 6000}
    consumer = confluent_kafka.Consumer(settings(address, **{**usual, **more}))
    consumer.assign([confluent_kafka.TopicPartition(TOPIC, 0, 5)])
    try:
        for _number in range(6):
            message = consumer.poll(0.5)
            if message is not None and message.error():
                raise confluent_kafka.KafkaException(message.error())
    finally:
        consumer.close()


# Codes: https://kafka.apache.org/protocol#protocol_error_codes
for title, code, words, tags in (
    ("the topic exists already", 36, "Topic 'orders' already exists.", []),
    ("the name of the topic is not valid", 17, "Topic name is invalid", []),
    ("the user may not make the topic", 29, "Authorization failed.", []),
    ("the user may not touch the cluster", 31, "Cluster authorization failed.", []),
    ("the number of partitions is not valid", 37, "Number of partitions must be larger than 0.", []),
    ("more replicas than brokers", 38, "Unable to replicate the partition 3 time(s): 1 broker(s) are registered.", TRAP),
    ("the setting of the topic is not valid", 40, "Unknown topic config name: retention", []),
    ("the broker is not the controller", 41, "This is not the correct controller for this cluster.", []),
    ("the request breaks a policy", 44, "Topic replication factor must be 3", TRAP),
    ("the quota of changes is exceeded", 89, "The throttling quota has been exceeded.", []),
    ("the request timed out at the broker", 7, "The request timed out.", []),
    ("the broker does not know what happened", -1, "The server experienced an unexpected error", []),
    ("the topic's deletion is switched off", 73, "Topic deletion is disabled.", []),
    ("the partitions of the account are used up", 44, "Adding the requested number of partitions will exceed 2000 total"
     " partitions", TRAP),
    ("the version is not supported", 35, "The version of API is not supported.", []),
    ("the broker's disk fails", 56, "Disk error when trying to access log file on the disk.", []),
):  # fmt: skip

    @family.case(title, raises="KafkaException", tags=tags)
    def _(broker: Kafka, code: int = code, words: str = words) -> None:
        create(broker.answers(words, create=code))


for title, code, tags in (
    ("the message is larger than the broker takes", 10, []),
    ("the message is corrupt", 2, TRAP),
    ("the partition's leader is another", 6, []),
    ("too few replicas are in sync", 19, []),
    ("too few replicas are in sync after the write", 20, []),
    ("the user may not write to the topic", 29, []),
    ("the broker rejects the record", 87, []),
    ("acknowledgements are not valid", 21, []),
    ("the write takes too long at the broker", 7, []),
):

    @family.case(f"produce: {title}", raises="KafkaException", tags=tags)
    def _(broker: Kafka, code: int = code) -> None:
        produce(broker.answers(produce=code))


@family.case("produce: the topic does not exist", raises="KafkaException")
def _(broker: Kafka) -> None:
    produce(broker.answers(metadata=3), **{"topic.metadata.propagation.max.ms": 0})


@family.case("produce: the topic may not be seen", raises="KafkaException")
def _(broker: Kafka) -> None:
    produce(broker.answers(metadata=29))


@family.case("produce: the partition has no leader", raises="KafkaException", tags=TRAP)
def _(broker: Kafka) -> None:
    produce(broker.answers(leader=5))


@family.case("produce: the client's queue is full", raises="BufferError", tags=TRAP)
def _(broker: Kafka) -> None:
    producer = confluent_kafka.Producer(settings(broker.answers(leader=5), **{"queue.buffering.max.messages": 2}))
    for _number in range(5):
        producer.produce(TOPIC, b"1")


@family.case("produce: the message is larger than the client sends", raises="KafkaException")
def _(broker: Kafka) -> None:
    producer = confluent_kafka.Producer(settings(broker.answers()))
    producer.produce(TOPIC, b"x" * 2_000_000)


@family.case("produce: transactions may not be used", raises="KafkaException")
def _(broker: Kafka) -> None:
    producer = confluent_kafka.Producer(settings(broker.answers(coordinator=53), **{"transactional.id": "load"}))
    producer.init_transactions(2)


@family.case("consume: the offset is out of range", raises="KafkaException")
def _(broker: Kafka) -> None:
    consume(broker.answers(fetch=1))


@family.case("consume: the user may not read the topic", raises="KafkaException")
def _(broker: Kafka) -> None:
    consume(broker.answers(fetch=29))


@family.case("consume: the group may not be used", raises="KafkaException")
def _(broker: Kafka) -> None:
    address = broker.answers(coordinator=30)
    consumer = confluent_kafka.Consumer(settings(address, **{"group.id": "loaders"}))
    consumer.subscribe([TOPIC])
    for _number in range(6):
        message = consumer.poll(0.5)
        if message is not None and message.error():
            raise confluent_kafka.KafkaException(message.error())


@family.case("commit: nothing is there to commit", raises="KafkaException")
def _(broker: Kafka) -> None:
    consumer = confluent_kafka.Consumer(settings(broker.answers(), **{"group.id": "loaders"}))
    consumer.commit(asynchronous=False)


@family.case("the password is wrong", raises="KafkaException", tags=TRAP)
def _(broker: Kafka) -> None:
    seen: list[Any] = []
    signing = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "etl"}
    address = broker.answers("Authentication failed: Invalid username or password", sign_in=58)
    admin = confluent_kafka.admin.AdminClient(
        settings(address, **signing, **{"sasl.password": CANARY, "error_cb": seen.append})
    )
    try:
        admin.list_topics(timeout=1)
    except confluent_kafka.KafkaException:
        admin.poll(1)
        raise confluent_kafka.KafkaException(seen[0]) from None


@plain("the brokers are not there", raises="KafkaException", tags=TRAP)
def _() -> None:
    with refused_port() as port:
        confluent_kafka.admin.AdminClient(settings(f"127.0.0.1:{port}")).list_topics(timeout=1)


@plain("the brokers are not there, as the callback of errors tells", raises="KafkaException")
def _() -> None:
    def tell(error: Any) -> None:
        if error.code() == confluent_kafka.KafkaError._ALL_BROKERS_DOWN:
            raise confluent_kafka.KafkaException(error)

    with refused_port() as port:
        producer = confluent_kafka.Producer(settings(f"127.0.0.1:{port}", error_cb=tell))
        for _number in range(10):
            producer.poll(0.3)


@plain("the host name does not exist", raises="KafkaException", tags=TRAP)
def _() -> None:
    def tell(error: Any) -> None:
        if error.code() == confluent_kafka.KafkaError._RESOLVE:
            raise confluent_kafka.KafkaException(error)

    confluent_kafka.Producer(settings("kafka.invalid:9092", error_cb=tell)).poll(5)


@plain("the message is not delivered in time", raises="KafkaException")
def _() -> None:
    with refused_port() as port:
        produce(f"127.0.0.1:{port}")


@plain("the broker hangs", raises="KafkaException")
def _() -> None:
    with port_that_hangs() as port:
        confluent_kafka.admin.AdminClient(settings(f"127.0.0.1:{port}")).list_topics(timeout=1)


@plain("the certificate is of an unknown authority", raises="KafkaException")
def _(https: Any) -> None:
    def tell(error: Any) -> None:
        if error.code() == confluent_kafka.KafkaError._SSL:
            raise confluent_kafka.KafkaException(error)

    tls = {"security.protocol": "SSL", "error_cb": tell}
    producer = confluent_kafka.Producer(settings(f"127.0.0.1:{https.port}", **tls))
    for _number in range(10):
        producer.poll(0.5)


@plain("a setting is not known", raises="KafkaException")
def _() -> None:
    confluent_kafka.Producer(settings("127.0.0.1:9092", **{"bootstrap.server": "127.0.0.1:9092"}))


@plain("a setting has a value that is not valid", raises="KafkaException")
def _() -> None:
    confluent_kafka.Producer(settings("127.0.0.1:9092", acks="most"))


@plain("the consumer is closed", raises="RuntimeError")
def _() -> None:
    consumer = confluent_kafka.Consumer(settings("127.0.0.1:1", **{"group.id": "loaders"}))
    consumer.close()
    consumer.poll(0)


# kafka-python.
def python_producer(address: str, **more: Any) -> Any:
    usual = {
        "request_timeout_ms": QUICK_MS,
        "max_block_ms": QUICK_MS,
        "delivery_timeout_ms": QUICK_MS * 2,
        "retries": 0,
    }
    usual |= {"linger_ms": 0, "enable_idempotence": False, "bootstrap_timeout_ms": QUICK_MS}
    known = {name: value for name, value in usual.items() if name in kafka.KafkaProducer.DEFAULT_CONFIG}
    return kafka.KafkaProducer(bootstrap_servers=address, **{**known, **more})


for title, code in (
    ("the message is larger than the broker takes", 10),
    ("too few replicas are in sync", 19),
    ("the user may not write to the topic", 29),
    ("the partition's leader is another", 6),
    ("the broker rejects the record", 87),
):

    @python_case(f"kafka-python: {title}", raises="KafkaError")
    def _(broker: Kafka, code: int = code) -> None:
        producer = python_producer(broker.answers(produce=code))
        try:
            producer.send(TOPIC, b"1").get(timeout=4)
        finally:
            producer.close(timeout=0)


@python_case("kafka-python: no broker is available", raises="KafkaError", is_wire_form=False)
def _() -> None:
    with refused_port() as port:
        python_producer(f"127.0.0.1:{port}").send(TOPIC, b"1").get(timeout=3)


@python_case("kafka-python: the topic does not exist", raises="KafkaError", tags=TRAP)
def _(broker: Kafka) -> None:
    producer = python_producer(broker.answers(metadata=3))
    try:
        producer.send(TOPIC, b"1").get(timeout=3)
    finally:
        producer.close(timeout=0)


@python_case("kafka-python: the message is larger than the client sends", raises="MessageSizeTooLargeError")
def _(broker: Kafka) -> None:
    producer = python_producer(broker.answers())
    try:
        producer.send(TOPIC, b"x" * 2_000_000)
    finally:
        producer.close(timeout=0)


@python_case("kafka-python: the value cannot be sent", raises=("AssertionError", "TypeError"))
def _(broker: Kafka) -> None:
    producer = python_producer(broker.answers())
    try:
        producer.send(TOPIC, {"id": 1})
    finally:
        producer.close(timeout=0)


@python_case("kafka-python: the producer is closed", raises="KafkaError")
def _(broker: Kafka) -> None:
    producer = python_producer(broker.answers())
    producer.close(timeout=0)
    producer.send(TOPIC, b"1")


@python_case(
    "kafka-python: a setting is not known", raises=("AssertionError", "KafkaConfigurationError"), is_wire_form=False
)
def _() -> None:
    kafka.KafkaConsumer(bootstrap_server="127.0.0.1:9092")


# aiokafka.
async def aio_send(address: str, value: bytes = b"1", **more: Any) -> None:
    producer = aiokafka.AIOKafkaProducer(
        bootstrap_servers=address, request_timeout_ms=QUICK_MS, retry_backoff_ms=100, enable_idempotence=False, **more
    )
    await producer.start()
    try:
        await producer.send_and_wait(TOPIC, value)
    finally:
        await producer.stop()


for title, code in (
    ("the message is larger than the broker takes", 10),
    ("the user may not write to the topic", 29),
    ("too few replicas are in sync", 19),
):

    @aio_case(f"aiokafka: {title}", raises="KafkaError")
    async def _(broker: Kafka, code: int = code) -> None:
        await aio_send(broker.answers(produce=code))


@aio_case("aiokafka: the connection is refused", raises="KafkaConnectionError", is_wire_form=False)
async def _() -> None:
    with refused_port() as port:
        await aio_send(f"127.0.0.1:{port}")


@aio_case("aiokafka: the broker hangs up", raises="KafkaError", is_wire_form=False)
async def _() -> None:
    with port_that_closes(1) as port:
        await aio_send(f"127.0.0.1:{port}")


@aio_case("aiokafka: the topic may not be seen", raises="KafkaError")
async def _(broker: Kafka) -> None:
    await aio_send(broker.answers(metadata=29))


@aio_case("aiokafka: the message is larger than the client sends", raises="MessageSizeTooLargeError")
async def _(broker: Kafka) -> None:
    await aio_send(broker.answers(), b"x" * 2_000_000)


@aio_case("aiokafka: the password is wrong", raises="KafkaError", tags=TRAP)
async def _(broker: Kafka) -> None:
    address = broker.answers("Authentication failed: Invalid username or password", sign_in=58)
    await aio_send(
        address,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="etl",
        sasl_plain_password=CANARY,
    )


# As tasks meet them.
@family.case("wrapped: the quota of changes is exceeded", raises="LoadError")
def _(broker: Kafka) -> None:
    try:
        create(broker.answers("The throttling quota has been exceeded.", create=89))
    except confluent_kafka.KafkaException as error:
        raise LoadError("cannot make the topic of the day") from error


@family.case("wrapped in words: too few replicas are in sync", raises="LoadError", tags=[FROM_TEXT])
def _(broker: Kafka) -> None:
    try:
        produce(broker.answers(produce=19))
    except confluent_kafka.KafkaException as error:
        raise LoadError(f"delivery failed: {error.args[0].str()}") from None


@plain("tenacity gives up: the brokers are not there", raises="RetryError", tags=TRAP)
def _() -> None:
    with refused_port() as port:
        admin = confluent_kafka.admin.AdminClient(settings(f"127.0.0.1:{port}"))
        tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(admin.list_topics, timeout=0.5)


if __name__ == "__main__":
    family.run()
