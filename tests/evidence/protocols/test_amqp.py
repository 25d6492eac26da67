"""What RabbitMQ's clients keep of a reply code. Stand-ins: none of the clients is installed here."""

from __future__ import annotations

import pytest
from failure_reading import alive, codes, conclusion, logged
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry
from airflow_common_ai.evidence.protocols.clients import amqp


def of_pika(code: int, text: str) -> Exception:
    """pika 1.4.4: code and text are the arguments."""
    return stand_in("pika.exceptions.ChannelClosedByBroker", code, text, reply_code=code)


def of_amqp(code: int, text: str) -> Exception:
    """amqp 5.4.2, Kombu's and Celery's client: ``method: (code) text``."""
    return stand_in("amqp.exceptions.ChannelError", f"Queue.declare: ({code}) {text}", reply_code=code)


def of_aiormq(code: int, text: str) -> Exception:
    """aiormq, aio-pika's client: a class a code, and only the text is kept."""
    return stand_in("aiormq.exceptions.ChannelClosed", text)


REPLIES = [
    (320, "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'", "transient", Retry.YES),
    (404, "NOT_FOUND - no queue 'orders' in vhost '/'", "resource", Retry.NO),
    (404, "NOT_FOUND - home node 'rabbit@b' of durable queue 'orders' is down or inaccessible", "transient", Retry.YES),
    (403, "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN.", "auth", Retry.NO),
    (405, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'orders'", "transient", Retry.DEPENDS),
    (406, "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'orders'", "permanent", Retry.NO),
    (406, "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out.", "permanent", Retry.DEPENDS),
    (406, "PRECONDITION_FAILED - message size 200 is larger than configured max size 100", "data", Retry.NO),
    (504, "CHANNEL_ERROR - expected 'channel.open'", "network", Retry.DEPENDS),
    (506, "RESOURCE_ERROR - out of memory", "transient", Retry.YES),
    (530, "NOT_ALLOWED - access to vhost '/' refused for user 'etl'", "auth", Retry.NO),
    (530, "NOT_ALLOWED - connection limit (1) is reached", "rate_limit", Retry.YES),
    (530, "NOT_ALLOWED - vhost shop not found", "resource", Retry.NO),
    (530, "NOT_ALLOWED - attempt to reuse consumer tag 'a'", "permanent", Retry.NO),
    (541, "INTERNAL_ERROR - access to vhost '/' refused: vhost '/' is down", "transient", Retry.YES),
    (541, "INTERNAL_ERROR", "transient", Retry.YES),
]


@pytest.mark.parametrize("client", [of_pika, of_amqp, of_aiormq])
@pytest.mark.parametrize(("code", "text", "category", "retry"), REPLIES[:-1])
def test_a_reply_decides_whatever_client_raises_it_alive_and_in_a_log(
    client, code: int, text: str, category: str, retry: Retry
) -> None:
    error = client(code, text)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert signal.code == f"amqp.{text.partition(' - ')[0]}"
        assert (signal.category, signal.retry) == (category, retry)


@pytest.mark.parametrize("client", [of_pika, of_amqp])
def test_the_code_alone_is_enough(client) -> None:
    assert codes(alive(client(541, "")), "amqp.") == ["amqp.INTERNAL_ERROR"]


def test_a_connection_that_closed_without_a_code_is_a_network_failure() -> None:
    error = stand_in("amqp.exceptions.RecoverableConnectionError", "connection already closed", reply_code=0)
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.category, signal.retry) == ("network", Retry.YES)


@pytest.mark.parametrize("code", [None, "404", True, 404.0])
def test_other_values_in_the_place_of_the_code_are_left_alone(code: object) -> None:
    assert amqp.probe(stand_in("pika.exceptions.ChannelClosed", reply_code=code)) == {}


def test_a_reply_code_of_another_library_is_no_code_of_amqp() -> None:
    assert codes(alive(stand_in("acme.http.Rejected", "404", reply_code=404)), "amqp.") == []
