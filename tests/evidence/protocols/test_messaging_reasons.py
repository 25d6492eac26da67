"""MQTT's reasons and ZooKeeper's codes, of which clients keep words or a class and nothing else."""

from __future__ import annotations

import pytest
from failure_reading import alive, conclusion, logged, printed
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Retry

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS


@pytest.mark.parametrize(
    ("reason", "category", "retry"),
    [
        ("Not authorized", "auth", NO),
        ("[code:135] Not authorized", "auth", NO),
        ("Bad user name or password", "auth", NO),
        ("Connection Refused: not authorised.", "auth", NO),
        ("Connection Refused: bad user name or password.", "auth", NO),
        ("Connection Refused: broker unavailable.", "transient", YES),
        ("Server unavailable", "transient", YES),
        ("Server busy", "transient", YES),
        ("[code:151] Quota exceeded", "rate_limit", DEPENDS),
        ("Connection rate exceeded", "rate_limit", YES),
        ("Message rate too high", "rate_limit", YES),
        ("The client is not currently connected.", "network", YES),
        ("Client identifier not valid", "data", NO),
        ("Connection Refused: identifier rejected.", "data", NO),
        ("Client or broker did not communicate in the keepalive interval.", "network", YES),
        ("Packet too large", "data", NO),
        ("Unsupported protocol version", "permanent", NO),
        ("Wildcard subscriptions not supported", "permanent", NO),
    ],
)
def test_the_reason_of_an_mqtt_broker_is_read(reason: str, category: str, retry: Retry) -> None:
    error = stand_in("paho.mqtt.MQTTException", reason)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code.partition(".")[0], signal.category, signal.retry) == ("mqtt", category, retry)


def test_words_of_mqtt_from_elsewhere_are_no_reason_of_it() -> None:
    assert conclusion(printed("acme.LoadError", "Server moved to another rack")) is None


@pytest.mark.parametrize(
    ("name", "category", "retry"),
    [
        ("ConnectionLoss", "network", YES),
        ("SessionExpiredError", "network", YES),
        ("BadVersionError", "transient", YES),
        ("LockTimeout", "transient", YES),
        ("NoNodeError", "resource", NO),
        ("NodeExistsError", "data", NO),
        ("NotEmptyError", "data", NO),
        ("NoAuthError", "auth", NO),
        ("InvalidACLError", "permanent", NO),
    ],
)
def test_the_class_of_a_zookeeper_error_is_its_code(name: str, category: str, retry: Retry) -> None:
    """Kazoo gives most of them no words."""
    error = stand_in(f"kazoo.exceptions.{name}", bases=("kazoo.exceptions.ZookeeperError",))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.category, signal.retry) == (category, retry)


def test_a_zookeeper_that_does_not_answer_is_tried_again() -> None:
    signal = conclusion(alive(stand_in("kazoo.handlers.threading.KazooTimeoutError", "Connection time-out")))
    assert signal is not None
    assert signal.retry is YES
