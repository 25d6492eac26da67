# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "cryptography==50.0.2",
#     "googleapis-common-protos==1.76.0",
#     "grpcio==1.85.1",
#     "grpcio-status==1.85.1",
#     "tenacity==9.2.1",
# ]
# [tool.uv]
# exclude-newer = "2026-11-01T00:00:00Z"
# ///
"""What grpcio raises for every status of a real gRPC server, and for servers that are none."""

from __future__ import annotations

import os
import socket
import threading
from functools import partial
from typing import Any

import grpc
import tenacity
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2 as details
from harness import CANARY, WRONG_READING, Family
from servers.grpc_server import GrpcServer, grpc_server
from servers.port import refused_port

os.environ["GRPC_VERBOSITY"] = "NONE"
family = Family(
    __file__,
    "grpcio",
    servers={
        "server": grpc_server(),
        "tls": grpc_server(is_tls=True),
        "expired": grpc_server(is_tls=True, valid_days=(-30, -2)),
        "other_host": grpc_server(is_tls=True, names=("db.internal.example",)),
        "mutual": grpc_server(is_tls=True, is_mutual=True),
    },
)
Code = grpc.StatusCode
TOKEN = (("authorization", f"Bearer {CANARY}"),)


def ask(address: str, *, credentials: Any = None, timeout: float | None = 2, **options: Any) -> Any:
    """Call a method as a stub would."""
    setup = [("grpc.enable_retries", 0)]
    make = partial(grpc.secure_channel, credentials=credentials) if credentials else grpc.insecure_channel
    with make(address, options=setup) as channel:
        return channel.unary_unary("/orders.v1.Orders/Load")(b"", timeout=timeout, metadata=TOKEN, **options)


for code, message in (
    (Code.CANCELLED, "operation was cancelled"),
    (Code.UNKNOWN, "unexpected state"),
    (Code.INVALID_ARGUMENT, "amount must be positive"),
    (Code.DEADLINE_EXCEEDED, "context deadline exceeded"),
    (Code.NOT_FOUND, "no such order"),
    (Code.ALREADY_EXISTS, "order 7 exists"),
    (Code.PERMISSION_DENIED, "caller does not have permission"),
    (Code.UNAUTHENTICATED, "token has expired"),
    (Code.RESOURCE_EXHAUSTED, "too many requests"),
    (Code.FAILED_PRECONDITION, "the index is not built"),
    (Code.ABORTED, "transaction was aborted by a conflict"),
    (Code.OUT_OF_RANGE, "offset is beyond the end"),
    (Code.UNIMPLEMENTED, "unknown service orders.v1.Orders"),
    (Code.INTERNAL, "internal error"),
    (Code.UNAVAILABLE, "the server is shutting down"),
    (Code.DATA_LOSS, "checksum of block 3 is wrong"),
):

    @family.case(f"status {code.name}", raises="RpcError")
    def _(server: GrpcServer, code: Any = code, message: str = message) -> None:
        ask(server.fails(code, message))


def quota(subject: str, words: str) -> Any:
    return details.QuotaFailure(violations=[details.QuotaFailure.Violation(subject=subject, description=words)])


