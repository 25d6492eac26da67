"""What an exception raises while it is read: none of it escapes, but a wish to stop the process does."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from types import FrameType

import pytest

from airflow_common_ai.evidence.collect import collect

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Stop(BaseException):
    """No error of a program, but no wish to stop the process either."""


class Failing(Exception):
    """Raises, or does, something whenever it is asked for its text or for an attribute."""

    def __init__(self, do: Callable[[], object]) -> None:
        super().__init__("args")
        self.do = do

    def __str__(self) -> str:
        return str(self.do())

    @property
    def response(self) -> object:
        return self.do()


def raising(error: BaseException) -> Callable[[], object]:
    def do() -> object:
        raise error

    return do


@pytest.mark.parametrize("error", [Stop(), asyncio.CancelledError(), GeneratorExit(), ValueError()])
def test_what_an_exception_raises_while_it_is_read_does_not_escape(error: BaseException) -> None:
    evidence = collect(Failing(raising(error)), observed_at=NOW)

    assert evidence.nodes[0].message == "args"


@pytest.mark.parametrize("wish", [KeyboardInterrupt, SystemExit])
def test_a_wish_to_stop_the_process_passes_whoever_raises_it(wish: type[BaseException]) -> None:
    with pytest.raises(wish):
        collect(Failing(raising(wish())), observed_at=NOW)


def test_the_wish_of_a_signal_that_arrives_while_an_exception_is_read_passes() -> None:
    def on_signal(number: int, frame: FrameType | None) -> None:
        raise SystemExit(number)

    before = signal.signal(signal.SIGUSR1, on_signal)
    try:
        with pytest.raises(SystemExit):
            collect(Failing(lambda: signal.raise_signal(signal.SIGUSR1)), observed_at=NOW)
    finally:
        signal.signal(signal.SIGUSR1, before)
