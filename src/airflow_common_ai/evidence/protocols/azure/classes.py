"""What the exceptions of Azure's libraries say that carry no code: connections, logins, Service Bus, Event Hubs."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["CLASSES", "CONDITIONS", "LOGIN", "OTHERS_SAY_MORE"]

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM

_CORE = "azure-core 1.41.0"
_IDENTITY = "azure-identity 1.27.0"
_MESSAGING = "azure-servicebus 7.15.0, azure-eventhub 5.15.1"

_LOST = yes("network", _SHORT, "the connection to the messaging service broke", _MESSAGING)
_REFUSED = no("auth", "the messaging service refused the credentials", _MESSAGING)
_LOCK_LOST = yes("transient", _SHORT, "a lock ran out; the message can be received again", _MESSAGING)
_NEVER_SENT = yes("network", _SHORT, "the request was never sent", _CORE)
_OUTCOME_UNKNOWN = yes("network", _SHORT, "no good answer came; what was sent may have been carried out", _CORE)
LOGIN = no("auth", "Azure refused the credentials, or there are none", f"{_CORE}; {_IDENTITY}")

_ROWS: tuple[tuple[str, Meaning], ...] = (
    ("ServiceRequestTimeoutError ServiceRequestError", _NEVER_SENT),
    ("ServiceResponseTimeoutError ServiceResponseError", _OUTCOME_UNKNOWN),
    ("AuthenticationRequiredError CredentialUnavailableError ClientAuthenticationError", LOGIN),
    ("CosmosClientTimeoutError", depends("network", _SHORT, "the client's own time ran out", "azure-cosmos 4.17.1", 3)),
    ("ServiceBusServerBusyError", yes("rate_limit", _MEDIUM, "the messaging service is busy", _MESSAGING)),
    ("ServiceBusAuthenticationError ServiceBusAuthorizationError AuthenticationError", _REFUSED),
    (
        "ServiceBusConnectionError ServiceBusCommunicationError OperationTimeoutError ConnectionLostError ConnectError",
        _LOST,
    ),
    (
        "MessageLockLostError SessionLockLostError SessionCannotBeLockedError AutoLockRenewFailed AutoLockRenewTimeout"
        " OwnershipLostError",
        _LOCK_LOST,
    ),
    ("ServiceBusQuotaExceededError", no("permanent", "the queue or topic is full", _MESSAGING)),
    ("MessagingEntityDisabledError", no("permanent", "the queue or topic is switched off", _MESSAGING)),
    ("MessageSizeExceededError", no("data", "the message is too large", _MESSAGING)),
    ("MessageAlreadySettled EventDataError", no("data", "the message cannot be used like this", _MESSAGING)),
    ("MessagingEntityNotFoundError MessageNotFoundError", no("resource", "there is no such thing", _MESSAGING)),
    ("MessagingEntityAlreadyExistsError", no("data", "it exists already", _MESSAGING)),
    ("EventDataSendError", depends("transient", _SHORT, "the event was not taken", _MESSAGING, 3)),
)

CLASSES: Mapping[str, Meaning] = {f"azure.{name}": meaning for names, meaning in _ROWS for name in names.split()}
"""By top package and name."""

_CONDITION_ROWS: tuple[tuple[str, Meaning], ...] = (
    ("amqp:unauthorized-access com.microsoft:auth-failed com.microsoft:publisher-revoked", _REFUSED),
    ("amqp:not-found", no("resource", "there is no such queue, topic or hub", _MESSAGING)),
    ("com.microsoft:entity-disabled", no("permanent", "the queue or topic is switched off", _MESSAGING)),
    ("amqp:link:message-size-exceeded", no("data", "the message is too large", _MESSAGING)),
    (
        "com.microsoft:argument-error com.microsoft:argument-out-of-range amqp:not-allowed amqp:not-implemented"
        " amqp:invalid-field amqp:decode-error",
        no("data", "the messaging service calls the request wrong", _MESSAGING),
    ),
    ("com.microsoft:server-busy", yes("rate_limit", _MEDIUM, "the messaging service is busy", _MESSAGING)),
)
CONDITIONS: Mapping[str, Meaning] = {name: meaning for names, meaning in _CONDITION_ROWS for name in names.split()}
"""AMQP error conditions that say more than the class around them."""

OTHERS_SAY_MORE = (_NEVER_SENT, _OUTCOME_UNKNOWN, LOGIN)
"""Classes around another failure, whose words may say why."""
