"""AWS errors, raised by botocore and boto3 against a loopback server that answers in the forms of AWS's services."""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import botocore
import botocore.config
import botocore.exceptions
import botocore.session
import pytest
import requests
from airflow.exceptions import AirflowException
from botocore.exceptions import ClientError
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from http_reading import raised_by
from loopback.http_server import Answer, LoopbackServer, json_answer, serving

from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Retry, Wait
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.protocols.aws_classes import CLASSES
from airflow_common_ai.evidence.protocols.aws_codes import CODES, find_aws_code

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS
Expected = tuple[str, Retry, Wait]

THROTTLED: Expected = ("rate_limit", YES, Wait.MEDIUM)
AT_A_TIME: Expected = THROTTLED
IN_THE_WAY: Expected = ("transient", YES, Wait.SHORT)
FAILED: Expected = ("transient", YES, Wait.SHORT)
DAMAGED: Expected = ("network", YES, Wait.NOW)
NO_CAPACITY: Expected = ("transient", YES, Wait.LONG)
ACCOUNT_LIMIT: Expected = ("permanent", DEPENDS, Wait.LONG)
EXPIRED: Expected = ("auth", DEPENDS, Wait.SHORT)
REFUSED: Expected = ("auth", NO, Wait.NONE)
MISSING: Expected = ("resource", NO, Wait.NONE)
WRONG: Expected = ("data", NO, Wait.NONE)
WRONG_STATE: Expected = ("transient", DEPENDS, Wait.MEDIUM)
SETUP: Expected = ("permanent", NO, Wait.NONE)


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    """One for all: a client of botocore takes its time to be made."""
    with serving() as server:
        yield server


@functools.cache
def session() -> boto3.Session:
    return boto3.Session("AKIDEXAMPLE", "not-a-secret", region_name="eu-central-1")


@functools.cache
def client(service: str, url: str, attempts: int = 1) -> Any:
    config = botocore.config.Config(
        retries={"total_max_attempts": attempts}, s3={"addressing_style": "path"}, connect_timeout=5, read_timeout=5
    )
    return session().client(service, endpoint_url=url, config=config)


def meaning_of(exception: BaseException) -> Expected:
    signal = conclusion(alive(exception))
    assert signal is not None
    return signal.category, signal.retry, signal.wait


# The forms in which services answer.


def rest_xml(status: int, code: str, message: str = "No.") -> Answer:
    return Answer(status, f"<Error><Code>{code}</Code><Message>{message}</Message><RequestId>1</RequestId></Error>")


def query_xml(status: int, code: str, message: str = "No.") -> Answer:
    error = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
    return Answer(status, f"<ErrorResponse>{error}<RequestId>1</RequestId></ErrorResponse>")


def ec2_xml(status: int, code: str, message: str = "No.") -> Answer:
    error = f"<Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
    return Answer(status, f"<Response>{error}<RequestID>1</RequestID></Response>")


