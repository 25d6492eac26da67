# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "azure-core==1.41.0",
#     "azure-cosmos==4.17.1",
#     "azure-data-tables==12.7.0",
#     "azure-storage-queue==12.18.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What Azure's clients of queues, tables and Cosmos DB raise."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from azure.core.credentials import AzureNamedKeyCredential
from azure.cosmos import CosmosClient
from azure.data.tables import TableClient
from azure.storage.queue import QueueClient
from harness import WRONG_READING, Family
from servers.azure_errors import AT_ONCE, KEY, QUICK, storage_error
from servers.http import Answer, HttpServer, Request, http_server, json_answer

family = Family(__file__, "azure-cosmos", servers={"http": http_server}, is_wire_form=True)


# Queues and tables.
def send(url: str) -> Any:
    credential = {"account_name": "etl", "account_key": KEY}
    return QueueClient(f"{url}/etl", "orders", credential=credential, **QUICK).send_message("{}")


queue_case = partial(family.case, library="azure-storage-queue", raises="HttpResponseError")
for title, status, code, message, tags in (
    ("queue is none", 404, "QueueNotFound", "The specified queue does not exist.", []),
    ("queue is being deleted", 409, "QueueBeingDeleted", "The specified queue is being deleted.", [WRONG_READING]),
):

    @queue_case(f"queue: {title}", tags=tags)
    def _(http: HttpServer, status: int = status, code: str = code, message: str = message) -> None:
        send(http.answers(storage_error(status, code, message)))


def insert(url: str) -> Any:
    key = AzureNamedKeyCredential("etl", KEY)
    return TableClient(f"{url}/etl", "orders", credential=key, **QUICK).create_entity(
        {"PartitionKey": "1", "RowKey": "1"}
    )


for title, status, code, message, tags in (
    ("entity exists", 409, "EntityAlreadyExists", "The specified entity already exists.", []),
    (
        "table is being deleted",
        409,
        "TableBeingDeleted",
        "The specified table is being deleted. Try operation later.",
        [WRONG_READING],
    ),
    ("entity is too large", 400, "EntityTooLarge", "The entity is larger than the maximum size permitted.", []),
    ("table service is busy", 503, "ServerBusy", "The server is busy.", []),
):

    @family.case(f"table: {title}", raises="HttpResponseError", tags=tags, library="azure-data-tables")
    def _(http: HttpServer, status: int = status, code: str = code, message: str = message) -> None:
        # https://learn.microsoft.com/rest/api/storageservices/table-service-error-codes
        error = {"odata.error": {"code": code, "message": {"lang": "en-US", "value": f"{message}\n{AT_ONCE}"}}}
        insert(http.answers(json_answer(status, error, {"x-ms-error-code": code})))


# Cosmos DB: https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb
def cosmos(http: HttpServer, answer: Answer) -> None:
    """Let every call of an item fail; the account itself answers."""
    place = [{"name": "West Europe", "databaseAccountEndpoint": http.url}]
    account = {
        "id": "etl",
        "writableLocations": place,
        "readableLocations": place,
        "enableMultipleWriteLocations": False,
    }
    properties = {"id": "orders", "_rid": "a", "partitionKey": {"paths": ["/id"], "kind": "Hash"}}

    def route(request: Request) -> Answer:
        if request.path == "/":
            return json_answer(200, account)
        if request.path.rstrip("/").endswith("colls/orders"):
            return json_answer(200, properties)
        return answer

    http.routes(route)
    options = {
        "retry_total": 0,
        "retry_throttle_total": 0,
        "connection_timeout": 1,
        "enable_endpoint_discovery": False,
    }
    client = CosmosClient(http.url, KEY, **options)
    client.get_database_client("etl").get_container_client("orders").upsert_item({"id": "1"})


for title, status, substatus, code, message, headers, tags in (
    (
        "request rate is large",
        429,
        3200,
        "TooManyRequests",
        "The request rate is too large. Please retry after sometime.",
        {"x-ms-retry-after-ms": "2350"},
        [],
    ),
    ("metadata requests come too fast", 429, 3088, "TooManyRequests", "Metadata request rate is too large.", {}, []),
    ("key is not valid", 401, 0, "Unauthorized", "The input authorization token can't serve the request.", {}, []),
    (
        "firewall forbids the address",
        403,
        0,
        "Forbidden",
        (
            "Request originated from IP 10.0.0.9 through public internet. This is blocked by your Cosmos DB account"
            " firewall settings."
        ),
        {},
        [],
    ),
    (
        "write region has moved",
        403,
        3,
        "Forbidden",
        "The requested operation cannot be performed at this region",
        {},
        [WRONG_READING],
    ),
    ("partition is full", 403, 1014, "Forbidden", "Partition key reached maximum size of 20 GB", {}, [WRONG_READING]),
    ("item is none", 404, 0, "NotFound", "Entity with the specified id does not exist in the system.", {}, []),
    (
        "session is not available yet",
        404,
        1002,
        "NotFound",
        "The read session is not available for the input session token.",
        {},
        [WRONG_READING],
    ),
    ("timeout at the server", 408, 0, "RequestTimeout", "Request timed out.", {}, []),
    ("item exists", 409, 0, "Conflict", "Entity with the specified id already exists in the system.", {}, []),
    ("partition is splitting", 410, 1007, "Gone", "Partition key range is splitting", {}, [WRONG_READING]),
    ("ETag is another one", 412, 0, "PreconditionFailed", "One of the specified pre-condition is not met.", {}, []),
    ("item is too large", 413, 0, "RequestEntityTooLarge", "Request size is too large", {}, []),
    (
        "write has to be done again",
        449,
        0,
        "RetryWith",
        "Conflicting request to resource has been attempted. Retry to avoid conflicts.",
        {},
        [WRONG_READING],
    ),
    (
        "partition key does not match",
        400,
        1001,
        "BadRequest",
        "PartitionKey extracted from document doesn't match the one specified in the header.",
        {},
        [],
    ),
    (
        "service is unavailable",
        503,
        0,
        "ServiceUnavailable",
        "Service is currently unavailable, please retry after a while.",
        {},
        [],
    ),
):

    @family.case(f"cosmos: {title}", raises="CosmosHttpResponseError", tags=tags)
    def _(
        http: HttpServer,
        status: int = status,
        substatus: int = substatus,
        code: str = code,
        message: str = message,
        headers: dict[str, str] = headers,
    ) -> None:
        sent = {"x-ms-substatus": str(substatus), **headers} if substatus else headers
        cosmos(
            http,
            json_answer(status, {"code": code, "message": f"Message: {json.dumps({'Errors': [message]})}"}, sent),
        )


if __name__ == "__main__":
    family.run()