# Details: https://cloud.google.com/apis/design/errors#error_details
for title, code, message, more, tags in (
    (
        "RESOURCE_EXHAUSTED with RetryInfo of 34 seconds",
        Code.RESOURCE_EXHAUSTED,
        "Quota exceeded.",
        [details.RetryInfo(retry_delay=Duration(seconds=34))],
        [],
    ),
    (
        "UNAVAILABLE with RetryInfo of a quarter of a second",
        Code.UNAVAILABLE,
        "busy",
        [details.RetryInfo(retry_delay=Duration(nanos=250_000_000))],
        [],
    ),
    (
        "RESOURCE_EXHAUSTED with QuotaFailure by day",
        Code.RESOURCE_EXHAUSTED,
        "Daily limit reached.",
        [quota("project:etl-prod", "Limit 'writes per day' exceeded")],
        [WRONG_READING],
    ),
    (
        "RESOURCE_EXHAUSTED by a message that is too large for the server",
        Code.RESOURCE_EXHAUSTED,
        "grpc: received message larger than max (5242880 vs. 4194304)",
        [],
        [WRONG_READING],
    ),
    (
        "RESOURCE_EXHAUSTED by a disk that is full",
        Code.RESOURCE_EXHAUSTED,
        "no space left on device",
        [],
        [WRONG_READING],
    ),
    (
        "PERMISSION_DENIED with ErrorInfo of a rate limit",
        Code.PERMISSION_DENIED,
        "Quota exceeded for metric writes",
        [details.ErrorInfo(reason="RATE_LIMIT_EXCEEDED", domain="googleapis.com")],
        [WRONG_READING],
    ),
    (
        "PERMISSION_DENIED with ErrorInfo of a disabled API",
        Code.PERMISSION_DENIED,
        "Orders API has not been used",
        [details.ErrorInfo(reason="SERVICE_DISABLED", domain="googleapis.com")],
        [WRONG_READING],
    ),
    (
        "INVALID_ARGUMENT with BadRequest",
        Code.INVALID_ARGUMENT,
        "Bad request",
        [
            details.BadRequest(
                field_violations=[details.BadRequest.FieldViolation(field="amount", description="must be positive")]
            )
        ],
        [],
    ),
    (
        "FAILED_PRECONDITION with PreconditionFailure",
        Code.FAILED_PRECONDITION,
        "Terms are not accepted",
        [
            details.PreconditionFailure(
                violations=[
                    details.PreconditionFailure.Violation(
                        type="TOS", subject="etl-prod", description="Accept the terms first"
                    )
                ]
            )
        ],
        [],
    ),
    (
        "UNKNOWN that holds a lock timeout in words",
        Code.UNKNOWN,
        "pq: canceling statement due to lock timeout",
        [],
        [WRONG_READING],
    ),
    (
        "UNKNOWN that holds a missing table in words",
        Code.UNKNOWN,
        'pq: relation "orders" does not exist',
        [],
        [WRONG_READING],
    ),
    ("UNAVAILABLE though the name is wrong", Code.UNAVAILABLE, "no healthy upstream", [], []),
    (
        "INTERNAL by a stream that is reset",
        Code.INTERNAL,
        "Received RST_STREAM with error code 2",
        [],
        [WRONG_READING],
    ),
):

    @family.case(title, raises="RpcError", tags=tags)
    def _(server: GrpcServer, code: Any = code, message: str = message, more: Any = more) -> None:
        ask(server.fails(code, message, *more))


@family.case("UNAVAILABLE with a pushback of the server", raises="RpcError")
def _(server: GrpcServer) -> None:
    ask(server.fails(Code.UNAVAILABLE, "overloaded", trailing=[("grpc-retry-pushback-ms", "4000")]))


@family.case("RESOURCE_EXHAUSTED with retry-after among the trailers", raises="RpcError")
def _(server: GrpcServer) -> None:
    ask(server.fails(Code.RESOURCE_EXHAUSTED, "rate limited", trailing=[("retry-after", "12")]))


@family.case("the client's deadline passes", raises="RpcError")
def _(server: GrpcServer) -> None:
    ask(server.is_silent(), timeout=0.3)


@family.case("the server's own code raises", raises="RpcError")
def _(server: GrpcServer) -> None:
    ask(server.breaks(KeyError("amount")))


@family.case("the answer is no message", raises="RpcError", tags=[WRONG_READING])
def _(server: GrpcServer) -> None:
    with grpc.insecure_channel(server.gives(b"\xff\xff")) as channel:
        load = channel.unary_unary("/orders.v1.Orders/Load", response_deserializer=details.RetryInfo.FromString)
        load(b"", timeout=2)


@family.case("the answer is larger than the client takes", raises="RpcError", tags=[WRONG_READING])
def _(server: GrpcServer) -> None:
    ask(server.gives(b"x" * 5_000_000))


@family.case("the connection is refused", raises="RpcError")
def _() -> None:
    with refused_port() as port:
        ask(f"127.0.0.1:{port}")


@family.case("the host does not exist", raises="RpcError", tags=[WRONG_READING])
def _() -> None:
    ask("orders.invalid:443")


@family.case("the channel is not ready in time", raises="FutureTimeoutError")
def _() -> None:
    with refused_port() as port, grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        grpc.channel_ready_future(channel).result(timeout=0.3)


@family.case("the certificate has expired", raises="RpcError", tags=[WRONG_READING])
def _(expired: GrpcServer) -> None:
    ask(expired.fails(Code.OK, ""), credentials=grpc.ssl_channel_credentials(expired.root.read_bytes()))


