"""What a policy asked a model about one case, and what it was answered: recorded with vcrpy, or replayed.

One exchange may be open in a process: vcrpy replaces methods of classes. Requests are matched by method, path, query
and body; host, headers and secrets are not kept. A request that was never recorded is :class:`Stale`, which no policy
and no library takes for a failed call.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import vcr.stubs
from vcr import VCR
from vcr.persisters.filesystem import CassetteNotFoundError
from vcr.serialize import deserialize, serialize
from vcr.stubs import httpx_stubs

from airflow_common_ai.evals.replay.interaction import Interaction
from airflow_common_ai.evals.replay.scrubbing import Scrubber
from airflow_common_ai.evals.replay.token_usage import usage_of

__all__ = ["Exchange", "Interaction", "Stale", "recording", "replaying"]

_MAX_DIFF_LINES = 24
_MAX_LINE_CHARS = 160
_RAISING = (httpx_stubs, vcr.stubs)
"""Whose name for what a miss raises is replaced. Other stubs raise an ordinary exception: the spy sees these."""
_MISS = "CannotOverwriteExistingCassetteException"


class Stale(BaseException):
    """No ``Exception``, so that no policy falls back on something else as it would after a failed call."""

    def __init__(self, what: str = "", *, cassette: Any = None, failed_request: Any = None) -> None:
        if cassette is not None:  # raised by vcrpy
            cassette.find_requests_with_most_matches(failed_request)
        super().__init__(what or "this was never recorded")


@dataclass
class Exchange:
    """The requests that were made about one case."""

    interactions: list[Interaction] = field(default_factory=list)
    calls: int = 0
    misses: list[str] = field(default_factory=list)
    """What was asked and never recorded: for each the difference to the nearest one that was."""
    unplayed: int = 0

    @property
    def problem(self) -> str | None:
        """Why a replay measured nothing; ``None`` if it did."""
        if self.misses:
            return self.misses[0]
        if self.unplayed:
            recorded = len(self.interactions)
            return f"{recorded - self.unplayed} of the {recorded} recorded requests were made"
        return None

    @property
    def usage(self) -> tuple[str | None, int | None, int | None]:
        """Return the model, as it names itself, and the tokens in and out of all answers together."""
        bodies = (one["response"]["body"].get("string") or "" for one in self.interactions)
        return usage_of(body.decode("utf-8", "replace") if isinstance(body, bytes) else body for body in bodies)


class _Tape:
    """vcrpy's persister for one exchange."""

    def __init__(self, interactions: Sequence[Interaction]) -> None:
        self.interactions = list(interactions)

    def load_cassette(self, cassette_path: str, serializer: Any) -> Any:
        if not self.interactions:
            raise CassetteNotFoundError
        return deserialize(json.dumps({"version": 1, "interactions": self.interactions}), serializer)

    def save_cassette(self, cassette_path: str, cassette_dict: Any, serializer: Any) -> None:
        self.interactions = json.loads(serialize(cassette_dict, serializer))["interactions"]


@contextmanager
def recording(scrubber: Scrubber) -> Iterator[Exchange]:
    """Let requests through, and keep them with their answers."""
    tape, exchange = _Tape(()), Exchange()
    with _recorder(tape, scrubber).use_cassette("one case", record_mode="all") as cassette:
        _count(cassette, exchange)
        yield exchange
    exchange.interactions = tape.interactions


@contextmanager
def replaying(interactions: Sequence[Interaction], scrubber: Scrubber) -> Iterator[Exchange]:
    """Answer requests with what was recorded, each once, and let none through."""
    exchange = Exchange(list(interactions))
    with (
        _recorder(_Tape(interactions), scrubber).use_cassette("one case", record_mode="none") as cassette,
        _loud_misses(),
    ):
        _count(cassette, exchange)
        _note_misses(cassette, exchange)
        yield exchange
        exchange.unplayed = len(interactions) - cassette.play_count


@contextmanager
def _loud_misses() -> Iterator[None]:
    usual = [(module, getattr(module, _MISS)) for module in _RAISING]
    for module in _RAISING:
        setattr(module, _MISS, Stale)
    try:
        yield
    finally:
        for module, exception in usual:
            setattr(module, _MISS, exception)


def _count(cassette: Any, exchange: Exchange) -> None:
    can_play = cassette.can_play_response_for

    def counted(request: Any) -> Any:
        exchange.calls += 1
        return can_play(request)

    cassette.can_play_response_for = counted  # asked once for each request


def _note_misses(cassette: Any, exchange: Exchange) -> None:
    def noted(request: Any) -> list[Any]:
        exchange.misses.append(_difference(cassette.filter_request(request), cassette.requests))
        return []

    cassette.find_requests_with_most_matches = noted  # what every stub asks when it finds nothing


def _recorder(tape: _Tape, scrubber: Scrubber) -> Any:
    recorder = VCR(
        serializer="json",
        decode_compressed_response=True,
        before_record_request=scrubber.request,
        before_record_response=scrubber.response,
    )
    recorder.register_matcher("same", _is_same)  # vcrpy's own says where bodies differ, each time it looks
    recorder.match_on = ("same",)
    recorder.register_persister(tape)
    return recorder


def _is_same(one: Any, other: Any) -> bool:
    return (one.method, one.path, one.query) == (other.method, other.path, other.query) and _read(one) == _read(other)


def _read(request: Any) -> object:
    body = request.body or b""
    try:
        return json.loads(body)
    except ValueError:
        return bytes(body)


def _difference(request: Any, recorded: Sequence[Any]) -> str:
    """Return what tells a request from the most similar one that was recorded."""
    asked = f"{request.method} {request.path} was never recorded for this case"
    if not recorded:
        return f"{asked}: nothing was"
    lines = _lines(request)
    differences = [
        list(difflib.unified_diff(_lines(one), lines, "recorded", "asked now", n=1, lineterm="")) for one in recorded
    ]
    nearest = min(differences, key=len)
    if not nearest:
        return f"{asked} so often: {len(recorded)} times it was"
    shown = [line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…" for line in nearest]
    more = [f"… and {len(shown) - _MAX_DIFF_LINES} more lines"] if len(shown) > _MAX_DIFF_LINES else []
    return "\n".join([asked, *shown[:_MAX_DIFF_LINES], *more])


def _lines(request: Any) -> list[str]:
    body = _read(request)
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else _unfolded(body)
    return [f"{request.method} {request.path}", *text.splitlines()]


def _unfolded(body: object) -> str:
    """Return JSON with the lines of long texts one by one, since a prompt is one string."""
    return json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False).replace("\\n", "\n")