def json_1_0(status: int, code: str, message: str = "No.") -> Answer:
    return json_answer(status, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": message})


def json_1_1(status: int, code: str, message: str = "No.") -> Answer:
    return json_answer(status, {"__type": code, "Message": message})


def rest_json(status: int, code: str, message: str = "No.") -> Answer:
    return json_answer(status, {"message": message}, {"x-amzn-errortype": f"{code}:http://internal.amazon.com/"})


CALLS: dict[str, tuple[Callable[..., Answer], Callable[[str], object]]] = {
    "s3": (rest_xml, lambda url: client("s3", url).get_object(Bucket="bucket", Key="key")),
    "sts": (query_xml, lambda url: client("sts", url).get_caller_identity()),
    "ec2": (ec2_xml, lambda url: client("ec2", url).run_instances(MinCount=1, MaxCount=1)),
    "dynamodb": (json_1_0, lambda url: client("dynamodb", url).get_item(TableName="t", Key={"id": {"S": "1"}})),
    "glue": (json_1_1, lambda url: client("glue", url).start_job_run(JobName="etl")),
    "lambda": (rest_json, lambda url: client("lambda", url).invoke(FunctionName="f")),
}

SERVICES_SAY: list[tuple[str, int, str, Expected]] = [
    ("s3", 503, "SlowDown", THROTTLED),
    ("s3", 400, "RequestTimeout", FAILED),
    ("s3", 400, "BadDigest", DAMAGED),
    ("s3", 409, "OperationAborted", IN_THE_WAY),
    ("s3", 400, "ExpiredToken", EXPIRED),
    ("s3", 403, "RequestTimeTooSkewed", EXPIRED),
    ("s3", 403, "AccessDenied", REFUSED),
    ("s3", 403, "SignatureDoesNotMatch", REFUSED),
    ("s3", 404, "NoSuchBucket", MISSING),
    ("s3", 404, "NoSuchKey", MISSING),
    ("s3", 403, "InvalidObjectState", WRONG),
    ("s3", 400, "EntityTooLarge", WRONG),
    ("s3", 412, "PreconditionFailed", WRONG),
    ("s3", 409, "BucketAlreadyOwnedByYou", WRONG),
    ("sts", 400, "IDPCommunicationError", FAILED),
    ("sts", 400, "Throttling", THROTTLED),
    ("sts", 403, "InvalidClientTokenId", REFUSED),
    ("sts", 400, "InvalidIdentityToken", EXPIRED),
    ("ec2", 503, "RequestLimitExceeded", THROTTLED),
    ("ec2", 500, "InsufficientInstanceCapacity", NO_CAPACITY),
    ("ec2", 400, "SpotMaxPriceTooLow", NO_CAPACITY),
    ("ec2", 400, "VcpuLimitExceeded", ACCOUNT_LIMIT),
    ("ec2", 400, "InvalidInstanceID.NotFound", MISSING),
    ("ec2", 403, "UnauthorizedOperation", REFUSED),
    ("ec2", 400, "IncorrectInstanceState", WRONG_STATE),
    ("ec2", 400, "InvalidParameterValue", WRONG),
    ("dynamodb", 400, "ProvisionedThroughputExceededException", THROTTLED),
    ("dynamodb", 400, "TransactionConflictException", IN_THE_WAY),
    ("dynamodb", 400, "TransactionInProgressException", IN_THE_WAY),
    ("dynamodb", 400, "ConditionalCheckFailedException", WRONG),
    ("dynamodb", 400, "ItemCollectionSizeLimitExceededException", WRONG),
    ("dynamodb", 400, "ValidationException", WRONG),
    ("dynamodb", 400, "ResourceNotFoundException", MISSING),
    ("dynamodb", 400, "ExpiredTokenException", EXPIRED),
    ("dynamodb", 500, "InternalServerError", FAILED),
    ("glue", 400, "ConcurrentRunsExceededException", AT_A_TIME),
    ("glue", 400, "EntityNotFoundException", MISSING),
    ("glue", 400, "ThrottlingException", THROTTLED),
    ("glue", 400, "ResourceNumberLimitExceededException", ACCOUNT_LIMIT),
    ("glue", 400, "OperationTimeoutException", FAILED),
    ("lambda", 429, "TooManyRequestsException", THROTTLED),
    ("lambda", 502, "EC2ThrottledException", THROTTLED),
    ("lambda", 502, "ENILimitReachedException", NO_CAPACITY),
    ("lambda", 502, "KMSAccessDeniedException", REFUSED),
    ("lambda", 502, "InvalidZipFileException", SETUP),
    ("lambda", 400, "CodeStorageExceededException", ACCOUNT_LIMIT),
    ("lambda", 409, "ResourceConflictException", IN_THE_WAY),
    ("lambda", 500, "ServiceException", FAILED),
]


@pytest.mark.parametrize(("service", "status", "code", "expected"), SERVICES_SAY)
def test_a_code_is_understood_in_the_form_of_its_service_and_in_the_log(
    server: LoopbackServer, service: str, status: int, code: str, expected: Expected
) -> None:
    form, call = CALLS[service]
    server.answer(form(status, code))
    error = raised_by(lambda: call(server.url))
    assert isinstance(error, ClientError)
    assert meaning_of(error) == expected
    assert conclusion_code(alive(error)) == conclusion_code(logged(error)) == f"aws.{code}"


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


def test_a_code_that_no_word_of_is_known_is_left_to_the_status(server: LoopbackServer) -> None:
    server.answer(rest_json(503, "ZorkException"), rest_json(400, "ZorkException"))
    assert conclusion_code(alive(raised_by(lambda: CALLS["lambda"][1](server.url)))) == "http.503"
    assert conclusion(alive(raised_by(lambda: CALLS["lambda"][1](server.url)))) is None


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


# Codes that mean more than one thing.


@pytest.mark.parametrize(
    ("operation", "message", "expected"),
    [
        ("GetRecords", "No.", THROTTLED),
        ("ListShards", "No.", THROTTLED),
        ("UpdateShardCount", "No.", THROTTLED),
        ("UpdateTable", "Subscriber limit exceeded", THROTTLED),
        ("DescribeThing", "No.", THROTTLED),
        ("StartDocumentTextDetection", "No.", AT_A_TIME),
        ("CreateUserPool", "No.", ACCOUNT_LIMIT),
        ("CreateDeliveryStream", "You have reached the limit", ACCOUNT_LIMIT),
        ("CreateExport", "Too many concurrent exports", AT_A_TIME),
        ("CreateThing", "Rate exceeded", THROTTLED),
    ],
)
def test_a_limit_is_a_rate_where_nothing_is_created(operation: str, message: str, expected: Expected) -> None:
    error = ClientError({"Error": {"Code": "LimitExceededException", "Message": message}}, operation)
    assert meaning_of(error) == expected
    assert conclusion_code(logged(error)) == "aws.LimitExceededException"


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        ("ResourceConflictException", "Function already exist: f", ("data", NO)),
        ("ResourceConflictException", "An update is in progress for resource f", ("transient", YES)),
        ("ValidationException", "Endpoint is being updated", ("transient", DEPENDS)),
        ("ValidationException", "Member must not be null", ("data", NO)),
        ("InvalidParameterValueException", "The role defined for the function cannot be assumed by Lambda.",
         ("auth", DEPENDS)),
        ("InvalidSignatureException", "Signature expired: 20260101T000000Z is now earlier than …", ("auth", DEPENDS)),
        ("UnrecognizedClientException", "The security token included in the request is expired", ("auth", DEPENDS)),
        ("ThrottlingException", "Too many tokens per day, please wait before trying again.", ("rate_limit", DEPENDS)),
    ],
)  # fmt: skip
def test_the_message_tells_where_the_code_is_vague(code: str, message: str, expected: tuple[str, Retry]) -> None:
    error = ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": {}}, "UpdateThing")
    assert meaning_of(error)[:2] == expected
    assert conclusion_code(logged(error)) == f"aws.{code}"


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        (["None", "TransactionConflict"], ("transient", YES)),
        (["ThrottlingError"], ("rate_limit", YES)),
        (["ProvisionedThroughputExceeded", "None"], ("rate_limit", YES)),
        (["TransactionConflict", "ConditionalCheckFailed"], ("data", NO)),
        (["ValidationError"], ("data", NO)),
        (["Zork"], ("transient", DEPENDS)),
    ],
)
def test_a_cancelled_transaction_is_judged_by_its_reasons(
    server: LoopbackServer, reasons: list[str], expected: tuple[str, Retry]
) -> None:
    message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{', '.join(reasons)}]"
    body = {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": message,
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }
    server.answer(json_answer(400, body))
    delete = {"Delete": {"TableName": "t", "Key": {"id": {"S": "1"}}}}
    error = raised_by(lambda: client("dynamodb", server.url).transact_write_items(TransactItems=[delete]))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == ("aws.TransactionCanceledException", *expected)


