# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "google-api-core==2.43.2",
#     "google-auth==2.62.0",
#     "google-cloud-bigquery==3.47.0",
#     "requests==2.34.2",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What Google's client of BigQuery raises, for requests and for jobs that failed."""

from __future__ import annotations

from typing import Any

import tenacity
from google.api_core.client_options import ClientOptions
from google.cloud import bigquery
from harness import FROM_TEXT, WRONG_READING, Family
from servers.google_errors import credentials, google_error, refuses
from servers.http import Answer, HttpServer, Request, http_server, json_answer

family = Family(__file__, "google-cloud-bigquery", servers={"http": http_server}, is_wire_form=True)
TIMEOUT_S = 2.0


# BigQuery. Reasons: https://cloud.google.com/bigquery/docs/error-messages
def warehouse(url: str) -> bigquery.Client:
    options = ClientOptions(api_endpoint=url)
    return bigquery.Client("etl-prod", credentials=credentials(url), client_options=options)


def query(url: str) -> Any:
    return (
        warehouse(url)
        .query("select 1", retry=None, job_retry=None, timeout=TIMEOUT_S)
        .result(retry=None, job_retry=None, timeout=TIMEOUT_S)
    )


def failed_job(http: HttpServer, reason: str, message: str, location: str | None = None) -> str:
    """Let every job end with this error."""
    error = {"reason": reason, "message": message, **({"location": location} if location else {})}

    def route(request: Request) -> Answer:
        job = {
            "jobReference": {"projectId": "etl-prod", "jobId": "job_1", "location": "EU"},
            "configuration": {"query": {"query": "select 1"}, "jobType": "QUERY"},
            "status": {"state": "DONE", "errorResult": error, "errors": [error]},
        }
        return json_answer(200, job)

    return http.routes(route)


for title, reason, message, tags in (
    ("syntax error", "invalidQuery", "Syntax error: Expected end of input but got keyword FORM at [1:10]", []),
    ("unknown column", "invalidQuery", "Unrecognized name: amuont; Did you mean amount? at [1:8]", []),
    ("table is none", "notFound", "Not found: Table etl-prod:dwh.orders was not found in location EU", []),
    (
        "query is too large for its slots",
        "resourcesExceeded",
        (
            "Resources exceeded during query execution: The query could not be executed in the allotted memory. "
            "Peak usage: 130% of limit."
        ),
        [WRONG_READING],
    ),
    (
        "too many updates of a table",
        "rateLimitExceeded",
        "Exceeded rate limits: too many table update operations for this table.",
        [],
    ),
    (
        "daily imports of a table",
        "quotaExceeded",
        "Quota exceeded: Your table exceeded quota for imports or query appends per table.",
        [WRONG_READING],
    ),
    (
        "bytes scanned today",
        "quotaExceeded",
        (
            "Custom quota exceeded: Your usage exceeded the custom quota for QueryUsagePerDay, which is set by your "
            "administrator."
        ),
        [WRONG_READING],
    ),
    ("backend error", "backendError", "Error encountered during execution. Retrying may solve the problem.", []),
    ("internal error", "internalError", "An internal error occurred and the request could not be completed.", []),
    (
        "two writers of one table",
        "invalidQuery",
        "Transaction is aborted due to concurrent update against table etl-prod:dwh.orders.",
        [WRONG_READING],
    ),
    (
        "too many DML statements wait",
        "resourcesExceeded",
        "Resources exceeded during query execution: Too many DML statements outstanding against table dwh.orders.",
        [WRONG_READING],
    ),
    ("job was cancelled", "stopped", "Job execution was cancelled: User requested cancellation", [WRONG_READING]),
    ("job ran out of time", "timeout", "Job exceeded its timeout of 600000 ms", [WRONG_READING]),
    (
        "access to a table is denied",
        "accessDenied",
        "Access Denied: Table etl-prod:dwh.orders: User does not have permission",
        [],
    ),
    (
        "access to the file behind a table",
        "accessDenied",
        "Access Denied: BigQuery BigQuery: Permission denied while getting Drive credentials.",
        [WRONG_READING],
    ),
    ("billing is not enabled", "billingNotEnabled", "Billing has not been enabled for this project.", []),
    ("operation is blocked", "blocked", "The operation was temporarily denylisted.", []),
    (
        "rows of a load are bad",
        "invalid",
        (
            "Error while reading data, error message: CSV table encountered too many errors, giving up. Rows: 12;"
            " errors: 1."
        ),
        [],
    ),
    (
        "table is unavailable",
        "tableUnavailable",
        "The table is temporarily unavailable. Try again in a few minutes.",
        [],
    ),
    (
        "bytes limit of the query",
        "bytesBilledLimitExceeded",
        "Query exceeded limit for bytes billed: 1000000. 20971520 or higher required.",
        [],
    ),
    ("reason that nobody knows", "jobMovedToAnotherUniverse", "The job cannot run here.", [WRONG_READING]),
):

    @family.case(f"job: {title}", raises="GoogleAPICallError", tags=tags)
    def _(http: HttpServer, reason: str = reason, message: str = message) -> None:
        query(failed_job(http, reason, message))


