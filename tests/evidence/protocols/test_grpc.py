"""gRPC calls that failed, against a real server on loopback, and the forms in which they are printed."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import google.api_core.exceptions
import google.api_core.grpc_helpers
import grpc
import grpc.aio
import pytest
from failure_reading import NOW, alive, codes, conclusion, conclusion_code, logged, printed
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, Help, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status
from http_reading import raised_by
from loopback.sockets import refused_port

from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.model import Rank, Retry, Signal, Wait
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.protocols.grpc import reader as grpc_reader
from airflow_common_ai.evidence.protocols.grpc.codes import CODES
from airflow_common_ai.evidence.protocols.grpc.details import StatusDetails, read_status_details

YES, NO, DEPENDS = Retry.YES, Retry.NO, Retry.DEPENDS
Expected = tuple[str, Retry, Wait]


class Servicer(grpc.GenericRpcHandler):
    """Ends every call as a test wants it."""

    def __init__(self) -> None:
        self.end: Callable[[grpc.ServicerContext], object] = lambda context: None
        self.finish = threading.Event()

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        if call.method.endswith("/Watch"):
            return grpc.unary_stream_rpc_method_handler(self._stream)
        return grpc.unary_unary_rpc_method_handler(lambda request, context: self.end(context))

    def _stream(self, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        yield b"first"
        self.finish.wait(10)
        self.end(context)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Servicer, str]]:
    servicer = Servicer()
    server = grpc.server(ThreadPoolExecutor(4), handlers=(servicer,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield servicer, f"127.0.0.1:{port}"
    servicer.finish.set()
    server.stop(None).wait()


def call(address: str, timeout_s: float = 10.0) -> None:
    with grpc.insecure_channel(address) as channel:
        channel.unary_unary("/corp.Etl/Run")(b"", timeout=timeout_s)


async def call_in_a_loop(address: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        await channel.unary_unary("/corp.Etl/Run")(b"", timeout=10)


def call_google(address: str) -> None:
    """As the clients of Google's APIs call."""
    with grpc.insecure_channel(address) as channel:
        google.api_core.grpc_helpers.wrap_errors(channel.unary_unary("/corp.Etl/Run"))(b"", timeout=10)


def meaning(signal: Signal | None) -> Expected:
    assert signal is not None
    return signal.category, signal.retry, signal.wait


def with_details(code: grpc.StatusCode, message: str, *details: object) -> Callable[[grpc.ServicerContext], object]:
    packed = []
    for detail in details:
        entry = Any()
        entry.Pack(detail)
        packed.append(entry)
    status = Status(code=code.value[0], message=message, details=packed)
    return lambda context: context.abort_with_status(rpc_status.to_status(status))


STATUSES: list[tuple[grpc.StatusCode, Expected]] = [
    (grpc.StatusCode.CANCELLED, ("transient", DEPENDS, Wait.SHORT)),
    (grpc.StatusCode.UNKNOWN, ("transient", DEPENDS, Wait.SHORT)),
    (grpc.StatusCode.INVALID_ARGUMENT, ("data", NO, Wait.NONE)),
    (grpc.StatusCode.DEADLINE_EXCEEDED, ("network", DEPENDS, Wait.SHORT)),
    (grpc.StatusCode.NOT_FOUND, ("resource", NO, Wait.NONE)),
    (grpc.StatusCode.ALREADY_EXISTS, ("data", NO, Wait.NONE)),
    (grpc.StatusCode.PERMISSION_DENIED, ("auth", NO, Wait.NONE)),
    (grpc.StatusCode.RESOURCE_EXHAUSTED, ("rate_limit", DEPENDS, Wait.MEDIUM)),
    (grpc.StatusCode.FAILED_PRECONDITION, ("data", NO, Wait.NONE)),
    (grpc.StatusCode.ABORTED, ("transient", YES, Wait.NOW)),
    (grpc.StatusCode.OUT_OF_RANGE, ("data", NO, Wait.NONE)),
    (grpc.StatusCode.UNIMPLEMENTED, ("permanent", NO, Wait.NONE)),
    (grpc.StatusCode.INTERNAL, ("transient", DEPENDS, Wait.SHORT)),
    (grpc.StatusCode.UNAVAILABLE, ("transient", YES, Wait.SHORT)),
    (grpc.StatusCode.DATA_LOSS, ("data", NO, Wait.NONE)),
    (grpc.StatusCode.UNAUTHENTICATED, ("auth", DEPENDS, Wait.SHORT)),
]


def test_every_status_of_grpc_has_a_row() -> None:
    assert {code.name for code, _ in STATUSES} == set(CODES) == {code.name for code in grpc.StatusCode} - {"OK"}


@pytest.mark.parametrize(("code", "expected"), STATUSES)
@pytest.mark.parametrize("client", ["grpc", "grpc.aio", "google"])
def test_a_status_is_read_from_every_client_and_from_the_log(
    served: tuple[Servicer, str], code: grpc.StatusCode, expected: Expected, client: str
) -> None:
    servicer, address = served
    servicer.end = lambda context: context.abort(code, "No.")
    run = {"grpc": call, "google": call_google, "grpc.aio": lambda address: asyncio.run(call_in_a_loop(address))}
    error = raised_by(lambda: run[client](address))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert meaning(signal) == expected
        assert signal is not None
        assert signal.code == f"grpc.{code.name}"


