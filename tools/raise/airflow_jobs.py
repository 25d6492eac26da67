# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-apache-livy==4.6.4",
#     "apache-airflow-providers-databricks==7.23.0",
#     "apache-airflow-providers-dbt-cloud==4.11.1",
#     "apache-airflow-providers-docker==4.6.1",
#     "apache-airflow-providers-slack==9.11.1",
#     "apache-airflow-task-sdk==1.3.2",
#     "cryptography==46.0.3",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""Jobs of services that fail, as Airflow's Databricks, dbt Cloud, Livy, Docker and Slack operators pass them on.

Forms: https://docs.databricks.com/api/workspace/jobs, https://docs.getdbt.com/dbt-cloud/api-v2,
https://livy.apache.org/docs/latest/rest-api.html, https://docs.docker.com/reference/api/engine/,
https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from airflow.providers.apache.livy.operators.livy import LivyOperator
from airflow.providers.databricks.operators.databricks import DatabricksRunNowOperator, DatabricksSubmitRunOperator
from airflow.providers.databricks.operators.databricks_repos import DatabricksReposUpdateOperator
from airflow.providers.dbt.cloud.operators.dbt import DbtCloudRunJobOperator
from airflow.providers.docker.operators.docker import DockerOperator
from airflow.providers.slack.hooks.slack import SlackHook
from airflow.providers.slack.operators.slack_webhook import SlackWebhookOperator
from airflow.sdk import DAG
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, Request, http_server, json_answer
from servers.port import refused_port
from servers.tls import https_server

family = Family(
    __file__,
    "apache-airflow-providers-databricks",
    servers={"http": http_server, "https": https_server()},
    is_wire_form=True,
)


def context() -> Any:
    ti = SimpleNamespace(
        dag_id="shop", task_id="load", run_id="scheduled__2026-01-31", try_number=1, map_index=-1, stats_tags={},
        xcom_push=lambda **values: None, operator="", is_mapped=False,
    )  # fmt: skip
    return {"ti": ti, "task_instance": ti, "run_id": ti.run_id, "params": {}}


def connection(name: str, kind: str, **words: Any) -> None:
    os.environ[f"AIRFLOW_CONN_{name.upper()}"] = json.dumps({"conn_type": kind, "password": CANARY, **words})


def plays(http: HttpServer, said: Mapping[str, Any]) -> str:
    """Answer by the longest end of a path that is known; what is no answer is sent as JSON. Return the URL."""

    def route(request: Request) -> Answer:
        path = request.path.partition("?")[0].rstrip("/")
        for end in sorted(said, key=len, reverse=True):
            if path.endswith(end):
                return said[end] if isinstance(said[end], Answer) else json_answer(200, said[end])
        return json_answer(404, {"message": f"no route for {path}"})

    return http.routes(route)


# Databricks.
databricks_case = partial(family.case, wrapped_by="DatabricksSubmitRunOperator")


def databricks(http: HttpServer, said: Mapping[str, Any]) -> None:
    plays(http, said)
    connection("databricks_default", "databricks", host="127.0.0.1", port=http.port, schema="http")


def submit(http: HttpServer, said: Mapping[str, Any]) -> None:
    databricks(http, said)
    DatabricksSubmitRunOperator(
        task_id="load", json={"tasks": []}, polling_period_seconds=0, databricks_retry_limit=2,
        databricks_retry_delay=0, do_xcom_push=False,
    ).execute(context())  # fmt: skip


def run_of(result: str, message: str, error: str | None = None, life: str = "TERMINATED") -> dict[str, Any]:
    state = {"life_cycle_state": life, "result_state": result, "state_message": message}
    task = {"run_id": 8, "task_key": "load", "state": state}
    seen = {"run_id": 7, "run_page_url": "https://dbc.example/#job/1/run/7", "state": state, "tasks": [task]}
    return {"runs/submit": {"run_id": 7}, "runs/get": seen, "runs/get-output": {"error": error} if error else {}}