for title, status, reason, message, tags in (
    (
        "no right to create jobs",
        403,
        "accessDenied",
        "Access Denied: Project etl-prod: User does not have bigquery.jobs.create permission in project etl-prod.",
        [],
    ),
    (
        "API is not enabled",
        403,
        "accessNotConfigured",
        (
            "BigQuery API has not been used in project 123 before or it is disabled. Enable it by visiting the"
            " console then retry."
        ),
        [],
    ),
    (
        "queries at once with status 403",
        403,
        "rateLimitExceeded",
        "Exceeded rate limits: too many concurrent queries for this project_and_region.",
        [WRONG_READING],
    ),
    (
        "jobs per second with status 400",
        400,
        "jobRateLimitExceeded",
        "Exceeded rate limits: too many jobs",
        [WRONG_READING],
    ),
    (
        "quota of the day with status 403",
        403,
        "quotaExceeded",
        "Quota exceeded: Your project exceeded quota for free query bytes scanned.",
        [WRONG_READING],
    ),
    ("project is none", 400, "invalid", "The project etl-prdo has not enabled BigQuery.", []),
    (
        "dataset is in another location",
        404,
        "notFound",
        "Not found: Dataset etl-prod:dwh was not found in location US",
        [WRONG_READING],
    ),
    ("job of this name exists", 409, "duplicate", "Already Exists: Job etl-prod:EU.job_1", []),
    (
        "backend is down",
        503,
        "backendError",
        "Visibility check was unavailable. Please retry the request and contact support if the problem persists",
        [],
    ),
    (
        "access token has expired",
        401,
        "authError",
        (
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other"
            " valid authentication credential."
        ),
        [],
    ),
):

    @family.case(f"{title}", raises="GoogleAPICallError", tags=tags)
    def _(http: HttpServer, status: int = status, reason: str = reason, message: str = message) -> None:
        query(refuses(http, google_error(status, reason, message)))


@family.case(
    "rows that do not fit are kept in words",
    raises="RuntimeError",
    tags=[FROM_TEXT],
)
def _(http: HttpServer) -> None:
    error = {
        "index": 0,
        "errors": [{"reason": "invalid", "location": "amount", "message": "Cannot convert value to numeric: abc"}],
    }
    table = {"tableReference": {"projectId": "etl-prod", "datasetId": "dwh", "tableId": "orders"}}
    http.routes(lambda request: json_answer(200, {"insertErrors": [error]} if request.method == "POST" else table))
    errors = warehouse(http.url).insert_rows_json("etl-prod.dwh.orders", [{"amount": "abc"}], retry=None, timeout=2)
    raise RuntimeError(f"BigQuery insert errors: {errors}")


@family.case(
    "a job takes longer than the task waits",
    raises="TimeoutError",
    tags=[WRONG_READING],
)
def _(http: HttpServer) -> None:
    def route(request: Request) -> Answer:
        reference = {"projectId": "etl-prod", "jobId": "job_1", "location": "EU"}
        if "/queries/" in request.path:
            return json_answer(200, {"jobReference": reference, "jobComplete": False})
        job = {
            "jobReference": reference,
            "configuration": {"query": {"query": "select 1"}},
            "status": {"state": "RUNNING"},
        }
        return json_answer(200, job)

    warehouse(http.routes(route)).query("select 1", retry=None, job_retry=None).result(
        timeout=0.5, retry=None, job_retry=None
    )


@family.case(
    "tenacity gives up on a warehouse that is unavailable",
    raises="RetryError",
    tags=[WRONG_READING],
)
def _(http: HttpServer) -> None:
    url = http.answers(google_error(503, "backendError", "Backend is unavailable"))
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())(query, url)


@family.case(
    "clean-up is not found after a query hit a quota",
    raises="NotFound",
    tags=[WRONG_READING],
)
def _(http: HttpServer) -> None:
    limit = google_error(403, "quotaExceeded", "Quota exceeded: too many concurrent queries")
    http.answers(limit, google_error(404, "notFound", "Not found: Table etl-prod:tmp.orders"))
    try:
        query(http.url)
    finally:
        warehouse(http.url).delete_table("etl-prod.tmp.orders", retry=None, timeout=TIMEOUT_S)


if __name__ == "__main__":
    family.run()
