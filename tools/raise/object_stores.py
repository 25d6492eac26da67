# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "adlfs==2026.8.0",
#     "aiobotocore==3.10.0",
#     "minio==7.2.20",
#     "s3fs==2026.9.0",
#     "urllib3==2.8.0",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What other clients of object stores raise: s3fs and aiobotocore, MinIO's own, and adlfs.

Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html and
https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import adlfs
import botocore.session
import minio
import s3fs
import urllib3
from aiobotocore.config import AioConfig
from aiobotocore.session import get_session
from harness import CANARY, WRONG_READING, Family
from servers.aws import aws_error
from servers.http import Answer, HttpServer, html, http_server, json_answer
from servers.port import refused_port

family = Family(__file__, "s3fs", servers={"http": http_server}, is_wire_form=True)
KEYS = {"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": CANARY}


def s3_error(status: int, code: str, message: str) -> Answer:
    os.environ.update(AWS_EC2_METADATA_DISABLED="true", AWS_CONFIG_FILE="none", AWS_SHARED_CREDENTIALS_FILE="none")
    client = botocore.session.Session().create_client("s3", region_name="eu-west-1", **KEYS)
    return aws_error(client, code, message, status=status)


# s3fs
def files(url: str) -> s3fs.S3FileSystem:
    os.environ.update(AWS_EC2_METADATA_DISABLED="true", AWS_CONFIG_FILE="none", AWS_SHARED_CREDENTIALS_FILE="none")
    s3fs.S3FileSystem.retries = 1
    return s3fs.S3FileSystem(
        key=KEYS["aws_access_key_id"],
        secret=CANARY,
        endpoint_url=url,
        client_kwargs={"region_name": "eu-west-1"},
        config_kwargs={"retries": {"total_max_attempts": 1}, "connect_timeout": 1, "read_timeout": 1},
        skip_instance_cache=True,
    )


def read(url: str) -> Any:
    return files(url).cat_file("lake/orders.csv")


def write(url: str) -> Any:
    return files(url).pipe_file("lake/orders.csv", b"1,2\n")


def show(url: str) -> Any:
    return files(url).ls("lake/orders")


for title, call, raises, status, code, message, tags in (
    ("key is none", read, "FileNotFoundError", 404, "NoSuchKey", "The specified key does not exist.", []),
    ("bucket is none", show, "FileNotFoundError", 404, "NoSuchBucket", "The specified bucket does not exist", []),
    ("no right", read, "PermissionError", 403, "AccessDenied", "Access Denied", []),
    (
        "key of the caller is none",
        show,
        "PermissionError",
        403,
        "InvalidAccessKeyId",
        "The AWS Access Key Id you provided does not exist in our records.",
        [],
    ),
    (
        "signature is wrong",
        show,
        "PermissionError",
        403,
        "SignatureDoesNotMatch",
        "The request signature we calculated does not match the signature you provided.",
        [],
    ),
    ("token has expired", read, "OSError", 400, "ExpiredToken", "The provided token has expired.", [WRONG_READING]),
    ("slow down", write, "OSError", 503, "SlowDown", "Please reduce your request rate.", [WRONG_READING]),
    (
        "internal error",
        write,
        "OSError",
        500,
        "InternalError",
        "We encountered an internal error. Please try again.",
        [],
    ),
    ("service is unavailable", show, "OSError", 503, "ServiceUnavailable", "Please reduce your request rate.", []),
    (
        "another operation is going on",
        write,
        "OSError",
        409,
        "OperationAborted",
        "A conflicting conditional operation is currently in progress against this resource.",
        [WRONG_READING],
    ),
    (
        "body was too slow",
        write,
        "OSError",
        400,
        "RequestTimeout",
        "Your socket connection to the server was not read from or written to within the timeout period.",
        [WRONG_READING],
    ),
    (
        "body is too large",
        write,
        "OSError",
        400,
        "EntityTooLarge",
        "Your proposed upload exceeds the maximum allowed size",
        [],
    ),
    (
        "object is there already",
        write,
        "OSError",
        412,
        "PreconditionFailed",
        "At least one of the pre-conditions you specified did not hold",
        [],
    ),
):

    @family.case(f"s3fs: {title}", raises=raises, tags=tags)
    def _(
        http: HttpServer,
        call: Callable[[str], Any] = call,
        status: int = status,
        code: str = code,
        message: str = message,
    ) -> None:
        call(http.answers(s3_error(status, code, message)))


