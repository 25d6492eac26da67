"""Kafka: error codes of the broker and of librdkafka, as confluent-kafka, kafka-python and aiokafka keep them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Retry, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import number_in
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.number_table import NumberRow, signals_by_number

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("cimpl", "confluent_kafka", "kafka", "aiokafka")
"""confluent-kafka's exceptions come from its C module ``cimpl``."""
PRINTED_MARKS = ("KafkaError{", "Local: Queue full")

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_CODES = "Kafka protocol error codes; confluent-kafka 2.16.1, kafka-python 3.0.12, aiokafka 0.14.0"

_UNREACHABLE = "no Kafka broker could be reached, or none answered in time"
_MOVING = "the Kafka cluster was moving or short of brokers"
_REFUSED = "the login or a permission was refused"
_WRONG = "the record is too large, or not what the topic takes"
_CONFIGURED = "Kafka is asked for what it does not do as it is configured"
_NO_TOPIC = "there is no such topic or partition, or not yet"
_TAKEN_OVER = "another member of the group or another producer took over from this one"

_ROWS: tuple[NumberRow, ...] = (
    (
        "-195:_TRANSPORT -187:_ALL_BROKERS_DOWN -185:_TIMED_OUT -192:_MSG_TIMED_OUT -166:_TIMED_OUT_QUEUE"
        " -146:_UNKNOWN_BROKER -137:_DESTROY_BROKER -199:_BAD_MSG 7:REQUEST_TIMED_OUT 13:NETWORK_EXCEPTION"
        " 70:FETCH_SESSION_ID_NOT_FOUND 71:INVALID_FETCH_SESSION_EPOCH",
        yes("network", _SHORT, _UNREACHABLE, _CODES),
    ),
    ("-193:_RESOLVE", depends("network", _MEDIUM, "the host name could not be resolved", _CODES, 3)),
    (
        "5:LEADER_NOT_AVAILABLE 6:NOT_LEADER_FOR_PARTITION 8:BROKER_NOT_AVAILABLE 9:REPLICA_NOT_AVAILABLE"
        " 11:STALE_CTRL_EPOCH 14:COORDINATOR_LOAD_IN_PROGRESS 15:COORDINATOR_NOT_AVAILABLE 16:NOT_COORDINATOR"
        " 19:NOT_ENOUGH_REPLICAS 20:NOT_ENOUGH_REPLICAS_AFTER_APPEND 27:REBALANCE_IN_PROGRESS 41:NOT_CONTROLLER"
        " 51:CONCURRENT_TRANSACTIONS 55:OPERATION_NOT_ATTEMPTED 56:KAFKA_STORAGE_ERROR"
        " 60:REASSIGNMENT_IN_PROGRESS 72:LISTENER_NOT_FOUND 74:FENCED_LEADER_EPOCH 75:UNKNOWN_LEADER_EPOCH"
        " 77:STALE_BROKER_EPOCH 78:OFFSET_NOT_AVAILABLE 79:MEMBER_ID_REQUIRED 80:PREFERRED_LEADER_NOT_AVAILABLE"
        " 83:ELIGIBLE_LEADERS_NOT_AVAILABLE 88:UNSTABLE_OFFSET_COMMIT 108:NEW_LEADER_ELECTED"
        " 120:TRANSACTION_ABORTABLE -183:_ISR_INSUFF -180:_WAIT_COORD -178:_IN_PROGRESS"
        " -177:_PREV_IN_PROGRESS -164:_WAIT_CACHE -153:_RETRY",
        yes("transient", _SHORT, _MOVING, _CODES),
    ),
    (
        "-184:_QUEUE_FULL 89:THROTTLING_QUOTA_EXCEEDED 81:GROUP_MAX_SIZE_REACHED",
        yes("rate_limit", _MEDIUM, "Kafka or the client's own queue takes no more for now", _CODES),
    ),
    (
        "3:UNKNOWN_TOPIC_OR_PART 100:UNKNOWN_TOPIC_ID 103:INCONSISTENT_TOPIC_ID -190:_UNKNOWN_PARTITION"
        " -188:_UNKNOWN_TOPIC 91:RESOURCE_NOT_FOUND",
        depends("resource", _SHORT, _NO_TOPIC, _CODES),
    ),
    (
        "29:TOPIC_AUTHORIZATION_FAILED 30:GROUP_AUTHORIZATION_FAILED 31:CLUSTER_AUTHORIZATION_FAILED"
        " 33:UNSUPPORTED_SASL_MECHANISM 53:TRANSACTIONAL_ID_AUTHORIZATION_FAILED 54:SECURITY_DISABLED"
        " 58:SASL_AUTHENTICATION_FAILED 61:DELEGATION_TOKEN_AUTH_DISABLED 62:DELEGATION_TOKEN_NOT_FOUND"
        " 65:DELEGATION_TOKEN_AUTHORIZATION_FAILED 93:UNACCEPTABLE_CREDENTIAL -169:_AUTHENTICATION",
        no("auth", _REFUSED, _CODES),
    ),
    ("66:DELEGATION_TOKEN_EXPIRED", depends("auth", _SHORT, "the token has expired", _CODES)),
    ("-181:_SSL", depends("network", _SHORT, "TLS failed, or the certificate is not accepted", _CODES, 3)),
    (
        "2:INVALID_MSG 4:INVALID_MSG_SIZE 10:MSG_SIZE_TOO_LARGE 12:OFFSET_METADATA_TOO_LARGE"
        " 18:RECORD_LIST_TOO_LARGE 32:INVALID_TIMESTAMP 87:INVALID_RECORD -162:_KEY_SERIALIZATION"
        " -161:_VALUE_SERIALIZATION -160:_KEY_DESERIALIZATION -159:_VALUE_DESERIALIZATION",
        no("data", _WRONG, _CODES),
    ),
    (
        "1:OFFSET_OUT_OF_RANGE -168:_NO_OFFSET -140:_AUTO_OFFSET_RESET -139:_LOG_TRUNCATION",
        no("data", "the offset to read from is no longer, or not yet, in the log", _CODES),
    ),
    ("36:TOPIC_ALREADY_EXISTS 92:DUPLICATE_RESOURCE", no("data", "it already exists", _CODES)),
    (
        "17:TOPIC_EXCEPTION 21:INVALID_REQUIRED_ACKS 23:INCONSISTENT_GROUP_PROTOCOL 24:INVALID_GROUP_ID"
        " 26:INVALID_SESSION_TIMEOUT 35:UNSUPPORTED_VERSION 37:INVALID_PARTITIONS 38:INVALID_REPLICATION_FACTOR"
        " 39:INVALID_REPLICA_ASSIGNMENT 40:INVALID_CONFIG 42:INVALID_REQUEST 43:UNSUPPORTED_FOR_MESSAGE_FORMAT"
        " 44:POLICY_VIOLATION 50:INVALID_TRANSACTION_TIMEOUT 68:NON_EMPTY_GROUP 73:TOPIC_DELETION_DISABLED"
        " 76:UNSUPPORTED_COMPRESSION_TYPE -186:_INVALID_ARG -170:_NOT_IMPLEMENTED -165:_UNSUPPORTED_FEATURE"
        " -145:_NOT_CONFIGURED -171:_UNKNOWN_PROTOCOL",
        no("permanent", _CONFIGURED, _CODES),
    ),
    (
        "22:ILLEGAL_GENERATION 25:UNKNOWN_MEMBER_ID 45:OUT_OF_ORDER_SEQUENCE_NUMBER 47:INVALID_PRODUCER_EPOCH"
        " 48:INVALID_TXN_STATE 49:INVALID_PRODUCER_ID_MAPPING 52:TRANSACTION_COORDINATOR_FENCED"
        " 59:UNKNOWN_PRODUCER_ID 82:FENCED_INSTANCE_ID 90:PRODUCER_FENCED 110:FENCED_MEMBER_EPOCH"
        " 113:STALE_MEMBER_EPOCH -147:_MAX_POLL_EXCEEDED -144:_FENCED -142:_ASSIGNMENT_LOST -172:_STATE",
        depends("transient", _SHORT, _TAKEN_OVER, _CODES, 3),
    ),
    ("-150:_FATAL", depends("permanent", _SHORT, "the client must be made anew", _CODES)),
    (
        "-1:UNKNOWN -196:_FAIL -194:_CRIT_SYS_RESOURCE -149:_INCONSISTENT",
        depends("transient", _SHORT, "Kafka or its client failed", _CODES, 3),
    ),
)
_SIGNALS: Mapping[int, Signal] = signals_by_number("kafka", _ROWS)

