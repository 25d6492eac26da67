"""Whose codes are read on which exception, and what the classes of brokers say without one."""

from __future__ import annotations

import pytest
from failure_reading import alive, codes, conclusion, logged, printed
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Rank, Retry
from airflow_common_ai.evidence.protocols.clients import broker_classes
from airflow_common_ai.evidence.protocols.clients import classes as client_classes
from airflow_common_ai.evidence.protocols.clients import reader as client_codes
from airflow_common_ai.evidence.protocols.python import builtin_classes


def test_a_code_is_read_only_on_an_exception_of_its_library() -> None:
    for path in ("acme.Error", "sqlalchemy.exc.OperationalError"):
        error = stand_in(path, "x", code=11000, reply_code=404, result=49, errno=6, smtp_code=1)
        assert client_codes.probe(error) == {}
    assert client_codes.probe(stand_in("pymongo.errors.OperationFailure", "x", code=11000)) == {"mongo.code": 11000}


def test_a_class_that_somebody_derives_from_a_librarys_keeps_its_codes() -> None:
    error = stand_in("acme.ShopError", "x", bases=("pymongo.errors.OperationFailure",), code=112)
    assert codes(alive(error), "mongo.") == ["mongo.WriteConflict"]


@pytest.mark.parametrize(
    ("type_path", "category", "retry"),
    [
        # Read in nats-py 2.16.0, celery 5.7.0, billiard 4, kombu 5.7.0, pika 1.4.4, aiormq, stomp.py 9.0.0,
        # pulsar-client 3.13.0, kafka-python 2.0.2 and 3.0.12, ldap3 2.9.1; none is installed here.
        ("nats.errors.TimeoutError", "network", Retry.YES),
        ("nats.errors.NoServersError", "network", Retry.YES),
        ("nats.errors.AuthorizationError", "auth", Retry.NO),
        ("nats.js.errors.BucketNotFoundError", "resource", Retry.NO),
        ("nats.js.errors.ServiceUnavailableError", "transient", Retry.YES),
        ("celery.exceptions.TimeoutError", "network", Retry.DEPENDS),
        ("celery.exceptions.NotRegistered", "permanent", Retry.NO),
        ("billiard.exceptions.WorkerLostError", "transient", Retry.DEPENDS),
        ("billiard.exceptions.TimeLimitExceeded", "permanent", Retry.DEPENDS),
        ("kombu.exceptions.ConnectionLimitExceeded", "rate_limit", Retry.YES),
        ("pika.exceptions.AMQPHeartbeatTimeout", "network", Retry.YES),
        ("pika.exceptions.NackError", "transient", Retry.DEPENDS),
        ("pika.exceptions.UnroutableError", "permanent", Retry.DEPENDS),
        ("aiormq.exceptions.ProbableAuthenticationError", "auth", Retry.NO),
        ("kafka.errors.NoBrokersAvailable", "network", Retry.YES),
        ("kafka.errors.CommitFailedError", "transient", Retry.DEPENDS),
        ("ldap3.core.exceptions.LDAPSocketOpenError", "network", Retry.YES),
        ("stomp.exception.ConnectFailedException", "network", Retry.YES),
        ("_pulsar.Timeout", "network", Retry.YES),
        ("_pulsar.TopicNotFound", "resource", Retry.DEPENDS),
    ],
)
def test_a_class_speaks_where_no_code_came_alive_and_in_a_log(type_path: str, category: str, retry: Retry) -> None:
    error = stand_in(type_path, "x")
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry, signal.rank) == (category, retry, Rank.CLASS)


def test_what_somebody_derives_from_a_class_that_fails_is_only_hinted_at() -> None:
    refused = stand_in("acme.Error", "x", bases=("nats.errors.AuthorizationError", "nats.errors.Error"))
    slow = stand_in("acme.Error", "x", bases=("nats.errors.StaleConnectionError", "nats.errors.Error"))
    assert codes(alive(refused), "python.nats") == ["(python.nats.authorization_error)"]
    assert codes(alive(slow), "python.nats") == ["python.nats.stale_connection_error"]


def test_a_code_goes_before_the_class_that_carries_it() -> None:
    error = stand_in("amqp.exceptions.ConnectionError", "(0, 0): (403) ACCESS_REFUSED - no", reply_code=403)
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.code, signal.retry) == ("amqp.ACCESS_REFUSED", Retry.NO)


def test_facts_of_a_recording_may_be_anything() -> None:
    """A recording is a file that anybody may have written."""
    hostile = ("x", "1 x 11000", "9" * 5000, True, 1.5, -1, 10**12)
    for path, facts in (
        ("pymongo.errors.OperationFailure", ("mongo.code", "mongo.labels", "mongo.item_codes")),
        ("cimpl.KafkaException", ("kafka.code", "kafka.retriable", "kafka.fatal")),
        ("pika.exceptions.ChannelClosed", ("amqp.code",)),
        ("redis.exceptions.ResponseError", ("redis.reply",)),
        ("ldap3.core.exceptions.LDAPException", ("ldap.result",)),
        ("paramiko.ssh_exception.ChannelException", ("ssh.channel_code",)),
        ("elasticsearch.helpers.BulkIndexError", ("elastic.items", "elastic.durability")),
    ):
        node = printed(path, "x").nodes[0]
        for value in hostile:
            recorded = type(node)(type_path=path, message="x", facts=dict.fromkeys(facts, value))
            list(client_codes.read(recorded, printed(path, "x").observed_at))


def test_no_class_stands_in_two_tables() -> None:
    elsewhere = client_classes.SIGNALS.keys() | builtin_classes.SIGNALS.keys()
    assert not broker_classes.SIGNALS.keys() & elsewhere
