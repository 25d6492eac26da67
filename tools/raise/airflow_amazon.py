# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "apache-airflow-providers-amazon==9.39.0",
#     "apache-airflow-task-sdk==1.3.2",
#     "boto3==1.43.123",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""Jobs of AWS that fail, as Airflow's Amazon operators and sensors pass them on.

Forms: https://docs.aws.amazon.com/glue/latest/webapi/, https://docs.aws.amazon.com/AmazonECS/latest/APIReference/,
https://docs.aws.amazon.com/batch/latest/APIReference/, https://docs.aws.amazon.com/athena/latest/APIReference/,
https://docs.aws.amazon.com/emr/latest/APIReference/, https://docs.aws.amazon.com/redshift-data/latest/APIReference/,
https://docs.aws.amazon.com/step-functions/latest/apireference/, https://docs.aws.amazon.com/sagemaker/latest/APIReference/
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from airflow.providers.amazon.aws.operators.athena import AthenaOperator
from airflow.providers.amazon.aws.operators.batch import BatchOperator
from airflow.providers.amazon.aws.operators.ecs import EcsRunTaskOperator
from airflow.providers.amazon.aws.operators.emr import EmrAddStepsOperator
from airflow.providers.amazon.aws.operators.glue import GlueJobOperator
from airflow.providers.amazon.aws.operators.lambda_function import LambdaInvokeFunctionOperator
from airflow.providers.amazon.aws.operators.redshift_data import RedshiftDataOperator
from airflow.providers.amazon.aws.operators.sagemaker import SageMakerTrainingOperator
from airflow.providers.amazon.aws.operators.step_function import StepFunctionStartExecutionOperator
from airflow.providers.amazon.aws.sensors.step_function import StepFunctionExecutionSensor
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from servers.http import Answer, HttpServer, Request, http_server, json_answer

family = Family(__file__, "apache-airflow-providers-amazon", servers={"http": http_server}, is_wire_form=True)
wire = family.case


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


