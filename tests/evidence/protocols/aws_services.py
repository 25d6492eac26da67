"""AWS as tests need it: clients of botocore, and what services answer to them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import boto3
import botocore.config
from failure_reading import alive, conclusion
from loopback.http_server import Answer, json_answer

from airflow_common_ai.evidence.model import Retry, Wait

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
