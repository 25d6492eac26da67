"""Waiters of botocore, and its exceptions that carry no code of a service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import botocore.exceptions
import botocore.session
import pytest
from airflow.exceptions import AirflowException
from aws_services import (
    DEPENDS,
    EXPIRED,
    NO,
    REFUSED,
    SETUP,
    WRONG,
    YES,
    Expected,
    client,
    json_1_0,
    meaning_of,
    session,
)
from failure_reading import alive, conclusion, conclusion_code, logged
from http_reading import raised_by
from loopback.http_server import Answer, LoopbackServer, json_answer, serving

from airflow_common_ai.evidence.model import Retry
from airflow_common_ai.evidence.protocols.aws.classes import CLASSES


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    """One for all: a client of botocore takes its time to be made."""
    with serving() as server:
        yield server


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