def test_an_error_in_an_answer_with_status_200_is_an_error(server: LoopbackServer) -> None:
    server.answer(rest_xml(200, "SlowDown", "Please reduce your request rate."))
    copy = client("s3", server.url).copy_object
    error = raised_by(lambda: copy(Bucket="bucket", Key="to", CopySource={"Bucket": "bucket", "Key": "from"}))
    assert conclusion_code(alive(error)) == "aws.SlowDown"
    assert meaning_of(error) == THROTTLED


# What a HEAD request cannot say.


def head(url: str) -> object:
    return client("s3", url).head_object(Bucket="bucket", Key="key")


@pytest.mark.parametrize(
    ("status", "code", "retry"),
    [(400, "aws.head_400", DEPENDS), (403, "http.403", NO), (404, "http.404", NO), (503, "http.503", YES)],
)
def test_the_code_of_a_head_request_is_its_status(server: LoopbackServer, status: int, code: str, retry: Retry) -> None:
    server.answer(Answer(status))
    error = raised_by(lambda: head(server.url))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.retry) == (code, retry)


# Retries and waits.


def test_after_its_own_retries_the_next_try_is_not_in_seconds(server: LoopbackServer) -> None:
    server.answer(rest_xml(500, "InternalError"))
    seen_before = len(server.seen)
    error = raised_by(lambda: client("s3", server.url, attempts=2).list_buckets())
    assert len(server.seen) - seen_before == 2
    assert meaning_of(error) == ("transient", YES, Wait.MEDIUM)
    signal = conclusion(logged(error))
    assert signal is not None
    assert signal.wait is Wait.MEDIUM


