"""What Kafka's clients keep on their exceptions. Stand-ins: none of the clients is installed here."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from failure_reading import alive, codes, conclusion, logged
from stand_ins import stand_in

from airflow_common_ai.evidence.model import Rank, Retry
from airflow_common_ai.evidence.protocols.clients import kafka


@dataclass
class KafkaErrorStandIn:
    """``confluent_kafka.KafkaError`` 2.16.1: no exception, it answers by methods."""

    number: int
    name: str
    is_retriable: bool = False
    is_fatal: bool = False

    def code(self) -> int:
        return self.number

    def retriable(self) -> bool:
        return self.is_retriable

    def fatal(self) -> bool:
        return self.is_fatal

    def __str__(self) -> str:
        flag = "FATAL," if self.is_fatal else ""
        return f'KafkaError{{{flag}code={self.name},val={self.number},str="words of librdkafka"}}'


def confluent(number: int, name: str, *, retriable: bool = False, fatal: bool = False) -> Exception:
    """``KafkaException`` comes from the C module ``cimpl`` and holds the error as its argument."""
    return stand_in("cimpl.KafkaException", KafkaErrorStandIn(number, name, retriable, fatal))


def of_python(name: str, number: int, *, retriable: bool = False, library: str = "kafka") -> Exception:
    """kafka-python 3.0.12 and aiokafka 0.14.0 have a class a code."""
    bases = (f"{library}.errors.BrokerResponseError", f"{library}.errors.KafkaError", "builtins.RuntimeError")
    error = stand_in(f"{library}.errors.{name}", f"[Error {number}] {name}: orders", bases=bases)
    error.errno, error.retriable = number, retriable  # type: ignore[attr-defined]
    return error


CODES = [
    (-195, "_TRANSPORT", "network", Retry.YES),
    (-187, "_ALL_BROKERS_DOWN", "network", Retry.YES),
    (-193, "_RESOLVE", "network", Retry.DEPENDS),
    (-185, "_TIMED_OUT", "network", Retry.YES),
    (-192, "_MSG_TIMED_OUT", "network", Retry.YES),
    (-184, "_QUEUE_FULL", "rate_limit", Retry.YES),
    (-169, "_AUTHENTICATION", "auth", Retry.NO),
    (-181, "_SSL", "network", Retry.DEPENDS),
    (-159, "_VALUE_DESERIALIZATION", "data", Retry.NO),
    (-150, "_FATAL", "permanent", Retry.DEPENDS),
    (-144, "_FENCED", "transient", Retry.DEPENDS),
    (3, "UNKNOWN_TOPIC_OR_PART", "resource", Retry.DEPENDS),
    (6, "NOT_LEADER_FOR_PARTITION", "transient", Retry.YES),
    (10, "MSG_SIZE_TOO_LARGE", "data", Retry.NO),
    (19, "NOT_ENOUGH_REPLICAS", "transient", Retry.YES),
    (29, "TOPIC_AUTHORIZATION_FAILED", "auth", Retry.NO),
    (36, "TOPIC_ALREADY_EXISTS", "data", Retry.NO),
    (58, "SASL_AUTHENTICATION_FAILED", "auth", Retry.NO),
    (89, "THROTTLING_QUOTA_EXCEEDED", "rate_limit", Retry.YES),
]


@pytest.mark.parametrize(("number", "name", "category", "retry"), CODES)
def test_the_code_in_an_argument_decides_alive_and_in_a_log(
    number: int, name: str, category: str, retry: Retry
) -> None:
    error = confluent(number, name)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"kafka.{name}", category, retry)


@pytest.mark.parametrize("library", ["kafka", "aiokafka"])
def test_the_code_of_a_class_decides_alive_and_in_a_log(library: str) -> None:
    error = of_python("NotLeaderForPartitionError", 6, retriable=True, library=library)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.retry) == ("kafka.NOT_LEADER_FOR_PARTITION", Retry.YES)


def test_a_missing_topic_is_capped_although_the_client_would_try_for_ever() -> None:
    signal = conclusion(alive(of_python("UnknownTopicOrPartitionError", 3, retriable=True)))
    assert signal is not None
    assert (signal.code, signal.max_attempts) == ("kafka.UNKNOWN_TOPIC_OR_PART", 2)


def test_the_clients_own_word_counts_for_a_code_without_a_row_but_never_to_fail() -> None:
    said_yes = conclusion(alive(confluent(9999, "NEW_CODE", retriable=True)))
    assert said_yes is not None
    assert (said_yes.code, said_yes.rank, said_yes.retry) == ("kafka.retriable", Rank.VERDICT, Retry.YES)
    assert conclusion(alive(confluent(9999, "NEW_CODE"))) is None


def test_a_client_that_must_be_made_anew_gets_one_more_try() -> None:
    error = confluent(-150, "_FATAL", fatal=True)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert signal.max_attempts == 2


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError('delivery failed: KafkaError{code=_MSG_TIMED_OUT,val=-192,str="Local: Message timed out"}'),
        BufferError("Local: Queue full"),
    ],
)
def test_what_librdkafka_prints_is_read_in_any_exception(error: Exception) -> None:
    assert len(codes(alive(error), "kafka.")) == 1


@pytest.mark.parametrize(
    "error",
    [
        stand_in("kafka.errors.KafkaError", "x", errno="6", retriable="yes"),
        stand_in("cimpl.KafkaException", "no error inside"),
        stand_in("cimpl.KafkaException"),
    ],
)
def test_other_values_in_their_place_are_left_alone(error: Exception) -> None:
    assert kafka.probe(error) == {}
