# /// script
# requires-python = "==3.11.*"
# dependencies = ["boto3==1.43.123", "botocore==1.43.123"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What boto3 raises for errors of AWS services that speak JSON: SQS, Kinesis, Glue, Athena, ECS and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from harness import FROM_TEXT, WRONG_READING, Family
from servers.aws import aws_client as client
from servers.aws import aws_error, error_case, error_table
from servers.http import HttpServer, http_server, json_answer

family = Family(__file__, "botocore", servers={"http": http_server}, is_wire_form=True)
fails = partial(error_case, family)
Call = Callable[[Any], Any]


# SQS, which still has the codes of its query protocol.
SQS_URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"
for title, code, message, status, tags in (
    (
        "sqs queue that is none",
        "AWS.SimpleQueueService.NonExistentQueue",
        "The specified queue does not exist or you do not have access to it.",
        400,
        [],
    ),
    ("sqs throttles with status 403", "RequestThrottled", "Request is throttled.", 403, [WRONG_READING]),
    (
        "sqs too many messages in flight",
        "OverLimit",
        "Too many messages in flight for the queue. The limit is 120000 messages that are received and not deleted.",
        403,
        [WRONG_READING],
    ),
    (
        "sqs is throttled by KMS",
        "KMS.ThrottlingException",
        "You have exceeded the rate at which you may call KMS.",
        400,
        [WRONG_READING],
    ),
    (
        "sqs may not use the key",
        "KMS.AccessDeniedException",
        "The ciphertext refers to a customer master key that does not exist or you are not allowed to access.",
        400,
        [WRONG_READING],
    ),
    (
        "sqs message with characters that are not allowed",
        "InvalidMessageContents",
        "Invalid binary character '#x0' was found in the message body, the set of allowed characters is #x9 | #xA",
        400,
        [],
    ),
    (
        "sqs queue with this name was just deleted",
        "AWS.SimpleQueueService.QueueDeletedRecently",
        "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
        400,
        [WRONG_READING],
    ),
):
    fails(
        title,
        "sqs",
        lambda aws: aws.send_message(QueueUrl=SQS_URL, MessageBody="{}"),
        code,
        message,
        *tags,
        status=status,
    )
fails(
    "sqs queue was purged within the last minute",
    "sqs",
    lambda aws: aws.purge_queue(QueueUrl=SQS_URL),
    "AWS.SimpleQueueService.PurgeQueueInProgress",
    "Only one PurgeQueue operation on orders is allowed every 60 seconds.",
    WRONG_READING,
    status=403,
)
fails(
    "sqs receipt handle has expired",
    "sqs",
    lambda aws: aws.delete_message(QueueUrl=SQS_URL, ReceiptHandle="AQEB"),
    "ReceiptHandleIsInvalid",
    "The input receipt handle is not a valid receipt handle.",
    status=400,
)

