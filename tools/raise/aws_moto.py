# /// script
# requires-python = "==3.11.*"
# dependencies = ["boto3==1.43.123", "botocore==1.43.123", "moto[server]==5.2.5"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What boto3 raises for what moto's server answers by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError
from harness import Family
from servers.aws import MotoServer, aws_client, moto_server

family = Family(__file__, "botocore", servers={"moto": moto_server})


def on_moto(title: str, service: str, call: Callable[[Any], Any], *, raises: str = "ClientError") -> None:
    @family.case(title, raises=raises)
    def _(moto: MotoServer) -> None:
        aws = aws_client(service, moto.url, region="us-east-1", read_timeout=10)
        call(aws)


def _bucket(aws: Any) -> Any:
    with contextlib.suppress(ClientError):
        aws.create_bucket(Bucket="lake-of-orders")
    return aws


on_moto("bucket that is none", "s3", lambda aws: aws.get_object(Bucket="nobodys-bucket", Key="a"))
on_moto("key that is none", "s3", lambda aws: _bucket(aws).get_object(Bucket="lake-of-orders", Key="a"))
on_moto("head of a key that is none", "s3", lambda aws: _bucket(aws).head_object(Bucket="lake-of-orders", Key="a"))
on_moto(
    "upload that is none",
    "s3",
    lambda aws: _bucket(aws).abort_multipart_upload(Bucket="lake-of-orders", Key="a", UploadId="u"),
)
on_moto("bucket with a name that is not allowed", "s3", lambda aws: aws.create_bucket(Bucket="la"))


def _not_empty(aws: Any) -> None:
    _bucket(aws).put_object(Bucket="lake-of-orders", Key="x", Body=b"1")
    aws.delete_bucket(Bucket="lake-of-orders")


on_moto("bucket that is not empty", "s3", _not_empty)
on_moto("role that is none", "iam", lambda aws: aws.get_role(RoleName="etl"))
on_moto("queue that is none", "sqs", lambda aws: aws.get_queue_url(QueueName="orders"))
on_moto("secret that is none", "secretsmanager", lambda aws: aws.get_secret_value(SecretId="dwh"))
on_moto("parameter that is none", "ssm", lambda aws: aws.get_parameter(Name="/etl/host"))
on_moto("stream that is none", "kinesis", lambda aws: aws.put_record(StreamName="orders", Data=b"1", PartitionKey="1"))
on_moto("table that is none", "dynamodb", lambda aws: aws.get_item(TableName="orders", Key={"id": {"S": "1"}}))
on_moto("instance that is none", "ec2", lambda aws: aws.start_instances(InstanceIds=["i-0123456789abcdef0"]))
on_moto("glue database that is none", "glue", lambda aws: aws.get_database(Name="dwh"))
on_moto("state machine with a bad ARN", "stepfunctions", lambda aws: aws.start_execution(stateMachineArn="orders"))
on_moto("stack that is none", "cloudformation", lambda aws: aws.describe_stacks(StackName="etl"))
on_moto("function that is none", "lambda", lambda aws: aws.invoke(FunctionName="orders", Payload=b"{}"))
on_moto(
    "key of KMS that is none",
    "kms",
    lambda aws: aws.encrypt(KeyId="1234abcd-12ab-34cd-56ef-1234567890ab", Plaintext=b"x"),
)
on_moto(
    "topic that is none", "sns", lambda aws: aws.publish(TopicArn="arn:aws:sns:us-east-1:123456789012:x", Message="m")
)
on_moto("log group that is none", "logs", lambda aws: aws.describe_log_streams(logGroupName="etl"))


def _condition(aws: Any) -> None:
    key = [{"AttributeName": "id", "KeyType": "HASH"}]
    attribute = [{"AttributeName": "id", "AttributeType": "S"}]
    aws.create_table(TableName="locks", KeySchema=key, AttributeDefinitions=attribute, BillingMode="PAY_PER_REQUEST")
    for _ in range(2):
        aws.put_item(TableName="locks", Item={"id": {"S": "1"}}, ConditionExpression="attribute_not_exists(id)")


on_moto("lock that somebody holds", "dynamodb", _condition)


def _two_tables(aws: Any) -> None:
    item = {
        "Put": {"TableName": "locks2", "Item": {"id": {"S": "1"}}, "ConditionExpression": "attribute_not_exists(id)"}
    }
    key = [{"AttributeName": "id", "KeyType": "HASH"}]
    attribute = [{"AttributeName": "id", "AttributeType": "S"}]
    aws.create_table(TableName="locks2", KeySchema=key, AttributeDefinitions=attribute, BillingMode="PAY_PER_REQUEST")
    aws.transact_write_items(TransactItems=[item])
    aws.transact_write_items(TransactItems=[item])


on_moto("transaction whose condition fails", "dynamodb", _two_tables)


if __name__ == "__main__":
    family.run()