def test_a_google_error_says_the_same_as_the_call_below_it(served: tuple[Servicer, str]) -> None:
    servicer, address = served
    servicer.end = lambda context: context.abort(grpc.StatusCode.ABORTED, "No.")
    error = raised_by(lambda: call_google(address))
    error.__cause__ = error.__context__ = None
    signal = conclusion(alive(google.api_core.exceptions.Aborted("No.")))
    assert signal is not None
    assert (signal.code, signal.rank) == ("grpc.ABORTED", Rank.VENDOR_CODE)
    assert meaning(signal) == ("transient", YES, Wait.NOW)


# What stands beside the status.


@pytest.mark.parametrize(
    ("code", "details", "category", "retry"),
    [
        ("RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Reads' of 60 requests per minute", "rate_limit", YES),
        ("RESOURCE_EXHAUSTED", "Quota exceeded: limit 'Queries per day' of service", "rate_limit", DEPENDS),
        ("RESOURCE_EXHAUSTED", "CLIENT: Received message larger than max (6291471 vs. 4194304)", "data", NO),
        ("RESOURCE_EXHAUSTED", "insufficient_quota: out of credits", "permanent", NO),
        ("RESOURCE_EXHAUSTED", "The disk of the worker is full", "transient", DEPENDS),
        ("PERMISSION_DENIED", "Rate limit exceeded for this caller", "rate_limit", YES),
        ("PERMISSION_DENIED", "The caller does not have permission", "auth", NO),
        ("FAILED_PRECONDITION", "The cluster is being updated", "transient", DEPENDS),
        ("FAILED_PRECONDITION", "The bucket is not empty", "data", NO),
        ("INTERNAL", "Received RST_STREAM with error code 2", "network", YES),
        ("UNKNOWN", "Stream removed", "network", YES),
    ],
)
def test_the_details_tell_where_the_status_is_vague(
    served: tuple[Servicer, str], code: str, details: str, category: str, retry: Retry
) -> None:
    servicer, address = served
    servicer.end = lambda context: context.abort(grpc.StatusCode[code], details)
    error = raised_by(lambda: call(address))
    for evidence in (alive(error), logged(error)):
        signal = conclusion(evidence)
        assert signal is not None
        assert (signal.code, signal.category, signal.retry) == (f"grpc.{code}", category, retry)


@pytest.mark.parametrize("run", [call, call_google])
def test_a_limit_that_says_when_to_come_back_is_a_rate(
    served: tuple[Servicer, str], run: Callable[[str], None]
) -> None:
    servicer, address = served
    retry_info = RetryInfo(retry_delay=Duration(seconds=34, nanos=500_000_000))
    servicer.end = with_details(grpc.StatusCode.RESOURCE_EXHAUSTED, "No.", Help(), retry_info)
    evidence = alive(raised_by(lambda: run(address)))
    found = conclude(evidence, read_signals(evidence))
    assert meaning(found.signal) == ("rate_limit", YES, Wait.MEDIUM)
    assert found.asked_delay_s == 34.5


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        ("RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED", ("rate_limit", YES, Wait.MEDIUM)),
        ("RESOURCE_EXHAUSTED", "RESOURCE_QUOTA_EXCEEDED", ("permanent", DEPENDS, Wait.LONG)),
        ("PERMISSION_DENIED", "SERVICE_DISABLED", ("permanent", Retry.NO, Wait.NONE)),
        ("PERMISSION_DENIED", "BILLING_DISABLED", ("permanent", NO, Wait.NONE)),
        ("PERMISSION_DENIED", "IAM_PERMISSION_DENIED", ("auth", NO, Wait.NONE)),
        ("UNAUTHENTICATED", "ACCESS_TOKEN_EXPIRED", ("auth", DEPENDS, Wait.SHORT)),
        ("INVALID_ARGUMENT", "API_KEY_INVALID", ("auth", NO, Wait.NONE)),
    ],
)
@pytest.mark.parametrize("run", [call, call_google])
def test_the_reason_of_google_says_more_than_the_status(
    served: tuple[Servicer, str], code: str, reason: str, expected: Expected, run: Callable[[str], None]
) -> None:
    servicer, address = served
    info = ErrorInfo(reason=reason, domain="googleapis.com", metadata={"consumer": "projects/1"})
    servicer.end = with_details(grpc.StatusCode[code], "No.", info)
    signal = conclusion(alive(raised_by(lambda: run(address))))
    assert meaning(signal) == expected
    assert signal is not None
    assert (signal.code, signal.rank) == (f"google.{reason}", Rank.VENDOR_CODE)