def test_the_wait_that_a_service_asks_for_is_kept_beside_its_code(server: LoopbackServer) -> None:
    answer = rest_json(429, "TooManyRequestsException")
    server.answer(Answer(429, answer.body, {**answer.headers, "x-amz-retry-after": "90000"}))
    evidence = alive(raised_by(lambda: CALLS["lambda"][1](server.url)))
    found = conclude(evidence, read_signals(evidence))
    assert found.signal is not None
    assert (found.signal.code, found.asked_delay_s) == ("aws.TooManyRequestsException", 90)


# Errors inside errors.


def test_an_error_printed_by_an_operator_is_read_like_the_error_itself() -> None:
    error = ClientError({"Error": {"Code": "SlowDown", "Message": "Please reduce your request rate."}}, "PutObject")
    assert conclusion_code(alive(AirflowException(f"Could not copy: {error}"))) == "aws.SlowDown"


def test_an_error_of_the_sdk_for_go_is_read_in_a_log() -> None:
    message = (
        "operation error S3: PutObject, https response error StatusCode: 503, RequestID: 1, HostID: 2, "
        "api error SlowDown: Please reduce your request rate."
    )
    assert conclusion_code(printed("AirflowException", message)) == "aws.SlowDown"


def test_errors_in_one_message_that_disagree_settle_nothing() -> None:
    both = " ".join(
        str(ClientError({"Error": {"Code": code, "Message": "No."}}, "GetObject")) for code in ("SlowDown", "NoSuchKey")
    )
    assert set(codes(printed("AirflowException", both), "aws.")) == {"(aws.SlowDown)", "(aws.NoSuchKey)"}


def test_a_code_in_a_header_needs_no_botocore(server: LoopbackServer) -> None:
    server.answer(rest_json(400, "ThrottlingException"))
    error = raised_by(lambda: requests.get(server.url, timeout=5).raise_for_status())
    assert conclusion_code(alive(error)) == "aws.ThrottlingException"


def test_an_upload_that_failed_is_judged_by_what_s3_said(server: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "report").write_bytes(b"x")
    server.answer(rest_xml(403, "ExpiredToken"))
    upload = client("s3", server.url).upload_file
    error = raised_by(lambda: upload(str(tmp_path / "report"), "bucket", "key"))
    assert type(error).__name__ == "S3UploadFailedError"
    assert conclusion_code(alive(error)) == conclusion_code(logged(error)) == "aws.ExpiredToken"


# Waiters.


def wait_for(service: str, waiter: str, url: str, **what: str) -> object:
    return client(service, url).get_waiter(waiter).wait(WaiterConfig={"Delay": 0, "MaxAttempts": 2}, **what)


def test_a_waiter_that_met_an_error_is_judged_by_its_code(server: LoopbackServer) -> None:
    server.answer(json_1_0(400, "AccessDeniedException"))
    error = raised_by(lambda: wait_for("dynamodb", "table_exists", server.url, TableName="t"))
    assert isinstance(error, botocore.exceptions.WaiterError)
    assert conclusion_code(alive(error)) == conclusion_code(logged(error)) == "aws.AccessDeniedException"


def test_a_waiter_that_gave_up_hit_a_limit_whatever_it_saw_last(server: LoopbackServer) -> None:
    server.answer(json_1_0(400, "ResourceNotFoundException"))
    error = raised_by(lambda: wait_for("dynamodb", "table_exists", server.url, TableName="t"))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.max_attempts) == ("aws.waiter_timeout", "permanent", 2)


@pytest.mark.parametrize(
    ("reason", "category", "retry"),
    [
        ("INTERNAL_ERROR", "transient", YES),
        ("INSTANCE_FAILURE", "transient", YES),
        ("INSTANCE_FLEET_TIMEOUT", "transient", YES),
        ("BOOTSTRAP_FAILURE", "permanent", DEPENDS),
        ("VALIDATION_ERROR", "permanent", DEPENDS),
        ("USER_REQUEST", "permanent", NO),
        ("INTERNAL_ERROR_EC2_INSUFFICIENT_CAPACITY_AZ", "transient", YES),
        ("INTERNAL_ERROR_SPOT_NO_CAPACITY_PRIMARY", "transient", YES),
    ],
)
def test_a_cluster_that_ended_says_why(server: LoopbackServer, reason: str, category: str, retry: Retry) -> None:
    change = {"Code": reason, "Message": "No."}
    status = {"State": "TERMINATED_WITH_ERRORS", "StateChangeReason": change}
    server.answer(json_answer(200, {"Cluster": {"Id": "j-1", "Status": status}}))
    error = raised_by(lambda: wait_for("emr", "cluster_running", server.url, ClusterId="j-1"))
    for evidence in (alive(error), alive(AirflowException(f"EMR job failed: for code: {reason} with message No."))):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"aws.{reason}", category, retry)
    assert conclusion_code(logged(error)) == "aws.waiter_failure"


