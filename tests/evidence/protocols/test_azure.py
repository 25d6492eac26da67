"""Azure's errors: raised by azure-core against a loopback server, and as the libraries above it make them."""

from __future__ import annotations

import enum
from collections.abc import Iterator

import pytest
from airflow.exceptions import AirflowException
from azure.core import PipelineClient
from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ODataV4Error,
    ServiceRequestError,
    ServiceResponseError,
)
from azure.core.rest import HttpRequest, HttpResponse
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from http_reading import raised_by
from loopback.http_server import Answer, LoopbackServer, json_answer, serving
from loopback.sockets import refused_port

from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Retry, Signal, Wait
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.protocols.azure.codes import COSMOS

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS
Expected = tuple[str, Retry, Wait]

BUSY: Expected = ("transient", YES, Wait.SHORT)
THROTTLED: Expected = ("rate_limit", YES, Wait.MEDIUM)
IN_THE_WAY: Expected = ("transient", YES, Wait.SHORT)
NO_CAPACITY: Expected = ("transient", YES, Wait.LONG)
QUOTA: Expected = ("permanent", DEPENDS, Wait.LONG)
REFUSED: Expected = ("auth", NO, Wait.NONE)
EXPIRED: Expected = ("auth", DEPENDS, Wait.SHORT)
MISSING: Expected = ("resource", NO, Wait.NONE)
WRONG: Expected = ("data", NO, Wait.NONE)
FORBIDDEN: Expected = ("permanent", NO, Wait.NONE)
LOST: Expected = ("network", YES, Wait.SHORT)


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


def send(url: str, method: str = "GET") -> HttpResponse:
    with PipelineClient(url, policies=[]) as client:
        response = client.send_request(HttpRequest(method, url))
        response.read()
        return response


def call(url: str, method: str = "GET") -> None:
    """As the libraries of Resource Manager, Key Vault and the like call."""
    send(url, method).raise_for_status()


class StorageErrorCode(str, enum.Enum):  # noqa: UP042 - not a StrEnum, whose text would be the value
    """As azure-storage names its codes."""

    SERVER_BUSY = "ServerBusy"
    BLOB_NOT_FOUND = "BlobNotFound"
    CONTAINER_BEING_DELETED = "ContainerBeingDeleted"
    AUTHENTICATION_FAILED = "AuthenticationFailed"


def call_storage(url: str) -> None:
    """As azure-storage does: a code of its own on the error, and at the end of the message."""
    response = send(url)
    code = StorageErrorCode(response.headers["x-ms-error-code"])
    error = HttpResponseError(message=f"No.\nRequestId:1\nErrorCode:{code.value}", response=response)
    error.error_code = code
    raise error


def arm(status: int, code: str, message: str = "No.", **more: object) -> Answer:
    return json_answer(status, {"error": {"code": code, "message": message, **more}})


def storage(status: int, code: str, message: str = "No.") -> Answer:
    body = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Answer(status, body, {"Content-Type": "application/xml", "x-ms-error-code": code})


def meaning(signal: Signal | None) -> Expected:
    assert signal is not None
    return signal.category, signal.retry, signal.wait