# One call of each of the other services of the JSON protocol.
CALLS: dict[str, Call] = {
    "kinesis": lambda aws: aws.put_record(StreamName="orders", Data=b"{}", PartitionKey="1"),
    "firehose": lambda aws: aws.put_record(DeliveryStreamName="orders", Record={"Data": b"{}"}),
    "glue": lambda aws: aws.start_job_run(JobName="load_orders"),
    "athena": lambda aws: aws.start_query_execution(QueryString="select 1"),
    "emr": lambda aws: aws.add_job_flow_steps(JobFlowId="j-1", Steps=[]),
    "ecs": lambda aws: aws.run_task(cluster="etl", taskDefinition="load-orders:3"),
    "redshift-data": lambda aws: aws.execute_statement(Sql="select 1", Database="dwh", WorkgroupName="etl"),
    "secretsmanager": lambda aws: aws.get_secret_value(SecretId="dwh/password"),
    "ssm": lambda aws: aws.get_parameter(Name="/etl/host", WithDecryption=True),
    "sagemaker": lambda aws: aws.create_model(
        ModelName="m", ExecutionRoleArn="arn:aws:iam::123456789012:role/sage-maker"
    ),
    "stepfunctions": lambda aws: aws.start_execution(
        stateMachineArn="arn:aws:states:eu-west-1:123456789012:x", name="n"
    ),
    "cloudwatch": lambda aws: aws.put_metric_data(Namespace="etl", MetricData=[{"MetricName": "rows", "Value": 1.0}]),
    "logs": lambda aws: aws.start_query(logGroupName="etl", startTime=0, endTime=1, queryString="fields @message"),
    "kms": lambda aws: aws.decrypt(CiphertextBlob=b"x"),
    "timestream-write": lambda aws: aws.describe_database(DatabaseName="x"),
    "events": lambda aws: aws.put_events(Entries=[{"Source": "etl", "DetailType": "done", "Detail": "{}"}]),
    "ecr": lambda aws: aws.describe_images(repositoryName="etl"),
    "dms": lambda aws: aws.start_replication_task(ReplicationTaskArn="arn", StartReplicationTaskType="reload-target"),
    "datasync": lambda aws: aws.start_task_execution(
        TaskArn="arn:aws:datasync:eu-west-1:123456789012:task/task-0123456789abcdef0"
    ),
    "textract": lambda aws: aws.detect_document_text(Document={"Bytes": b"x"}),
    "comprehend": lambda aws: aws.detect_sentiment(Text="x", LanguageCode="en"),
}
OTHERS = """
kinesis | shard is written to too fast | ProvisionedThroughputExceededException | Rate exceeded for shard
    shardId-000000000000 in stream orders under account 123456789012. |
kinesis | stream is throttled by KMS | KMSThrottlingException | The request was denied due to request throttling. | !
kinesis | control plane is called too often | LimitExceededException | Rate exceeded for stream orders under account
    123456789012. | !
kinesis | iterator has expired | ExpiredIteratorException | Iterator expired. The iterator was created at time Sat
    Aug 01 while right now it is Sun Aug 02 which is further in the future than the tolerated delay of 300000
    milliseconds. | !
firehose | throughput limits exceeded | ServiceUnavailableException | Slow down. | !
glue | job has too many runs at once | ConcurrentRunsExceededException | Concurrent runs exceeded for load_orders | !
glue | account has too many jobs at once | ResourceNumberLimitExceededException | Failed to start job run due to
    exceeded resource limits: max concurrent job runs per account | !
glue | job that is none | EntityNotFoundException | Failed to start job run due to missing metadata |
glue | operation takes too long | OperationTimeoutException | The operation timed out. |
glue | session is busy | SessionBusyException | Session is busy running another statement. |
glue | two writers changed a table | ConcurrentModificationException | Update table failed due to concurrent
    modifications. | !
glue | connection to a foreign catalog that may be tried again | FederationSourceRetryableException | The federation
    source did not answer. |
glue | out of workers | InvalidInputException | Requested capacity 200 DPU is above the maximum of 100 allowed for
    this account | !
athena | too many queries at once | TooManyRequestsException | You have exceeded the limit for the number of queries
    you can run concurrently. Please reduce the number of concurrent queries. |
athena | syntax error | InvalidRequestException | line 1:8: mismatched input 'form'. Expecting: ',', 'FROM' |
athena | output location is missing | InvalidRequestException | No output location provided. An output location is
    required either through the Workgroup result configuration setting or as an API input. | !
athena | has an internal error | InternalServerException | Internal server error |
athena | catalog cannot be read | MetadataException | Entity Not Found (Service: AmazonDataCatalog; Status Code:
    400; Error Code: EntityNotFoundException) |
emr | cluster that has ended | InvalidRequestException | A job flow that is shutting down, terminating, or finished
    may not be modified. |
emr | cluster with too many steps | InvalidRequestException | Maximum number of active steps(State = 'Running',
    'Pending' or 'Cancel_Pending') for cluster exceeded. | !
ecs | cluster that is none | ClusterNotFoundException | Cluster not found. |
ecs | account that is blocked | BlockedException | Your account has been blocked. Please contact AWS Support. |
ecs | throttles under a client error | ClientException | Too many concurrent attempts to create a new revision of
    the specified family. | !
ecs | service-linked role is missing | InvalidParameterException | Unable to assume the service linked role. Please
    verify that the ECS service linked role exists. | !
ecs | concurrent Fargate tasks at their limit | LimitExceededException | You've reached the limit on the number of
    tasks you can run concurrently | !
ecs | vCPU limit of Fargate | ThrottlingException | You've reached the limit on the number of vCPUs you can run
    concurrently | !
redshift-data | too many statements at once | ActiveStatementsExceededException | Active statements exceeded the
    allowed quota (500). | !
redshift-data | database cannot be reached | DatabaseConnectionException | Could not connect to the database. |
redshift-data | statement takes too long | QueryTimeoutException | Query timed out. |
redshift-data | cluster is paused | ValidationException | Redshift cluster is not in available state: paused | !
secretsmanager | secret that is none | ResourceNotFoundException | Secrets Manager can't find the specified secret. |
secretsmanager | secret that is to be deleted | InvalidRequestException | You can't perform this operation on the
    secret because it was marked for deletion. |
secretsmanager | secret cannot be decrypted | DecryptionFailure | Secrets Manager can't decrypt the protected secret
    text using the provided KMS key. |
ssm | parameter that is none | ParameterNotFound | |
ssm | too many updates | TooManyUpdates | Too many updates are being processed concurrently for /etl/host. |
sagemaker | no quota for this instance type | ResourceLimitExceeded | The account-level service limit 'ml.p3.2xlarge
    for training job usage' is 0 Instances, with current utilization of 0 Instances and a request delta of 1
    Instances. | !
sagemaker | role cannot be assumed | ValidationException | Could not assume role
    arn:aws:iam::123456789012:role/sage-maker. Please ensure that the role exists and allows principal
    'sagemaker.amazonaws.com' to assume the role. | !
stepfunctions | too many executions are open | ExecutionLimitExceeded | The maximum number of running executions has
    been reached: '1000000' | !
stepfunctions | state machine that is being deleted | StateMachineDeleting | State Machine is being deleted |
stepfunctions | is throttled by KMS | KmsThrottlingException | Rate exceeded while calling KMS |
cloudwatch | metric with a bad value | InvalidParameterValue | The value NaN for parameter MetricData.member.1.Value
    is invalid. |
cloudwatch | too many metrics are sent | Throttling | Rate exceeded |
logs | too many queries at once | LimitExceededException | Account maximum query concurrency limit of [30] reached.
    | !
kms | key that cannot be reached just now | KeyUnavailableException | The key was not available. Try again. | !
kms | a service behind it is too slow | DependencyTimeoutException | The system timed out while trying to fulfill
    the request. |
kms | data that was encrypted with another key | InvalidCiphertextException | |
kms | key that is pending deletion | KMSInvalidStateException | key/1234abcd is pending deletion. |
timestream-write | endpoint that is no longer valid | InvalidEndpointException | The requested endpoint is not
    valid. | !
ecr | registry it pulls through cannot be reached | UnableToGetUpstreamImageException | The upstream image could not
    be retrieved. |
dms | no capacity for the replication | InsufficientResourceCapacityFault | Replication instances of this class are
    not available in this zone. |
dms | task in the wrong state | InvalidResourceStateFault | Replication Task cannot be started, because it is not in
    a startable state: starting | !
datasync | task that already runs | InvalidRequestException | Task execution already in progress. | !
comprehend | text that is too long | TextSizeLimitExceededException | Input text size exceeds limit. Max length of
    request text allowed is 5000 bytes. |
"""
for row in error_table(OTHERS):
    service, what, code, message, trap = row
    fails(f"{service} {what}", service, CALLS[service], code, message, *([WRONG_READING] if trap else []))


