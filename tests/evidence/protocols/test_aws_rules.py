"""AWS codes that need no service to be raised: the general ones, and the rules against the service models."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path
from typing import Any

import botocore
import pytest
from aws_services import (
    ACCOUNT_LIMIT,
    AT_A_TIME,
    DEPENDS,
    EXPIRED,
    FAILED,
    IN_THE_WAY,
    MISSING,
    NO_CAPACITY,
    REFUSED,
    SETUP,
    THROTTLED,
    WRONG,
    WRONG_STATE,
    YES,
    Expected,
    meaning_of,
)
from botocore.exceptions import ClientError
from failure_reading import conclusion_code, printed

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.aws.codes import CODES, find_aws_code

THROTTLES = (
    "Throttling ThrottlingException ThrottledException RequestThrottledException TooManyRequestsException"
    " RequestThrottled BandwidthLimitExceeded KmsThrottled KMSThrottlingException EKSRequestThrottledException"
    " ClientLimitExceededException CallRateLimitExceededException DependentServiceRequestThrottlingFault Throttled"
    " ThrottledClientException"
    " SlowDownException RateLimitExceededException TooManyUpdates TooManyRequests ActiveStatementsExceededException"
    " ActiveSessionsExceededException ReservedFunctionConcurrentInvocationLimitExceeded"
)
CONFLICTS = (
    "PriorRequestNotComplete ReplicatedWriteConflictException ConcurrentModificationException OptimisticLockException"
    " ResourceInUseException ResourceNotReadyException SessionBusyException InternalServerException InternalFailure"
    " InternalError InternalServiceException ServiceUnavailable ServiceUnavailableException DependencyException"
    " KMSInternalException KeyUnavailableException DependencyTimeoutException RequestTimeoutException"
)
CAPACITY = (
    "InsufficientCapacity UnfulfillableCapacity InsufficientHostCapacity InsufficientDBInstanceCapacity"
    " InsufficientClusterCapacity InsufficientCacheClusterCapacity SubnetIPAddressLimitReached"
)
QUOTAS = (
    "ServiceQuotaExceededException InstanceLimitExceeded MaxSpotInstanceCountExceeded InstanceQuotaExceeded"
    " TooManyBuckets ResourceLimitExceeded LimitExceededException SnapshotQuotaExceededFault TooManyTagsException"
)
REFUSALS = (
    "AccessDeniedException UnauthorizedException AuthorizationError UnrecognizedClientException AuthFailure"
    " OptInRequired KMSAccessDenied IDPRejectedClaim NotAuthorized NotAuthorizedException ForbiddenException"
)
EXPIRIES = "RequestExpired TokenRefreshRequired CredentialsExpired"
MISSES = "NoSuchUpload QueueDoesNotExist AWS.SimpleQueueService.NonExistentQueue NoSuchEntity DBInstanceNotFound"
FAULTS = "ValidationError InvalidParameterException MalformedQueryString MissingParameter SerializationException"
STATES = "InvalidDBInstanceState InvalidClusterStateFault InvalidStateException"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (THROTTLES, THROTTLED),
        (CONFLICTS, FAILED),
        (CAPACITY, NO_CAPACITY),
        (QUOTAS, ACCOUNT_LIMIT),
        (REFUSALS, REFUSED),
        (EXPIRIES, EXPIRED),
        (MISSES, MISSING),
        (FAULTS, WRONG),
        (STATES, WRONG_STATE),
        ("PermanentRedirect", SETUP),
    ],
)
def test_the_codes_that_any_service_may_use_are_understood(names: str, expected: Expected) -> None:
    for code in names.split():
        error = ClientError({"Error": {"Code": code, "Message": "No."}}, "CreateThing")
        assert meaning_of(error) == expected, code
        assert conclusion_code(printed("ClientError", str(error))) == f"aws.{code}"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("CrawlerRunningException", IN_THE_WAY),
        ("DatabaseResumingException", IN_THE_WAY),
        ("ProvisionedConcurrencyConfigNotFoundException", MISSING),
        ("InvalidNextTokenException", WRONG),
        ("InvalidOriginReadTimeout", WRONG),
        ("AccessDeniedForDependencyException", REFUSED),
        ("SubnetAlreadyInUse", IN_THE_WAY),
        ("WorkflowExecutionAlreadyStartedFault", WRONG),
        ("MaxConcurrentResourcesException", AT_A_TIME),
        ("DocumentTooLargeException", WRONG),
        ("StatementTimeoutException", ("permanent", DEPENDS, Wait.SHORT)),
        ("KmsKeyDisabledException", SETUP),
        ("NetworkFailureException", ("network", YES, Wait.SHORT)),
    ],
)
def test_a_code_that_nobody_listed_is_understood_by_its_words(code: str, expected: Expected) -> None:
    assert not CODES.lists(code)
    meaning = find_aws_code(code)
    assert meaning is not None
    assert (meaning.category, meaning.retry, meaning.wait) == expected


# Rules against the models of the services.

_LAMBDA_BLAMES_ITSELF = {
    "EC2AccessDeniedException", "InvalidRuntimeException", "InvalidSecurityGroupIDException",
    "InvalidSubnetIDException", "InvalidZipFileException", "KMSAccessDeniedException", "KMSDisabledException",
    "KMSInvalidStateException", "KMSNotFoundException",
}  # fmt: skip
"""Answered with 502, though only a new configuration mends them."""


@functools.cache
def modelled_errors() -> list[tuple[str, dict[str, Any]]]:
    """Code and shape of every error in botocore's models of the services."""
    errors: list[tuple[str, dict[str, Any]]] = []
    for folder in sorted((Path(botocore.__file__).parent / "data").iterdir()):
        versions = sorted(folder.glob("*/service-2.json.gz"))
        if versions:
            shapes = json.loads(gzip.decompress(versions[-1].read_bytes()))["shapes"]
            errors += [
                (shape.get("error", {}).get("code", name), shape)
                for name, shape in shapes.items()
                if shape.get("exception")
            ]
    return errors


