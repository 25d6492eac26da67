"""A DNS server of one answer, over UDP: it has no names, only a code of return, or is silent."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import dns.message
import dns.rcode
from harness.servers import ServerUnavailable

__all__ = ["Dns", "dns_server"]

_PORT = 15353
"""Always the same, for the client prints it where no reader takes it for a port."""
_POLL_S = 0.1
_LARGEST = 4096


class Dns:
    """Cases run one after the other, so each simply sets what is answered from now on."""

    name = "loopback DNS"
    version: str | None = None

    def __init__(self, port: int) -> None:
        self.port = port
        self.code: dns.rcode.Rcode | None = dns.rcode.NOERROR
        """``None`` does not answer."""
        self.is_foreign = False
        """Answer what nobody asked."""

    def answer(self, asked: bytes) -> bytes | None:
        if self.code is None:
            return None
        question = dns.message.from_wire(asked)
        answer = dns.message.make_response(question)
        answer.set_rcode(self.code)
        if self.is_foreign:
            answer.id = (question.id + 1) % 2**16
        return answer.to_wire()


@contextlib.contextmanager
def dns_server() -> Iterator[Dns]:
    """The server that the cases of a family share."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        try:
            listening.bind(("127.0.0.1", _PORT))
        except OSError as error:
            raise ServerUnavailable(f"the DNS server's port is in use: {error}") from error
        listening.settimeout(_POLL_S)
        server = Dns(int(listening.getsockname()[1]))
        is_ending = threading.Event()

        def serve() -> None:
            while not is_ending.is_set():
                with contextlib.suppress(TimeoutError):
                    asked, client = listening.recvfrom(_LARGEST)
                    if answer := server.answer(asked):
                        listening.sendto(answer, client)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            is_ending.set()
            thread.join()
