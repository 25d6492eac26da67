# /// script
# requires-python = "==3.11.*"
# dependencies = ["boto3==1.43.123", "botocore==1.43.123", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What boto3 raises for errors of AWS services that speak REST and query protocols: S3, STS, EC2, Lambda and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import tenacity
from botocore.exceptions import ClientError
from harness import FROM_TEXT, WRONG_READING, Family
from servers.aws import aws_client as client
from servers.aws import aws_error, error_case, error_table
from servers.http import Answer, HttpServer, html, http_server, json_answer

family = Family(__file__, "botocore", servers={"http": http_server}, is_wire_form=True)
fails = partial(error_case, family)
Call = Callable[[Any], Any]


def read_object(aws: Any) -> Any:
    return aws.get_object(Bucket="lake", Key="orders/1.csv")["Body"].read()


def put_object(aws: Any) -> Any:
    return aws.put_object(Bucket="lake", Key="orders/1.csv", Body=b"1,2\n")


# S3. Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
S3 = """
get | 403 | the key is not to be read | AccessDenied | Access Denied |
get | 403 | the access key does not exist | InvalidAccessKeyId | The AWS Access Key Id you provided does not exist
    in our records. |
get | 403 | the signature is wrong | SignatureDoesNotMatch | The request signature we calculated does not match the
    signature you provided. Check your key and signing method. |
get | 400 | the session token has expired | ExpiredToken | The provided token has expired. | !
get | 403 | the clocks are apart | RequestTimeTooSkewed | The difference between the request time and the current
    time is too large. | !
get | 403 | the presigned URL has expired | AccessDenied | Request has expired | !
put | 503 | the prefix is written to too fast | SlowDown | Please reduce your request rate. | !
get | 500 | has an internal error | InternalError | We encountered an internal error. Please try again. |
get | 503 | is not available | ServiceUnavailable | Service is unable to handle request. |
put | 400 | the body came too slowly | RequestTimeout | Your socket connection to the server was not read from or
    written to within the timeout period. Idle connections will be closed. | !
put | 400 | the body was damaged | BadDigest | The CRC32 you specified did not match the calculated checksum. | !
put | 409 | another operation is going on | OperationAborted | A conflicting conditional operation is currently in
    progress against this resource. Please try again. | !
put | 412 | an object is there already | PreconditionFailed | At least one of the pre-conditions you specified did
    not hold |
get | 403 | the object is archived | InvalidObjectState | The operation is not valid for the object's storage class
    | !
get | 400 | the region in the credentials is wrong | AuthorizationHeaderMalformed | The authorization header is
    malformed; the region 'us-east-1' is wrong; expecting 'eu-west-1' | !
put | 400 | the object is too large | EntityTooLarge | Your proposed upload exceeds the maximum allowed object size |
put | 403 | the account has a problem | AccountProblem | There is a problem with your AWS account that prevents the
    operation from completing successfully. | !
put | 400 | the key of the bucket is disabled | KMS.DisabledException |
    arn:aws:kms:eu-west-1:123456789012:key/1234abcd is disabled. |
put | 400 | KMS throttles | KMS.ThrottlingException | You have exceeded the rate at which you may call KMS. Reduce
    the frequency of your calls. | !
get | 501 | a header is not implemented | NotImplemented | A header you provided implies functionality that is not
    implemented. |
"""
for row in error_table(S3):
    how, status, what, code, message, trap = row
    verb = read_object if how == "get" else put_object
    fails(f"s3 {what}", "s3", verb, code, message, *([WRONG_READING] if trap else []), status=int(status))

for status, what, tags in (
    (403, "a head request is forbidden, and says no more", [WRONG_READING]),
    (404, "a head request finds nothing", []),
    (400, "a head request is bad as its token has expired", [WRONG_READING]),
    (503, "a head request is throttled without a word", [WRONG_READING]),
):

    @family.case(f"s3 {what}", raises="ClientError", tags=tags)
    def _(http: HttpServer, status: int = status) -> None:
        http.answers(Answer(status))
        client("s3", http.url).head_object(Bucket="lake", Key="orders/1.csv")


