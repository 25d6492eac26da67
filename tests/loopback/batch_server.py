"""The batch APIs of OpenAI and Anthropic on 127.0.0.1, for one batch that is over as soon as it is asked about.

Source: platform.openai.com/docs/api-reference/batch, docs.anthropic.com/en/api/creating-message-batches.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
_AT = "2026-12-01T00:00:00Z"


@dataclass
class BatchServer:
    """What it was asked, and what it says."""

    body: Callable[[Json], Json]
    """From the request in a batch to the body of its answer."""
    troubled: Mapping[int, Json] = field(default_factory=dict)
    """By the place of a request: what its line says instead."""
    lost: frozenset[int] = frozenset()
    """Requests whose results never come."""
    broken_downloads: int = 0
    """How often the results cannot be had before they can."""
    asked: list[Json] = field(default_factory=list)
    """The bodies of the requests of all batches."""
    submitted: int = 0
    url: str = ""
    lines: list[Json] = field(default_factory=list)

    def submit(self, requests: list[Json], body_in: str) -> None:
        self.submitted += 1
        self.asked += [one[body_in] for one in requests]
        self.lines = requests


@contextmanager
def serving_batches(body: Callable[[Json], Json], **options: Any) -> Iterator[BatchServer]:
    """Run a server for the length of a ``with`` block."""
    batches = BatchServer(body, **options)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"batches": batches}))
    batches.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield batches
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    batches: BatchServer

    def log_message(self, format: str, *args: Any) -> None:
        """Keep pytest's output clean."""

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/files":
            self.batches.submit([json.loads(line) for line in self._file_in(sent).splitlines()], "body")
            self._say(_FILE)
        elif self.path == "/v1/batches":
            self._say(_openai_batch(len(self.batches.lines)))
        elif self.path == "/v1/messages/batches":
            self.batches.submit(json.loads(sent)["requests"], "params")
            self._say(self._anthropic_batch())
        else:
            self.send_error(404)

    def do_GET(self) -> None:
        if self.path == "/v1/batches/batch_1":
            self._say(_openai_batch(len(self.batches.lines)))
        elif self.path == "/v1/messages/batches/batch_1":
            self._say(self._anthropic_batch())
        elif self.path == "/v1/files/results/content":
            self._download(self._openai_line)
        elif self.path == "/v1/messages/batches/batch_1/results":
            self._download(self._anthropic_line)
        else:
            self.send_error(404)

    def _download(self, line: Callable[[int, Json], Json]) -> None:
        if self.batches.broken_downloads:
            self.batches.broken_downloads -= 1
            self._say({"error": {"message": "try later"}}, 503, {"x-should-retry": "false"})
            return
        results = [line(at, one) for at, one in enumerate(self.batches.lines) if at not in self.batches.lost]
        self._send(200, "".join(json.dumps(one) + "\n" for one in reversed(results)).encode())

    def _openai_line(self, at: int, request: Json) -> Json:
        answer = {"response": {"status_code": 200, "body": self.batches.body(request["body"])}, "error": None}
        return {"custom_id": request["custom_id"], **(self.batches.troubled.get(at) or answer)}

    def _anthropic_line(self, at: int, request: Json) -> Json:
        answer = {"type": "succeeded", "message": self.batches.body(request["params"])}
        return {"custom_id": request["custom_id"], "result": self.batches.troubled.get(at) or answer}

    def _anthropic_batch(self) -> Json:
        counts = {"processing": 0, "succeeded": len(self.batches.lines), "errored": 0, "canceled": 0, "expired": 0}
        return {
            "id": "batch_1",
            "type": "message_batch",
            "processing_status": "ended",
            "request_counts": counts,
            "created_at": _AT,
            "expires_at": _AT,
            "ended_at": _AT,
            "cancel_initiated_at": None,
            "archived_at": None,
            "results_url": f"{self.batches.url}/v1/messages/batches/batch_1/results",
        }

    def _file_in(self, form: bytes) -> bytes:
        """Return the file of a form."""
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        parts = BytesParser().parsebytes(head + form).get_payload()
        (file,) = (part for part in parts if part.get_filename())
        return file.get_payload(decode=True)

    def _say(self, value: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


_FILE = {
    "id": "questions",
    "object": "file",
    "bytes": 1,
    "created_at": 1,
    "filename": "questions.jsonl",
    "purpose": "batch",
    "status": "processed",
}


def _openai_batch(count: int) -> Json:
    return {
        "id": "batch_1",
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": "questions",
        "completion_window": "24h",
        "status": "completed",
        "output_file_id": "results",
        "error_file_id": None,
        "created_at": 1,
        "request_counts": {"total": count, "completed": count, "failed": 0},
    }
