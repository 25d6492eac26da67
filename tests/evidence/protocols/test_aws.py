"""AWS errors, raised by botocore and boto3 against a loopback server that answers in the forms of AWS's services."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from airflow.exceptions import AirflowException
from aws_services import (
    ACCOUNT_LIMIT,
    AT_A_TIME,
    CALLS,
    DAMAGED,
    DEPENDS,
    EXPIRED,
    FAILED,
    IN_THE_WAY,
    MISSING,
    NO,
    NO_CAPACITY,
    REFUSED,
    SETUP,
    THROTTLED,
    WRONG,
    WRONG_STATE,
    YES,
    Expected,
    client,
    meaning_of,
    rest_json,
    rest_xml,
)
from botocore.exceptions import ClientError
from failure_reading import alive, codes, conclusion, conclusion_code, logged, printed
from http_reading import raised_by
from loopback.http_server import Answer, LoopbackServer, json_answer, serving

from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Retry, Wait
from airflow_common_ai.evidence.protocols import read_signals


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    """One for all: a client of botocore takes its time to be made."""
    with serving() as server:
        yield server


SERVICES_SAY: list[tuple[str, int, str, Expected]] = [
    ("s3", 503, "SlowDown", THROTTLED),
    ("s3", 400, "RequestTimeout", FAILED),
    ("s3", 400, "BadDigest", DAMAGED),
    ("s3", 409, "OperationAborted", IN_THE_WAY),
    ("s3", 400, "ExpiredToken", EXPIRED),
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


def test_a_code_that_no_word_of_is_known_is_left_to_the_status(server: LoopbackServer) -> None:
    server.answer(rest_json(503, "ZorkException"), rest_json(400, "ZorkException"))
    assert conclusion_code(alive(raised_by(lambda: CALLS["lambda"][1](server.url)))) == "http.503"
    assert conclusion(alive(raised_by(lambda: CALLS["lambda"][1](server.url)))) is None


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
