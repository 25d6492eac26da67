# /// script
# requires-python = "==3.11.*"
# dependencies = ["aiohttp==3.14.5", "azure-core==1.41.0", "azure-storage-blob==12.31.1", "requests==2.34.2", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What Azure's client of Blob Storage raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import requests
import tenacity
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobClient, BlobLeaseClient, ContainerClient
from azure.storage.blob.aio import BlobClient as AsyncBlobClient
from harness import CANARY, WRONG_READING, Family
from servers.azure_errors import KEY, QUICK, storage_error
from servers.http import Answer, HttpServer, html, http_server
from servers.port import refused_port

family = Family(__file__, "azure-storage-blob", servers={"http": http_server}, is_wire_form=True)


def blob(url: str, **options: Any) -> BlobClient:
    return BlobClient(
        f"{url}/etl", "lake", "orders.csv", credential={"account_name": "etl", "account_key": KEY}, **QUICK | options
    )


def read(url: str) -> Any:
    return blob(url).download_blob().readall()


def write(url: str) -> Any:
    return blob(url).upload_blob(b"1,2\n", overwrite=True)


def create(url: str) -> Any:
    return blob(url).upload_blob(b"1,2\n")


def make_container(url: str) -> Any:
    return ContainerClient(
        f"{url}/etl", "lake", credential={"account_name": "etl", "account_key": KEY}, **QUICK
    ).create_container()


def lease(url: str) -> Any:
    return BlobLeaseClient(blob(url)).acquire(15)


AUTH = (
    "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly"
    " including the signature."
)
for title, call, status, code, message, tags in (
    ("blob is none", read, 404, "BlobNotFound", "The specified blob does not exist.", []),
    ("container is none", write, 404, "ContainerNotFound", "The specified container does not exist.", []),
    ("blob exists", create, 409, "BlobAlreadyExists", "The specified blob already exists.", []),
    (
        "container of this name is still being deleted",
        make_container,
        409,
        "ContainerBeingDeleted",
        "The specified container is being deleted. Try operation later.",
        [WRONG_READING],
    ),
    (
        "blob is leased by somebody else",
        write,
        412,
        "LeaseIdMissing",
        "There is currently a lease on the blob and no lease ID was specified in the request.",
        [WRONG_READING],
    ),
    ("lease is held", lease, 409, "LeaseAlreadyPresent", "There is already a lease present.", [WRONG_READING]),
    (
        "lease is being broken",
        lease,
        409,
        "LeaseIsBreakingAndCannotBeAcquired",
        (
            "The lease ID matched, but the lease is currently in breaking state and cannot be acquired until it is"
            " broken."
        ),
        [WRONG_READING],
    ),
    (
        "ETag is another one",
        write,
        412,
        "ConditionNotMet",
        "The condition specified using HTTP conditional header(s) is not met.",
        [],
    ),
    (
        "blob is archived",
        read,
        409,
        "BlobArchived",
        "This operation is not permitted on an archived blob.",
        [WRONG_READING],
    ),
    (
        "blob is being rehydrated",
        write,
        409,
        "BlobBeingRehydrated",
        "This operation is not permitted because the blob is being rehydrated.",
        [WRONG_READING],
    ),
    (
        "blob is immutable",
        write,
        409,
        "BlobImmutableDueToPolicy",
        "This operation is not permitted as the blob is immutable due to a policy.",
        [WRONG_READING],
    ),
    (
        "copy is pending",
        write,
        409,
        "PendingCopyOperation",
        "There is currently a pending copy operation.",
        [WRONG_READING],
    ),
    (
        "server is busy",
        read,
        503,
        "ServerBusy",
        "The server is currently unable to receive requests. Please retry your request.",
        [],
    ),
    (
        "ingress is over the limit of the account",
        write,
        503,
        "ServerBusy",
        "Ingress is over the account limit.",
        [WRONG_READING],
    ),
    (
        "operation timed out",
        write,
        500,
        "OperationTimedOut",
        "Operation could not be completed within the specified time.",
        [],
    ),
    (
        "internal error",
        read,
        500,
        "InternalError",
        "The server encountered an internal error. Please retry the request.",
        [],
    ),
    ("signature is wrong", read, 403, "AuthenticationFailed", AUTH, []),
    (
        "clock is wrong",
        read,
        403,
        "AuthenticationFailed",
        AUTH + " Request date header too old: 'Sat, 01 Aug 2026 09:00:00 GMT'",
        [WRONG_READING],
    ),
    (
        "firewall of the account",
        read,
        403,
        "AuthorizationFailure",
        "This request is not authorized to perform this operation.",
        [WRONG_READING],
    ),
    (
        "role is missing",
        read,
        403,
        "AuthorizationPermissionMismatch",
        "This request is not authorized to perform this operation using this permission.",
        [],
    ),
    (
        "keys are not allowed",
        read,
        403,
        "KeyBasedAuthenticationNotPermitted",
        "Key based authentication is not permitted on this storage account.",
        [],
    ),
    (
        "public access is not allowed",
        read,
        409,
        "PublicAccessNotPermitted",
        "Public access is not permitted on this storage account.",
        [WRONG_READING],
    ),
    (
        "token has expired",
        read,
        401,
        "InvalidAuthenticationInfo",
        "Server failed to authenticate the request. Lifetime validation failed. The token is expired.",
        [WRONG_READING],
    ),
    ("account is disabled", read, 403, "AccountIsDisabled", "The specified account is disabled.", [WRONG_READING]),
    (
        "body is too large",
        write,
        413,
        "RequestBodyTooLarge",
        "The request body is too large and exceeds the maximum permissible limit.",
        [],
    ),
    (
        "checksum is another one",
        write,
        400,
        "Md5Mismatch",
        "The MD5 value specified in the request did not match with the MD5 value calculated by the server.",
        [WRONG_READING],
    ),
    (
        "range is not valid",
        read,
        416,
        "InvalidRange",
        "The range specified is invalid for the current size of the resource.",
        [],
    ),
):

    @family.case(f"blob: {title}", raises="HttpResponseError", tags=tags)
    def _(
        http: HttpServer,
        call: Callable[[str], Any] = call,
        status: int = status,
        code: str = code,
        message: str = message,
    ) -> None:
        call(http.answers(storage_error(status, code, message)))


