"""A programmable HTTP server: it answers exactly what a case asks for, right or wrong.

.. code-block:: python

    family = Family(__file__, "requests", servers={"http": http_server})

    @family.case("429 with a wait of 30 seconds", raises="HTTPError")
    def _(http):
        url = http.answers(Answer(429, headers={"Retry-After": "30"}))
        requests.get(url).raise_for_status()
"""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any

__all__ = ["LOGIN_PAGE", "Answer", "HttpServer", "Request", "html", "http_server", "json_answer"]

LOGIN_PAGE = "<!doctype html><html><head><title>Sign in</title></head><body><form method=post></form></body></html>"


@dataclass(frozen=True)
class Request:
    """What the client sent."""

    method: str
    path: str
    """With its query."""
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What the server says to one request."""

    status: int = 200
    body: str | bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    _: KW_ONLY
    reason: str | None = None
    """The reason phrase; the standard one if ``None``."""
    cut_after_bytes: int | None = None
    """Promise the whole body, send only so much of it, then close the connection."""
    raw: bytes | None = None
    """Send these bytes and close, whatever they are; ``b""`` closes without a word."""
    is_reset: bool = False
    """Send what was asked for, then close with RST: the client sees ``ECONNRESET``."""
    silent_s: float = 0
    """Stay silent so long before the answer; the end of the server ends it."""


def json_answer(status: int, payload: object, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with ``payload`` as its JSON body."""
    return Answer(status, json.dumps(payload), {"Content-Type": "application/json", **(headers or {})})


def html(status: int = 200, page: str = LOGIN_PAGE, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with a page, a login form unless told otherwise."""
    return Answer(status, page, {"Content-Type": "text/html; charset=utf-8", **(headers or {})})


Route = Callable[[Request], Answer]


class HttpServer:
    """A running server. Cases run one after the other, so each simply sets what is answered from now on."""

    name = "loopback HTTP"
    version: str | None = None

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._scheme = "https" if tls else "http"
        self._route: Route = lambda request: Answer(404)
        self.seen: list[Request] = []
        """Since the answers were set."""
        self.is_ending = threading.Event()
        self._listener = _Listener(("127.0.0.1", 0), _Handler)
        self._listener.owner = self
        self._listener.tls = tls
        threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.server_address[1])

    @property
    def url(self) -> str:
        """Without a slash at the end."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def answers(self, *answers: Answer) -> str:
        """Answer whatever comes with these, one after the other, the last one again and again; return the URL."""
        left = list(answers)
        return self.routes(lambda request: left.pop(0) if len(left) > 1 else left[0])

    def routes(self, route: Route) -> str:
        """Answer with what ``route`` says; return the URL."""
        self._route = route
        self.seen = []
        return self.url

    def answer_to(self, request: Request) -> Answer:
        self.seen.append(request)
        return self._route(request)

    def close(self) -> None:
        self.is_ending.set()
        self._listener.shutdown()
        self._listener.server_close()


@contextlib.contextmanager
def http_server() -> Iterator[HttpServer]:
    """A plain server."""
    with contextlib.closing(HttpServer()) as server:
        yield server


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    owner: HttpServer
    tls: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.tls is not None:  # here, in the thread of the connection: a handshake may hang
            with contextlib.suppress(OSError), self.tls.wrap_socket(request, server_side=True) as wrapped:
                super().finish_request(wrapped, client_address)
            return
        super().finish_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what many cases are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        owner = self.server.owner
        answer = owner.answer_to(Request(self.command, self.path, dict(self.headers.items()), self._body()))
        if answer.silent_s and owner.is_ending.wait(answer.silent_s):
            self.close_connection = True
            return
        self._send(answer)
        if answer.is_reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            return self._chunked_body()
        length = self.headers.get("Content-Length", "0")
        return self.rfile.read(int(length)) if length.isdigit() else b""

    def _chunked_body(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    def _send(self, answer: Answer) -> None:
        if answer.raw is not None or answer.is_reset:
            self.close_connection = True
            self.wfile.write(answer.raw or b"")
            return
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        reason = answer.reason if answer.reason is not None else _reason(answer.status)
        head = [f"HTTP/1.1 {answer.status} {reason}", *(f"{name}: {value}" for name, value in answer.headers.items())]
        named = {name.lower() for name in answer.headers}
        if not named & {"content-length", "transfer-encoding"}:
            head.append(f"Content-Length: {len(body)}")
        if answer.cut_after_bytes is not None:
            self.close_connection = True
        self.wfile.write("\r\n".join((*head, "", "")).encode("latin-1"))
        if self.command != "HEAD":
            self.wfile.write(body[: answer.cut_after_bytes])


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