for title, said, tags in (
    ("Databricks notebook misses a table", run_of("FAILED", "Workload failed, see run output for details", "AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] The table or view `shop`.`ordres` cannot be found. SQLSTATE: 42P01"), []),
    ("Databricks write meets another", run_of("FAILED", "Workload failed, see run output for details", "ConcurrentAppendException: [DELTA_CONCURRENT_APPEND] Files were added to partition [day=2026-01-31] by a concurrent update. Please try the operation again."), []),
    ("Databricks executor is lost", run_of("FAILED", "Workload failed, see run output for details", "SparkException: Job aborted due to stage failure: ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: Command exited with code 137"), []),
    ("Databricks driver is out of memory", run_of("FAILED", "Workload failed, see run output for details", "java.lang.OutOfMemoryError: Java heap space"), []),
    ("Databricks cluster cannot be started for lack of capacity", run_of("FAILED", "Cluster '1' was terminated. Reason: AWS_INSUFFICIENT_INSTANCE_CAPACITY_FAILURE (CLOUD_FAILURE). Parameters: aws_api_error_code:InsufficientInstanceCapacity", life="INTERNAL_ERROR"), [WRONG_READING]),
    ("Databricks spot instances are taken back", run_of("FAILED", "Cluster '1' was terminated. Reason: SPOT_INSTANCE_TERMINATION (CLOUD_FAILURE).", life="INTERNAL_ERROR"), []),
    ("Databricks library cannot be installed", run_of("FAILED", "Library installation failed for library due to user error. Error: DRIVER_LIBRARY_INSTALLATION_FAILURE. pip package shop-orders==9.9 not found", life="INTERNAL_ERROR"), [WRONG_READING]),
    ("Databricks run is over its time", run_of("TIMEDOUT", "The run was cancelled because it exceeded its timeout of 3600 seconds"), [WRONG_READING]),
    ("Databricks run is cancelled by a person", run_of("CANCELED", "Run cancelled by etl@shop.example"), []),
    ("Databricks run is skipped for another", run_of("", "Skipping this run because the limit of 1 maximum concurrent runs has been reached.", life="SKIPPED"), [WRONG_READING]),
):  # fmt: skip
    databricks_case(title, raises="AirflowException", tags=[FROM_TEXT, *tags])(
        lambda http, said=said: submit(http, said)
    )

for title, status, code, message, tags in (
    ("Databricks token is not valid", 403, "PERMISSION_DENIED", "Invalid access token.", []),
    ("Databricks token has expired", 401, "UNAUTHENTICATED", "Access token expired.", [WRONG_READING]),
    ("Databricks has too many requests", 429, "REQUEST_LIMIT_EXCEEDED", "Your request was rejected since your organization has exceeded the rate limit.", []),
    ("Databricks is unavailable", 503, "TEMPORARILY_UNAVAILABLE", "The service is taking too long to process your request.", []),
    ("Databricks cluster is none", 400, "INVALID_PARAMETER_VALUE", "Cluster 0801-1 does not exist", [WRONG_READING]),
    ("Databricks quota of runs is used up", 400, "QUOTA_EXCEEDED", "The quota for the number of active runs has been reached.", [WRONG_READING]),
    ("Databricks user may not attach", 403, "PERMISSION_DENIED", "You do not have permission to attach to cluster 0801-1", []),
):  # fmt: skip
    databricks_case(title, raises="AirflowException", tags=tags, limit_s=60)(
        lambda http, status=status, code=code, message=message: submit(
            http, {"runs/submit": json_answer(status, {"error_code": code, "message": message})}
        )
    )


@databricks_case("Databricks is refused", raises="AirflowException")
def _() -> None:
    with refused_port() as port:
        connection("databricks_default", "databricks", host="127.0.0.1", port=port, schema="http")
        DatabricksSubmitRunOperator(
            task_id="load", json={"tasks": []}, databricks_retry_limit=1, databricks_retry_delay=0
        ).execute(context())


@databricks_case("Databricks job name is none", wrapped_by="DatabricksRunNowOperator")
def _(http: HttpServer) -> None:
    databricks(http, {"jobs/list": {"jobs": []}})
    DatabricksRunNowOperator(task_id="load", job_name="orders").execute(context())


