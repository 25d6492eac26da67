# /// script
# requires-python = "==3.11.*"
# dependencies = ["boto3==1.43.123", "botocore==1.43.123"]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What boto3 raises for errors of DynamoDB: throughput, conditions, transactions."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness import WRONG_READING, Family
from servers.aws import aws_client as client
from servers.aws import aws_error, error_case
from servers.http import Answer, HttpServer, http_server

family = Family(__file__, "botocore", servers={"http": http_server}, is_wire_form=True)
fails = partial(error_case, family)


# DynamoDB. Messages: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
KEY = {"id": {"S": "order-1"}}


def get_item(aws: Any) -> Any:
    return aws.get_item(TableName="orders", Key=KEY)


def put_item(aws: Any) -> Any:
    return aws.put_item(TableName="orders", Item=KEY, ConditionExpression="attribute_not_exists(id)")


def write_two(aws: Any) -> Any:
    put = {"Put": {"TableName": "orders", "Item": KEY}}
    return aws.transact_write_items(TransactItems=[put, put])


for title, call, code, message, tags in (
    (
        "dynamodb table without enough provisioned throughput",
        put_item,
        "ProvisionedThroughputExceededException",
        (
            "The level of configured provisioned throughput for the table was exceeded. "
            "Consider increasing your provisioning level with the UpdateTable API."
        ),
        [WRONG_READING],
    ),
    (
        "dynamodb on-demand table that grows too slowly",
        put_item,
        "ThrottlingException",
        (
            "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your"
            " table."
        ),
        [],
    ),
    (
        "dynamodb account-wide throughput limit",
        get_item,
        "RequestLimitExceeded",
        "Throughput exceeds the current throughput limit for your account. Please contact AWS Support.",
        [WRONG_READING],
    ),
    (
        "dynamodb item that another transaction holds",
        put_item,
        "TransactionConflictException",
        "Transaction is ongoing for the item",
        [],
    ),
    (
        "dynamodb transaction with this token still runs",
        write_two,
        "TransactionInProgressException",
        "The transaction with the given request token is already in progress.",
        [],
    ),
    (
        "dynamodb token that was used with other items",
        write_two,
        "IdempotentParameterMismatchException",
        "Request token reused with different parameters",
        [],
    ),
    (
        "dynamodb item collection that is too large",
        put_item,
        "ItemCollectionSizeLimitExceededException",
        "Collection size exceeded.",
        [],
    ),
    (
        "dynamodb item above 400 KB",
        put_item,
        "ValidationException",
        "Item size has exceeded the maximum allowed size",
        [],
    ),
    (
        "dynamodb global write conflict between regions",
        put_item,
        "ReplicatedWriteConflictException",
        "The request was rejected because one or more items are being modified by a request in another Region.",
        [],
    ),
    ("dynamodb has an internal error", get_item, "InternalServerError", "Internal server error", []),
    (
        "dynamodb does not know the access key",
        get_item,
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
        [],
    ),
    (
        "dynamodb session token has expired",
        get_item,
        "ExpiredTokenException",
        "The security token included in the request is expired",
        [WRONG_READING],
    ),
    (
        "dynamodb policy denies the action",
        get_item,
        "AccessDeniedException",
        (
            "User: arn:aws:sts::123456789012:assumed-role/etl/worker is not authorized to perform: dynamodb:GetItem"
            " on resource: arn:aws:dynamodb:eu-west-1:123456789012:table/orders because no identity-based policy"
            " allows it"
        ),
        [],
    ),
    (
        "dynamodb signature from a clock that is wrong",
        get_item,
        "InvalidSignatureException",
        "Signature expired: 20260801T101500Z is now earlier than 20260801T102500Z (20260801T103000Z - 5 min.)",
        [WRONG_READING],
    ),
):
    fails(title, "dynamodb", call, code, message, *tags)

for title, create_code, message in (
    (
        "dynamodb table that is being created already",
        "ResourceInUseException",
        "Attempt to change a resource which is still in use: Table is being created: orders",
    ),
    (
        "dynamodb too many tables are being created at once",
        "LimitExceededException",
        "Subscriber limit exceeded: There is a limit of 500 tables with indexes that can be created at a time",
    ),
):
    fails(
        title,
        "dynamodb",
        lambda aws: aws.create_table(
            TableName="orders",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        ),
        create_code,
        message,
        WRONG_READING,
    )

# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
for title, reasons, tags in (
    ("condition", [("None", None), ("ConditionalCheckFailed", "The conditional request failed")], []),
    ("conflict", [("TransactionConflict", "Transaction is ongoing for the item"), ("None", None)], [WRONG_READING]),
    (
        "throughput",
        [("None", None), ("ProvisionedThroughputExceeded", "The level of configured throughput was exceeded.")],
        [WRONG_READING],
    ),
    (
        "throttling",
        [("ThrottlingError", "Throughput exceeds the current capacity."), ("None", None)],
        [WRONG_READING],
    ),
    ("item size", [("ValidationError", "Item size to update has exceeded the maximum allowed size")], []),
    (
        "conflict and a condition",
        [("TransactionConflict", "Transaction is ongoing for the item"), ("ConditionalCheckFailed", "Failed")],
        [WRONG_READING],
    ),
):
    words = ", ".join(code for code, _ in reasons)
    fails(
        f"dynamodb transaction is cancelled by {title}",
        "dynamodb",
        write_two,
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{words}]",
        *tags,
        fields={
            "CancellationReasons": [{"Code": code, **({"Message": text} if text else {})} for code, text in reasons]
        },
    )


@family.case("dynamodb answer with a wrong checksum", raises="ChecksumError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    answer = Answer(
        200, '{"Item": {"id": {"S": "1"}}}', {"x-amz-crc32": "1", "Content-Type": "application/x-amz-json-1.0"}
    )
    http.answers(answer)
    get_item(client("dynamodb", http.url))


# What a task makes of a run that failed: the cause is in words that a service gave.
class LoadError(Exception):
    """A task's own."""


@family.case("a task's own error around a throttled put", raises="LoadError")
def _(http: HttpServer) -> None:
    aws = client("dynamodb", http.url)
    http.answers(aws_error(aws, "ThrottlingException", "Rate of requests exceeds the allowed throughput."))
    try:
        put_item(aws)
    except aws.exceptions.ThrottlingException as error:
        raise LoadError("could not save the state of the load") from error


@family.case("clean-up fails with access denied after a refused lock", raises="ClientError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    aws = client("dynamodb", http.url)
    conflict = aws_error(aws, "TransactionConflictException", "Transaction is ongoing for the item")
    denied = aws_error(aws, "AccessDeniedException", "User is not authorized to perform: dynamodb:DeleteItem")
    http.answers(conflict, denied)
    try:
        put_item(aws)
    finally:
        aws.delete_item(TableName="orders", Key=KEY)


if __name__ == "__main__":
    family.run()
