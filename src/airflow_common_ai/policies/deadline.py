"""Do asynchronous work with a hard limit on wall-clock time.

``asyncio.wait_for`` cannot interrupt code that blocks its loop (an import, a DNS look-up in C), and a
``ThreadPoolExecutor`` is joined when the interpreter ends. So the work runs on a loop of its own in a daemon thread,
and the caller waits for it on a queue, no longer than the limit.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Generic, TypeVar

__all__ = ["THREAD_NAME", "DeadlineExceeded", "call"]

THREAD_NAME = "airflow-common-ai"
"""How the names of all threads that are started here begin."""

T = TypeVar("T")


class DeadlineExceeded(Exception):
    """The limit struck before the work was done."""


def call(work: Callable[[], Coroutine[Any, Any, T]], limit_s: float) -> T:
    """
    Run ``work`` and return what it returns, or give up after ``limit_s`` seconds.

    When the limit strikes, or an exception such as ``KeyboardInterrupt`` ends the wait, the work is cancelled on its
    own loop, so that its connections close; it is not waited for. A thread that hangs in code that cannot be
    cancelled keeps neither the caller nor the process from ending. Works inside a running event loop and after a fork,
    since everything is made anew for each call, and installs no signal handler.

    :param work: Makes the coroutine. It runs in the context variables of the caller, in another thread.
    :param limit_s: Seconds.
    :raises DeadlineExceeded: The limit struck.
    :raises BaseException: What the work raised.
    """
    ends_at = time.monotonic() + limit_s  # starting a thread takes long on a machine that is busy
    worker = _Worker(work)
    try:
        worker.start()
        outcome = worker.outcomes.get(timeout=max(ends_at - time.monotonic(), 0.0))
    except BaseException as interruption:
        worker.give_up()
        if isinstance(interruption, queue.Empty):
            raise DeadlineExceeded(f"not done within {limit_s:g} s") from None
        raise
    return outcome()


class _Worker(Generic[T]):
    """One thread with one loop for one piece of work."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self.outcomes: queue.SimpleQueue[Callable[[], T]] = queue.SimpleQueue()
        self._work = work
        self._context = contextvars.copy_context()
        self._task: asyncio.Task[Any] | None = None
        self._is_given_up = False
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(_DaemonThreads())

    def start(self) -> None:
        try:
            threading.Thread(target=self._run, name=THREAD_NAME, daemon=True).start()
        except RuntimeError:  # the machine has no thread left for us
            self._loop.close()
            raise

    def give_up(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the work is done
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        self._is_given_up = True
        if self._task is not None:
            self._task.cancel()

    def _run(self) -> None:
        # The outcome is told before the loop is closed: closing waits for what the work has left behind.
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            self.outcomes.put(self._outcome(runner))

    def _outcome(self, runner: asyncio.Runner) -> Callable[[], T]:
        try:
            result = runner.run(self._cancellable(), context=self._context)
        except asyncio.CancelledError:
            return _raiser(DeadlineExceeded("the work was cancelled"))
        except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
            return _raiser(error)
        return lambda: result

    async def _cancellable(self) -> T:
        self._task = asyncio.current_task()
        if self._is_given_up:
            raise asyncio.CancelledError
        return await self._work()


def _raiser(error: BaseException) -> Callable[[], Any]:
    def raise_it() -> Any:
        raise error

    return raise_it


class _DaemonThreads(ThreadPoolExecutor):
    """What a loop hands blocking calls to, DNS look-ups above all: the interpreter never waits for these threads."""

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = function(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever asks the future
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=run, name=f"{THREAD_NAME}-blocking", daemon=True).start()
        return future
