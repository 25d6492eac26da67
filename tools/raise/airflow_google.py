# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-google==22.8.0",
#     "apache-airflow-task-sdk==1.3.2",
#     "google-cloud-bigquery==3.47.0",
#     "google-cloud-storage==3.17.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""BigQuery and Cloud Storage failures as Airflow's Google hooks and operators pass them on.

Forms: https://cloud.google.com/bigquery/docs/error-messages and
https://cloud.google.com/storage/docs/json_api/v1/status-codes
"""

from __future__ import annotations

import functools
import json
import os
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace
from typing import Any

from airflow.providers.google.cloud.hooks.bigquery import BigQueryHook
from airflow.providers.google.cloud.hooks.gcs import GCSHook
from airflow.providers.google.cloud.operators.bigquery import (
    BigQueryGetDataOperator,
    BigQueryInsertJobOperator,
)
from airflow.providers.google.cloud.operators.gcs import GCSDeleteObjectsOperator
from airflow.providers.google.cloud.sensors.gcs import GCSObjectExistenceSensor
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.api_core.retry import Retry
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.google_errors import google_error
from servers.http import Answer, HttpServer, Request, http_server, json_answer

family = Family(__file__, "apache-airflow-providers-google", servers={"http": http_server}, is_wire_form=True)
insert_case = partial(family.case, wrapped_by="BigQueryInsertJobOperator")
gcs_case = partial(family.case, wrapped_by="GCSHook")
SHORT: Any = Retry(predicate=lambda error: False)
TOKEN = json_answer(200, {"access_token": CANARY, "expires_in": 3600, "token_type": "Bearer"})


@functools.cache
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def connect(url: str, **more: Any) -> None:
    key = {
        "type": "service_account",
        "project_id": "etl-prod",
        "private_key_id": "1",
        "private_key": private_key(),
        "client_email": "etl@etl-prod.iam.gserviceaccount.example",
        "client_id": "1",
        "token_uri": f"{url}/token",
        **more,
    }
    extra = {"keyfile_dict": json.dumps(key), "project": "etl-prod"}
    os.environ["AIRFLOW_CONN_GOOGLE_CLOUD_DEFAULT"] = json.dumps({"conn_type": "google_cloud_platform", "extra": extra})
    os.environ["BIGQUERY_EMULATOR_HOST"] = url
    os.environ["STORAGE_EMULATOR_HOST"] = url
    os.environ["NO_GCE_CHECK"] = "true"


def serves(http: HttpServer, answer: Answer) -> None:
    connect(http.routes(lambda request: TOKEN if request.path == "/token" else answer))


def context() -> Any:
    ti = SimpleNamespace(
        dag_id="shop", task_id="load", run_id="scheduled__2026-01-31", try_number=1, map_index=-1, stats_tags={},
        xcom_push=lambda **values: None, operator="", is_mapped=False, start_date=datetime(2026, 1, 31, tzinfo=UTC),
    )  # fmt: skip
    day = datetime(2026, 1, 31, tzinfo=UTC)
    return {
        "ti": ti,
        "task_instance": ti,
        "run_id": ti.run_id,
        "params": {},
        "logical_date": day,
        "dag_run": SimpleNamespace(run_after=day, start_date=day, logical_date=day, run_id=ti.run_id),
    }


def insert(**options: Any) -> Any:
    configuration = {"query": {"query": "select 1", "useLegacySql": False}}
    return BigQueryInsertJobOperator(
        task_id="load", configuration=configuration, location="EU", job_id="load", force_rerun=False,
        result_retry=SHORT, result_timeout=2, **options,
    ).execute(context())  # fmt: skip


# Requests that are refused.
for title, status, reason, message, tags in (
    ("BigQuery dataset is none", 404, "notFound", "Not found: Dataset etl-prod:shop was not found in location EU", []),
    ("BigQuery user may not make jobs", 403, "accessDenied", "Access Denied: Project etl-prod: User does not have bigquery.jobs.create permission in project etl-prod.", []),
    ("BigQuery quota of a day is used up", 403, "quotaExceeded", "Custom quota exceeded: Your usage exceeded the custom quota for QueryUsagePerDay", [WRONG_READING]),
    ("BigQuery billing is off", 403, "billingNotEnabled", "Billing has not been enabled for this project.", [WRONG_READING]),
    ("BigQuery API is off", 403, "accessNotConfigured", "BigQuery API has not been used in project 1 before or it is disabled.", [WRONG_READING]),
    ("BigQuery statement is wrong", 400, "invalidQuery", "Unrecognized name: amuont; Did you mean amount? at [1:8]", []),
    ("BigQuery request is too large", 413, "uploadTooLarge", "Request Entity Too Large", []),
    ("BigQuery location differs", 400, "invalid", "Cannot read and write in different locations: source: US, destination: EU", []),
):  # fmt: skip

    @insert_case(title, raises="GoogleAPICallError", tags=tags)
    def _(http: HttpServer, answer: Answer = google_error(status, reason, message)) -> None:  # noqa: B008
        serves(http, answer)
        insert()


# Jobs that end in an error.
for title, reason, message, tags in (
    ("BigQuery job has a bad row", "invalid", "Error while reading data, error message: CSV table encountered too many errors, giving up. Rows: 7; errors: 1.", []),
    ("BigQuery job does not find its table", "notFound", "Not found: Table etl-prod:shop.ordres was not found in location EU", []),
    ("BigQuery job needs more than it may have", "resourcesExceeded", "Resources exceeded during query execution: The query could not be executed in the allotted memory.", []),
    ("BigQuery job is over the limit of bytes", "bytesBilledLimitExceeded", "Query exceeded limit for bytes billed: 10. 20 or higher required.", [WRONG_READING]),
    ("BigQuery job is stopped by a person", "stopped", "Job execution was cancelled: User requested cancellation", []),
    ("BigQuery job writes too often", "rateLimitExceeded", "Exceeded rate limits: too many table update operations for this table.", [WRONG_READING]),
    ("BigQuery job fails inside", "backendError", "Error encountered during execution. Retrying may solve the problem.", []),
    ("BigQuery job may not read", "accessDenied", "Access Denied: Table etl-prod:shop.orders: User does not have permission to query table", []),
    ("BigQuery job meets a twin", "duplicate", "Already Exists: Table etl-prod:shop.staging", []),
    ("BigQuery job may not bill", "billingTierLimitExceeded", "Query exceeded resource limits for tier 1. Tier 8 or higher required.", [WRONG_READING]),
    ("BigQuery job runs too long", "timeout", "Operation timed out after 6.0 hours. Consider reducing the amount of work performed by your operation so that it can complete within this limit.", [WRONG_READING]),
    ("BigQuery job is blocked", "blocked", "The operation was temporarily denied", []),
):  # fmt: skip

    @insert_case(title, tags=tags)
    def _(http: HttpServer, reason: str = reason, message: str = message) -> None:
        error = {"reason": reason, "message": message}

        def route(request: Request) -> Answer:
            reference = {"projectId": "etl-prod", "jobId": "load", "location": "EU"}
            status = {"state": "DONE", "errorResult": error, "errors": [error]}
            job = {
                "jobReference": reference,
                "id": "etl-prod:EU.load",
                "status": status,
                "configuration": {"jobType": "QUERY", "query": {"query": "select 1"}},
                "statistics": {},
            }
            return TOKEN if request.path == "/token" else json_answer(200, job)

        connect(http.routes(route))
        insert()


@insert_case("BigQuery job is there already")
def _(http: HttpServer) -> None:
    def route(request: Request) -> Answer:
        reference = {"projectId": "etl-prod", "jobId": "load", "location": "EU"}
        job = {
            "jobReference": reference,
            "id": "etl-prod:EU.load",
            "status": {"state": "DONE"},
            "configuration": {"jobType": "QUERY", "query": {"query": "select 1"}},
        }
        if request.path == "/token":
            return TOKEN
        return (
            google_error(409, "duplicate", "Already Exists: Job etl-prod:EU.load")
            if request.method == "POST"
            else json_answer(200, job)
        )

    connect(http.routes(route))
    insert()


@insert_case("BigQuery key is revoked", raises="RefreshError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    connect(http.answers(json_answer(400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."})))
    insert()


@insert_case("BigQuery clock is skewed", raises="RefreshError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    said = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
    connect(http.answers(json_answer(400, {"error": "invalid_grant", "error_description": said})))
    insert()


@insert_case("BigQuery key is no key", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    connect(http.answers(TOKEN), private_key=f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----\n")
    insert()


@insert_case("BigQuery key file is none", raises=("FileNotFoundError", "AirflowException"))
def _() -> None:
    extra = {"key_path": "/opt/airflow/keys/etl.json"}
    os.environ["AIRFLOW_CONN_GOOGLE_CLOUD_DEFAULT"] = json.dumps({"conn_type": "google_cloud_platform", "extra": extra})
    insert(project_id="etl-prod")


@insert_case("BigQuery key is no JSON", raises="AirflowException")
def _() -> None:
    extra = {"keyfile_dict": "{'type': 'service_account'}"}
    os.environ["AIRFLOW_CONN_GOOGLE_CLOUD_DEFAULT"] = json.dumps({"conn_type": "google_cloud_platform", "extra": extra})
    insert(project_id="etl-prod")


@family.case("BigQuery table to read is none", wrapped_by="BigQueryGetDataOperator")
def _(http: HttpServer) -> None:
    serves(http, google_error(404, "notFound", "Not found: Table etl-prod:shop.ordres"))
    BigQueryGetDataOperator(task_id="get", dataset_id="shop", table_id="ordres").execute(context())


@family.case("BigQuery table is made with a bad name", wrapped_by="BigQueryHook")
def _(http: HttpServer) -> None:
    serves(http, google_error(400, "invalid", 'Invalid table ID "orders 2026".'))
    BigQueryHook().create_table(dataset_id="shop", table_id="orders 2026", table_resource={})


# Cloud Storage.
for title, status, reason, message, tags in (
    ("GCSHook object is none", 404, "notFound", "No such object: lake/orders.csv", []),
    ("GCSHook may not read", 403, "forbidden", "etl@etl-prod does not have storage.objects.get access to the Google Cloud Storage object.", []),
    ("GCSHook project has no billing", 403, "accountDisabled", "The billing account for the owning project is disabled in state absent", [WRONG_READING]),
    ("GCSHook bucket pays the asker", 400, "required", "Bucket is a requester pays bucket but no user project provided.", []),
    ("GCSHook token is not accepted", 401, "required", "Anonymous caller does not have storage.objects.get access", []),
    ("GCSHook precondition fails", 412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.", []),
    ("GCSHook object is held", 403, "retentionPolicyNotMet", "Object 'lake/orders.csv' is subject to bucket's retention policy and cannot be deleted or overwritten until 2027-01-01", [WRONG_READING]),
):  # fmt: skip

    @gcs_case(title, tags=tags)
    def _(http: HttpServer, answer: Answer = google_error(status, reason, message)) -> None:  # noqa: B008
        serves(http, answer)
        GCSHook().download("lake", "orders.csv", timeout=1, num_max_attempts=1)


for title, status, reason, message, tags in (
    ("GCSHook bucket is none", 404, "notFound", "The specified bucket does not exist.", []),
    ("GCSHook may not write", 403, "forbidden", "etl@etl-prod does not have storage.objects.create access to the Google Cloud Storage object.", []),
):  # fmt: skip

    @gcs_case(title, tags=tags, limit_s=60)
    def _(http: HttpServer, answer: Answer = google_error(status, reason, message)) -> None:  # noqa: B008
        serves(http, answer)
        GCSHook().upload("lake", "orders.csv", data="1,2", timeout=1, num_max_attempts=1)


@gcs_case("GCSHook local file is none", raises="FileNotFoundError")
def _(http: HttpServer) -> None:
    serves(http, json_answer(200, {}))
    GCSHook().upload("lake", "orders.csv", filename="/data/orders.csv", num_max_attempts=1)


@gcs_case("GCSHook has nothing to write", raises="ValueError")
def _(http: HttpServer) -> None:
    serves(http, json_answer(200, {}))
    GCSHook().upload("lake", "orders.csv")


@family.case("GCS sensor may not look", wrapped_by="GCSObjectExistenceSensor")
def _(http: HttpServer) -> None:
    serves(http, google_error(403, "forbidden", "etl@etl-prod does not have storage.objects.get access"))
    GCSObjectExistenceSensor(
        task_id="wait", bucket="lake", object="orders.csv", poke_interval=0.1, timeout=0.3, retry=SHORT
    ).execute(context())


@family.case("GCS objects may not be deleted", wrapped_by="GCSDeleteObjectsOperator")
def _(http: HttpServer) -> None:
    serves(http, google_error(403, "forbidden", "etl@etl-prod does not have storage.objects.delete access"))
    GCSDeleteObjectsOperator(task_id="clean", bucket_name="lake", objects=["orders.csv"]).execute(context())


if __name__ == "__main__":
    family.run()