@family.case("s3 multi-part upload ends with an error in status 200", raises="ClientError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    aws = client("s3", http.url)
    http.answers(aws_error(aws, "InternalError", "We encountered an internal error. Please try again.", status=200))
    aws.complete_multipart_upload(Bucket="lake", Key="k", UploadId="u", MultipartUpload={"Parts": []})


@family.case("s3 upload of a file is denied", raises="S3UploadFailedError", library="boto3")
def _(http: HttpServer) -> None:
    aws = client("s3", http.url)
    http.answers(aws_error(aws, "AccessDenied", "Access Denied", status=403))
    Path("orders.csv").write_text("1,2\n")
    aws.upload_file("orders.csv", "lake", "orders/1.csv")


@family.case(
    "s3 upload of a file is told to slow down", raises="S3UploadFailedError", library="boto3", tags=[WRONG_READING]
)
def _(http: HttpServer) -> None:
    aws = client("s3", http.url)
    http.answers(aws_error(aws, "SlowDown", "Please reduce your request rate.", status=503))
    Path("orders.csv").write_text("1,2\n")
    aws.upload_file("orders.csv", "lake", "orders/1.csv")


@family.case("s3 download of a key that is none", raises="ClientError", library="boto3")
def _(http: HttpServer) -> None:
    http.answers(Answer(404))
    client("s3", http.url).download_file("lake", "orders/1.csv", "orders.csv")


@family.case("s3 the bucket is in another region", raises="ClientError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    aws = client("s3", http.url)
    message = "The bucket you are attempting to access must be addressed using the specified endpoint."
    here = {"x-amz-bucket-region": "eu-west-1"}  # the client's own: so it does not follow
    http.answers(aws_error(aws, "PermanentRedirect", message, status=301, headers=here))
    read_object(aws)


@family.case("s3 object with another checksum than it says", raises="FlexibleChecksumError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    http.answers(Answer(200, "1,2\n", {"x-amz-checksum-crc32": "AAAAAA=="}))
    read_object(client("s3", http.url))


@family.case("s3 object is cut off", raises="ResponseStreamingError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    http.answers(Answer(200, "x" * 1000, cut_after_bytes=100))
    read_object(client("s3", http.url))


@family.case("s3 object that stops coming", raises="ReadTimeoutError")
def _(http: HttpServer) -> None:
    http.answers(Answer(200, "x", {"Content-Length": "1000"}))
    read_object(client("s3", http.url, read_timeout=0.5))


@family.case("s3 list that is not XML to its end", raises="ClientError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    http.answers(Answer(200, "<ListBucketResult><Contents><Key>a", {"Content-Type": "application/xml"}))
    client("s3", http.url).list_objects_v2(Bucket="lake")


@family.case(
    "s3 behind a proxy that says 503 in HTML", raises=("ClientError", "ResponseParserError"), tags=[WRONG_READING]
)
def _(http: HttpServer) -> None:
    http.answers(html(503, "<html><head><title>503</title></head><body>Service Unavailable</body></html>"))
    client("s3", http.url).list_objects_v2(Bucket="lake")


@family.case("s3 list gives the same token again", raises="PaginationError")
def _(http: HttpServer) -> None:
    page = "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>"
    http.answers(Answer(200, page, {"Content-Type": "application/xml"}))
    list(client("s3", http.url).get_paginator("list_objects_v2").paginate(Bucket="lake"))


@family.case("s3 delete of many keys, some denied", raises="RuntimeError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    error = "<Error><Key>a</Key><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
    http.answers(Answer(200, f"<DeleteResult>{error}</DeleteResult>", {"Content-Type": "application/xml"}))
    answer = client("s3", http.url).delete_objects(Bucket="lake", Delete={"Objects": [{"Key": "a"}]})
    raise RuntimeError(f"Some keys could not be deleted: {answer['Errors']}")


# The other services, one call of each.
CALLS: dict[str, Call] = {
    "sts": lambda aws: aws.assume_role(RoleArn="arn:aws:iam::123456789012:role/etl", RoleSessionName="worker"),
    "ec2": lambda aws: aws.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1),
    "lambda": lambda aws: aws.invoke(FunctionName="orders", Payload=b"{}"),
    "batch": lambda aws: aws.submit_job(jobName="load", jobQueue="etl", jobDefinition="load:1"),
    "emr-serverless": lambda aws: aws.start_job_run(
        applicationId="1", executionRoleArn="arn:aws:iam::123456789012:role/etl", clientToken="1"
    ),
    "emr-containers": lambda aws: aws.start_job_run(virtualClusterId="1", clientToken="1"),
    "sagemaker-runtime": lambda aws: aws.invoke_endpoint(EndpointName="fraud", Body=b"{}"),
    "bedrock-runtime": lambda aws: aws.invoke_model(modelId="m", body=b"{}"),
    "redshift": lambda aws: aws.resume_cluster(ClusterIdentifier="dwh"),
    "rds": lambda aws: aws.create_db_snapshot(DBSnapshotIdentifier="s", DBInstanceIdentifier="dwh"),
    "sns": lambda aws: aws.publish(TopicArn="arn:aws:sns:eu-west-1:123456789012:orders", Message="{}"),
    "cloudformation": lambda aws: aws.update_stack(StackName="etl"),
    "iam": lambda aws: aws.get_role(RoleName="etl"),
    "opensearch": lambda aws: aws.describe_domain(DomainName="orders"),
    "lakeformation": lambda aws: aws.commit_transaction(TransactionId="1"),
    "eventbridgev2": lambda aws: aws.list_event_buses(),  # CBOR
    "route53": lambda aws: aws.get_hosted_zone(Id="Z1"),
}
OTHERS = """
sts | | the role may not be assumed | AccessDenied | User: arn:aws:iam::123456789012:user/etl is not authorized to
    perform: sts:AssumeRole on resource: arn:aws:iam::123456789012:role/etl |
sts | | the token of the caller has expired | ExpiredTokenException | The security token included in the request is
    expired | !
sts | | the token is not valid | InvalidClientTokenId | The security token included in the request is invalid. |
sts | 403 | the signature has expired | SignatureDoesNotMatch | Signature expired: 20260801T101500Z is now earlier
    than 20260801T102500Z (20260801T103000Z - 5 min.) | !
sts | | the region is not enabled | RegionDisabledException | STS is not activated in this region for
    account:123456789012. Your account administrator can activate STS in this region using the IAM Console. |
sts | | throttles | Throttling | Rate exceeded | !
sts | | the identity provider does not answer | IDPCommunicationError | Error communicating with the identity
    provider | !
sts | | the web identity is not valid | InvalidIdentityToken | Couldn't retrieve verification key from your identity
    provider, please reference AssumeRoleWithWebIdentity documentation for requirements | !
ec2 | 500 | no capacity in the zone | InsufficientInstanceCapacity | We currently do not have sufficient p3.2xlarge
    capacity in the Availability Zone you requested (eu-west-1a). Our system will be working on provisioning
    additional capacity. | !
ec2 | 503 | the API is called too often | RequestLimitExceeded | Request limit exceeded. | !
ec2 | 400 | the account has too few vCPUs | VcpuLimitExceeded | You have requested more vCPU capacity than your
    current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to. | !
ec2 | 400 | no addresses are left in the subnet | InsufficientFreeAddressesInSubnet | There are not enough free
    addresses in subnet 'subnet-1' to satisfy the requested number of instances. | !
ec2 | 403 | the action is not allowed | UnauthorizedOperation | You are not authorized to perform this operation.
    Encoded authorization failure message: 8f4yMhK2Qw |
ec2 | 401 | the credentials cannot be validated | AuthFailure | AWS was not able to validate the provided access
    credentials |
ec2 | 401 | the account must accept terms | OptInRequired | In order to use this AWS Marketplace product you need to
    accept terms and subscribe. | !
ec2 | 400 | the account is being checked | PendingVerification | Your request for accessing resources in this region
    is being validated, and you will not be able to launch additional resources until the validation is complete. |
    !
ec2 | 400 | the image is none | InvalidAMIID.NotFound | The image id '[ami-1]' does not exist |
ec2 | 400 | the instance is in the wrong state | IncorrectInstanceState | The instance 'i-1' is not in a state from
    which it can be started. | !
ec2 | 503 | is not available | Unavailable | The server is overloaded and can't handle the request. |
ec2 | 412 | the dry run would have worked | DryRunOperation | Request would have succeeded, but DryRun flag is set.
    | !
lambda | | the reserved concurrency is used up | TooManyRequestsException | Rate Exceeded. | reserved
lambda | | the caller of EC2 is throttled | EC2ThrottledException | Lambda was throttled by Amazon EC2 during
    function initialization using the execution role. | !
lambda | | the key may not be used | KMSAccessDeniedException | Lambda was unable to decrypt the environment
    variables because KMS access was denied. | !
lambda | | the zip cannot be opened | InvalidZipFileException | Lambda could not unzip the deployment package. | !
lambda | | network interfaces are at their limit | ENILimitReachedException | The network interface limit was
    reached for the VPC. | !
lambda | | the subnet has no addresses left | SubnetIPAddressLimitReachedException | Lambda couldn't set up VPC
    access because one or more configured subnets has no available IP addresses. | !
lambda | | an update is in progress | ResourceConflictException | The operation cannot be performed at this time. An
    update is in progress for resource: orders | !
lambda | | the function is inactive | ResourceNotReadyException | The function is inactive and its VPC connection is
    no longer available. Wait for it to be restored. | !
lambda | | the payload is too large | RequestTooLargeException | Request must be smaller than 6291456 bytes for the
    InvokeFunction operation |
lambda | | the file system does not mount in time | EFSMountTimeoutException | The function could not mount the file
    system because of a timeout. |
lambda | | the service has an error | ServiceException | Internal service error |
batch | | the queue is none | ClientException | JobQueue etl can not be found |
batch | | throttles under a client error | TooManyRequestsException | Too Many Requests | 429
emr-serverless | | the quota of vCPUs is used up | ServiceQuotaExceededException | The account has reached its max
    concurrent vCPUs quota. | !
emr-serverless | | the application is in another state | ConflictException | Application is in STOPPING state | !
emr-containers | | EKS throttles | EKSRequestThrottledException | The request exceeds Amazon EKS API operation
    limits. |
sagemaker-runtime | | the model has an error | ModelError | Received server error (500) from primary with message
    "list index out of range". | !
sagemaker-runtime | | the model is being loaded | ModelNotReadyException | The model is not yet ready to serve | !
bedrock-runtime | | too many tokens | ThrottlingException | Too many tokens, please wait before trying again. |
bedrock-runtime | | too many tokens for the day | ThrottlingException | Too many tokens per day, please wait before
    trying again. | !
bedrock-runtime | | the model is too slow | ModelTimeoutException | Model has timed out in processing the request.
    Try your request again. |
bedrock-runtime | | the model is not ready | ModelNotReadyException | The model is not ready for inference. The SDK
    will retry automatically. | !
bedrock-runtime | | the model was not subscribed | AccessDeniedException | You don't have access to the model with
    the specified model ID. |
bedrock-runtime | | the prompt is too long | ValidationException | Input is too long for requested model. |
bedrock-runtime | | the model has no on-demand throughput | ValidationException | Invocation of model ID m with
    on-demand throughput isn't supported. Retry your request with the ID of an inference profile that contains this
    model. | !
bedrock-runtime | | the quota of the account is used up | ServiceQuotaExceededException | Your request exceeds the
    service quota for your account. | !
redshift | | the cluster is in another state | InvalidClusterState | You can't resume cluster dwh because no
    recently available backup was found or it is not paused. | !
redshift | | no capacity for the cluster | InsufficientClusterCapacity | The number of nodes cannot be provided at
    this time. | !
rds | | the instance is not available | InvalidDBInstanceState | Instance dwh is not currently in the available
    state. | !
rds | | no capacity for the class | InsufficientDBInstanceCapacity | We currently do not have sufficient capacity
    for db.r5.24xlarge. | !
sns | | throttles | Throttled | Rate exceeded |
sns | | the topic's key throttles | KMSThrottling | Rate exceeded | !
cloudformation | | there is nothing to update | ValidationError | No updates are to be performed. | !
cloudformation | | the stack is being updated | ValidationError |
    Stack:arn:aws:cloudformation:eu-west-1:123456789012:stack/etl/1 is in UPDATE_IN_PROGRESS state and can not be
    updated. | !
iam | | the entity is changing | EntityTemporarilyUnmodifiable | Login Profile for User etl cannot be modified while
    login profile is being created. | !
iam | | roles are at their limit | LimitExceeded | Cannot exceed quota for RolesPerAccount: 1000 | !
opensearch | | the domain is none in status 409 | ResourceNotFoundException | Domain not found: orders | !
lakeformation | | the transaction is being committed | TransactionCommitInProgressException | Commit in progress | !
eventbridgev2 | | throttles | ThrottlingException | Rate exceeded |
eventbridgev2 | | a schema registry is unavailable | SchemaRegistryUnavailableException | The schema registry is not
    available. | !
eventbridgev2 | | limit of buses | LimitExceededException | The requested resource exceeds the maximum number allowed. | !
eventbridgev2 | | the caller is denied | AccessDeniedException | User is not authorized to perform: events:ListEventBuses |
route53 | | an earlier request is not complete | PriorRequestNotComplete | The request was rejected because Route 53
    was still processing a prior request. | !
"""
for row in error_table(OTHERS):
    service, status, what, code, message, trap = row
    fields: dict[str, Any] = {"status": int(status)} if status else {}
    if trap == "reserved":  # https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors
        fields |= {"fields": {"Reason": "ReservedFunctionConcurrentInvocationLimitExceeded", "retryAfterSeconds": "8"}}
        fields |= {"headers": {"Retry-After": "8"}}
    if trap.isdigit():
        fields |= {"status": int(trap)}
    fails(
        f"{service} {what}",
        service,
        CALLS[service],
        code,
        message,
        *([WRONG_READING] if trap == "!" else []),
        **fields,
    )


class LoadError(Exception):
    """A task's own."""


for title, payload in {
    "lambda function raised an error of its own": {
        "errorMessage": "'amount'",
        "errorType": "KeyError",
        "stackTrace": ['  File "/var/task/orders.py", line 7, in handler\n    return event["amount"]\n'],
    },
    "lambda function ran out of time": {"errorMessage": "2026-08-01T10:00:03.014Z 1 Task timed out after 3.00 seconds"},
    "lambda function ran out of memory": {
        "errorType": "Runtime.ExitError",
        "errorMessage": "RequestId: 1 Error: Runtime exited with error: signal: killed",
    },
    "lambda function lacks a module": {
        "errorType": "Runtime.ImportModuleError",
        "errorMessage": "Unable to import module 'orders': No module named 'pandas'",
    },
    "lambda function was refused by its database": {
        "errorType": "OperationalError",
        "errorMessage": 'connection to server at "10.0.0.5", port 5432 failed: Connection refused',
    },
}.items():

    @family.case(title, raises="LoadError", tags=[FROM_TEXT])
    def _(http: HttpServer, payload: object = payload) -> None:
        http.answers(json_answer(200, payload, {"X-Amz-Function-Error": "Unhandled"}))
        answer = CALLS["lambda"](client("lambda", http.url))
        raise LoadError(f"Lambda function execution resulted in error: {answer['Payload'].read().decode()}")


for title, reason, tags in (
    ("batch job stopped as its spot host went away", "Host EC2 (instance i-0abc) terminated.", []),
    ("batch job stopped for memory", "OutOfMemoryError: Container killed due to memory usage", []),
    ("batch job ended with its essential container", "Essential container in task exited", [WRONG_READING]),
    ("batch job ran longer than it may", "Job attempt duration exceeded timeout", [WRONG_READING]),
):

    @family.case(title, raises="LoadError", tags=[FROM_TEXT, *tags])
    def _(http: HttpServer, reason: str = reason) -> None:
        http.answers(json_answer(200, {"jobs": [{"jobId": "1", "status": "FAILED", "statusReason": reason}]}))
        job = client("batch", http.url).describe_jobs(jobs=["1"])["jobs"][0]
        raise LoadError(f"AWS Batch job ({job['jobId']}) failed: {job['statusReason']}")


@family.case("tenacity gives up on a bucket that says slow down", raises="RetryError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    aws = client("s3", http.url)
    http.answers(aws_error(aws, "SlowDown", "Please reduce your request rate.", status=503))
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())(put_object, aws)


@family.case("a task's own error around a bucket that is none", raises="LoadError")
def _(http: HttpServer) -> None:
    aws = client("s3", http.url)
    http.answers(aws_error(aws, "NoSuchBucket", "The specified bucket does not exist"))
    try:
        read_object(aws)
    except Exception as error:
        raise LoadError("cannot read the orders of yesterday") from error


@family.case("a task's own error that keeps only the words of a denied role", raises="LoadError", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    aws = client("sts", http.url)
    http.answers(
        aws_error(aws, "AccessDenied", "User: arn:aws:iam::123456789012:user/etl is not authorized", status=403)
    )
    text = ""
    try:
        CALLS["sts"](aws)
    except ClientError as error:
        text = str(error)
    raise LoadError(f"no session: {text}")


@family.case(
    "abort of an upload fails after the upload was told to slow down", raises="ClientError", tags=[WRONG_READING]
)
def _(http: HttpServer) -> None:
    aws = client("s3", http.url)
    slow = aws_error(aws, "SlowDown", "Please reduce your request rate.", status=503)
    http.answers(slow, aws_error(aws, "NoSuchUpload", "The specified upload does not exist."))
    try:
        aws.upload_part(Bucket="lake", Key="k", UploadId="u", PartNumber=1, Body=b"1")
    except Exception:
        aws.abort_multipart_upload(Bucket="lake", Key="k", UploadId="u")
        raise


if __name__ == "__main__":
    family.run()
