"""Servers on 127.0.0.1 that speak as language models do, well or badly.

.. code-block:: python

    with serving_llm(OPENAI.answers({"category": "network"})) as server:
        ...  # server.url is what a connection has as its host
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from loopback.sockets import serve

Json = dict[str, Any]


@dataclass
class LlmServer:
    """A running server and what it saw."""

    url: str
    requests: list[Json] = field(default_factory=list)
    """The bodies of the requests, in order."""
    headers: list[str] = field(default_factory=list)
    """The heads of the requests, in order."""
    client_left: threading.Event = field(default_factory=threading.Event)
    """A client has closed a connection that this server would have kept."""


Manner = Callable[[socket.socket, LlmServer, Json], None]
"""What a server does with one request that it has read."""


@contextlib.contextmanager
def serving_llm(*manners: Manner, scheme: str = "http", path: str = "") -> Iterator[LlmServer]:
    """Run a server that treats the first request in the first manner, and so on; the last manner is repeated."""
    server = LlmServer("")
    left, lock = list(manners), threading.Lock()

    def conversation(connection: socket.socket) -> None:
        request = _read(connection, server)
        if request is None:
            return
        with lock:
            server.requests.append(request)
            manner = left.pop(0) if len(left) > 1 else left[0]
        manner(connection, server, request)

    with serve(conversation) as port:
        server.url = f"{scheme}://127.0.0.1:{port}{path}"
        yield server


def _read(connection: socket.socket, server: LlmServer) -> Json | None:
    """Read a request with a JSON body; ``None`` for a probe that closes without one."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            return None
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    text = head.decode("latin-1")
    lengths = [line.split(":")[1] for line in text.lower().splitlines() if line.startswith("content-length:")]
    while lengths and len(body) < int(lengths[0]):
        body += connection.recv(65536)
    server.headers.append(text)
    request: Json = json.loads(body or b"{}")
    return request


# How badly a server can behave, whatever the form of its answers.


def hangs(connection: socket.socket, server: LlmServer, request: Json) -> None:
    """Never answer."""
    while connection.recv(65536):
        pass
    server.client_left.set()


def hangs_in_tls(connection: socket.socket) -> None:
    """Take the greeting of a TLS client and never answer it."""
    while connection.recv(65536):
        pass


def drips(connection: socket.socket, server: LlmServer, request: Json) -> None:
    """Send a byte every half second, for ever, and never the end of the body."""
    connection.sendall(_head(200, length=10**6))
    while True:
        connection.sendall(b" ")
        time.sleep(0.5)


def closes_in_the_middle(connection: socket.socket, server: LlmServer, request: Json) -> None:
    connection.sendall(_head(200, length=1000) + b'{"choices": [')


def redirects_in_a_circle(connection: socket.socket, server: LlmServer, request: Json) -> None:
    connection.sendall(_response(307, {}, {"Location": f"{server.url}/again"}))


def sends_a_gigabyte(connection: socket.socket, server: LlmServer, request: Json) -> None:
    """Send 1 GB of JSON that never ends."""
    connection.sendall(_head(200, length=10**9) + b'{"choices": "')
    piece = b"a" * 2**20
    for _ in range(10**9 // len(piece)):
        connection.sendall(piece)


def bombs_with_gzip(connection: socket.socket, server: LlmServer, request: Json) -> None:
    """Send 1 GB of JSON in 1 MB of gzip."""
    import zlib

    squeezer = zlib.compressobj(9, zlib.DEFLATED, 31)
    connection.sendall(_head(200, {"Content-Encoding": "gzip"}, length=10**9))
    connection.sendall(squeezer.compress(b'{"choices": "'))
    piece = b"a" * 2**20
    for _ in range(1000):
        connection.sendall(squeezer.compress(piece))


def is_no_json(connection: socket.socket, server: LlmServer, request: Json) -> None:
    page = b"<html><body>Welcome to the proxy</body></html>"
    connection.sendall(_head(200, {"Content-Type": "text/html"}, length=len(page)) + page)


def is_broken_json(connection: socket.socket, server: LlmServer, request: Json) -> None:
    connection.sendall(_head(200, length=12) + b'{"choices": ')


def refuses(status: int, message: str = "no", headers: Mapping[str, str] | None = None) -> Manner:
    """Answer with an error in the form that OpenAI and Anthropic share."""

    def manner(connection: socket.socket, server: LlmServer, request: Json) -> None:
        body = {"type": "error", "error": {"type": "some_error", "message": message}}
        connection.sendall(_response(status, body, headers or {}))

    return manner


# The forms of a good answer.


@dataclass(frozen=True)
class Wire:
    """A form in which models are asked and answer."""

    name: str
    model: str
    """A model id that makes pydantic-ai speak it."""
    path: str
    """What belongs behind a server's address in a connection's host."""
    body: Callable[[Json, Json], Json]
    """Makes the body of an answer out of the request and the answer's arguments."""

    def answers(self, arguments: Json) -> Manner:
        """Answer with these arguments: as text where the request brings a schema, as a tool call where a tool."""

        def manner(connection: socket.socket, server: LlmServer, request: Json) -> None:
            connection.sendall(_response(200, self.body(request, arguments)))

        return manner


def _openai(request: Json, arguments: Json) -> Json:
    text = json.dumps(arguments)
    message: Json = {"role": "assistant", "content": text}
    if "tools" in request:
        call = {"name": request["tools"][0]["function"]["name"], "arguments": text}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": call}],
        }
    choice: Json = {"index": 0, "finish_reason": "tool_calls" if "tools" in request else "stop", "message": message}
    if request.get("logprobs"):
        choice["logprobs"] = {"content": [{"token": text, "logprob": -0.25, "bytes": None, "top_logprobs": []}]}
    usage = {"prompt_tokens": 70, "completion_tokens": 7, "total_tokens": 77}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{request['model']}-as-served",
        "choices": [choice],
        "usage": usage,
    }