GROUPS: list[tuple[int, str, Expected]] = [
    (503, "ServerBusy OperationTimedOut InternalError ServerTimeout GatewayTimeout RequestTimeout", BUSY),
    (429, "SnapshotOperationRateExceeded TooManyRequests RequestsThrottled SubscriptionRequestsThrottled", THROTTLED),
    (429, "AnotherOperationInProgress RetryableErrorDueToAnotherOperation", IN_THE_WAY),
    (
        409,
        "ContainerBeingDeleted ShareBeingDeleted QueueBeingDeleted FilesystemBeingDeleted DestinationPathIsBeingDeleted"
        " AccountBeingCreated DeletePending PendingCopyOperation LeaseIsBreakingAndCannotBeAcquired LeaseAlreadyPresent"
        " FileLockConflict SharingViolation SystemInUse Conflict",
        IN_THE_WAY,
    ),
    (409, "BlobBeingRehydrated", ("transient", YES, Wait.LONG)),
    (409, "BlobArchived", WRONG),
    (409, "AllocationFailed ZonalAllocationFailed OverconstrainedAllocationRequest", NO_CAPACITY),
    (409, "SkuNotAvailable QuotaExceeded OperationNotAllowed", QUOTA),
    (
        403,
        "AuthenticationFailed InvalidAuthenticationInfo NoAuthenticationInformation AuthorizationFailure"
        " AuthorizationFailed AuthorizationPermissionMismatch InsufficientAccountPermissions"
        " LinkedAuthorizationFailed AccountIsDisabled",
        REFUSED,
    ),
    (400, "PrincipalNotFound", ("transient", YES, Wait.MEDIUM)),
    (
        404,
        "ResourceNotFound ParentResourceNotFound ResourceGroupNotFound SubscriptionNotFound BlobNotFound SecretNotFound"
        " QueueNotFound PathNotFound",
        MISSING,
    ),
    (409, "MissingSubscriptionRegistration", FORBIDDEN),
    (403, "RequestDisallowedByPolicy", FORBIDDEN),
    (409, "BlobAlreadyExists ContainerAlreadyExists ResourceAlreadyExists", WRONG),
    (412, "ConditionNotMet TargetConditionNotMet BlobOverwritten", WRONG),
    (
        400,
        "InvalidHeaderValue InvalidResourceName MissingRequiredHeader OutOfRangeInput RequestBodyTooLarge"
        " UnsupportedHeader ResourceTypeMismatch",
        WRONG,
    ),
    (400, "Md5Mismatch", ("network", YES, Wait.NOW)),
    (412, "LeaseIdMissing", IN_THE_WAY),
    (412, "LeaseLost", ("transient", DEPENDS, Wait.SHORT)),
]
CODES = [(status, code, expected) for status, names, expected in GROUPS for code in names.split()]


@pytest.mark.parametrize(("status", "code", "expected"), CODES)
def test_a_code_is_understood_in_json_and_in_the_log(
    server: LoopbackServer, status: int, code: str, expected: Expected
) -> None:
    server.answer(arm(status, code))
    error = raised_by(lambda: call(server.url))
    assert isinstance(error, HttpResponseError)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert meaning(signal) == expected
        assert signal is not None
        assert signal.code == f"azure.{code}"


@pytest.mark.parametrize("code", list(StorageErrorCode))
def test_a_code_of_storage_is_read_from_the_error_and_from_whoever_printed_it(
    server: LoopbackServer, code: StorageErrorCode
) -> None:
    server.answer(storage(403, code.value))
    error = raised_by(lambda: call_storage(server.url))
    for evidence in (alive(error), logged(error), alive(AirflowException(str(error)))):
        assert conclusion_code(evidence) == f"azure.{code.value}"


@pytest.mark.parametrize("code", ["BlobNotFound", "ContainerBeingDeleted"])
def test_a_head_request_has_its_code_in_a_header(server: LoopbackServer, code: str) -> None:
    server.answer(Answer(404, "", {"x-ms-error-code": code}))
    assert conclusion_code(alive(raised_by(lambda: call(server.url, "HEAD")))) == f"azure.{code}"


def test_why_a_copy_failed_at_its_source_is_understood(server: LoopbackServer) -> None:
    server.answer(Answer(409, "", {"x-ms-copy-source-error-code": "ServerBusy"}))
    assert conclusion_code(alive(raised_by(lambda: call(server.url)))) == "azure.ServerBusy"


def test_a_code_that_says_nothing_is_left_to_the_status(server: LoopbackServer) -> None:
    server.answer(arm(503, "Zork"))
    assert conclusion_code(alive(raised_by(lambda: call(server.url)))) == "http.503"


@pytest.mark.parametrize("code", ["ExpiredAuthenticationToken", "InvalidAuthenticationToken"])
def test_an_expired_token_of_the_resource_manager_is_tried_once_more(server: LoopbackServer, code: str) -> None:
    server.answer(arm(401, code))
    assert meaning(conclusion(alive(raised_by(lambda: call(server.url))))) == EXPIRED


@pytest.mark.parametrize(
    "message",
    [
        "Signature not valid in the specified time frame",
        "Signed expiry time [Thu, 01 Jan 2026 00:00:00 GMT] must be after signed start time",
        "Lifetime validation failed. The token is expired.",
    ],
)
def test_a_signature_that_has_expired_is_not_a_wrong_one(server: LoopbackServer, message: str) -> None:
    server.answer(arm(403, "AuthenticationFailed", message), arm(403, "AuthenticationFailed", "The MAC is wrong"))
    assert meaning(conclusion(alive(raised_by(lambda: call(server.url))))) == EXPIRED
    assert meaning(conclusion(alive(raised_by(lambda: call(server.url))))) == REFUSED