@databricks_case("Databricks run is given bytes", wrapped_by="DatabricksSubmitRunOperator")
def _(http: HttpServer) -> None:
    databricks(http, {})
    DatabricksSubmitRunOperator(task_id="load", json={"tasks": [{"day": b"2026-01-31"}]}).execute(context())


@databricks_case("Databricks repo is none", wrapped_by="DatabricksReposUpdateOperator")
def _(http: HttpServer) -> None:
    databricks(
        http,
        {
            "get-status": json_answer(
                404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "Path (/Repos/etl/jobs) doesn't exist."}
            )
        },
    )
    DatabricksReposUpdateOperator(task_id="pull", branch="main", repo_path="/Repos/etl/jobs").execute(context())


# dbt Cloud.
dbt_case = partial(family.case, library="apache-airflow-providers-dbt-cloud", wrapped_by="DbtCloudRunJobOperator")


def dbt(https: Any, said: Mapping[str, Any], **options: Any) -> None:
    plays(https, said)
    os.environ["REQUESTS_CA_BUNDLE"] = str(https.root)
    connection("dbt_cloud_default", "dbt_cloud", login="1", host=f"127.0.0.1:{https.port}")
    settings = {"check_interval": 0, "timeout": 1, "wait_for_termination": True, **options}
    with DAG("shop"):
        operator = DbtCloudRunJobOperator(task_id="load", job_id=9, **settings)
    operator.execute(context())


def dbt_run(status: int, **more: Any) -> dict[str, Any]:
    seen = {"id": 7, "status": status, "href": "https://cloud.example/runs/7", "job_id": 9, **more}
    return {"jobs/9/run": {"data": seen}, "runs/7": {"data": seen}, "runs/7/cancel": {"data": seen}}


for title, said, tags in (
    (
        "dbt run fails",
        dbt_run(20, status_message="Database Error in model orders: permission denied for schema raw"),
        [],
    ),
    ("dbt run is cancelled", dbt_run(30, status_message="This run timed out after running for over 1 hour"), []),
    ("dbt run takes too long", dbt_run(3), [WRONG_READING]),
):
    dbt_case(title, raises="DbtCloudJobRunException", tags=tags)(lambda https, said=said: dbt(https, said))
for title, status, message, tags in (
    ("dbt token is not valid", 401, "Invalid token.", []),
    ("dbt job is none", 404, "The requested resource wasn't found", []),
    ("dbt has too many requests", 429, "Too Many Requests", []),
    ("dbt license does not allow it", 403, "You do not have permission to perform this action.", []),
    ("dbt is unavailable", 503, "Service Unavailable", []),
    ("dbt job has a bad override", 400, "steps_override: Not a valid list.", []),
):
    answer = json_answer(
        status, {"status": {"code": status, "is_success": False, "user_message": message}, "data": None}
    )
    dbt_case(title, tags=tags, limit_s=60)(
        lambda https, answer=answer: dbt(https, {"jobs/9/run": answer}, hook_params={"retry_limit": 1})
    )


@dbt_case("dbt has no token", raises="AirflowException")
def _(https: Any) -> None:
    connection("dbt_cloud_default", "dbt_cloud", login="1", host=f"127.0.0.1:{https.port}", password="")
    with DAG("shop"):
        operator = DbtCloudRunJobOperator(task_id="load", job_id=9)
    operator.execute(context())


# Livy.
livy_case = partial(family.case, library="apache-airflow-providers-apache-livy", wrapped_by="LivyOperator")


def livy(http: HttpServer, said: Mapping[str, Any]) -> None:
    plays(http, said)
    connection("livy_default", "livy", host="127.0.0.1", port=http.port, login="etl", schema="http")
    LivyOperator(task_id="load", file="s3://jobs/load.py", polling_interval=0.1, retry_args=None).execute(context())


def batch(state: str) -> dict[str, Any]:
    log = [
        "java.net.ConnectException: Connection refused",
        "YARN Diagnostics: Container killed on request. Exit code is 137",
    ]
    return {
        "/batches": json_answer(201, {"id": 3, "state": "starting"}),
        "/batches/3": {"id": 3, "state": state},
        "/batches/3/state": {"id": 3, "state": state},
        "/batches/3/log": {"id": 3, "from": 0, "total": 2, "log": log},
    }


