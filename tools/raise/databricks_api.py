# /// script
# requires-python = "==3.11.*"
# dependencies = ["databricks-sdk==0.158.0", "requests==2.34.2", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What the Databricks SDK raises for errors of a workspace, and for runs that failed.

Forms: https://docs.databricks.com/api/workspace/introduction and
https://docs.databricks.com/aws/en/reference/jobs-api
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import tenacity
from databricks.sdk import WorkspaceClient
from databricks.sdk.config import Config
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, html, http_server, json_answer
from servers.port import refused_port

family = Family(__file__, "databricks-sdk", servers={"http": http_server}, is_wire_form=True)


def workspace(url: str, **options: Any) -> WorkspaceClient:
    os.environ["DATABRICKS_CONFIG_FILE"] = "databrickscfg"
    settings = {"retry_timeout_seconds": 1, "http_timeout_seconds": 1, "token": CANARY, **options}
    return WorkspaceClient(config=Config(host=url, **settings))


def serves(http: HttpServer, answer: Answer) -> str:
    """Answer everything so but the question what kind of host this is."""
    unknown = json_answer(404, {"error_code": "ENDPOINT_NOT_FOUND", "message": "No API found"})
    return http.routes(lambda request: unknown if "/.well-known/" in request.path else answer)


def run_now(url: str) -> Any:
    return workspace(url).jobs.run_now(7)