def failed_by_rules(errors: list[tuple[str, dict[str, Any]]], status: int | None = None) -> set[str]:
    meanings = {code: find_aws_code(code, status=status) for code, _ in errors}
    return {code for code, meaning in meanings.items() if meaning is not None and meaning.is_final}


def status_of(shape: dict[str, Any]) -> int | None:
    status = shape.get("error", {}).get("httpStatusCode")
    return int(status) if status else None


def test_most_errors_of_all_services_are_understood() -> None:
    understood = [code for code, shape in modelled_errors() if find_aws_code(code, status=status_of(shape))]
    assert len(modelled_errors()) > 5000
    assert len(understood) / len(modelled_errors()) > 0.9


def test_no_error_that_a_service_blames_itself_for_fails_a_task() -> None:
    faults = [(c, shape) for c, shape in modelled_errors() if shape.get("fault") or (status_of(shape) or 0) >= 500]
    assert len(faults) > 450
    assert failed_by_rules(faults, status=500) == _LAMBDA_BLAMES_ITSELF


def test_no_error_that_a_service_calls_throttling_fails_a_task() -> None:
    throttles = [(c, shape) for c, shape in modelled_errors() if status_of(shape) == 429]
    traits = [(c, s) for c, s in modelled_errors() if s.get("retryable", {}).get("throttling")]
    assert len(throttles) > 200
    assert failed_by_rules(throttles) == set()
    assert failed_by_rules(traits) == set()


def test_what_a_service_answers_with_404_is_hardly_ever_retried() -> None:
    missing = [code for code, shape in modelled_errors() if status_of(shape) == 404]
    retried = [code for code in missing if (meaning := find_aws_code(code)) and not meaning.is_final]
    assert len(missing) > 400
    assert len(retried) <= 5