for title, said, tags in (
    ("Livy batch is dead", batch("dead"), []),
    ("Livy rejects the batch", {"/batches": json_answer(400, {"msg": "requirement failed: Local path /jobs/load.py cannot be added to user sessions."})}, []),
    ("Livy has too many sessions", {"/batches": json_answer(400, {"msg": "Rejected, too many sessions are being created!"})}, [WRONG_READING]),
    ("Livy wants a login", {"/batches": Answer(401)}, []),
    ("Livy fails", {"/batches": Answer(500, '"java.lang.OutOfMemoryError: unable to create new native thread"')}, []),
    ("Livy does not know the batch", {"/batches": json_answer(201, {"id": 3}), "/batches/3/state": json_answer(404, {"msg": "Session '3' not found."})}, [WRONG_READING]),
    ("Livy answers without an id", {"/batches": json_answer(201, {"state": "starting"})}, []),
):  # fmt: skip
    livy_case(title, raises="AirflowException", tags=tags)(lambda http, said=said: livy(http, said))


# Docker.
docker_case = partial(family.case, library="apache-airflow-providers-docker", wrapped_by="DockerOperator")
UPGRADE = b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"


def docker(http: HttpServer, said: Mapping[str, Any], **options: Any) -> None:
    url = plays(
        http,
        {
            "/_ping": Answer(200, "OK"),
            "/version": {"ApiVersion": "1.48"},
            "/images/json": [{"Id": "sha256:1"}],
            "/containers/create": json_answer(201, {"Id": "c1", "Warnings": []}),
            "/c1/json": {"Id": "c1", "Config": {"Tty": False}},
            "/c1/start": Answer(204),
            "/c1": Answer(204),
            "/c1/stop": Answer(204),
            **said,
        },
    )
    DockerOperator(
        task_id="load", image="shop/etl:3", docker_url=url.replace("http:", "tcp:"), mount_tmp_dir=False, api_version="1.48",
        timeout=2, **options,
    ).execute(context())  # fmt: skip


def ended(code: int, *lines: str) -> dict[str, Any]:
    frames = b"".join(struct.pack(">BxxxL", 2, len(line) + 1) + line.encode() + b"\n" for line in lines)
    return {"/c1/attach": Answer(raw=UPGRADE + frames), "/c1/wait": {"StatusCode": code}}


for title, said, tags in (
    ("Docker container exits with 1", ended(1, "load failed"), []),
    ("Docker container is killed", ended(137), []),
    ("Docker container is told to end", ended(143, "received SIGTERM"), []),
    ("Docker container dies of a segmentation fault", ended(139, "Segmentation fault (core dumped)"), []),
    ("Docker container leaves a traceback", ended(1, "Traceback (most recent call last):", '  File "/app/load.py", line 9, in <module>', "    load()", "requests.exceptions.ConnectionError: HTTPConnectionPool(host='orders.example', port=80): Max retries exceeded with url: /v1 (Caused by NewConnectionError(': Failed to establish a new connection: [Errno 111] Connection refused'))"), [FROM_TEXT]),
    ("Docker container leaves a missing module", ended(1, "Traceback (most recent call last):", '  File "/app/load.py", line 1, in <module>', "ModuleNotFoundError: No module named 'orders_client'"), [FROM_TEXT]),
    ("Docker container leaves a rate limit", ended(1, "ERROR: 429 Client Error: Too Many Requests for url: https://api.example/v1"), [FROM_TEXT]),
):  # fmt: skip
    docker_case(title, raises="AirflowException", tags=tags)(lambda http, said=said: docker(http, said))