def error(status: int, code: str, message: str, *, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    return json_answer(status, {"error_code": code, "message": message, **more}, headers)


INFO = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": "databricks.com"}
for title, answer, tags in (
    ("job is none", error(400, "INVALID_PARAMETER_VALUE", "Job 7 does not exist."), [WRONG_READING]),
    ("run is none", error(404, "RESOURCE_DOES_NOT_EXIST", "Run 9 does not exist."), []),
    (
        "cluster is none",
        error(400, "INVALID_PARAMETER_VALUE", "Cluster 0801-100000-abc does not exist"),
        [WRONG_READING],
    ),
    (
        "cluster is in the wrong state",
        error(400, "INVALID_STATE", "Cluster 0801-100000-abc is in unexpected state Terminating."),
        [WRONG_READING],
    ),
    ("token is not valid", error(403, "PERMISSION_DENIED", "Invalid access token."), []),
    ("token has expired", error(401, "UNAUTHENTICATED", "Access token expired."), [WRONG_READING]),
    (
        "user may not manage runs",
        error(403, "PERMISSION_DENIED", "User etl does not have Manage Run or Owner permissions on job 7"),
        [],
    ),
    (
        "address is not on the list",
        error(403, "PERMISSION_DENIED", "Source IP address: 10.0.0.9 is blocked by Databricks IP ACL for workspace: 1"),
        [],
    ),
    (
        "feature is not enabled",
        error(403, "FEATURE_DISABLED", "Serverless compute is not enabled for this workspace."),
        [WRONG_READING],
    ),
    (
        "workspace is cancelled",
        error(403, "CUSTOMER_UNAUTHORIZED", "This workspace has been cancelled or its trial has expired."),
        [WRONG_READING],
    ),
    (
        "requests come too fast",
        error(
            429,
            "REQUEST_LIMIT_EXCEEDED",
            "The request limit of 30 requests per second for the API was exceeded.",
            headers={"Retry-After": "3"},
        ),
        [],
    ),
    (
        "too many active runs",
        error(
            429,
            "REQUEST_LIMIT_EXCEEDED",
            "Run submission rejected as the workspace has reached its limit of 2000 active runs.",
        ),
        [],
    ),
    (
        "job has too many runs at once",
        error(400, "INVALID_STATE", "The maximum number of concurrent runs of job 7 is reached."),
        [WRONG_READING],
    ),
    (
        "quota of the metastore",
        error(
            400,
            "RESOURCE_EXHAUSTED",
            "Cannot create 1 Table(s) in Schema dwh (estimated count: 10000, limit: 10000).",
        ),
        [WRONG_READING],
    ),
    (
        "quota of the workspace",
        error(429, "RESOURCE_EXHAUSTED", "Quota exceeded for jobs in the workspace: 12000"),
        [WRONG_READING],
    ),
    (
        "lock cannot be had with status 400",
        error(400, "COULD_NOT_ACQUIRE_LOCK", "Could not acquire the lock for job 7."),
        [WRONG_READING],
    ),
    (
        "service is temporarily unavailable",
        error(503, "TEMPORARILY_UNAVAILABLE", "The service is temporarily unavailable. Please try again later."),
        [],
    ),
    ("internal error", error(500, "INTERNAL_ERROR", "An unexpected error occurred."), []),
    (
        "internal error that is a plan of mistakes",
        error(
            500,
            "INTERNAL_ERROR",
            "org.apache.spark.sql.AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] The table or view `dwh`.`ordres`"
            " cannot be found.",
        ),
        [WRONG_READING],
    ),
    (
        "deadline at the server",
        error(504, "DEADLINE_EXCEEDED", "The operation did not complete within 60 seconds"),
        [],
    ),
    (
        "two writers",
        error(
            409,
            "ABORTED",
            "Operation aborted due to a concurrent operation.",
            details=[{**INFO, "reason": "CONCURRENT_UPDATE"}],
        ),
        [],
    ),
    ("conflict of resources", error(409, "RESOURCE_CONFLICT", "Pipeline p is already being updated."), []),
    (
        "body is malformed",
        error(400, "MALFORMED_REQUEST", "Could not parse request object: Expected 'START_OBJECT' not 'VALUE_STRING'"),
        [],
    ),
    (
        "endpoint of a model is not ready",
        error(400, "BAD_REQUEST", "Endpoint fraud is not ready: its state is NOT_READY."),
        [WRONG_READING],
    ),
    (
        "endpoint of a model is scaled to zero",
        error(503, "TEMPORARILY_UNAVAILABLE", "Endpoint fraud is scaling up from zero."),
        [],
    ),
    ("request was cancelled", error(499, "CANCELLED", "The operation was explicitly canceled by the caller."), []),
    ("old form of an error", json_answer(400, {"error": "Bad Request: Unknown node type id m9.huge"}), []),
    (
        "SCIM form of an error",
        json_answer(
            404,
            {
                "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
                "detail": "User with id 7 not found.",
                "status": "404",
            },
        ),
        [],
    ),
    ("gateway in HTML", html(502, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"), []),
    ("page of an unknown workspace", html(404, "<html><body><pre>Not Found</pre></body></html>"), []),
    (
        "private link is missing",
        Answer(302, "", {"Location": "/login.html?error=private-link-validation-error:1"}),
        [WRONG_READING],
    ),
):

    @family.case(title, raises=("DatabricksError", "PrivateLinkValidationError", "TimeoutError"), tags=tags)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        run_now(serves(http, answer) if answer.status != 302 else _lands_on_login(http, answer))


def _lands_on_login(http: HttpServer, answer: Answer) -> str:
    return http.routes(lambda request: html(200) if request.path.startswith("/login") else answer)


@family.case("retries are used up while rates are limited", raises="TimeoutError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    answer = error(429, "REQUEST_LIMIT_EXCEEDED", "The request limit was exceeded.", headers={"Retry-After": "1"})
    workspace(serves(http, answer), retry_timeout_seconds=2).jobs.run_now(7)


@family.case("connection is refused", raises=("TimeoutError", "ConnectionError"), tags=[WRONG_READING])
def _() -> None:
    with refused_port() as port:
        run_now(f"http://127.0.0.1:{port}")


@family.case("host does not exist", raises=("TimeoutError", "ConnectionError"), tags=[WRONG_READING])
def _() -> None:
    run_now("https://etl.cloud.invalid")


@family.case("answer does not come in time", raises=("TimeoutError", "ReadTimeout"))
def _(http: HttpServer) -> None:
    run_now(serves(http, Answer(silent_s=5)))


@family.case("no way to sign in is configured", raises="ValueError")
def _(http: HttpServer) -> None:
    os.environ |= {"DATABRICKS_CONFIG_FILE": "databrickscfg", "PATH": "/nowhere"}
    WorkspaceClient(config=Config(host=http.url, auth_type="pat"))


@family.case("profile is none", raises="ValueError")
def _() -> None:
    Path("databrickscfg").write_text(f"[dev]\nhost = https://etl.example\ntoken = {CANARY}\n")
    workspace("https://etl.example", profile="prod", token=None)


@family.case("secret of the service principal is wrong", raises="ValueError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    def route(request: Any) -> Answer:
        if request.path.endswith("/databricks-config"):
            return json_answer(404, {"error_code": "ENDPOINT_NOT_FOUND", "message": "No API found"})
        if request.path.endswith("/token"):
            return json_answer(401, {"error": "invalid_client", "error_description": "Client authentication failed"})
        return json_answer(
            200, {"token_endpoint": f"{http.url}/oidc/v1/token", "authorization_endpoint": f"{http.url}/oidc"}
        )

    http.routes(route)
    options = {"token": None, "client_id": "etl", "client_secret": CANARY, "auth_type": "oauth-m2m"}
    workspace(http.url, **options).jobs.run_now(7)


# Runs: states and their words.
class LoadError(Exception):
    """A task's own."""


def ended(result: str, message: str, life: str = "TERMINATED") -> dict[str, Any]:
    return {"run_id": 9, "state": {"life_cycle_state": life, "result_state": result, "state_message": message}}


for title, run, tags in (
    ("run failed in a notebook", ended("FAILED", "Workload failed, see run output for details"), []),
    (
        "run failed as its cluster did not start",
        ended(
            "FAILED",
            "Cluster '0801' was terminated. Reason: CLOUD_PROVIDER_LAUNCH_FAILURE (CLOUD_FAILURE). Parameters:"
            " azure_error_code:ZonalAllocationFailed.",
            "INTERNAL_ERROR",
        ),
        [],
    ),
    (
        "run failed as spot machines went away",
        ended(
            "FAILED",
            "Cluster '0801' was terminated. Reason: SPOT_INSTANCE_TERMINATION (CLOUD_FAILURE).",
            "INTERNAL_ERROR",
        ),
        [],
    ),
    (
        "run failed as the driver did not answer",
        ended(
            "FAILED",
            "Unexpected failure while waiting for the cluster to be ready: Cluster is unusable since the driver is"
            " unhealthy.",
            "INTERNAL_ERROR",
        ),
        [],
    ),
    (
        "run was skipped as another one is active",
        ended("SKIPPED", "Skipped: maximum number of concurrent runs of 1 has been reached.", "SKIPPED"),
        [WRONG_READING],
    ),
    ("run timed out", ended("TIMEDOUT", "Run timed out after 3600 seconds"), [WRONG_READING]),
    ("run was cancelled by a person", ended("CANCELED", "Run cancelled by etl-admin"), []),
    (
        "run needs a library that is none",
        ended(
            "FAILED",
            "Library installation failed for library due to user error. Error messages: No matching distribution"
            " found for etl-tools==9.9",
            "INTERNAL_ERROR",
        ),
        [],
    ),
    (
        "run could not read its repository",
        ended(
            "FAILED",
            "Failed to checkout Git repository: PERMISSION_DENIED: Invalid Git provider credentials.",
            "INTERNAL_ERROR",
        ),
        [],
    ),
    ("run found its cluster gone", ended("FAILED", "Cluster 0801-100000-abc does not exist", "INTERNAL_ERROR"), []),
):

    @family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags])
    def _(http: HttpServer, run: dict[str, Any] = run) -> None:
        state = workspace(serves(http, json_answer(200, run))).jobs.get_run(9).state
        raise LoadError(f"Databricks job run 9 ended with {state.result_state}: {state.state_message}")


@family.case("run fails while it is waited for", raises="OperationFailed", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    serves(http, json_answer(200, ended("", "Library installation failed", "INTERNAL_ERROR")))
    workspace(http.url).jobs.wait_get_run_job_terminated_or_skipped(9, timeout=timedelta(seconds=3))


@family.case("run takes longer than it is waited for", raises="TimeoutError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    serves(http, json_answer(200, {"run_id": 9, "state": {"life_cycle_state": "RUNNING"}}))
    workspace(http.url).jobs.wait_get_run_job_terminated_or_skipped(9, timeout=timedelta(seconds=0.5))


@family.case("cluster does not start", raises="OperationFailed", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    reason = {"code": "AZURE_QUOTA_EXCEEDED_EXCEPTION", "type": "CLIENT_ERROR"}
    gone = {
        "cluster_id": "0801",
        "state": "ERROR",
        "state_message": "Quota exceeded for cores",
        "termination_reason": reason,
    }
    serves(http, json_answer(200, gone))
    workspace(http.url).clusters.wait_get_cluster_running("0801", timeout=timedelta(seconds=3))


for title, code, message, tags in (
    (
        "statement has a column that is none",
        "BAD_REQUEST",
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `amuont` cannot be resolved. SQLSTATE: 42703",
        [],
    ),
    (
        "statement met a concurrent writer",
        "BAD_REQUEST",
        (
            "[DELTA_CONCURRENT_APPEND] ConcurrentAppendException: Files were added to the root of the table by a"
            " concurrent update. SQLSTATE: 2D521"
        ),
        [WRONG_READING],
    ),
    (
        "statement waited for a warehouse that is stopping",
        "RESOURCE_EXHAUSTED",
        "Warehouse is at its maximum queue size. Please retry later.",
        [],
    ),
    (
        "statement may not read a table",
        "BAD_REQUEST",
        (
            "[INSUFFICIENT_PERMISSIONS] Insufficient privileges: User does not have SELECT on Table 'dwh.orders'."
            " SQLSTATE: 42501"
        ),
        [],
    ),
):

    @family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags])
    def _(http: HttpServer, code: str = code, message: str = message) -> None:
        status = {"state": "FAILED", "error": {"error_code": code, "message": message}}
        serves(http, json_answer(200, {"statement_id": "s", "status": status}))
        done = workspace(http.url).statement_execution.execute_statement("select 1", "w").status
        raise LoadError(f"Statement failed: {done.error.error_code.value}: {done.error.message}")


@family.case("a task's own error around a refused run", raises="LoadError")
def _(http: HttpServer) -> None:
    try:
        run_now(serves(http, error(403, "PERMISSION_DENIED", "User etl does not have permission")))
    except Exception as cause:
        raise LoadError("cannot start job 7") from cause


@family.case("tenacity gives up on a lock", raises="RetryError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    url = serves(http, error(400, "COULD_NOT_ACQUIRE_LOCK", "Could not acquire the lock for job 7."))
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())(run_now, url)


if __name__ == "__main__":
    family.run()
