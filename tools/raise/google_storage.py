# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "google-api-core==2.43.2",
#     "google-auth==2.62.0",
#     "google-cloud-storage==3.17.1",
#     "requests==2.34.2",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What Google's client of Cloud Storage raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.api_core.client_options import ClientOptions
from google.api_core.retry import Retry
from google.cloud import storage
from google.oauth2.credentials import Credentials
from harness import CANARY, WRONG_READING, Family
from servers.google_errors import credentials, google_error, refuses
from servers.http import Answer, HttpServer, Request, html, http_server
from servers.port import refused_port

family = Family(__file__, "google-cloud-storage", servers={"http": http_server}, is_wire_form=True)
TIMEOUT_S = 2.0


# Cloud Storage.
def bucket(url: str) -> Any:
    options = ClientOptions(api_endpoint=url)
    return storage.Client("etl-prod", credentials=credentials(url), client_options=options).bucket("lake")


def read_blob(url: str) -> Any:
    return bucket(url).blob("orders.csv").download_as_bytes(retry=None, timeout=TIMEOUT_S)


def write_blob(url: str) -> Any:
    return bucket(url).blob("orders.csv").upload_from_string(b"1,2\n", retry=None, timeout=TIMEOUT_S, checksum=None)


def list_blobs(url: str) -> Any:
    return list(bucket(url).list_blobs(retry=None, timeout=TIMEOUT_S))


ETL = "etl@etl-prod.iam.gserviceaccount.com"
for title, call, status, reason, message, tags in (
    ("object that is none", read_blob, 404, "notFound", "No such object: lake/orders.csv", []),
    ("bucket that is none", list_blobs, 404, "notFound", "The specified bucket does not exist.", []),
    (
        "no right to list",
        list_blobs,
        403,
        "forbidden",
        (
            f"{ETL} does not have storage.objects.list access to the Google Cloud Storage bucket. "
            "Permission 'storage.objects.list' denied on resource (or it may not exist)."
        ),
        [],
    ),
    (
        "billing account is closed",
        list_blobs,
        403,
        "accountDisabled",
        "The billing account for the owning project is disabled in state absent",
        [WRONG_READING],
    ),
    (
        "project of a requester-pays bucket is not given",
        list_blobs,
        400,
        "required",
        "Bucket is a requester pays bucket but no user project provided.",
        [],
    ),
    ("token is not valid", list_blobs, 401, "authError", "Invalid Credentials", []),
    (
        "object is written to too often",
        write_blob,
        429,
        "rateLimitExceeded",
        (
            "The object lake/orders.csv exceeded the rate limit for object mutation operations (create, update, and "
            "delete). Please reduce your request rate. See https://cloud.google.com/storage/docs/gcs429."
        ),
        [],
    ),
    ("project sends too many requests", list_blobs, 429, "userRateLimitExceeded", "User Rate Limit Exceeded", []),
    (
        "egress quota of the region",
        read_blob,
        429,
        "quotaExceeded",
        "Project etl-prod exceeds its egress bandwidth quota",
        [WRONG_READING],
    ),
    ("backend error", list_blobs, 503, "backendError", "We encountered an internal error. Please try again.", []),
    ("request timed out at the server", write_blob, 408, "uploadBrokenConnection", "Request Timeout", []),
    (
        "generation is not the expected one",
        write_blob,
        412,
        "conditionNotMet",
        "At least one of the conditions failed",
        [],
    ),
    (
        "range cannot be satisfied",
        read_blob,
        416,
        "requestedRangeNotSatisfiable",
        "Request range not satisfiable",
        [],
    ),
    (
        "object is under retention",
        write_blob,
        403,
        "retentionPolicyNotMet",
        "Object 'lake/orders.csv' is subject to bucket's retention policy and cannot be overwritten until 2027-01-01",
        [WRONG_READING],
    ),
    (
        "organization policy forbids public access",
        write_blob,
        412,
        "orgPolicyConstraintFailed",
        "Request violates constraint 'constraints/storage.publicAccessPrevention'",
        [],
    ),
    (
        "perimeter of the organization forbids it",
        list_blobs,
        403,
        "vpcServiceControls",
        "Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: abc",
        [],
    ),
    (
        "key of the bucket may not be used",
        write_blob,
        403,
        "forbidden",
        (
            "Permission denied on Cloud KMS key. Please ensure that your Cloud Storage service account has been"
            " authorized"
        ),
        [],
    ),
):

    @family.case(f"{title}", raises="GoogleAPICallError", tags=tags)
    def _(
        http: HttpServer,
        call: Callable[[str], Any] = call,
        status: int = status,
        reason: str = reason,
        message: str = message,
    ) -> None:
        call(refuses(http, google_error(status, reason, message)))


