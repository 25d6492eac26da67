"""What Azure's error codes mean: those of Resource Manager, Storage, Key Vault and Graph, and Cosmos DB's numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.code_table import CodeRow, CodeRule, CodeTable
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.http.vendor_codes import find_vendor_code
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["COSMOS", "ENVELOPES", "find_azure_code"]

_NOW, _SHORT, _MEDIUM, _LONG = Wait.NOW, Wait.SHORT, Wait.MEDIUM, Wait.LONG

_STORAGE = "azure-storage-blob 12.31.1 StorageErrorCode"
_ARM = "Azure Resource Manager, common deployment errors"
_RBAC = "Azure RBAC troubleshooting"
_COSMOS = "azure-cosmos 4.17.1 http_constants.py"

_BUSY = yes("transient", _SHORT, "the Azure service is busy or failed", _STORAGE)
_THROTTLED = yes("rate_limit", _MEDIUM, "Azure throttles the requests", _ARM)
_IN_THE_WAY = yes("transient", _SHORT, "another operation on it is under way", f"{_STORAGE}; {_ARM}")
_OWN_LEASE_LOST = depends("transient", _SHORT, "the lease is not held any more", _STORAGE, 3)
_NO_CAPACITY = yes("transient", _LONG, "the region has no capacity of this kind for now", _ARM)
_QUOTA = depends("permanent", _LONG, "a quota is used up, or the size is not offered here", _ARM)
_REFUSED = no("auth", "Azure refused; a role assigned just now may need up to half an hour", _RBAC)
_EXPIRED = depends("auth", _SHORT, "the token or the signature has expired; a new process gets a new one", _STORAGE)
_MISSING = no("resource", "it does not exist; what was created just now may not be visible yet", f"{_STORAGE}; {_ARM}")
_EXISTS = no("data", "it exists already, perhaps from an earlier try", _STORAGE)
_WRONG = no("data", "the request is wrong", _STORAGE)
_NOT_MET = no("data", "the condition of the request was not met", _STORAGE)
_FORBIDDEN = no("permanent", "the subscription or a policy does not allow it", _ARM)

_ROWS = (
    CodeRow(
        "ServerBusy OperationTimedOut InternalError InternalServerError InternalOperationError InternalExecutionError"
        " ServerTimeout GatewayTimeout RequestTimeout ServiceUnavailable serviceNotAvailable BadGateway RetryableError"
        " ClientCacheFlushDelay ReferencedResourceNotProvisioned StorageAccountIsNotProvisioned",
        _BUSY,
    ),
    CodeRow(
        "SnapshotOperationRateExceeded TooManyRequests RequestsThrottled SubscriptionRequestsThrottled Throttled"
        " RequestRateTooLarge activityLimitReached OperationRateLimitExceeded",
        _THROTTLED,
        "rate",
    ),
    CodeRow(
        "AnotherOperationInProgress RetryableErrorDueToAnotherOperation ContainerBeingDeleted ShareBeingDeleted"
        " QueueBeingDeleted FilesystemBeingDeleted DestinationPathIsBeingDeleted SourcePathIsBeingDeleted"
        " ResourceGroupBeingDeleted ObjectIsBeingDeleted AccountBeingCreated DeletePending PendingCopyOperation"
        " LeaseIsBreakingAndCannotBeAcquired LeaseIsBreakingAndCannotBeChanged LeaseAlreadyPresent LeaseIdMissing"
        " FileLockConflict SharingViolation SystemInUse ShareSnapshotInProgress DeploymentActive",
        _IN_THE_WAY,
    ),
    CodeRow("Conflict", _IN_THE_WAY, "conflict"),
    CodeRow(
        "LeaseLost LeaseAlreadyBroken LeaseIsAlreadyBroken LeaseIsBrokenAndCannotBeRenewed"
        " LeaseIdMismatchWithBlobOperation LeaseIdMismatchWithContainerOperation LeaseIdMismatchWithLeaseOperation"
        " LeaseNotPresentWithBlobOperation LeaseNotPresentWithContainerOperation LeaseNotPresentWithLeaseOperation"
        " PopReceiptMismatch",
        _OWN_LEASE_LOST,
    ),
    CodeRow("Md5Mismatch", yes("network", _NOW, "the transfer was damaged", _STORAGE)),
    CodeRow("BlobBeingRehydrated", yes("transient", _LONG, "the blob is being taken out of the archive", _STORAGE)),
    CodeRow("BlobArchived", no("data", "the blob is archived and must be rehydrated first", _STORAGE)),
    CodeRow("ObjectIsDeletedButRecoverable", no("data", "the name belongs to something deleted", "Azure Key Vault")),
    CodeRow(
        "AllocationFailed ZonalAllocationFailed OverconstrainedAllocationRequest OverconstrainedZonalAllocationRequest",
        _NO_CAPACITY,
    ),
    CodeRow("SkuNotAvailable QuotaExceeded OperationNotAllowed", _QUOTA, "limit"),
    CodeRow(
        "AuthenticationFailed InvalidAuthenticationInfo NoAuthenticationInformation AuthorizationFailure"
        " AuthorizationFailed AuthorizationPermissionMismatch InsufficientAccountPermissions LinkedAuthorizationFailed"
        " AccountIsDisabled Forbidden ForbiddenByRbac ForbiddenByPolicy ForbiddenByFirewall AccessDenied Unauthorized"
        " Authorization_RequestDenied InvalidAuthenticationTokenTenant UnauthorizedBlobOverwrite",
        _REFUSED,
        "refused",
    ),
    CodeRow(
        "PrincipalNotFound",
        yes("transient", _MEDIUM, "the identity is not known everywhere yet", "Azure RBAC troubleshooting"),
    ),
    CodeRow(
        "MissingSubscriptionRegistration RequestDisallowedByPolicy ScopeLocked ReadOnlyDisabledSubscription", _FORBIDDEN
    ),
    CodeRow("BlobOverwritten PreconditionFailed", _NOT_MET),
)

_RULES = (
    CodeRule(re.compile(r"\b(?:not found|does not exist)\b"), _MISSING),
    CodeRule(re.compile(r"\balready (?:exists?|in use)\b|\bexists\b"), _EXISTS),
    CodeRule(re.compile(r"\bbeing \w+ed\b|\bin progress\b|(?<!no )\bpending\b"), _IN_THE_WAY),
    CodeRule(re.compile(r"\bcondition not met\b"), _NOT_MET),
    CodeRule(re.compile(r"\bthrottl|\brate (?:limit|exceeded)"), _THROTTLED, "rate"),
    CodeRule(re.compile(r"\b(?:quota|count|limit)\b.*\bexceed|\bexceeds? (?:\w+ )*limit|\bquota\b"), _QUOTA, "limit"),
    CodeRule(
        re.compile(
            r"^(?:invalid|missing|out of range|empty|unsupported|malformed) (?!.*\b(?:stat(?:e|us)|auth\w*|token)\b)"
        ),
        _WRONG,
        "invalid",
    ),
    CodeRule(
        re.compile(r"\b(?:too large|too long|larger than|not supported|mismatch|required|must be)\b"), _WRONG, "invalid"
    ),
    CodeRule(re.compile(r"\b(?:disabled|disallowed|not allowed|not enabled|locked)\b"), _FORBIDDEN),
)

_CODES = CodeTable(_ROWS, _RULES)

ENVELOPES = frozenset(
    {
        "DeploymentFailed", "ResourceDeploymentFailure", "MultipleErrorsOccurred", "InvalidTemplateDeployment",
        "BadRequest", "Conflict", "Forbidden", "InternalServerError", "ResourceOperationFailure",
    }
)  # fmt: skip
"""Codes around others: what they hold says why."""

_EXPIRED_WORDS = re.compile(
    r"(?i)signature not valid in the specified time frame|signed expiry time|lifetime validation failed"
    r"|(?:token|signature) (?:is|has) expired"
)
_CLOCK_WORDS = re.compile(r"(?i)date header .{0,40}too old")
_WRONG_CLOCK = hint(depends("permanent", _LONG, "the clock of this worker is wrong", _STORAGE))


def find_azure_code(code: str, *, message: str = "", status: int | None = None) -> Meaning | None:
    """
    Return what an error code means, ``None`` if it says nothing or is one of :mod:`.http_vendor_codes`.

    :param code: As the service spells it.
    :param message: What came with it: only this tells an expired signature from a wrong one.
    :param status: The HTTP status, if there was one.
    """
    if not _CODES.lists(code) and find_vendor_code(code, status):
        return None
    meaning = _CODES.find(code, message=message, status=status)
    if meaning is not None and meaning.category == "auth" and _CLOCK_WORDS.search(message[:2048]):
        return _WRONG_CLOCK
    if meaning is not None and meaning.category == "auth" and _EXPIRED_WORDS.search(message[:2048]):
        return _EXPIRED
    return meaning


_MOVED = yes("transient", _NOW, "the partition has moved", _COSMOS)

COSMOS: Mapping[tuple[int, int], Meaning] = {
    (410, 1000): _MOVED,
    (410, 1002): _MOVED,
    (410, 1007): _MOVED,
    (410, 1008): _MOVED,
    (404, 1002): yes("transient", _SHORT, "the replica has not caught up with the session", _COSMOS),
    (404, 1013): yes("transient", _SHORT, "the container is still being created", _COSMOS),
    (403, 3): yes("transient", _SHORT, "the region does not take writes just now", _COSMOS),
    (403, 1005): no("permanent", "the provisioned throughput is at its limit", _COSMOS),
    (403, 1008): no("resource", "there is no such database account", _COSMOS),
    (403, 1010): no("permanent", "the quota of the shared throughput is used up", _COSMOS),
    (409, 1006): yes("transient", _SHORT, "the control plane is changing it", _COSMOS),
    (503, 1007): yes("transient", _LONG, "the region has no capacity for now", _COSMOS),
}
"""By status and sub-status."""
