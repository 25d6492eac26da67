# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "google-api-core==2.43.2",
#     "google-auth==2.62.0",
#     "google-api-python-client==2.201.0",
#     "httplib2==0.32.1",
#     "requests==2.34.2",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What googleapiclient raises for the services of Google that have no client of their own."""

from __future__ import annotations

import json
from typing import Any

import httplib2
import requests
from googleapiclient.discovery import build
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.google_errors import INFO, TYPES, google_error, rpc_error
from servers.http import Answer, HttpServer, html, http_server, json_answer
from servers.port import refused_port

family = Family(__file__, "google-api-python-client", servers={"http": http_server}, is_wire_form=True)


# googleapiclient. Forms: https://developers.google.com/workspace/drive/api/guides/handle-errors
def service(name: str, version: str, url: str) -> Any:
    class WithToken(httplib2.Http):
        def request(self, uri: str, *args: Any, **options: Any) -> Any:
            options["headers"] = {**(options.get("headers") or {}), "authorization": f"Bearer {CANARY}"}
            return super().request(uri, *args, **options)

    options = {"api_endpoint": url}
    return build(name, version, http=WithToken(timeout=1), client_options=options, cache_discovery=False)


def files(url: str) -> Any:
    return service("drive", "v3", url).files().list().execute()


for title, status, reason, message, more, tags in (
    (
        "user rate with status 403",
        403,
        "userRateLimitExceeded",
        "User Rate Limit Exceeded. Rate of requests for user exceed configured project quota",
        {"domain": "usageLimits"},
        [WRONG_READING],
    ),
    (
        "daily limit",
        403,
        "dailyLimitExceeded",
        "Daily Limit Exceeded. The quota will be reset at midnight Pacific Time",
        {"domain": "usageLimits"},
        [WRONG_READING],
    ),
    (
        "storage of the user is full",
        403,
        "storageQuotaExceeded",
        "The user's Drive storage quota has been exceeded.",
        {},
        [WRONG_READING],
    ),
    (
        "app may not read the file",
        403,
        "appNotAuthorizedToFile",
        "The user has not granted the app access to the file.",
        {},
        [],
    ),
    (
        "scopes are too few",
        403,
        "insufficientPermissions",
        "Insufficient Permission: Request had insufficient authentication scopes.",
        {"word": "PERMISSION_DENIED"},
        [],
    ),
    ("too many requests", 429, "rateLimitExceeded", "Rate Limit Exceeded", {"headers": {"Retry-After": "17"}}, []),
    ("backend error", 500, "backendError", "Backend Error", {}, []),
    (
        "export is too large",
        403,
        "exportSizeLimitExceeded",
        "This file is too large to be exported.",
        {},
        [WRONG_READING],
    ),
    ("token", 401, "authError", "Invalid Credentials", {"word": "UNAUTHENTICATED"}, []),
):

    @family.case(f"drive: {title}", raises="HttpError", tags=tags)
    def _(
        http: HttpServer, status: int = status, reason: str = reason, message: str = message, more: Any = more
    ) -> None:
        files(http.answers(google_error(status, reason, message, **more)))


for title, answer, tags in (
    (
        "sheets: reads per minute",
        rpc_error(
            429,
            "RESOURCE_EXHAUSTED",
            "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user'.",
            {**INFO, "reason": "RATE_LIMIT_EXCEEDED", "metadata": {"quota_limit": "ReadRequestsPerMinutePerUser"}},
        ),
        [],
    ),
    (
        "sheets: quota that is refilled in 34 seconds",
        rpc_error(
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota.",
            {"@type": f"{TYPES}RetryInfo", "retryDelay": "34s"},
        ),
        [],
    ),
    (
        "sheets: API is disabled",
        rpc_error(
            403,
            "PERMISSION_DENIED",
            "Google Sheets API has not been used in project 123 before or it is disabled.",
            {**INFO, "reason": "SERVICE_DISABLED", "metadata": {"service": "sheets.googleapis.com"}},
        ),
        [WRONG_READING],
    ),
    (
        "sheets: billing is disabled",
        rpc_error(
            403,
            "PERMISSION_DENIED",
            "This API method requires billing to be enabled.",
            {**INFO, "reason": "BILLING_DISABLED"},
        ),
        [WRONG_READING],
    ),
    (
        "sheets: range cannot be parsed",
        rpc_error(400, "INVALID_ARGUMENT", "Unable to parse range: Ordres!A1:C"),
        [],
    ),
    (
        "sheets: sheet is protected",
        rpc_error(400, "INVALID_ARGUMENT", "You are trying to edit a protected cell or object."),
        [WRONG_READING],
    ),
    ("sheets: write was aborted", rpc_error(409, "ABORTED", "The operation was aborted."), [WRONG_READING]),
):

    @family.case(title, raises="HttpError", tags=tags)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        sheets = service("sheets", "v4", http.answers(answer))
        sheets.spreadsheets().values().get(spreadsheetId="1AbC", range="Orders!A1:C").execute()


@family.case(
    "dataproc: no resources in the zone, kept in words",
    raises="RuntimeError",
    tags=[FROM_TEXT],
)
def _(http: HttpServer) -> None:
    # https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-vm-creation
    error = {
        "errors": [
            {
                "code": "ZONE_RESOURCE_POOL_EXHAUSTED",
                "message": (
                    "The zone 'projects/etl-prod/zones/europe-west1-b' does not have enough resources available to"
                    " fulfill the request. Try a different zone, or try again later."
                ),
            }
        ]
    }
    http.answers(json_answer(200, {"name": "operation-1", "status": "DONE", "error": error}))
    compute = service("compute", "v1", http.url)
    done = compute.zoneOperations().get(project="etl-prod", zone="europe-west1-b", operation="operation-1").execute()
    raise RuntimeError(f"operation failed: {json.dumps(done['error'])}")


@family.case("drive: the connection is refused", raises="ConnectionRefusedError")
def _() -> None:
    with refused_port() as port:
        files(f"http://127.0.0.1:{port}")


@family.case("drive: the answer does not come in time", raises="TimeoutError")
def _(http: HttpServer) -> None:
    files(http.answers(Answer(silent_s=5)))


@family.case("drive: host does not exist", raises="ServerNotFoundError")
def _() -> None:
    files("https://drive.invalid")


@family.case("drive: body is cut off", raises=("IncompleteRead", "HttpLib2Error"))
def _(http: HttpServer) -> None:
    files(http.answers(Answer(200, "x" * 1000, cut_after_bytes=10)))


@family.case("drive: error page without JSON", raises="HttpError")
def _(http: HttpServer) -> None:
    files(http.answers(html(502, "<html><title>Error 502 (Server Error)!!1</title></html>")))


@family.case(
    "an API that googleapiclient does not know",
    raises=("UnknownApiNameOrVersion",),
)
def _(http: HttpServer) -> None:
    service("drvie", "v3", http.url)


@family.case("a parameter that the API does not have", raises="TypeError")
def _(http: HttpServer) -> None:
    service("drive", "v3", http.url).files().list(pagesize=10).execute()


@family.case(
    "a plain request to a JSON service keeps Google's error in its body",
    raises="HTTPError",
    library="requests",
    tags=[WRONG_READING],
)
def _(http: HttpServer) -> None:
    answer = rpc_error(403, "PERMISSION_DENIED", "Quota exceeded", {**INFO, "reason": "RATE_LIMIT_EXCEEDED"})
    requests.get(http.answers(answer), headers={"Authorization": f"Bearer {CANARY}"}, timeout=2).raise_for_status()


if __name__ == "__main__":
    family.run()
