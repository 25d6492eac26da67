# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "cryptography==50.0.2",
#     "google-api-core==2.43.2",
#     "googleapis-common-protos==1.76.0",
#     "grpcio==1.85.1",
#     "grpcio-status==1.85.1",
#     "google-cloud-firestore==2.34.1",
#     "google-cloud-pubsub==2.43.0",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What Google's clients of Pub/Sub and Firestore raise on top of gRPC."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import grpc
from google.api_core.retry import Retry
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore
from google.cloud.pubsub_v1 import PublisherClient, SubscriberClient
from google.protobuf.duration_pb2 import Duration
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport
from google.rpc import error_details_pb2 as details
from harness import WRONG_READING, Family
from servers.grpc_server import GrpcServer, grpc_server
from servers.port import refused_port

os.environ["GRPC_VERBOSITY"] = "NONE"
family = Family(__file__, "google-cloud-pubsub", servers={"server": grpc_server()}, is_wire_form=True)
Code = grpc.StatusCode


# Pub/Sub: https://cloud.google.com/pubsub/docs/reference/error-codes
def publisher(server_address: str) -> PublisherClient:
    return PublisherClient(transport=PublisherGrpcTransport(channel=grpc.insecure_channel(server_address)))


def create_topic(address: str, **options: Any) -> Any:
    options = {"retry": None, "timeout": 2, **options}
    return publisher(address).create_topic(request={"name": "projects/etl-prod/topics/orders"}, **options)


def pull(address: str) -> Any:
    subscriber = SubscriberClient(transport=SubscriberGrpcTransport(channel=grpc.insecure_channel(address)))
    path = "projects/etl-prod/subscriptions/orders"
    return subscriber.pull(request={"subscription": path, "max_messages": 1}, retry=None, timeout=2)


pubsub = partial(family.case, raises="GoogleAPICallError")
for title, call, code, message, more, tags in (
    ("topic is none", pull, Code.NOT_FOUND, "Resource not found (resource=orders).", [], []),
    (
        "topic exists",
        create_topic,
        Code.ALREADY_EXISTS,
        "Resource already exists in the project (resource=orders).",
        [],
        [],
    ),
    (
        "may not pull",
        pull,
        Code.PERMISSION_DENIED,
        "User not authorized to perform this action.",
        [details.ErrorInfo(reason="IAM_PERMISSION_DENIED", domain="iam.googleapis.com")],
        [],
    ),
    (
        "credentials are not valid",
        pull,
        Code.UNAUTHENTICATED,
        "Request had invalid authentication credentials.",
        [details.ErrorInfo(reason="ACCESS_TOKEN_EXPIRED", domain="googleapis.com")],
        [WRONG_READING],
    ),
    (
        "publish quota per minute",
        create_topic,
        Code.RESOURCE_EXHAUSTED,
        "Quota exceeded for quota metric 'Regional publisher throughput, kB'",
        [
            details.ErrorInfo(reason="RATE_LIMIT_EXCEEDED", domain="googleapis.com"),
            details.RetryInfo(retry_delay=Duration(seconds=21)),
        ],
        [],
    ),
    (
        "topics are at their limit",
        create_topic,
        Code.RESOURCE_EXHAUSTED,
        "Your project has exceeded a limit: (limit=topics-per-project, value=10000)",
        [],
        [WRONG_READING],
    ),
    (
        "API is disabled",
        create_topic,
        Code.PERMISSION_DENIED,
        "Cloud Pub/Sub API has not been used in project 123 before or it is disabled.",
        [details.ErrorInfo(reason="SERVICE_DISABLED", domain="googleapis.com")],
        [WRONG_READING],
    ),
    (
        "service is unavailable",
        pull,
        Code.UNAVAILABLE,
        "The service was unable to fulfill your request. Please try again.",
        [],
        [],
    ),
    ("operation was aborted", pull, Code.ABORTED, "The operation was aborted.", [], []),
    ("subscription lost its topic", pull, Code.FAILED_PRECONDITION, "Subscription's topic was deleted", [], []),
    ("name is malformed", create_topic, Code.INVALID_ARGUMENT, "Invalid resource name given (name=orders).", [], []),
    ("internal error", pull, Code.INTERNAL, "Internal error encountered.", [], []),
):

    @pubsub(f"pubsub: {title}", tags=tags)
    def _(
        server: GrpcServer,
        call: Callable[[str], Any] = call,
        code: Any = code,
        message: str = message,
        more: Any = more,
    ) -> None:
        call(server.fails(code, message, *more))


@pubsub("pubsub: nothing to pull within the deadline", tags=[WRONG_READING])
def _(server: GrpcServer) -> None:
    subscriber = SubscriberClient(transport=SubscriberGrpcTransport(channel=grpc.insecure_channel(server.is_silent(2))))
    subscriber.pull(request={"subscription": "projects/p/subscriptions/s", "max_messages": 1}, retry=None, timeout=0.3)


@family.case(
    "pubsub: retry gives up while unavailable",
    raises="RetryError",
    library="google-cloud-pubsub",
    tags=[WRONG_READING],
)
def _(server: GrpcServer) -> None:
    address = server.fails(Code.UNAVAILABLE, "The service was unable to fulfill your request.")
    create_topic(address, retry=Retry(initial=0.05, maximum=0.1, timeout=0.4))


@family.case("pubsub: connection is refused", raises="ServiceUnavailable")
def _() -> None:
    with refused_port() as port:
        create_topic(f"127.0.0.1:{port}")


@family.case("pubsub: a message that is too large", raises="MessageTooLargeError")
def _(server: GrpcServer) -> None:
    publisher(server.address).publish("projects/etl-prod/topics/orders", b"x" * 10_500_000).result(timeout=2)


# Firestore: https://firebase.google.com/docs/firestore/understand-error-codes
def documents(address: str) -> Any:
    os.environ["FIRESTORE_EMULATOR_HOST"] = address
    return firestore.Client("etl-prod", credentials=AnonymousCredentials()).collection("orders").document("7")


for title, code, message, tags in (
    ("too much contention", Code.ABORTED, "Too much contention on these documents. Please try again.", []),
    (
        "index is missing",
        Code.FAILED_PRECONDITION,
        "The query requires an index. You can create it in the console.",
        [],
    ),
    ("document is above 1 MB", Code.INVALID_ARGUMENT, "Document exceeds the maximum size of 1048576 bytes.", []),
    (
        "document exists",
        Code.ALREADY_EXISTS,
        "Document already exists: projects/etl-prod/databases/(default)/documents/orders/7",
        [],
    ),
    ("database is none", Code.NOT_FOUND, "The database (default) does not exist for project etl-prod", []),
    ("free quota of the day", Code.RESOURCE_EXHAUSTED, "Quota exceeded.", [WRONG_READING]),
    ("rules deny it", Code.PERMISSION_DENIED, "Missing or insufficient permissions.", []),
    (
        "datastore mode",
        Code.FAILED_PRECONDITION,
        "The Cloud Firestore API is not available for Firestore in Datastore Mode database.",
        [WRONG_READING],
    ),
):

    @family.case(
        f"firestore: {title}",
        raises="GoogleAPICallError",
        tags=tags,
        library="google-cloud-firestore",
        is_wire_form=True,
    )
    def _(server: GrpcServer, code: Any = code, message: str = message) -> None:
        documents(server.fails(code, message)).create({"amount": 1}, retry=None, timeout=2)


if __name__ == "__main__":
    family.run()