def test_metadata_that_is_no_status_says_nothing_more(served: tuple[Servicer, str]) -> None:
    servicer, address = served

    def end(context: grpc.ServicerContext) -> None:
        context.set_trailing_metadata((("grpc-status-details-bin", b"\xff\xff\xff"), ("x", "y")))
        context.abort(grpc.StatusCode.UNAVAILABLE, "No.")

    servicer.end = end
    assert conclusion_code(alive(raised_by(lambda: call(address)))) == "grpc.UNAVAILABLE"


def test_the_details_are_read_as_protobuf_reads_them() -> None:
    packed = []
    for detail in (ErrorInfo(reason="R", metadata={"k": "v"}), RetryInfo(retry_delay=Duration(nanos=250_000_000))):
        entry = Any()
        entry.Pack(detail)
        packed.append(entry)
    blob = Status(code=8, message="No.", details=packed).SerializeToString()
    assert read_status_details(blob) == StatusDetails("R", 0.25)
    assert read_status_details(Status(code=8, message="No.").SerializeToString()) == StatusDetails()
    past = Any()
    past.Pack(RetryInfo(retry_delay=Duration(seconds=-5)))
    assert read_status_details(Status(details=[past]).SerializeToString()) == StatusDetails()
    for end in range(1, len(blob)):
        with contextlib.suppress(ValueError):
            read_status_details(blob[:end])


# Without a server, or without an end.


def test_nobody_listening_and_a_deadline_are_told_apart(served: tuple[Servicer, str]) -> None:
    servicer, address = served
    with refused_port() as port:
        signal = conclusion(alive(raised_by(lambda: call(f"127.0.0.1:{port}"))))
    assert signal is not None
    assert (signal.category, signal.retry) in {("transient", YES), ("network", YES)}
    ended = threading.Event()
    servicer.end = lambda context: ended.wait(10)
    error = raised_by(lambda: call(address, timeout_s=0.2))
    ended.set()
    assert conclusion_code(alive(error)) == conclusion_code(logged(error)) == "grpc.DEADLINE_EXCEEDED"


def test_a_certificate_that_is_not_trusted_is_not_merely_unavailable() -> None:
    details = (
        "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Ssl handshake failed: "
        "SSL_ERROR_SSL: error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED"
    )
    node = alive(grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, details=details)).nodes[0]
    (signal,) = grpc_reader.read(node, NOW)
    assert (signal.code, signal.is_conclusive) == ("grpc.UNAVAILABLE", False)


def test_a_call_that_is_under_way_is_not_waited_for(served: tuple[Servicer, str]) -> None:
    servicer, address = served
    servicer.finish.clear()
    servicer.end = lambda context: context.abort(grpc.StatusCode.ABORTED, "No.")
    with grpc.insecure_channel(address) as channel:
        stream = channel.unary_stream("/corp.Etl/Watch")(b"", timeout=30)
        assert next(stream) == b"first"
        assert isinstance(stream, grpc.RpcError)
        assert grpc_reader.probe(stream) == {}  # would not come back before the server has finished
        servicer.finish.set()
        error = raised_by(lambda: list(stream))
    assert error is stream
    assert conclusion_code(alive(error)) == "grpc.ABORTED"


def test_a_class_of_somebodys_own_is_asked_for_its_status() -> None:
    class TestRpcError(grpc.RpcError):
        def code(self) -> grpc.StatusCode:
            return grpc.StatusCode.NOT_FOUND

    assert conclusion_code(alive(TestRpcError())) == "grpc.NOT_FOUND"


@pytest.mark.parametrize(
    ("message", "code", "retry"),
    [
        ("<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n\tdetails = \"x\"\n>",
         "grpc.UNAVAILABLE", YES),
        ("rpc error: code = NotFound desc = no such job", "grpc.NOT_FOUND", NO),
        ("rpc error: code = Canceled desc = context canceled", "grpc.CANCELLED", DEPENDS),
        ("rpc error: code = ResourceExhausted desc = too many requests per second", "grpc.RESOURCE_EXHAUSTED", YES),
        ("429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'details': [{'retryDelay': '34s'}]}}",
         "grpc.RESOURCE_EXHAUSTED", YES),
        ("(<Status.UNAVAILABLE: 14>, 'no', None)", "grpc.UNAVAILABLE", YES),
    ],
)  # fmt: skip
def test_a_printed_call_is_read_like_a_live_one(message: str, code: str, retry: Retry) -> None:
    signal = conclusion(printed("AirflowException", message))
    assert signal is not None
    assert (signal.code, signal.retry) == (code, retry)


def test_printed_calls_that_disagree_settle_nothing() -> None:
    message = "first StatusCode.NOT_FOUND, then StatusCode.UNAVAILABLE"
    assert set(codes(printed("AirflowException", message), "grpc.")) == {"(grpc.NOT_FOUND)", "(grpc.UNAVAILABLE)"}


@pytest.mark.parametrize("hostile", ["StatusCode." * 90_000, "code = A" * 120_000, 'details = "' * 90_000])
def test_hostile_megabytes_are_read_without_an_error(hostile: str) -> None:
    assert codes(printed("AirflowException", hostile), "grpc.") == []