@family.case("s3fs: object is archived", raises="OSError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    archived = s3_error(403, "InvalidObjectState", "The operation is not valid for the object's storage class")
    there = Answer(200, "", {"Content-Length": "100", "ETag": '"1"', "x-amz-storage-class": "GLACIER"})
    http.routes(lambda request: there if request.method == "HEAD" else archived)
    read(http.url)


@family.case("s3fs: endpoint refuses connections", raises=("EndpointConnectionError", "OSError"))
def _() -> None:
    with refused_port() as port:
        show(f"http://127.0.0.1:{port}")


@family.case("s3fs: answer does not come in time", raises=("ReadTimeoutError", "OSError", "TimeoutError"))
def _(http: HttpServer) -> None:
    show(http.answers(Answer(silent_s=5)))


@family.case("s3fs: server hangs up", raises=("ConnectionClosedError", "OSError", "HTTPClientError"))
def _(http: HttpServer) -> None:
    show(http.answers(Answer(raw=b"")))


@family.case(
    "s3fs: a bucket for a file name", raises=("ValueError", "FileNotFoundError", "ParamValidationError", "OSError")
)
def _(http: HttpServer) -> None:
    http.answers(s3_error(404, "NoSuchKey", "The specified key does not exist."))
    files(http.url).open("lake", "rb")


# aiobotocore
async_case = partial(family.case, library="aiobotocore")


async def call_async(url: str, service: str = "sqs", **config: Any) -> Any:
    settings = AioConfig(retries={"total_max_attempts": 1}, connect_timeout=1, read_timeout=1, **config)
    session = get_session()
    async with session.create_client(
        service, region_name="eu-west-1", endpoint_url=url, config=settings, **KEYS
    ) as aws:
        if service == "sqs":
            return await aws.receive_message(QueueUrl="https://sqs.eu-west-1.amazonaws.com/1/orders")
        return await (await aws.get_object(Bucket="lake", Key="orders.csv"))["Body"].read()


@async_case("aiobotocore: queue is none", raises="ClientError")
async def _(http: HttpServer) -> None:
    aws = botocore.session.Session().create_client("sqs", region_name="eu-west-1", **KEYS)
    code = "AWS.SimpleQueueService.NonExistentQueue"
    await call_async(http.answers(aws_error(aws, code, "The specified queue does not exist.", status=400)))


@async_case("aiobotocore: throttled with status 403", raises="ClientError", tags=[WRONG_READING])
async def _(http: HttpServer) -> None:
    aws = botocore.session.Session().create_client("sqs", region_name="eu-west-1", **KEYS)
    await call_async(http.answers(aws_error(aws, "RequestThrottled", "Request is throttled.", status=403)))


@async_case(
    "aiobotocore: object is cut off",
    raises=("AioReadTimeoutError", "ResponseStreamingError", "ClientPayloadError"),
    tags=[WRONG_READING],
)
async def _(http: HttpServer) -> None:
    await call_async(http.answers(Answer(200, "x" * 1000, cut_after_bytes=10)), "s3")


# MinIO's client: https://min.io/docs/minio/linux/developers/python/API.html
minio_case = partial(family.case, library="minio")


def store(url: str, **options: Any) -> minio.Minio:
    pool = urllib3.PoolManager(timeout=urllib3.Timeout(1), retries=urllib3.Retry(0))
    place = url.split("://")[1]
    return minio.Minio(place, "etl", CANARY, secure=False, region="eu-west-1", http_client=pool, **options)


def minio_error(status: int, code: str, message: str) -> Answer:
    body = (
        f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{message}</Message>'
        "<BucketName>lake</BucketName><Key>orders.csv</Key><Resource>/lake/orders.csv</Resource>"
        "<RequestId>17A2</RequestId><HostId>abc</HostId></Error>"
    )
    return Answer(status, body, {"Content-Type": "application/xml"})


for title, status, code, message, tags in (
    ("key is none", 404, "NoSuchKey", "The specified key does not exist.", []),
    ("bucket is none", 404, "NoSuchBucket", "The specified bucket does not exist", []),
    ("no right", 403, "AccessDenied", "Access Denied.", []),
    (
        "access key is none",
        403,
        "InvalidAccessKeyId",
        "The Access Key Id you provided does not exist in our records.",
        [],
    ),
    (
        "clock is wrong",
        403,
        "RequestTimeTooSkewed",
        "The difference between the request time and the server's time is too large.",
        [WRONG_READING],
    ),
    (
        "server is busy",
        503,
        "SlowDownRead",
        "Resource requested is unreadable, please reduce your request rate",
        [WRONG_READING],
    ),
    (
        "writes are too many",
        503,
        "SlowDownWrite",
        "Resource requested is unwritable, please reduce your request rate",
        [WRONG_READING],
    ),
    ("server is starting", 503, "XMinioServerNotInitialized", "Server not initialized, please try again.", []),
    (
        "storage is full",
        507,
        "XMinioStorageFull",
        "Storage backend has reached its minimum free drive threshold. Please delete a few objects to proceed.",
        [WRONG_READING],
    ),
    (
        "quota of the bucket is used up",
        400,
        "XMinioAdminBucketQuotaExceeded",
        "Bucket quota exceeded",
        [WRONG_READING],
    ),
    ("object is locked", 400, "InvalidRequest", "Object is WORM protected and cannot be overwritten", []),
    (
        "name holds what is not allowed",
        400,
        "XMinioInvalidObjectName",
        "Object name contains unsupported characters.",
        [],
    ),
    (
        "too many requests",
        503,
        "TooManyRequests",
        "Deadline exceeded while waiting in incoming queue, please reduce your request rate",
        [WRONG_READING],
    ),
    (
        "read quorum is lost",
        503,
        "InsufficientReadQuorum",
        "Storage resources are insufficient for the read operation lake/orders.csv",
        [],
    ),
):

    @minio_case(f"minio: {title}", raises="S3Error", tags=tags)
    def _(http: HttpServer, status: int = status, code: str = code, message: str = message) -> None:
        store(http.answers(minio_error(status, code, message))).get_object("lake", "orders.csv")


@minio_case("minio: a proxy answers in HTML", raises="InvalidResponseError")
def _(http: HttpServer) -> None:
    store(http.answers(html(502, "<html><h1>502 Bad Gateway</h1></html>"))).get_object("lake", "orders.csv")


@minio_case("minio: something else answers in JSON", raises="InvalidResponseError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    store(http.answers(json_answer(401, {"error": "unauthorized"}))).get_object("lake", "orders.csv")


@minio_case("minio: TLS asked of a plain server", raises="MaxRetryError")
def _(http: HttpServer) -> None:
    pool = urllib3.PoolManager(timeout=urllib3.Timeout(1), retries=urllib3.Retry(0))
    minio.Minio(f"127.0.0.1:{http.port}", "etl", CANARY, region="eu-west-1", http_client=pool).bucket_exists("lake")


@minio_case("minio: bucket name is not allowed", raises="ValueError")
def _(http: HttpServer) -> None:
    store(http.url).bucket_exists("l")


# adlfs
def lake(url: str) -> adlfs.AzureBlobFileSystem:
    key = base64.b64encode(CANARY.encode()).decode()
    connection = f"DefaultEndpointsProtocol=http;AccountName=etl;AccountKey={key};BlobEndpoint={url}/etl;"
    return adlfs.AzureBlobFileSystem(
        connection_string=connection, skip_instance_cache=True, connection_timeout=1, read_timeout=1
    )


def azure_error(status: int, code: str, message: str) -> Answer:
    body = f"<?xml version='1.0' encoding='utf-8'?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
    return Answer(status, body, {"x-ms-error-code": code, "Content-Type": "application/xml"})


for title, raises, status, code, message, tags in (
    ("blob is none", "FileNotFoundError", 404, "BlobNotFound", "The specified blob does not exist.", []),
    (
        "container is none",
        "FileNotFoundError",
        404,
        "ContainerNotFound",
        "The specified container does not exist.",
        [],
    ),
    (
        "signature is wrong",
        "Exception",
        403,
        "AuthenticationFailed",
        "Server failed to authenticate the request.",
        [],
    ),
    (
        "role is missing",
        "Exception",
        403,
        "AuthorizationPermissionMismatch",
        "This request is not authorized to perform this operation using this permission.",
        [],
    ),
):

    @family.case(f"adlfs: {title}", raises=raises, tags=tags, library="adlfs")
    def _(http: HttpServer, status: int = status, code: str = code, message: str = message) -> None:
        lake(http.answers(azure_error(status, code, message))).cat_file("lake/orders.csv")


if __name__ == "__main__":
    family.run()