@family.case("a token that cannot be refreshed is not valid", raises="RefreshError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    url = http.answers(google_error(401, "authError", "Invalid Credentials"))
    options = ClientOptions(api_endpoint=url)
    client = storage.Client("etl-prod", credentials=Credentials(token=CANARY), client_options=options)
    list(client.list_blobs("lake", retry=None, timeout=TIMEOUT_S))


@family.case("load balancer says 502 in HTML", raises="BadGateway")
def _(http: HttpServer) -> None:
    page = (
        "<html><title>Error 502 (Server Error)!!1</title><p>The server encountered a temporary error and could not"
        " complete your request.<p>Please try again in 30 seconds.</html>"
    )
    list_blobs(http.answers(html(502, page)))


@family.case("retry gives up after its deadline", raises="RetryError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    url = http.answers(google_error(429, "rateLimitExceeded", "Rate limit exceeded", headers={"Retry-After": "10"}))
    list(bucket(url).list_blobs(retry=Retry(initial=0.05, maximum=0.1, timeout=0.5), timeout=TIMEOUT_S))


@family.case("retry gives up on refused connections", raises="RetryError", tags=[WRONG_READING])
def _() -> None:
    with refused_port() as port:
        list(
            bucket(f"http://127.0.0.1:{port}").list_blobs(
                retry=Retry(initial=0.05, maximum=0.1, timeout=0.4), timeout=1
            )
        )


@family.case("the connection is refused", raises="ConnectionError")
def _() -> None:
    with refused_port() as port:
        list_blobs(f"http://127.0.0.1:{port}")


@family.case("the answer does not come in time", raises=("ReadTimeout", "ConnectionError"))
def _(http: HttpServer) -> None:
    list(bucket(http.answers(Answer(silent_s=5))).list_blobs(retry=None, timeout=0.4))


@family.case("the connection is reset in an upload", raises="ConnectionError")
def _(http: HttpServer) -> None:
    write_blob(http.answers(Answer(is_reset=True)))


@family.case("a download has another checksum", raises="DataCorruption", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    url = http.answers(Answer(200, "1,2\n", {"X-Goog-Hash": "crc32c=AAAAAA==,md5=AAAAAAAAAAAAAAAAAAAAAA=="}))
    bucket(url).blob("orders.csv").download_as_bytes(retry=None, timeout=TIMEOUT_S, checksum="md5")


@family.case("a download is cut off", raises=("ChunkedEncodingError", "ConnectionError"))
def _(http: HttpServer) -> None:
    read_blob(http.answers(Answer(200, "x" * 1000, cut_after_bytes=10)))


@family.case("a resumable upload has lost its session", raises="InvalidResponse", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    def route(request: Request) -> Answer:
        if request.method == "POST":
            return Answer(200, "", {"Location": f"{http.url}/session"})
        return google_error(410, "gone", "The requested upload session is no longer available")

    http.routes(route)
    blob = bucket(http.url).blob("orders.csv", chunk_size=256 * 1024)
    with blob.open("wb", ignore_flush=True) as file:
        file.write(b"x" * 600_000)


class LoadError(Exception):
    """A task's own."""


@family.case("a task's own error around a bucket that refuses", raises="LoadError")
def _(http: HttpServer) -> None:
    try:
        list_blobs(http.answers(google_error(403, "forbidden", f"{ETL} does not have storage.objects.list access")))
    except Exception as error:
        raise LoadError("cannot list the landing zone") from error


if __name__ == "__main__":
    family.run()
