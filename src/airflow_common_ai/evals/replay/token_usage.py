"""Which model answered, and with how many tokens: read from the bodies of its answers, streams of events included."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

__all__ = ["usage_of"]

_INPUT = ("input_tokens", "prompt_tokens", "promptTokenCount", "inputTokens", "prompt_eval_count")
_OUTPUT = ("output_tokens", "completion_tokens", "candidatesTokenCount", "outputTokens", "eval_count")
"""What it is called by Anthropic and OpenAI, OpenAI's chat form, Google, Amazon Bedrock, Ollama."""
_HELD_IN = ("usage", "message", "response", "usageMetadata")
_MODEL = ("model", "modelVersion")
_MOST_TOKENS = 10**9
_MAX_NAME_CHARS = 120


def usage_of(bodies: Iterable[str]) -> tuple[str | None, int | None, int | None]:
    """Return the model that answered last, and the tokens of all answers: in, out; ``None`` where nobody says."""
    model: str | None = None
    totals: list[list[int]] = [[], []]
    for body in bodies:
        counted: tuple[list[int], list[int]] = ([], [])
        for document in _documents(body):
            for part in _parts(document):
                model = next((_name(part[key]) for key in _MODEL if _name(part.get(key))), model)
                for names, found in zip((_INPUT, _OUTPUT), counted, strict=True):
                    found += filter(None, (_count(part.get(name)) for name in names))
        for total, found in zip(totals, counted, strict=True):
            if found:
                total.append(max(found))  # a stream tells it several times, and grows
    into, out = (sum(total) if total else None for total in totals)
    return model, into, out


def _documents(body: str) -> Iterator[Mapping[str, object]]:
    lines = body.split("\n") if body.lstrip().startswith(("data:", "event:")) else [body]
    for line in lines:
        try:
            document = json.loads(line.removeprefix("data:"))
        except ValueError:
            continue
        if isinstance(document, Mapping):
            yield document


def _parts(document: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    yield document
    for name in _HELD_IN:
        part = document.get(name)
        if isinstance(part, Mapping):
            yield from _parts(part)


def _name(value: object) -> str | None:
    return value[:_MAX_NAME_CHARS] if isinstance(value, str) and value else None


def _count(value: object) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS
    return cast(int, value) if is_count else 0
