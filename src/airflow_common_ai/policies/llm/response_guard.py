"""What is read of a server's response: a gigabyte must not take the worker's memory, a redirect not the API key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

__all__ = ["AnswerTooLarge", "Redirected", "guard_responses"]

MAX_ANSWER_BYTES = 4 * 1024 * 1024
"""Far more than a capped answer takes, token probabilities included."""

MAX_COMPRESSED_BYTES = 64 * 1024
"""Of an answer that is compressed although we asked for it as it is; gzip makes at most 64 MiB out of it."""


class AnswerTooLarge(Exception):
    """The server sent more than an answer can be."""


class Redirected(Exception):
    """The server points elsewhere."""


def guard_responses(model: Model) -> None:
    """Guard what the HTTP client of ``model`` reads; a model that speaks through another kind of client is left."""
    client = _http_client(model)
    if client is None:
        return
    client.headers["Accept-Encoding"] = "identity"
    # A transport of our own would turn off the proxies of the environment, a hook does not.
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "response": [*hooks.get("response", ()), _guard]}


def _http_client(model: Model) -> httpx2.AsyncClient | None:
    """Return the client of httpx (either one) below an SDK's client: OpenAI's, Anthropic's and Groq's keep it there."""
    client = getattr(model, "client", None)
    for candidate in (client, getattr(client, "_client", None)):
        if all(hasattr(candidate, name) for name in ("event_hooks", "headers", "aclose")):
            return candidate
    return None


async def _guard(response: Any) -> None:
    if response.has_redirect_location:
        raise Redirected
    is_compressed = response.headers.get("content-encoding", "identity") != "identity"
    response.stream = _bounded(response.stream, MAX_COMPRESSED_BYTES if is_compressed else MAX_ANSWER_BYTES)


def _bounded(stream: Any, limit_bytes: int) -> Any:
    class BoundedStream(type(stream)):  # type: ignore[misc]  # httpx asks for a stream of its own kind, of two httpx
        def __init__(self) -> None:
            """Wrap the stream, and take nothing of its own state."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for piece in stream:
                read += len(piece)
                if read > limit_bytes:
                    raise AnswerTooLarge(f"more than {limit_bytes} bytes")
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return BoundedStream()