def _openai_responses(request: Json, arguments: Json) -> Json:
    text = json.dumps(arguments)
    token = {"token": text, "logprob": -0.25, "bytes": [], "top_logprobs": []}
    content = {"type": "output_text", "text": text, "annotations": [], "logprobs": [token]}
    message = {"type": "message", "id": "1", "role": "assistant", "status": "completed", "content": [content]}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": f"{request['model']}-as-served",
        "output": [message],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 70, "output_tokens": 7, "total_tokens": 77, **details},
    }


def _anthropic(request: Json, arguments: Json) -> Json:
    content: Json = {"type": "text", "text": json.dumps(arguments)}
    if "tools" in request:
        content = {"type": "tool_use", "id": "1", "name": request["tools"][0]["name"], "input": arguments}
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": f"{request['model']}-as-served",
        "content": [content],
        "stop_reason": "tool_use" if "tools" in request else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 70, "output_tokens": 7},
    }


def _decision(request: Json, arguments: Json) -> Json:
    """Choose ``arguments["category"]`` with 0.9 of the probability."""
    answers = {}
    for name, question in request["questions"].items():
        options = list(question["criteria"])
        chosen = arguments["category"]
        others = {option: 0.1 / (len(options) - 1) for option in options if option != chosen}
        answers[name] = {
            "type": "choice",
            "choice": chosen,
            "confidence": 0.9,
            "probabilities": {chosen: 0.9, **others},
        }
    return {
        "model": f"{request['model']}-as-served",
        "answers": answers,
        "usage": {"input_tokens": 70, "output_tokens": 7},
    }


OPENAI = Wire("openai-chat", "openai-chat:a-model", "/v1", _openai)
OLLAMA = Wire("ollama", "ollama:a-model", "/v1", _openai)
OPENAI_RESPONSES = Wire("openai", "openai:a-model", "/v1", _openai_responses)
ANTHROPIC = Wire("anthropic", "anthropic:a-model", "", _anthropic)
ANTHROPIC_WITH_SCHEMA = Wire("anthropic with a schema", "anthropic:claude-sonnet-4-6", "", _anthropic)
DECISION = Wire("system-one", "system-one:a-model", "", _decision)

WIRES = (OPENAI, OLLAMA, OPENAI_RESPONSES, ANTHROPIC, ANTHROPIC_WITH_SCHEMA, DECISION)


@contextlib.contextmanager
def blackhole() -> Iterator[str]:
    """The URL of a port that takes no connection and refuses none: its backlog is full."""
    with socket.socket() as listener, contextlib.ExitStack() as clients:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        for _ in range(8):
            client = clients.enter_context(socket.socket())
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.connect(address)
        time.sleep(0.05)  # let the kernel fill the backlog
        yield f"http://127.0.0.1:{address[1]}"


@contextlib.contextmanager
def silent_tls() -> Iterator[str]:
    """The URL of a TLS server that never answers a greeting."""
    with serve(hangs_in_tls) as port:
        yield f"https://127.0.0.1:{port}"


def _head(status: int, headers: Mapping[str, str] | None = None, *, length: int) -> bytes:
    lines = {
        "Content-Type": "application/json",
        "Content-Length": str(length),
        "Connection": "close",
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} -\r\n{head}\r\n".encode()


def _response(status: int, body: Json, headers: Mapping[str, str] | None = None) -> bytes:
    payload = json.dumps(body).encode()
    return _head(status, headers, length=len(payload)) + payload
