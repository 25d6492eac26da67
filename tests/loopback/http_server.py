"""A small HTTP server on 127.0.0.1 that answers exactly what a test asks for.

.. code-block:: python

    with serving(Answer(429, headers={"Retry-After": "7"})) as server:
        requests.get(server.url).raise_for_status()
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOGIN_PAGE = """<!doctype html>
<html><head><title>Sign in</title></head>
<body><form method="post" action="/login">
<input name="user"><input type="password" name="pw"></form></body></html>
"""


@dataclass(frozen=True)
class Answer:
    """What the server says to one request."""

    status: int = 200
    body: str | bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    _: KW_ONLY
    reason: str | None = None
    """The reason phrase; the standard one if ``None``."""
    chunked: bool = False
    """Send the body in one chunk instead of with a ``Content-Length``."""
    cut_after_bytes: int | None = None
    """Promise the whole body, send only so much of it, then close the connection."""
    hang: bool = False
    """Read the request and stay silent until the server is closed."""
    raw: bytes | None = None
    """Send these bytes and close, whatever they are; ``b""`` closes without a word."""

    @property
    def body_bytes(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body


def json_answer(status: int, payload: Any, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with ``payload`` as its JSON body."""
    return Answer(status, json.dumps(payload), {"Content-Type": "application/json", **(headers or {})})


def html_answer(status: int, page: str = LOGIN_PAGE, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with an HTML page, a login form unless told otherwise."""
    return Answer(status, page, {"Content-Type": "text/html; charset=utf-8", **(headers or {})})


class LoopbackServer:
    """A running server. :func:`serving` starts and stops it."""

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self._answers = list(answers) or [Answer()]
        self._paths: dict[str, Answer] = {}
        self._lock = threading.Lock()
        self.seen: list[tuple[str, str]] = []
        """Method and path of every request, in order."""
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.loopback = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, *answers: Answer) -> None:
        """Give these to the next requests, one each; the last one is repeated."""
        with self._lock:
            self._answers = list(answers)

    def answer_at(self, path: str, answer: Answer) -> None:
        """Always give this at ``path``."""
        self._paths[path] = answer

    def next_answer(self, method: str, path: str) -> Answer:
        with self._lock:
            self.seen.append((method, path))
            if path in self._paths:
                return self._paths[path]
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving(*answers: Answer) -> Iterator[LoopbackServer]:
    """Run a server for the length of a ``with`` block."""
    server = LoopbackServer(answers)
    try:
        yield server
    finally:
        server.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    loopback: LoopbackServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Keep pytest's output clean."""

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            """A client that hangs up early is what some tests are about."""

    def _answer(self) -> None:
        answer = self.server.loopback.next_answer(self.command, self.path)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if answer.hang:
            self.server.loopback.closing.wait()
            self.close_connection = True
        elif answer.raw is not None:
            self.wfile.write(answer.raw)
            self.close_connection = True
        else:
            self._send(answer)

    def _send(self, answer: Answer) -> None:
        body = answer.body_bytes
        self.send_response(answer.status, answer.reason)
        given = {name.lower() for name in answer.headers}
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif "content-length" not in given and answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD" or self.command == "CONNECT":
            return
        payload = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if answer.chunked and body else body
        if answer.cut_after_bytes is not None:
            payload = payload[: answer.cut_after_bytes]
            self.close_connection = True
        self.wfile.write(payload)

    def send_response(self, code: int, message: str | None = None) -> None:
        """Leave out ``Date`` and ``Server``: a test gives them if it needs them."""
        self.send_response_only(code, message)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_CONNECT = _answer
