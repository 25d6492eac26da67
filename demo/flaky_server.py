"""A web service on loopback that misbehaves on purpose."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """One HTTP response."""

    status: int
    body: str = '{"rows": []}'
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


GOOD = Answer(200)

ANSWERS: Mapping[str, tuple[Answer, ...]] = {
    "/orders": (Answer(429, '{"error": "slow down"}', {"Retry-After": "3"}), GOOD),
    "/prices": (Answer(503, '{"error": "overloaded"}'),),
    "/stock": (Answer(503, '{"error": "restarting"}'), GOOD),
    "/customers": (Answer(401, '{"error": "bad token"}', {"WWW-Authenticate": 'Bearer error="invalid_token"'}),),
    "/archive": (Answer(404, '{"error": "no such archive"}'),),
    "/invoices": (Answer(404, '{"error": "no such invoice"}'),),
    "/report": (Answer(200, "<!doctype html><title>Be right back</title>", content_type="text/html"),),
}
"""What each path answers the first time, the second time, …; the last answer is repeated."""


@contextmanager
def flaky_server() -> Iterator[str]:
    """Serve :data:`ANSWERS` on a free port of 127.0.0.1 and yield the address."""
    requests: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers = ANSWERS.get(self.path, (Answer(404),))
            answer = answers[min(requests[self.path], len(answers) - 1)]
            requests[self.path] += 1
            body = answer.body.encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the terminal belongs to the demo."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