# What a task makes of a run that failed: the cause is in words that a service gave.
class LoadError(Exception):
    """A task's own."""


@family.case("athena query failed by its own words", raises="LoadError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    reason = "SYNTAX_ERROR: line 4:17: Column 'amuont' cannot be resolved"
    http.answers(json_answer(200, {"QueryExecution": {"Status": {"State": "FAILED", "StateChangeReason": reason}}}))
    status = client("athena", http.url).get_query_execution(QueryExecutionId="1")["QueryExecution"]["Status"]
    raise LoadError(f"Athena query {status['State']}: {status['StateChangeReason']}")


@family.case("athena query failed for lack of resources", raises="LoadError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    # https://docs.aws.amazon.com/athena/latest/ug/error-reference.html
    error = {
        "ErrorCategory": 1,
        "ErrorType": 1,
        "Retryable": True,
        "ErrorMessage": "Query exhausted resources at this scale factor",
    }
    http.answers(json_answer(200, {"QueryExecution": {"Status": {"State": "FAILED", "AthenaError": error}}}))
    status = client("athena", http.url).get_query_execution(QueryExecutionId="1")["QueryExecution"]["Status"]
    raise LoadError(f"Final state of Athena job is {status['State']}, {status['AthenaError']['ErrorMessage']}")


@family.case("athena query failed as S3 told it to slow down", raises="LoadError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    reason = (
        "HIVE_CURSOR_ERROR: Please reduce your request rate. (Service: Amazon S3; Status Code: 503; Error Code:"
        " SlowDown)"
    )
    http.answers(json_answer(200, {"QueryExecution": {"Status": {"State": "FAILED", "StateChangeReason": reason}}}))
    status = client("athena", http.url).get_query_execution(QueryExecutionId="1")["QueryExecution"]["Status"]
    raise LoadError(f"Athena query {status['State']}: {status['StateChangeReason']}")


for title, message in {
    "glue run failed for memory": "Command failed with exit code 137 - Container killed on request. Out of memory",
    "glue run timed out": "Job run exceeded its timeout of 60 minutes",
    "glue run failed in the script": "AnalysisException: Column 'amuont' does not exist. Did you mean: [amount]?",
    "glue run failed for a full subnet": (
        "The specified subnet does not have enough free addresses to satisfy the request."
    ),
    "glue run failed at the database": (
        "An error occurred while calling o94.getDynamicFrame. Communications link failure"
    ),
}.items():

    @family.case(title, raises="LoadError", tags=[FROM_TEXT])
    def _(http: HttpServer, message: str = message) -> None:
        http.answers(json_answer(200, {"JobRun": {"JobRunState": "FAILED", "ErrorMessage": message}}))
        run = client("glue", http.url).get_job_run(JobName="load_orders", RunId="jr_1")["JobRun"]
        raise LoadError(f"Glue job load_orders {run['JobRunState']}: {run['ErrorMessage']}")


@family.case("ecs task finds no room", raises="LoadError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    # https://docs.aws.amazon.com/AmazonECS/latest/developerguide/api_failures_messages.html
    http.answers(json_answer(200, {"tasks": [], "failures": [{"arn": "arn:aws:ecs:x", "reason": "RESOURCE:MEMORY"}]}))
    failures = CALLS["ecs"](client("ecs", http.url))["failures"]
    raise LoadError(f"ECS did not start the task: {failures}")


for title, stopped in {
    "ecs task stopped as its host went away": "Host EC2 (instance i-0abc) terminated.",
    "ecs task stopped as its image cannot be pulled": (
        "CannotPullContainerError: pull image manifest has been retried 1 time(s): failed to resolve ref"
        " docker.io/library/etl:v3: not found"
    ),
    "ecs task stopped as pulls are limited": (
        "CannotPullContainerError: inspect image has been retried 5 time(s): 429 Too Many Requests - toomanyrequests:"
        " You have reached your pull rate limit."
    ),
    "ecs task stopped as a secret cannot be read": (
        "ResourceInitializationError: unable to pull secrets or registry auth: AccessDeniedException: not authorized"
        " to perform: secretsmanager:GetSecretValue"
    ),
    "ecs task stopped as its network was not ready": (
        "Timeout waiting for network interface provisioning to complete."
    ),
}.items():

    @family.case(title, raises="LoadError", tags=[FROM_TEXT])
    def _(http: HttpServer, stopped: str = stopped) -> None:
        http.answers(json_answer(200, {"tasks": [{"lastStatus": "STOPPED", "stoppedReason": stopped}], "failures": []}))
        task = client("ecs", http.url).describe_tasks(cluster="etl", tasks=["1"])["tasks"][0]
        raise LoadError(f"ECS task {task['lastStatus']}: {task['stoppedReason']}")


@family.case("several loads fail in one group", raises="ExceptionGroup")
def _(http: HttpServer) -> None:
    aws = client("kinesis", http.url)
    slow = aws_error(aws, "ProvisionedThroughputExceededException", "Rate exceeded for shard shardId-000000000001")
    http.answers(slow)
    errors = []
    for _ in range(2):
        try:
            CALLS["kinesis"](aws)
        except aws.exceptions.ProvisionedThroughputExceededException as error:
            errors.append(error)
    raise ExceptionGroup("two of two partitions failed", errors)


if __name__ == "__main__":
    family.run()