for title, said, tags in (
    ("Docker command is none", {"/c1/attach": Answer(raw=UPGRADE), "/c1/start": json_answer(400, {"message": 'failed to create task for container: OCI runtime create failed: runc create failed: exec: "lood": executable file not found in $PATH: unknown'})}, []),
    ("Docker container name is taken", {"/containers/create": json_answer(409, {"message": 'Conflict. The container name "/load" is already in use by container "c0".'})}, []),
    ("Docker disk is full", {"/containers/create": json_answer(500, {"message": "mkdir /var/lib/docker/overlay2/1: no space left on device"})}, []),
    ("Docker port is taken", {"/c1/attach": Answer(raw=UPGRADE), "/c1/start": json_answer(500, {"message": "driver failed programming external connectivity on endpoint load: Bind for 0.0.0.0:80 failed: port is already allocated"})}, []),
    ("Docker image is none", {"/images/json": [], "/images/create": json_answer(404, {"message": "pull access denied for shop/etl, repository does not exist or may require 'docker login'"})}, [WRONG_READING]),
    ("Docker pulls are rate limited", {"/images/json": [], "/images/create": json_answer(429, {"message": "toomanyrequests: You have reached your pull rate limit."})}, []),
    ("Docker registry does not answer", {"/images/json": [], "/images/create": json_answer(500, {"message": 'Get "https://registry.shop.example/v2/": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)'})}, [WRONG_READING]),
    ("Docker memory is too small", {"/containers/create": json_answer(400, {"message": "Minimum memory limit allowed is 6MB"})}, []),
):  # fmt: skip
    docker_case(title, raises="APIError", tags=tags)(lambda http, said=said: docker(http, said))


@docker_case("Docker daemon is refused")
def _() -> None:
    with refused_port() as port:
        DockerOperator(
            task_id="load", image="shop/etl:3", docker_url=f"tcp://127.0.0.1:{port}", mount_tmp_dir=False
        ).execute(context())


@docker_case("Docker socket is none")
def _() -> None:
    DockerOperator(
        task_id="load", image="shop/etl:3", docker_url="unix:///no/such/docker.sock", mount_tmp_dir=False
    ).execute(context())


# Slack.
slack_case = partial(family.case, library="apache-airflow-providers-slack", wrapped_by="SlackWebhookOperator")
for title, answer, tags in (
    ("Slack webhook is none", Answer(404, "no_service"), []),
    ("Slack webhook token is not valid", Answer(403, "invalid_token"), []),
    ("Slack channel is archived", Answer(410, "channel_is_archived"), []),
    ("Slack payload is not valid", Answer(400, "invalid_payload"), []),
    ("Slack webhook has too many requests", Answer(429, "rate_limited", {"Retry-After": "30"}), []),
    ("Slack webhook fails", Answer(500, "rollup_error"), []),
):

    @slack_case(title, raises="AirflowException", tags=tags)
    def _(http: HttpServer, answer: Answer = answer) -> None:
        connection("slack", "slackwebhook", host=http.answers(answer), password=f"T00/B00/{CANARY}")
        SlackWebhookOperator(task_id="tell", slack_webhook_conn_id="slack", message="done").execute(context())


for title, answer, tags in (
    ("Slack channel is none", json_answer(200, {"ok": False, "error": "channel_not_found"}), [WRONG_READING]),
    ("Slack token was revoked", json_answer(200, {"ok": False, "error": "token_revoked"}), [WRONG_READING]),
    ("Slack has too many requests", json_answer(429, {"ok": False, "error": "ratelimited"}, {"Retry-After": "12"}), []),
    (
        "Slack app lacks a scope",
        json_answer(200, {"ok": False, "error": "missing_scope", "needed": "chat:write"}),
        [WRONG_READING],
    ),
    ("Slack fails on its side", json_answer(200, {"ok": False, "error": "fatal_error"}), [WRONG_READING]),
):

    @slack_case(title, raises="SlackApiError", tags=tags, wrapped_by="SlackHook")
    def _(http: HttpServer, answer: Answer = answer) -> None:
        connection("slack", "slack", password=f"xoxb-{CANARY}")
        hook = SlackHook(slack_conn_id="slack", base_url=http.answers(answer) + "/api/", retry_handlers=[])
        hook.call("chat.postMessage", json={"channel": "#orders", "text": "done"})


if __name__ == "__main__":
    family.run()