@family.case("the certificate is for another host", raises="RpcError", tags=[WRONG_READING])
def _(other_host: GrpcServer) -> None:
    ask(other_host.fails(Code.OK, ""), credentials=grpc.ssl_channel_credentials(other_host.root.read_bytes()))


@family.case("the authority is not known", raises="RpcError", tags=[WRONG_READING])
def _(tls: GrpcServer) -> None:
    ask(tls.fails(Code.OK, ""), credentials=grpc.ssl_channel_credentials())


@family.case("the server wants a certificate of the client", raises="RpcError", tags=[WRONG_READING])
def _(mutual: GrpcServer) -> None:
    ask(mutual.fails(Code.OK, ""), credentials=grpc.ssl_channel_credentials(mutual.root.read_bytes()))


@family.case("TLS asked of a plain server", raises="RpcError")
def _(server: GrpcServer) -> None:
    ask(server.fails(Code.OK, ""), credentials=grpc.ssl_channel_credentials())


def _hangs_up(listener: socket.socket) -> None:
    try:
        while True:
            listener.accept()[0].close()
    except OSError:
        return


@family.case("the peer hangs up at once", raises="RpcError")
def _() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_hangs_up, args=(listener,), daemon=True).start()
        ask(f"127.0.0.1:{listener.getsockname()[1]}")
        listener.shutdown(socket.SHUT_RDWR)


def _is_http1(listener: socket.socket) -> None:
    try:
        while True:
            with listener.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
    except OSError:
        return


@family.case("the peer speaks HTTP/1", raises="RpcError", tags=[WRONG_READING])
def _() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_is_http1, args=(listener,), daemon=True).start()
        ask(f"127.0.0.1:{listener.getsockname()[1]}")


@family.case("a stream is cancelled by the task itself", raises=("RpcError", "FutureCancelledError"))
def _(server: GrpcServer) -> None:
    with grpc.insecure_channel(server.is_silent(2)) as channel:
        call = channel.unary_unary("/orders.v1.Orders/Load").future(b"", timeout=2)
        call.cancel()
        call.result()


@family.case("a channel that was closed", raises="ValueError", tags=[WRONG_READING])
def _(server: GrpcServer) -> None:
    channel = grpc.insecure_channel(server.address)
    channel.close()
    channel.unary_unary("/orders.v1.Orders/Load")(b"", timeout=1)


# asyncio.
@family.case("asyncio: deadline passes", raises="AioRpcError")
async def _(server: GrpcServer) -> None:
    async with grpc.aio.insecure_channel(server.is_silent(2)) as channel:
        await channel.unary_unary("/orders.v1.Orders/Load")(b"", timeout=0.3)


@family.case("asyncio: connection is refused", raises="AioRpcError")
async def _() -> None:
    with refused_port() as port:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            await channel.unary_unary("/orders.v1.Orders/Load")(b"", timeout=2)


@family.case("asyncio: RESOURCE_EXHAUSTED with RetryInfo", raises="AioRpcError")
async def _(server: GrpcServer) -> None:
    address = server.fails(Code.RESOURCE_EXHAUSTED, "slow down", details.RetryInfo(retry_delay=Duration(seconds=5)))
    async with grpc.aio.insecure_channel(address) as channel:
        await channel.unary_unary("/orders.v1.Orders/Load")(b"", timeout=2)


class LoadError(Exception):
    """A task's own."""


@family.case("a task's own error around an unavailable stub", raises="LoadError")
def _(server: GrpcServer) -> None:
    try:
        ask(server.fails(Code.UNAVAILABLE, "connection error: desc = transport is closing"))
    except grpc.RpcError as error:
        raise LoadError("the feature store did not answer") from error


@family.case("a task's own error that forgets the denied call", raises="LoadError", tags=[WRONG_READING])
def _(server: GrpcServer) -> None:
    try:
        ask(server.fails(Code.PERMISSION_DENIED, "caller lacks orders.load"))
    except grpc.RpcError:
        raise LoadError("temporary problem, please retry") from None


@family.case("tenacity gives up on aborted transactions", raises="RetryError", tags=[WRONG_READING])
def _(server: GrpcServer) -> None:
    address = server.fails(Code.ABORTED, "transaction was aborted")
    tenacity.Retrying(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())(ask, address)


if __name__ == "__main__":
    family.run()
