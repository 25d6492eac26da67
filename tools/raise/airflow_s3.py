# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-amazon==9.39.0",
#     "apache-airflow-task-sdk==1.3.2",
#     "boto3==1.43.123",
#     "moto[server]==5.2.5",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""S3 failures as Airflow's hook, operators and sensor pass them on: moto's server, and the wire form for the rest.

Form: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
"""

from __future__ import annotations

import json
import os
from functools import partial
from types import SimpleNamespace
from typing import Any

from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from airflow.providers.amazon.aws.operators.s3 import S3CopyObjectOperator
from airflow.providers.amazon.aws.sensors.s3 import S3KeySensor
from harness import CANARY, WRONG_READING, Family
from servers.aws import MotoServer, moto_server
from servers.http import Answer, HttpServer, http_server
from servers.port import refused_port

family = Family(__file__, "apache-airflow-providers-amazon", servers={"http": http_server, "moto": moto_server})
wire = partial(family.case, is_wire_form=True)


def connect(url: str, **more: Any) -> None:
    extra = {
        "region_name": "eu-west-1",
        "endpoint_url": url,
        "service_config": {"sts": {"endpoint_url": url}},
        "config_kwargs": {"retries": {"max_attempts": 0}, "read_timeout": 1, "connect_timeout": 1},
        **more,
    }
    os.environ["AIRFLOW_CONN_AWS_DEFAULT"] = json.dumps(
        {"conn_type": "aws", "login": "AKIAIOSFODNN7EXAMPLE", "password": CANARY, "extra": extra}
    )
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"


def context() -> Any:
    ti = SimpleNamespace(
        dag_id="shop", task_id="load", run_id="scheduled__2026-01-31", try_number=1, map_index=-1,
        xcom_push=lambda **values: None, xcom_pull=lambda **values: None, operator="", is_mapped=False, stats_tags={},
    )  # fmt: skip
    return {"ti": ti, "task_instance": ti, "run_id": ti.run_id, "params": {}}


# S3 on moto's server.
def s3(moto: MotoServer) -> S3Hook:
    connect(moto.url, config_kwargs={"read_timeout": 20, "connect_timeout": 5})  # its first answer is slow
    hook = S3Hook()
    if "orders" not in [bucket["Name"] for bucket in hook.get_conn().list_buckets()["Buckets"]]:
        hook.create_bucket("orders", region_name="eu-west-1")
    return hook


@family.case("S3Hook does not find a bucket", raises="ClientError", wrapped_by="S3Hook")
def _(moto: MotoServer) -> None:
    s3(moto).load_string("x", "2026/orders.csv", "ordres")


@family.case("S3Hook does not find a key", raises="ClientError", wrapped_by="S3Hook")
def _(moto: MotoServer) -> None:
    s3(moto).read_key("2026/orders.csv", "orders")


@family.case("S3Hook finds the key there already", raises="ValueError", tags=[WRONG_READING], wrapped_by="S3Hook")
def _(moto: MotoServer) -> None:
    hook = s3(moto)
    hook.load_string("x", "once.csv", "orders", replace=True)
    hook.load_string("x", "once.csv", "orders")


@family.case("S3Hook does not find the file that it uploads", raises="FileNotFoundError", wrapped_by="S3Hook")
def _(moto: MotoServer) -> None:
    s3(moto).load_file("/data/orders.csv", "orders.csv", "orders")


@family.case("S3Hook lists a bucket that is none", raises="ClientError", wrapped_by="S3Hook")
def _(moto: MotoServer) -> None:
    s3(moto).list_keys("ordres")


@family.case("S3Hook makes a bucket that is there", raises="ClientError", wrapped_by="S3Hook")
def _(moto: MotoServer) -> None:
    s3(moto).create_bucket("orders", region_name="eu-west-1")


@family.case("S3Hook is given a key without a bucket", raises="ValueError", wrapped_by="S3Hook")
def _(moto: MotoServer) -> None:
    s3(moto).read_key("orders.csv")


@family.case("S3CopyObjectOperator does not find its source", raises="ClientError", wrapped_by="S3CopyObjectOperator")
def _(moto: MotoServer) -> None:
    s3(moto)
    S3CopyObjectOperator(
        task_id="copy", source_bucket_key="s3://orders/a.csv", dest_bucket_key="s3://orders/b.csv"
    ).execute(context())


@family.case(
    "S3KeySensor waits too long", raises="AirflowSensorTimeout", tags=[WRONG_READING], wrapped_by="S3KeySensor"
)
def _(moto: MotoServer) -> None:
    s3(moto)
    S3KeySensor(task_id="wait", bucket_key="s3://orders/2026-01-31.csv", poke_interval=0.1, timeout=0.3).execute(
        context()
    )


@wire("S3KeySensor may not look", raises="ClientError", tags=[WRONG_READING], wrapped_by="S3KeySensor")
def _(http: HttpServer) -> None:
    connect(http.answers(Answer(403)))
    S3KeySensor(task_id="wait", bucket_key="s3://orders/2026-01-31.csv", poke_interval=0.1, timeout=1).execute(
        context()
    )


S3_ERROR = "<Error><Code>{}</Code><Message>{}</Message></Error>"
for title, status, code, message, tags in (
    ("S3Hook is slowed down", 503, "SlowDown", "Please reduce your request rate.", []),
    ("S3Hook is denied", 403, "AccessDenied", "Access Denied", []),
    ("S3Hook key id is none", 403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.", []),
    ("S3Hook token has expired", 400, "ExpiredToken", "The provided token has expired.", [WRONG_READING]),
    ("S3Hook account is not signed up", 403, "NotSignedUp", "Your account is not signed up for the Amazon S3 service.", [WRONG_READING]),
    ("S3Hook meets an internal error", 500, "InternalError", "We encountered an internal error. Please try again.", []),
    ("S3Hook took too long to send", 400, "RequestTimeout", "Your socket connection to the server was not read from or written to within the timeout period.", [WRONG_READING]),
    ("S3Hook meets a key of KMS that is disabled", 400, "KMS.DisabledException", "arn:aws:kms:eu-west-1:123456789012:key/1 is disabled.", []),
    ("S3Hook object is archived", 403, "InvalidObjectState", "The operation is not valid for the object's storage class", [WRONG_READING]),
):  # fmt: skip

    @wire(title, raises="ClientError", tags=tags, wrapped_by="S3Hook")
    def _(http: HttpServer, status: int = status, code: str = code, message: str = message) -> None:
        connect(http.answers(Answer(status, S3_ERROR.format(code, message), {"Content-Type": "application/xml"})))
        S3Hook().list_keys("orders")


@family.case("S3Hook is refused", raises="EndpointConnectionError", wrapped_by="S3Hook")
def _() -> None:
    with refused_port() as port:
        connect(f"http://127.0.0.1:{port}")
        S3Hook().list_keys("orders")


@family.case("S3Hook waits too long for an answer", raises="ReadTimeoutError", wrapped_by="S3Hook")
def _(http: HttpServer) -> None:
    connect(http.answers(Answer(silent_s=5)))
    S3Hook().list_keys("orders")


@family.case("S3Hook has no credentials", raises="NoCredentialsError", wrapped_by="S3Hook")
def _(http: HttpServer) -> None:
    extra = {"region_name": "eu-west-1", "endpoint_url": http.answers(Answer())}
    os.environ["AIRFLOW_CONN_AWS_DEFAULT"] = json.dumps({"conn_type": "aws", "extra": extra})
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    S3Hook().list_keys("orders")


@wire("S3Hook may not take its role", raises="ClientError", wrapped_by="S3Hook")
def _(http: HttpServer) -> None:
    body = "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>User: arn:aws:iam::123456789012:user/airflow is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::123456789012:role/etl</Message></Error></ErrorResponse>"
    connect(
        http.answers(Answer(403, body, {"Content-Type": "text/xml"})), role_arn="arn:aws:iam::123456789012:role/etl"
    )
    S3Hook().list_keys("orders")


if __name__ == "__main__":
    family.run()