# The flag of a code that has no row. `False` says nothing: errors that are made by hand carry it too.
_RETRIABLE = yes("transient", _SHORT, "the Kafka client says that it may be retried", _CODES).signal(
    "kafka.retriable", Rank.VERDICT
)
# A fatal error ends the producer or consumer, and the next try makes a new one.
_FATAL = depends("permanent", _SHORT, "the Kafka client must be made anew", _CODES).signal("kafka.fatal", Rank.VERDICT)

_TLS = -181
_CERTIFICATE_REFUSED = "certificate verify failed"
_NOT_TRUSTED = no("permanent", "the broker's certificate is not trusted", _CODES).signal(
    "kafka._SSL.certificate", Rank.VENDOR_CODE
)

_CONFLUENT_PRINT = re.compile(r"KafkaError\{(FATAL,)?code=\w{1,60},val=(-?\d{1,4})")
_QUEUE_FULL = "Local: Queue full"
"""confluent-kafka raises it as a built-in ``BufferError``."""
_PYTHON_PRINT = re.compile(r"\[Error (-?\d{1,4})\] \w+")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the code and the client's own opinion of it."""
    error: Any = exception.args[0] if exception.args else None
    if callable(getattr(error, "code", None)) and callable(getattr(error, "retriable", None)):
        # confluent-kafka: a KafkaError is no exception and sits in the arguments of one.
        found = {"kafka.code": error.code(), "kafka.retriable": error.retriable(), "kafka.fatal": error.fatal()}
    else:
        found = {
            "kafka.code": getattr(exception, "errno", None),
            "kafka.retriable": getattr(exception, "retriable", None),
        }
    return {name: value for name, value in found.items() if isinstance(value, int)}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the code says, else what the client thinks of it."""
    code, is_fatal = number_in(node, "kafka.code"), node.facts.get("kafka.fatal") is True
    if code is None:
        code, is_fatal = _printed_code(node)
    known = _SIGNALS.get(code) if code is not None else None
    if is_fatal and (known is None or known.retry is not Retry.NO):
        yield _FATAL
    elif code == _TLS and _CERTIFICATE_REFUSED in node.message:
        yield _NOT_TRUSTED
    elif code is not None and code in _SIGNALS:
        yield _SIGNALS[code]
    elif node.facts.get("kafka.retriable") is True:
        yield _RETRIABLE


def _printed_code(node: RedactedNode) -> tuple[int | None, bool]:
    if match := _CONFLUENT_PRINT.search(node.message):
        return int(match[2]), match[1] is not None
    if node.type_path.startswith(("kafka.", "aiokafka.")) and (match := _PYTHON_PRINT.match(node.message)):
        return int(match[1]), False
    return (-184, False) if _QUEUE_FULL in node.message else (None, False)