@family.case("blob: too many requests with a wait", raises="HttpResponseError")
def _(http: HttpServer) -> None:
    read(http.answers(storage_error(429, "TooManyRequests", "Too many requests.", headers={"Retry-After": "10"})))


@family.case("blob: signature of a shared link has expired", raises="HttpResponseError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    detail = "<AuthenticationErrorDetail>Signature not valid in the specified time frame</AuthenticationErrorDetail>"
    url = http.answers(storage_error(403, "AuthenticationFailed", AUTH, more=detail))
    link = f"{url}/etl/lake/orders.csv?sv=2026-01-01&se=2026-08-01&sr=b&sp=r&sig={CANARY}"
    BlobClient.from_blob_url(link, **QUICK).download_blob().readall()


@family.case("blob: head of a blob that is none", raises="ResourceNotFoundError")
def _(http: HttpServer) -> None:
    blob(http.answers(Answer(404, headers={"x-ms-error-code": "BlobNotFound"}))).get_blob_properties()


@family.case("blob: gateway answers in HTML", raises="HttpResponseError")
def _(http: HttpServer) -> None:
    read(http.answers(html(502, "<html><head><title>502 Bad Gateway</title></head></html>")))


@family.case("blob: connection is refused", raises="ServiceRequestError")
def _() -> None:
    with refused_port() as port:
        read(f"http://127.0.0.1:{port}")


@family.case("blob: host does not exist", raises="ServiceRequestError")
def _() -> None:
    read("https://etl.blob.invalid")


@family.case("blob: answer does not come in time", raises=("ServiceResponseError", "ServiceRequestError"))
def _(http: HttpServer) -> None:
    read(http.answers(Answer(silent_s=5)))


@family.case("blob: connection is reset", raises="ServiceResponseError")
def _(http: HttpServer) -> None:
    read(http.answers(Answer(is_reset=True)))


@family.case("blob: download is cut off", raises=("IncompleteReadError", "ServiceResponseError", "HttpResponseError"))
def _(http: HttpServer) -> None:
    read(http.answers(Answer(206, "x" * 100, {"Content-Range": "bytes 0-99/100"}, cut_after_bytes=10)))


@family.case("blob: list that is no XML to its end", raises=("DecodeError", "HttpResponseError"), tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    url = http.answers(Answer(200, "<EnumerationResults><Blobs><Blob><Name>a", {"Content-Type": "application/xml"}))
    credential = {"account_name": "etl", "account_key": KEY}
    list(ContainerClient(f"{url}/etl", "lake", credential=credential, **QUICK).list_blobs())


@family.case("blob: account key that is no base64", raises=("AzureSigningError", "ValueError", "Error"))
def _(http: HttpServer) -> None:
    credential = {"account_name": "etl", "account_key": "not base64!"}
    BlobClient(f"{http.url}/etl", "lake", "orders.csv", credential=credential, **QUICK).download_blob()


@family.case("blob: connection string without an account", raises="ValueError")
def _() -> None:
    BlobClient.from_connection_string("DefaultEndpointsProtocol=https", "lake", "orders.csv")


@family.case("asyncio: connection is refused", raises="ServiceRequestError")
async def _() -> None:
    with refused_port() as port:
        async with AsyncBlobClient(f"http://127.0.0.1:{port}/etl", "lake", "orders.csv", **QUICK) as opened:
            await opened.download_blob()


class LoadError(Exception):
    """A task's own."""


@family.case("a task's own error around a blob that is leased", raises="LoadError")
def _(http: HttpServer) -> None:
    try:
        write(http.answers(storage_error(412, "LeaseIdMissing", "There is currently a lease on the blob.")))
    except Exception as error:
        raise LoadError("cannot publish the orders") from error


@family.case("tenacity gives up on a busy account", raises="RetryError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    url = http.answers(storage_error(503, "ServerBusy", "Egress is over the account limit."))
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())(read, url)


@family.case("clean-up finds nothing after an upload was reset", raises="ResourceNotFoundError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    http.answers(Answer(is_reset=True), storage_error(404, "BlobNotFound", "The specified blob does not exist."))
    try:
        write(http.url)
    finally:
        blob(http.url).delete_blob()


@family.case("two of three files fail in one group", raises="ExceptionGroup")
def _(http: HttpServer) -> None:
    errors = []
    for answer in (
        storage_error(404, "BlobNotFound", "The specified blob does not exist."),
        storage_error(503, "ServerBusy", "The server is currently unable to receive requests."),
    ):
        try:
            read(http.answers(answer))
        except HttpResponseError as error:
            errors.append(error)
    raise ExceptionGroup("some files were not loaded", errors)


def shared_link(url: str) -> str:
    return f"{url}/etl/lake/orders.csv?sv=2026-01-01&se=2026-08-01&sr=b&sp=r&sig={CANARY}"


@family.case("a shared link that has expired, read without a client", raises="HTTPError", library="requests")
def _(http: HttpServer) -> None:
    detail = "<AuthenticationErrorDetail>Signature not valid in the specified time frame</AuthenticationErrorDetail>"
    url = http.answers(storage_error(403, "AuthenticationFailed", AUTH, more=detail))
    requests.get(shared_link(url), timeout=1).raise_for_status()


@family.case(
    "a shared link whose host refuses connections, read without a client", raises="ConnectionError", library="requests"
)
def _() -> None:
    with refused_port() as port:
        requests.get(shared_link(f"http://127.0.0.1:{port}"), timeout=1)


@family.case("a task's own error that tells the connection string", raises="LoadError")
def _(http: HttpServer) -> None:
    url = http.answers(storage_error(404, "ContainerNotFound", "The specified container does not exist."))
    text = f"DefaultEndpointsProtocol=http;AccountName=etl;AccountKey={KEY};BlobEndpoint={url}/etl;"
    try:
        BlobClient.from_connection_string(text, "lake", "orders.csv", **QUICK).download_blob()
    except HttpResponseError as error:
        raise LoadError(f"cannot read with {text}") from error


if __name__ == "__main__":
    family.run()