def error(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    return json_answer(status, {"__type": code, "message": message}, {"x-amzn-ErrorType": code, **(headers or {})})


def plays(http: HttpServer, said: Mapping[str, Any]) -> None:
    """
    Play services that answer by the operation's name, or by the end of its path; connect to them.

    :param said: An answer, or what is to be sent as JSON.
    """

    def route(request: Request) -> Answer:
        operation = request.headers.get("X-Amz-Target", request.path).rpartition(".")[2].rpartition("/")[2]
        answer = said.get(operation)
        if answer is None:
            return error(400, "UnknownOperationException", operation)
        return answer if isinstance(answer, Answer) else json_answer(200, answer)

    connect(http.routes(route))


# Glue.
def glue(http: HttpServer, run: Any, state: Mapping[str, Any]) -> None:
    run_state = {"JobRun": {"Id": "jr_1", "JobName": "orders", **state}}
    plays(
        http,
        {"GetJob": {"Job": {"Name": "orders"}}, "StartJobRun": run or {"JobRunId": "jr_1"}, "GetJobRun": run_state},
    )
    GlueJobOperator(task_id="load", job_name="orders", job_poll_interval=0.1).execute(context())


for title, state, tags in (
    ("Glue job fails", {"JobRunState": "FAILED", "ErrorMessage": "Command failed with exit code 10"}, []),
    ("Glue job times out", {"JobRunState": "TIMEOUT"}, [WRONG_READING]),
    ("Glue job is stopped", {"JobRunState": "STOPPED"}, []),
):
    wire(title, raises="AirflowException", tags=tags, wrapped_by="GlueJobOperator")(
        lambda http, state=state: glue(http, None, state)
    )
for title, answer, tags in (
    ("Glue has too many runs at once", error(400, "ConcurrentRunsExceededException", "Concurrent runs exceeded for orders"), [WRONG_READING]),
    ("Glue job is none", error(400, "EntityNotFoundException", "Failed to start job run due to missing metadata"), [WRONG_READING]),
    ("Glue limit of capacity is reached", error(400, "ResourceNumberLimitExceededException", "Failed to start job run due to exceeded DPU limit 300"), [WRONG_READING]),
    ("Glue argument is invalid", error(400, "InvalidInputException", "The parameter NumberOfWorkers is invalid"), []),
    ("Glue role may not be passed", error(400, "AccessDeniedException", "User: arn:aws:iam::123456789012:user/airflow is not authorized to perform: iam:PassRole on resource: arn:aws:iam::123456789012:role/glue"), [WRONG_READING]),
):  # fmt: skip
    wire(title, raises="ClientError", tags=tags, wrapped_by="GlueJobOperator")(
        lambda http, answer=answer: glue(http, answer, {"JobRunState": "RUNNING"})
    )


# ECS.
ARN = "arn:aws:ecs:eu-west-1:123456789012:task/etl/0b1d"


def ecs(http: HttpServer, run: Any, task: Mapping[str, Any]) -> None:
    seen = {"taskArn": ARN, "lastStatus": "STOPPED", "desiredStatus": "STOPPED", "containers": [], **task}
    plays(
        http,
        {
            "RunTask": run or {"tasks": [{"taskArn": ARN}], "failures": []},
            "DescribeTasks": {"tasks": [seen], "failures": []},
        },
    )
    EcsRunTaskOperator(
        task_id="load", cluster="etl", task_definition="orders:7", overrides={}, waiter_delay=1, waiter_max_attempts=2
    ).execute(context())


def container(**state: Any) -> dict[str, Any]:
    return {"containers": [{"name": "base", "lastStatus": "STOPPED", **state}]}


for title, task, tags in (
    ("ECS container exits with 1", {"stopCode": "EssentialContainerExited", "stoppedReason": "Essential container in task exited", **container(exitCode=1)}, []),
    ("ECS container is out of memory", {"stopCode": "EssentialContainerExited", "stoppedReason": "Essential container in task exited", **container(exitCode=137, reason="OutOfMemoryError: Container killed due to memory usage")}, []),
    ("ECS spot capacity is taken back", {"stopCode": "SpotInterruption", "stoppedReason": "Your Spot Task was interrupted.", **container(exitCode=143)}, []),
    ("ECS task is stopped by a person", {"stopCode": "UserInitiated", "stoppedReason": "Stopped by user", **container(exitCode=143)}, [WRONG_READING]),
    ("ECS host is terminated", {"stopCode": "TerminationNotice", "stoppedReason": "Host EC2 (instance i-0abc) terminated.", **container()}, []),
    ("ECS image is none", {"stopCode": "TaskFailedToStart", "stoppedReason": "CannotPullContainerError: failed to resolve ref registry.shop.example/etl:3: not found"}, []),
    ("ECS image pull is rate limited", {"stopCode": "TaskFailedToStart", "stoppedReason": "CannotPullContainerError: httpReadSeeker: failed open: unexpected status code 429 Too Many Requests - toomanyrequests: You have reached your pull rate limit"}, []),
    ("ECS secret cannot be fetched", {"stopCode": "TaskFailedToStart", "stoppedReason": "ResourceInitializationError: unable to pull secrets or registry auth: execution resource retrieval failed: AccessDeniedException: not authorized to perform: secretsmanager:GetSecretValue"}, [WRONG_READING]),
    ("ECS network interface takes too long", {"stopCode": "TaskFailedToStart", "stoppedReason": "Timeout waiting for network interface provisioning to complete."}, []),
    ("ECS image pull times out", {"stopCode": "TaskFailedToStart", "stoppedReason": "CannotPullContainerError: ref pull has been retried 5 time(s): dial tcp 10.0.0.9:443: i/o timeout"}, []),
):  # fmt: skip
    wire(title, tags=[*tags, FROM_TEXT], wrapped_by="EcsRunTaskOperator")(lambda http, task=task: ecs(http, None, task))
for title, answer, tags in (
    ("ECS has no memory left", {"tasks": [], "failures": [{"arn": "arn:aws:ecs:eu-west-1:123456789012:container-instance/1", "reason": "RESOURCE:MEMORY"}]}, []),
    ("ECS has no agent", {"tasks": [], "failures": [{"reason": "AGENT"}]}, []),
    ("ECS cluster is none", error(400, "ClusterNotFoundException", "Cluster not found."), []),
    ("ECS task definition is none", error(400, "ClientException", "TaskDefinition not found."), [WRONG_READING]),
    ("ECS is out of capacity", error(400, "ClientException", "Capacity is unavailable at this time. Please try again later or in a different availability zone"), [WRONG_READING]),
    ("ECS throttles", error(400, "ThrottlingException", "Rate exceeded"), [WRONG_READING]),
    ("ECS limit of tasks is reached", error(400, "LimitExceededException", "You've reached the limit on the number of tasks you can run concurrently"), [WRONG_READING]),
):  # fmt: skip
    wire(title, tags=tags, wrapped_by="EcsRunTaskOperator")(lambda http, answer=answer: ecs(http, answer, {}))


# Batch.
def batch(http: HttpServer, submit: Any, state: Mapping[str, Any]) -> None:
    job = {"jobId": "1", "jobName": "orders", "jobQueue": "etl", "jobDefinition": "orders:1", "startedAt": 0, **state}
    plays(
        http,
        {
            "submitjob": submit or {"jobId": "1", "jobName": "orders"},
            "describejobs": {"jobs": [job]},
            "terminatejob": {},
        },
    )
    BatchOperator(
        task_id="load", job_name="orders", job_definition="orders", job_queue="etl", poll_interval=1, status_retries=1,
        max_retries=2, do_xcom_push=False,
    ).execute(context())  # fmt: skip


for title, submit, state, tags in (
    ("Batch job fails", None, {"status": "FAILED", "statusReason": "Essential container in task exited", "attempts": [], "container": {"exitCode": 1}}, []),
    ("Batch host is terminated", None, {"status": "FAILED", "statusReason": "Host EC2 (instance i-0abc) terminated.", "attempts": []}, []),
    ("Batch job is over its time", None, {"status": "FAILED", "statusReason": "Job attempt duration exceeded timeout", "attempts": []}, [WRONG_READING]),
    ("Batch queue is none", error(400, "ClientException", "Job Queue etl not found"), {}, [WRONG_READING]),
    ("Batch queue is disabled", error(400, "ClientException", "The job queue etl is DISABLED"), {}, [WRONG_READING]),
    ("Batch throttles", error(429, "TooManyRequestsException", "Too Many Requests"), {}, []),
    ("Batch may not be used", error(403, "AccessDeniedException", "User is not authorized to perform: batch:SubmitJob"), {}, []),
    ("Batch server fails", error(500, "ServerException", "Service unavailable"), {}, []),
):  # fmt: skip
    wire(title, raises="AirflowException", tags=tags, wrapped_by="BatchOperator", limit_s=60)(
        lambda http, words=(submit, state): batch(http, *words)
    )


# Athena.
for title, start, status, tags in (
    ("Athena table is none", None, {"State": "FAILED", "StateChangeReason": "TABLE_NOT_FOUND: line 1:15: Table 'awsdatacatalog.shop.ordres' does not exist", "AthenaError": {"ErrorCategory": 2, "ErrorType": 1006, "Retryable": False}}, []),
    ("Athena scan is throttled by S3", None, {"State": "FAILED", "StateChangeReason": "HIVE_CURSOR_ERROR: Please reduce your request rate. (Service: Amazon S3; Status Code: 503; Error Code: SlowDown)", "AthenaError": {"ErrorCategory": 1, "ErrorType": 233, "Retryable": True}}, []),
    ("Athena resources are exhausted", None, {"State": "FAILED", "StateChangeReason": "Query exhausted resources at this scale factor"}, []),
    ("Athena file has a bad column", None, {"State": "FAILED", "StateChangeReason": "HIVE_BAD_DATA: Field amount's type BINARY in parquet file s3://orders/1.parquet is incompatible with type double defined in table schema"}, []),
    ("Athena query is over the limit of bytes", None, {"State": "CANCELLED", "StateChangeReason": "Bytes scanned limit was exceeded"}, [WRONG_READING]),
    ("Athena output may not be written", None, {"State": "FAILED", "StateChangeReason": "Access denied when writing output to url: s3://results/1.csv . Please ensure you are allowed to access the S3 bucket."}, []),
    ("Athena has too many queries", error(400, "TooManyRequestsException", "You have exceeded the limit for the number of queries you can run concurrently. Please reduce the number of concurrent queries submitted by this account."), {}, [WRONG_READING]),
    ("Athena has no output location", error(400, "InvalidRequestException", "No output location provided. An output location is required either through the Workgroup result configuration setting or as an API input."), {}, []),
    ("Athena query never ends", None, {"State": "RUNNING"}, []),
):  # fmt: skip

    @wire(title, tags=tags, wrapped_by="AthenaOperator")
    def _(http: HttpServer, start: Any = start, status: Any = status) -> None:
        seen = {"QueryExecution": {"QueryExecutionId": "q", "Status": status}}
        plays(
            http,
            {
                "StartQueryExecution": start or {"QueryExecutionId": "q"},
                "GetQueryExecution": seen,
                "StopQueryExecution": {},
            },
        )
        AthenaOperator(
            task_id="load", query="select 1", database="shop", sleep_time=0.1, max_polling_attempts=2
        ).execute(context())


# Others.
for title, answer, tags in (
    ("Lambda function raises a timeout", Answer(200, '{"errorMessage": "2026-01-31T05:00:03Z 1 Task timed out after 3.00 seconds"}', {"X-Amz-Function-Error": "Unhandled"}), [WRONG_READING]),
    ("Lambda function raises", Answer(200, '{"errorMessage": "\'amount\'", "errorType": "KeyError", "stackTrace": ["  File \\"/var/task/load.py\\", line 9, in handler\\n    row[\'amount\']\\n"]}', {"X-Amz-Function-Error": "Unhandled"}), []),
    ("Lambda function is out of memory", Answer(200, '{"errorType": "Runtime.OutOfMemory", "errorMessage": "RequestId: 1 Error: Runtime exited with error: signal: killed"}', {"X-Amz-Function-Error": "Unhandled"}), []),
    ("Lambda function is none", error(404, "ResourceNotFoundException", "Function not found: arn:aws:lambda:eu-west-1:123456789012:function:load"), []),
    ("Lambda is throttled", error(429, "TooManyRequestsException", "Rate Exceeded.", {"Retry-After": "1"}), []),
    ("Lambda key may not be used", error(502, "KMSAccessDeniedException", "Lambda was unable to decrypt the environment variables because KMS access was denied."), [WRONG_READING]),
):  # fmt: skip

    @wire(title, tags=tags, wrapped_by="LambdaInvokeFunctionOperator")
    def _(http: HttpServer, answer: Answer = answer) -> None:
        connect(http.answers(answer))
        LambdaInvokeFunctionOperator(task_id="load", function_name="load").execute(context())


for title, said, tags in (
    ("Redshift statement fails", {"Status": "FAILED", "Error": 'ERROR: relation "ordres" does not exist'}, []),
    (
        "Redshift statement meets a conflict",
        {
            "Status": "FAILED",
            "Error": "ERROR: 1023 DETAIL: Serializable isolation violation on table - 104320, transactions forming the cycle are: 1, 2",
        },
        [],
    ),
    ("Redshift statement is aborted", {"Status": "ABORTED"}, []),
):

    @wire(title, tags=[*tags, FROM_TEXT], wrapped_by="RedshiftDataOperator")
    def _(http: HttpServer, said: Any = said) -> None:
        plays(http, {"ExecuteStatement": {"Id": "s"}, "DescribeStatement": {"Id": "s", **said}})
        RedshiftDataOperator(
            task_id="load", sql="select 1", database="shop", cluster_identifier="etl", poll_interval=1
        ).execute(context())


MACHINE = "arn:aws:states:eu-west-1:123456789012:stateMachine:orders"
for title, answer, tags in (
    ("Step Functions machine is none", error(400, "StateMachineDoesNotExist", "State Machine Does Not Exist"), [WRONG_READING]),
    ("Step Functions execution is there already", error(400, "ExecutionAlreadyExists", "Execution Already Exists"), []),
    ("Step Functions has too many executions", error(400, "ExecutionLimitExceeded", "Maximum number of running executions exceeded"), [WRONG_READING]),
):  # fmt: skip

    @wire(title, raises="ClientError", tags=tags, wrapped_by="StepFunctionStartExecutionOperator")
    def _(http: HttpServer, answer: Answer = answer) -> None:
        plays(http, {"StartExecution": answer})
        StepFunctionStartExecutionOperator(task_id="load", state_machine_arn=MACHINE).execute(context())


@wire("Step Functions execution fails", raises="AirflowException", wrapped_by="StepFunctionExecutionSensor")
def _(http: HttpServer) -> None:
    said = {"status": "FAILED", "error": "States.TaskFailed", "cause": "lambda throttled", "output": '{"rows": 0}'}
    plays(http, {"DescribeExecution": said})
    arn = "arn:aws:states:eu-west-1:123456789012:execution:orders:1"
    StepFunctionExecutionSensor(task_id="wait", execution_arn=arn, poke_interval=0.1, timeout=1).execute(context())


TRAINING = {
    "TrainingJobName": "orders",
    "RoleArn": "arn:aws:iam::123456789012:role/train",
    "AlgorithmSpecification": {"TrainingImage": "shop/train:3", "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "s3://models/orders"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
}
for title, reason, tags in (
    ("SageMaker input is bad", "ClientError: Data download failed: NoSuchKey. S3 key s3://orders/train matches no files", []),
    ("SageMaker is out of capacity", "CapacityError: Unable to provision requested ML compute capacity. Please retry using a different ML instance type.", []),
    ("SageMaker algorithm fails", "AlgorithmError: ExecuteUserScriptError: Command \"python3 train.py\" ExitCode 1 ErrorMessage \"ValueError: Input contains NaN\"", []),
    ("SageMaker server fails", "InternalServerError: We encountered an internal error. Please try again.", []),
):  # fmt: skip

    @wire(title, raises="AirflowException", tags=[*tags, FROM_TEXT], wrapped_by="SageMakerTrainingOperator", limit_s=60)
    def _(http: HttpServer, reason: str = reason) -> None:
        seen = {
            "TrainingJobName": "orders",
            "TrainingJobStatus": "Failed",
            "FailureReason": reason,
            "SecondaryStatusTransitions": [],
        }
        listed = {"TrainingJobSummaries": []}
        plays(
            http,
            {"ListTrainingJobs": listed, "CreateTrainingJob": {"TrainingJobArn": "arn"}, "DescribeTrainingJob": seen},
        )
        SageMakerTrainingOperator(
            task_id="train",
            config=TRAINING,
            print_log=False,
            check_interval=1,
            check_if_job_exists=False,
        ).execute(context())


for title, answer, tags in (
    ("EMR cluster has ended", error(400, "InvalidRequestException", "A job flow that is shutting down, terminated, or finished may not be modified."), [WRONG_READING]),
    ("EMR throttles", error(400, "ThrottlingException", "Rate exceeded"), [WRONG_READING]),
    ("EMR cluster is none", error(400, "InvalidRequestException", "Cluster id 'j-1' is not valid."), []),
):  # fmt: skip

    @wire(title, raises="ClientError", tags=tags, wrapped_by="EmrAddStepsOperator")
    def _(http: HttpServer, answer: Answer = answer) -> None:
        plays(http, {"AddJobFlowSteps": answer, "DescribeCluster": {"Cluster": {"Id": "j-1"}}})
        EmrAddStepsOperator(task_id="load", job_flow_id="j-1", steps=[]).execute(context())


@wire("EMR step fails", tags=[FROM_TEXT], wrapped_by="EmrAddStepsOperator")
def _(http: HttpServer) -> None:
    failure = {
        "Reason": "Unknown Error.",
        "Message": "Exception in thread main java.lang.OutOfMemoryError: Java heap space",
    }
    seen = {"Step": {"Id": "s-1", "Status": {"State": "FAILED", "FailureDetails": failure, "StateChangeReason": {}}}}
    cluster = {"Cluster": {"Id": "j-1"}}
    plays(http, {"AddJobFlowSteps": {"StepIds": ["s-1"]}, "DescribeStep": seen, "DescribeCluster": cluster})
    EmrAddStepsOperator(
        task_id="load", job_flow_id="j-1", steps=[], wait_for_completion=True, waiter_delay=1, waiter_max_attempts=2
    ).execute(context())


if __name__ == "__main__":
    family.run()
