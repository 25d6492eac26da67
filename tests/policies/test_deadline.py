"""A call with a hard limit returns in time whatever the work does, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

import pytest

from airflow_common_ai.policies.deadline import THREAD_NAME, DeadlineExceeded, call

LONG_S = 60.0
"""Waited for by nobody, unless the test is about to fail."""


async def value() -> str:
    await asyncio.sleep(0)
    return "done"


async def for_ever() -> str:
    await asyncio.Event().wait()
    return "never"


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_NAME)]


def wait_until(condition: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


def test_the_result_of_the_work_is_returned() -> None:
    assert call(value, LONG_S) == "done"


@pytest.mark.parametrize("error", [ValueError("ours"), SystemExit(3), KeyboardInterrupt(), TimeoutError()])
def test_what_the_work_raises_is_raised(error: BaseException) -> None:
    async def work() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        call(work, LONG_S)

    assert raised.value is error


def test_work_that_waits_too_long_is_given_up_and_cancelled_on_its_loop() -> None:
    cleaned_up = threading.Event()

    async def work() -> None:
        try:
            await for_ever()
        finally:
            cleaned_up.set()

    with pytest.raises(DeadlineExceeded, match=r"not done within 0\.05 s"):
        call(work, 0.05)

    assert cleaned_up.wait(LONG_S)
    wait_until(lambda: not helpers())


def test_work_that_blocks_its_loop_is_given_up_and_its_thread_ends_with_the_block() -> None:
    release, went_on = threading.Event(), threading.Event()

    async def work() -> None:
        release.wait(LONG_S)  # as an import or a look-up in C does
        await asyncio.sleep(0)
        went_on.set()

    with pytest.raises(DeadlineExceeded):
        call(work, 0.05)
    assert helpers()
    release.set()

    wait_until(lambda: not helpers())
    assert not went_on.is_set()


def test_a_blocking_call_that_the_loop_hands_to_a_thread_is_given_up() -> None:
    release = threading.Event()

    async def work() -> None:
        await asyncio.to_thread(release.wait, LONG_S)

    with pytest.raises(DeadlineExceeded):
        call(work, 0.05)
    release.set()

    wait_until(lambda: not helpers())


def test_results_and_errors_of_blocking_calls_reach_the_work() -> None:
    def fails() -> None:
        raise OSError("from the thread")

    async def work() -> int:
        with pytest.raises(OSError, match="from the thread"):
            await asyncio.to_thread(fails)
        return await asyncio.to_thread(len, "four")

    assert call(work, LONG_S) == 4


def test_work_that_cancels_itself_counts_as_not_done() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(DeadlineExceeded):
        call(work, LONG_S)


def test_it_works_inside_a_running_event_loop() -> None:
    async def outer() -> str:
        return call(value, LONG_S)

    assert asyncio.run(outer()) == "done"


def test_the_work_sees_the_context_of_the_caller() -> None:
    span = contextvars.ContextVar("span", default="none")
    span.set("the task's")

    async def work() -> str:
        return span.get()

    assert call(work, LONG_S) == "the task's"


def test_it_works_in_a_forked_process() -> None:
    assert call(value, LONG_S) == "done"

    child = os.fork()
    if not child:
        try:
            os._exit(0 if call(value, LONG_S) == "done" else 1)
        finally:
            os._exit(2)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def raise_system_exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(4)


@pytest.mark.parametrize(
    ("number", "handler", "expected"),
    [
        (signal.SIGINT, signal.default_int_handler, KeyboardInterrupt),
        (signal.SIGUSR1, raise_system_exit, SystemExit),
    ],
)
def test_an_interruption_ends_the_wait_and_cancels_the_work(
    number: signal.Signals, handler: signal._HANDLER, expected: type[BaseException]
) -> None:
    cancelled = threading.Event()

    async def work() -> None:
        os.kill(os.getpid(), number)
        try:
            await for_ever()
        finally:
            cancelled.set()

    earlier = signal.signal(number, handler)
    try:
        with pytest.raises(expected):
            call(work, LONG_S)
    finally:
        signal.signal(number, earlier)

    assert cancelled.wait(LONG_S)


def test_no_signal_handler_is_installed() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    before = [signal.getsignal(number) for number in numbers]

    async def work() -> list[object]:
        return [signal.getsignal(number) for number in numbers]

    assert call(work, LONG_S) == before


HANGING_PROGRAM = """
import asyncio, threading, time
from airflow_common_ai.policies.deadline import DeadlineExceeded, call

async def blocks_its_loop():
    time.sleep(3600)

async def blocks_a_thread():
    await asyncio.to_thread(time.sleep, 3600)

for work in (blocks_its_loop, blocks_a_thread):
    try:
        call(work, 0.05)
    except DeadlineExceeded:
        print("given up")
hanging = [thread for thread in threading.enumerate() if thread.name.startswith("airflow-common-ai")]
print("they hang" if len(hanging) >= 2 else hanging)
"""


def test_a_process_ends_although_given_up_threads_still_hang() -> None:
    done = subprocess.run([sys.executable, "-c", HANGING_PROGRAM], capture_output=True, text=True, timeout=LONG_S)

    assert done.returncode == 0
    assert done.stdout.splitlines() == ["given up", "given up", "they hang"]
    assert not done.stderr
