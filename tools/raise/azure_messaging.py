# /// script
# requires-python = "==3.11.*"
# dependencies = ["azure-eventhub==5.15.1", "azure-servicebus==7.15.0"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What Azure's clients of Service Bus and Event Hubs raise."""

from __future__ import annotations

from functools import partial

from azure.eventhub import EventData, EventHubProducerClient
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.exceptions import ServiceBusError
from harness import CANARY, WRONG_READING, Family
from servers.amqp import AmqpServer, amqp_server
from servers.port import refused_port

family = Family(__file__, "azure-servicebus", servers={"amqp": amqp_server}, is_wire_form=True)


# Service Bus and Event Hubs: https://learn.microsoft.com/azure/service-bus-messaging/service-bus-amqp-troubleshoot
def bus(port: int) -> str:
    place = f"Endpoint=sb://127.0.0.1:{port};UseDevelopmentEmulator=true"
    return f"{place};SharedAccessKeyName=etl;SharedAccessKey={CANARY}"


def send(connection: str) -> None:
    with ServiceBusClient.from_connection_string(connection, retry_total=0, socket_timeout=1) as opened:
        opened.get_queue_sender("orders", timeout=1).send_messages(ServiceBusMessage("{}"), timeout=2)


def emit(connection: str) -> None:
    with EventHubProducerClient.from_connection_string(
        connection, eventhub_name="orders", retry_total=0, auth_timeout=2
    ) as opened:
        opened.send_batch([EventData("{}")], timeout=2)


bus_case = partial(family.case, library="azure-servicebus")
hub_case = partial(family.case, library="azure-eventhub")
for title, condition, description, tags in (
    (
        "key is wrong",
        "amqp:unauthorized-access",
        "Unauthorized access. 'Send' claim(s) are required to perform this operation.",
        [],
    ),
    ("entity is none", "amqp:not-found", "The messaging entity 'sb://etl/orders' could not be found.", []),
    ("entity is disabled", "com.microsoft:entity-disabled", "Messaging entity 'orders' is currently disabled.", []),
    (
        "server is busy",
        "com.microsoft:server-busy",
        (
            "The request was terminated because the entity is being throttled. Error code : 50009. Please wait 10"
            " seconds and try again."
        ),
        [],
    ),
    (
        "too many connections",
        "amqp:resource-limit-exceeded",
        "The maximum number of connections has been reached.",
        [WRONG_READING],
    ),
    (
        "connection is forced to close",
        "amqp:connection:forced",
        "The connection was inactive for more than the allowed 300000 milliseconds and is closed by container.",
        [],
    ),
    (
        "internal error",
        "amqp:internal-error",
        "The service was unable to process the request; please retry the operation.",
        [],
    ),
    (
        "timeout at the server",
        "com.microsoft:timeout",
        "The operation did not complete within the allotted time.",
        [],
    ),
):

    @bus_case(f"service bus: {title}", raises=("ServiceBusError", "AMQPError"), tags=tags)
    def _(amqp: AmqpServer, condition: str = condition, description: str = description) -> None:
        send(bus(amqp.closes(condition, description)))

    if condition in (
        "amqp:unauthorized-access",
        "amqp:not-found",
        "com.microsoft:server-busy",
        "amqp:connection:forced",
    ):

        @hub_case(f"event hub: {title}", raises=("EventHubError", "AMQPError"), tags=tags)
        def _(amqp: AmqpServer, condition: str = condition, description: str = description) -> None:
            emit(bus(amqp.closes(condition, description)))


@bus_case("service bus: sign-in of the connection is refused", raises=("ServiceBusError", "AMQPError"))
def _(amqp: AmqpServer) -> None:
    send(bus(amqp.refuses_sign_in()))


@bus_case("service bus: connection is refused", raises=("ServiceBusError", "AMQPError"))
def _() -> None:
    with refused_port() as port:
        send(bus(port))


@hub_case("event hub: connection is refused", raises=("EventHubError", "AMQPError"))
def _() -> None:
    with refused_port() as port:
        emit(bus(port))


@hub_case("event hub: host does not exist", raises=("EventHubError", "AMQPError"))
def _() -> None:
    emit(f"Endpoint=sb://etl.invalid;SharedAccessKeyName=etl;SharedAccessKey={CANARY}")


@bus_case("service bus: connection string without a key", raises="ValueError")
def _() -> None:
    send("Endpoint=sb://etl.example;SharedAccessKeyName=etl")


@bus_case(
    "service bus: message is too large for a batch",
    raises=("MessageSizeExceededError", "ServiceBusError", "ValueError"),
)
def _(amqp: AmqpServer) -> None:
    send(bus(amqp.closes("amqp:link:message-size-exceeded", "The received message exceeds the limit of this link.")))


class LoadError(Exception):
    """A task's own."""


@bus_case("a task's own error that tells the connection string of a queue", raises="LoadError")
def _() -> None:
    with refused_port() as port:
        connection = bus(port)
        try:
            send(connection)
        except ServiceBusError as error:
            raise LoadError(f"cannot send to {connection}") from error


if __name__ == "__main__":
    family.run()
