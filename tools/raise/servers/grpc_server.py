"""A real gRPC server that answers every method with a status. Scripts that use this depend on ``grpcio-status``."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.rpc import status_pb2
from grpc_status import rpc_status

from servers.tls import Authority, authority

__all__ = ["GrpcServer", "grpc_server"]

Metadata = Sequence[tuple[str, str]]


class GrpcServer(grpc.GenericRpcHandler):  # type: ignore[misc, unused-ignore]
    """A running server. Cases run one after the other, so each simply sets what is answered from now on."""

    name = "grpcio server"
    version: str | None = grpc.__version__

    def __init__(self, own: Authority | None, is_mutual: bool, certificate: dict[str, Any]) -> None:
        self.root = own.root if own else None
        self._answer: Callable[[Any], bytes] = lambda context: b""
        self.is_ending = threading.Event()
        self._server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
        self._server.add_generic_rpc_handlers((self,))
        if own:
            pem = own.issue(*certificate.pop("names", ()), **certificate).path.read_bytes()
            credentials = grpc.ssl_server_credentials(
                [(pem, pem)], own.root.read_bytes() if is_mutual else None, is_mutual
            )
            self.port = self._server.add_secure_port("127.0.0.1:0", credentials)
        else:
            self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def service(self, handler_call_details: Any) -> Any:
        def unary(request: bytes, context: Any) -> bytes:
            return self._answer(context)

        def stream(requests: Any, context: Any) -> Iterator[bytes]:
            yield self._answer(context)

        if "Streaming" in handler_call_details.method or handler_call_details.method.endswith("RunQuery"):
            return grpc.stream_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(unary)

    def fails(self, code: grpc.StatusCode, message: str, *details: Any, trailing: Metadata = ()) -> str:
        """Answer every call with a status, with details of google.rpc if there are any; return the address."""

        def answer(context: Any) -> bytes:
            context.set_trailing_metadata(tuple(trailing))
            if details:
                packed = []
                for detail in details:
                    one = any_pb2.Any()
                    one.Pack(detail)
                    packed.append(one)
                status = status_pb2.Status(code=code.value[0], message=message, details=packed)
                rich = rpc_status.to_status(status)
                context.set_trailing_metadata((*trailing, *rich.trailing_metadata))
            context.abort(code, message)
            return b""

        self._answer = answer
        return self.address

    def gives(self, payload: bytes) -> str:
        """Answer every call with these bytes, whatever they are; return the address."""
        self._answer = lambda context: payload
        return self.address

    def is_silent(self, seconds: float = 10) -> str:
        """Take every call, and say nothing for some time."""

        def answer(context: Any) -> bytes:
            self.is_ending.wait(seconds)
            return b""

        self._answer = answer
        return self.address

    def breaks(self, error: Exception) -> str:
        """Let the server's own code raise."""

        def answer(context: Any) -> bytes:
            raise error

        self._answer = answer
        return self.address

    def close(self) -> None:
        self.is_ending.set()
        self._server.stop(0).wait(2)


def grpc_server(
    *, is_tls: bool = False, is_mutual: bool = False, **certificate: Any
) -> Callable[[], AbstractContextManager[GrpcServer]]:
    """
    Return what starts a server.

    :param certificate: What :meth:`Authority.issue` takes, and ``names``.
    """

    @contextlib.contextmanager
    def start() -> Iterator[GrpcServer]:
        with contextlib.ExitStack() as running:
            own = running.enter_context(authority()) if is_tls else None
            server = running.enter_context(contextlib.closing(GrpcServer(own, is_mutual, dict(certificate))))
            yield server

    return start