def test_a_throttled_request_keeps_the_wait_that_was_asked_for(server: LoopbackServer) -> None:
    answer = arm(429, "TooManyRequests")
    server.answer(Answer(429, answer.body, {**answer.headers, "Retry-After": "17"}))
    evidence = alive(raised_by(lambda: call(server.url)))
    found = conclude(evidence, read_signals(evidence))
    assert meaning(found.signal) == THROTTLED
    assert found.asked_delay_s == 17


# Codes inside codes.


@pytest.mark.parametrize(
    ("inside", "code", "expected"),
    [
        (["Conflict", "QuotaExceeded"], "QuotaExceeded", QUOTA),
        (["AllocationFailed"], "AllocationFailed", NO_CAPACITY),
        (["AllocationFailed", "InvalidResourceName"], "InvalidResourceName", WRONG),
        (["Conflict"], "Conflict", IN_THE_WAY),
    ],
)
def test_what_is_inside_a_failed_deployment_says_why(
    server: LoopbackServer, inside: list[str], code: str, expected: Expected
) -> None:
    details = [{"code": name, "message": "No."} for name in inside]
    server.answer(arm(409, "DeploymentFailed", details=details))
    error = raised_by(lambda: call(server.url))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert meaning(signal) == expected
        assert signal is not None
        assert signal.code == f"azure.{code}"


def test_an_inner_error_says_why_access_was_forbidden(server: LoopbackServer) -> None:
    server.answer(arm(403, "Forbidden", innererror={"code": "SecretDisabled"}))
    error = raised_by(lambda: call(server.url))
    assert conclusion_code(alive(error)) == conclusion_code(logged(error)) == "azure.SecretDisabled"


def test_an_odata_error_carries_its_code_itself(server: LoopbackServer) -> None:
    server.answer(arm(409, "AnotherOperationInProgress"))
    response = send(server.url)
    assert conclusion_code(alive(ODataV4Error(response))) == "azure.AnotherOperationInProgress"


# Cosmos DB.


class CosmosHttpResponseError(HttpResponseError):
    """As azure-cosmos makes it."""

    __module__ = "azure.cosmos.exceptions"

    def __init__(self, status_code: int, sub_status: int) -> None:
        super().__init__(message=f"Status code: {status_code} Sub-status: {sub_status}\nNo.")
        self.status_code = status_code
        self.sub_status = sub_status


@pytest.mark.parametrize(
    ("status", "sub_status", "category", "retry"),
    [
        (410, 1000, "transient", YES),
        (410, 1002, "transient", YES),
        (410, 1007, "transient", YES),
        (410, 1008, "transient", YES),
        (404, 1002, "transient", YES),
        (404, 1013, "transient", YES),
        (403, 3, "transient", YES),
        (403, 1005, "permanent", NO),
        (409, 1006, "transient", YES),
        (503, 1007, "transient", YES),
    ],
)
def test_the_sub_status_of_cosmos_says_what_its_status_hides(
    status: int, sub_status: int, category: str, retry: Retry
) -> None:
    assert (status, sub_status) in COSMOS
    error = CosmosHttpResponseError(status, sub_status)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"azure.cosmos.{status}.{sub_status}", category, retry)


def test_another_sub_status_of_cosmos_changes_nothing() -> None:
    assert conclusion_code(alive(CosmosHttpResponseError(404, 1003))) == "http.404"


def test_the_sub_status_of_cosmos_is_also_read_from_its_header(server: LoopbackServer) -> None:
    server.answer(Answer(404, "", {"x-ms-substatus": "1002"}))
    assert conclusion_code(alive(raised_by(lambda: call(server.url)))) == "azure.cosmos.404.1002"


# Failures without an answer.


def test_a_request_that_was_never_sent_is_told_from_one_whose_outcome_is_unknown(server: LoopbackServer) -> None:
    with refused_port() as port:
        error = raised_by(lambda: call(f"http://127.0.0.1:{port}"))
    assert isinstance(error, ServiceRequestError)
    assert codes(alive(error), "azure.") == ["azure.ServiceRequestError"]
    signal = conclusion(alive(error))
    assert signal is not None
    assert (signal.category, signal.retry) == ("network", YES)
    server.answer(Answer(raw=b""))
    error = raised_by(lambda: call(server.url))
    assert isinstance(error, ServiceResponseError)
    (unknown,) = [signal for signal in read_signals(alive(error)) if signal.code == "azure.ServiceResponseError"]
    assert "may have been carried out" in unknown.sentence


