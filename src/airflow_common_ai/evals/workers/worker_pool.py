"""Several processes that ask a policy at the same time. One that hangs is killed and replaced; the run goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Self

from airflow_common_ai.evals.answer import Answer, Outcome
from airflow_common_ai.evals.workers.job import Done, Job, PolicyFacts, Preparation, Setup
from airflow_common_ai.evals.workers.nursery_process import NoWorkers, NurseryProcess

__all__ = ["WorkerPool", "processors"]


@dataclass
class _Employed:
    """A worker and what it is at."""

    connection: Connection
    pid: int
    job: Job
    ends_at: float


class WorkerPool:
    """
    Starts the processes and hands out the jobs; to be used in a ``with`` statement.

    :param setup: Which policy, and how it is asked.
    :param size: How many processes ask.
    """

    def __init__(self, setup: Setup, size: int) -> None:
        self._size = size
        self._timeout_s = 0.0
        self._busy: list[_Employed] = []
        self._nursery = NurseryProcess()
        self._nursery.send(setup)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for worker in self._busy:
            worker.connection.close()
        self._nursery.close()

    def facts(self) -> PolicyFacts:
        """
        Return what is known about the policy.

        :raises ValueError: It could not be loaded: why, and how to mend it.
        :raises NoWorkers: The process that was to load it ended.
        """
        found: PolicyFacts | str = self._nursery.receive()
        if isinstance(found, str):
            raise ValueError(found)
        return found

    def prepare(self, preparation: Preparation) -> None:
        """Let everything be imported that the cases will need; once, after :meth:`facts`."""
        self._timeout_s = preparation.timeout_s
        self._nursery.send(preparation)

    def run(self, jobs: Iterable[Job]) -> Iterator[Done]:
        """
        Yield what came of each job, in the order in which they are done.

        :raises NoWorkers: The processes ended, or failed by themselves.
        """
        self._nursery.receive()  # it is ready
        waiting = iter(jobs)
        for _, job in zip(range(self._size), waiting, strict=False):
            self._busy.append(self._employed(job))
        while self._busy:
            limit_s = max(0.0, min(worker.ends_at for worker in self._busy) - time.monotonic())
            ready = wait([worker.connection for worker in self._busy], limit_s)
            now = time.monotonic()
            for worker in list(self._busy):
                if worker.connection not in ready and now < worker.ends_at:
                    continue
                done = self._taken(worker) if worker.connection in ready else self._timed_out(worker)
                self._go_on(worker, next(waiting, None))  # before anybody looks at the answer: nobody idles
                yield done

    def _employed(self, job: Job) -> _Employed:
        connection, pid = self._nursery.fork()
        worker = _Employed(connection, pid, job, 0.0)
        self._give(worker, job)
        return worker

    def _give(self, worker: _Employed, job: Job) -> None:
        worker.job, worker.ends_at = job, time.monotonic() + self._timeout_s
        with suppress(OSError):  # it has ended: that is seen when its answer is waited for
            worker.connection.send(job)

    def _go_on(self, worker: _Employed, job: Job | None) -> None:
        if job is None:
            self._busy.remove(worker)
            worker.connection.close()
        elif worker.connection.closed:
            self._busy[self._busy.index(worker)] = self._employed(job)
        else:
            self._give(worker, job)

    def _taken(self, worker: _Employed) -> Done:
        try:
            done: Done | str = worker.connection.recv()
        except (EOFError, OSError):
            worker.connection.close()
            error = "the process that asked it came to an end"
            return Done(worker.job.index, Answer(Outcome.CRASHED, error=error))
        if isinstance(done, str):
            raise NoWorkers(f"asking failed here, which is no fault of the policy: {done}")
        return done

    def _timed_out(self, worker: _Employed) -> Done:
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        worker.connection.close()
        error = f"no answer within {self._timeout_s:g} s"
        milliseconds = self._timeout_s * 1000
        return Done(worker.job.index, Answer(Outcome.TIMED_OUT, error=error, milliseconds=milliseconds))


def processors() -> int:
    """Return how many processes may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