def test_a_task_of_ecs_that_lost_its_machine_says_so(server: LoopbackServer) -> None:
    task = {"lastStatus": "STOPPED", "stopCode": "SpotInterruption", "containers": []}
    server.answer(json_answer(200, {"tasks": [task], "failures": []}))
    waiter = client("ecs", server.url).get_waiter("tasks_running")
    error = raised_by(lambda: waiter.wait(cluster="c", tasks=["t"], WaiterConfig={"Delay": 0, "MaxAttempts": 2}))
    assert conclusion_code(alive(error)) == "ecs.SpotInterruption"


@pytest.mark.parametrize(
    ("is_retryable", "code", "retry"),
    [(True, "aws.athena_retryable", YES), (False, "aws.athena_not_retryable", NO)],
)
def test_athena_says_itself_whether_a_query_may_be_run_again(is_retryable: bool, code: str, retry: Retry) -> None:
    cause = {"ErrorCategory": 1, "ErrorType": 401, "Retryable": is_retryable, "ErrorMessage": "No."}
    status = {"State": "FAILED", "AthenaError": cause}
    signal = conclusion(alive(RuntimeError(f"query failed: {status}")))
    assert signal is not None
    assert (signal.code, signal.retry) == (code, retry)


# Failures without any answer.


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_credentials")
@pytest.mark.parametrize(
    ("call", "code", "expected"),
    [
        (
            lambda url: botocore.session.Session().create_client("sqs", "eu-central-1", endpoint_url=url).list_queues(),
            "aws.NoCredentialsError",
            EXPIRED,
        ),
        (lambda url: botocore.session.Session().create_client("sqs"), "aws.NoRegionError", SETUP),
        (lambda url: boto3.Session(profile_name="nobody"), "aws.ProfileNotFound", SETUP),
        (lambda url: session().client("zork"), "aws.UnknownServiceError", SETUP),
        (lambda url: client("s3", url).get_object(Bucket="b", Key=5), "aws.ParamValidationError", WRONG),
        (lambda url: client("s3", url).get_object(Bucket="a b!", Key="k"), "aws.ParamValidationError", WRONG),
    ],
)
def test_an_error_of_botocore_itself_is_read_by_its_class(
    server: LoopbackServer, call: Callable[[str], object], code: str, expected: Expected
) -> None:
    seen_before = len(server.seen)
    error = raised_by(lambda: call(server.url))
    assert meaning_of(error) == expected
    assert conclusion_code(alive(error)) == conclusion_code(logged(error)) == code
    assert len(server.seen) == seen_before


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CredentialRetrievalError", EXPIRED),
        ("TokenRetrievalError", EXPIRED),
        ("PartialCredentialsError", REFUSED),
        ("SSOTokenLoadError", REFUSED),
        ("UnauthorizedSSOTokenError", REFUSED),
        ("LoginRefreshRequired", REFUSED),
        ("RefreshWithMFAUnsupportedError", REFUSED),
        ("UnknownEndpointError", SETUP),
        ("EndpointResolutionError", SETUP),
    ],
)
def test_which_credentials_may_be_there_next_time(name: str, expected: Expected) -> None:
    fields = {"provider": "p", "error_msg": "e", "cred_var": "c", "msg": "m", "service_name": "s", "region_name": "r"}
    error = getattr(botocore.exceptions, name)(**fields)
    assert meaning_of(error) == expected
    assert conclusion_code(logged(error)) == f"aws.{name}"


def test_every_class_of_the_table_exists() -> None:
    missing = [
        kind
        for kind in CLASSES
        if kind.startswith("botocore.") and not hasattr(botocore.exceptions, kind.removeprefix("botocore."))
    ]
    assert missing == []


def test_a_connection_that_broke_is_still_a_broken_connection(server: LoopbackServer) -> None:
    server.answer(Answer(raw=b""))
    signal = conclusion(alive(raised_by(lambda: client("s3", server.url).list_buckets())))
    assert signal is not None
    assert (signal.category, signal.retry) == ("network", YES)


@pytest.mark.parametrize(
    "hostile",
    [
        "api error A" * 90_000,
        "operation error S3: A, " * 40_000,
        "An error occurred (" * 50_000,
        "An error occurred (A) when calling the " * 30_000,
        "'AthenaError': {" * 60_000,
    ],
)
def test_hostile_megabytes_are_read_without_an_error(hostile: str) -> None:
    assert codes(printed("AirflowException", hostile), "aws.") == []