def test_a_name_that_does_not_resolve_is_not_merely_a_request_that_was_not_sent() -> None:
    error = ServiceRequestError("Failed to resolve 'no.such.host' ([Errno -2] Name or service not known)")
    assert codes(alive(error), "azure.") == []
    assert conclusion_code(alive(error)) == "dns.noname"


class CredentialUnavailableError(ClientAuthenticationError):
    """As azure-identity has it."""

    __module__ = "azure.identity._exceptions"


NO_ANSWER_FROM_IMDS = "ManagedIdentityCredential authentication unavailable, no response from the IMDS endpoint."


@pytest.mark.parametrize(
    ("error", "code", "retry"),
    [
        (CredentialUnavailableError("EnvironmentCredential authentication unavailable."),
         "azure.CredentialUnavailableError", NO),
        (CredentialUnavailableError(NO_ANSWER_FROM_IMDS), "azure.CredentialUnavailableError", DEPENDS),
        (ClientAuthenticationError("Authentication failed: AADSTS7000222: The client secret keys are expired."),
         "entra.AADSTS7000222", NO),
        (ClientAuthenticationError("Authentication failed: AADSTS90033: A transient error has occurred."),
         "entra.AADSTS90033", YES),
    ],
)  # fmt: skip
def test_a_login_says_whether_it_may_work_next_time(error: AzureError, code: str, retry: Retry) -> None:
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.retry) == (code, retry)


def test_a_login_that_did_not_get_through_is_no_refusal() -> None:
    error = ClientAuthenticationError(
        "Authentication failed: HTTPSConnectionPool: Max retries exceeded with url: /token"
    )
    assert meaning(conclusion(alive(error))) == meaning(conclusion(logged(error))) == LOST


def test_a_list_of_credentials_that_were_attempted_is_a_refusal() -> None:
    error = ClientAuthenticationError(
        "DefaultAzureCredential failed to retrieve a token from the included credentials.\nAttempted credentials:\n"
        "\tEnvironmentCredential: EnvironmentCredential authentication unavailable.\n"
        f"\tManagedIdentityCredential: {NO_ANSWER_FROM_IMDS}\n\tAzureCliCredential: Failed, the call timed out"
    )
    assert meaning(conclusion(alive(error))) == meaning(conclusion(logged(error))) == REFUSED


class ServiceBusError(AzureError):
    """As azure-servicebus makes them: with a flag for its own loop."""

    __module__ = "azure.servicebus.exceptions"

    def __init__(self, message: str = "No.", *, retryable: bool = False) -> None:
        super().__init__(message)
        self._retryable = retryable


def service_bus(name: str, *, retryable: bool) -> ServiceBusError:
    kind = type(name, (ServiceBusError,), {"__module__": "azure.servicebus.exceptions"})
    return kind(retryable=retryable)


@pytest.mark.parametrize(
    ("name", "retryable", "expected"),
    [
        ("ServiceBusServerBusyError", True, THROTTLED),
        ("ServiceBusConnectionError", True, LOST),
        ("OperationTimeoutError", True, LOST),
        ("ServiceBusAuthenticationError", True, REFUSED),
        ("ServiceBusAuthorizationError", True, REFUSED),
        ("MessagingEntityDisabledError", True, FORBIDDEN),
        ("MessageLockLostError", False, BUSY),
        ("SessionLockLostError", False, BUSY),
        ("ServiceBusQuotaExceededError", False, FORBIDDEN),
        ("MessageSizeExceededError", False, WRONG),
        ("MessagingEntityNotFoundError", False, MISSING),
    ],
)
def test_the_flag_of_service_bus_is_for_its_own_loop(name: str, retryable: bool, expected: Expected) -> None:
    error = service_bus(name, retryable=retryable)
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert meaning(signal) == expected
        assert signal is not None
        assert signal.code == f"azure.{name}"


def test_the_flag_of_service_bus_counts_where_the_class_says_nothing() -> None:
    assert conclusion_code(alive(ServiceBusError(retryable=True))) == "azure.retryable"
    assert conclusion(alive(ServiceBusError(retryable=False))) is None


@pytest.mark.parametrize("hostile", ["ErrorCode:" * 100_000, "\nCode: A" * 120_000, "Status code: 404 " * 60_000])
@pytest.mark.parametrize("type_path", ["AirflowException", "azure.core.exceptions.HttpResponseError"])
def test_hostile_megabytes_are_read_without_an_error(hostile: str, type_path: str) -> None:
    assert codes(printed(type_path, hostile), "azure.") == []
