"""One process that is asked about one case after the other, and may be killed at any time."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from airflow_common_ai.evals.answer import Answer, Outcome
from airflow_common_ai.evals.asking.asker import Asker
from airflow_common_ai.evals.replay.scrubbing import Scrubber
from airflow_common_ai.evals.workers.job import Done, Job, Mode
from airflow_common_ai.evals.workers.network import blocked_since
from airflow_common_ai.evidence.type_path import built_in_name
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.sanitizer import sanitize

if TYPE_CHECKING:
    from airflow_common_ai.evals.replay.exchange import Exchange

__all__ = ["Worker"]

_GRACE_S = 30
"""After the limit the parent kills; if there is no parent any more, the kernel does, after this."""
_MAX_ERROR_CHARS = 2000


@dataclass(frozen=True)
class Worker:
    """Answers jobs; what it needs is loaded before it is forked."""

    asker: Asker
    mode: Mode
    timeout_s: float
    probed: frozenset[str] = frozenset()
    """Servers of models, which a policy of ours looks at before it asks: in a replay that says nothing."""
    scrubber: Scrubber = field(default_factory=Scrubber)

    def serve(self, connection: Connection) -> None:
        """Answer until the other side is gone."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        while True:
            try:
                job: Job = connection.recv()
            except (EOFError, OSError):
                return
            signal.setitimer(signal.ITIMER_REAL, self.timeout_s + _GRACE_S)
            try:
                done: Done | str = self.answer(job)
            except Exception as fault:  # noqa: BLE001 - ours, since what a policy raises is an answer
                done = f"{job.recording.id}: {built_in_name(fault)}: {sanitize(str(fault))}"
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send(done)

    def answer(self, job: Job) -> Done:
        blocked_since()
        if self.mode == "offline":
            return Done(job.index, self._asked(job.recording, job.repeat))
        from airflow_common_ai.evals.replay.exchange import recording, replaying

        if self.mode == "replay":
            with replaying(job.interactions, self.scrubber) as exchange:
                answer = self._asked(job.recording, job.repeat)
            return Done(job.index, self._replayed(_with_usage(answer, exchange), exchange))
        with recording(self.scrubber) as exchange:
            answer = self._asked(job.recording, job.repeat)
        kept = tuple(exchange.interactions) if self.mode == "record" else ()
        return Done(job.index, _with_usage(answer, exchange), kept)

    def _asked(self, recording: Recording, repeat: int) -> Answer:
        started = time.perf_counter()
        answer = self.asker.ask(recording, repeat)
        return replace(answer, milliseconds=(time.perf_counter() - started) * 1000)

    def _replayed(self, answer: Answer, exchange: Exchange) -> Answer:
        """Return the answer, unless it rests on something else than what was recorded: then nothing was measured."""
        problem = exchange.problem
        if problem is None and answer.calls and not exchange.calls:
            problem = f"a model was wanted, and no request was made: {answer.error}"
        blocked = [place for place in blocked_since() if place.rpartition(":")[0] not in self.probed]
        if problem is None and blocked:
            problem = f"it wanted to reach {blocked[0]} past the HTTP libraries that can be replayed"
        if problem is None:
            return answer
        return Answer(
            Outcome.STALE,
            asked_delay_s=answer.asked_delay_s,
            calls=exchange.calls,
            milliseconds=answer.milliseconds,
            error="\n".join(sanitize(line) for line in problem.split("\n"))[:_MAX_ERROR_CHARS],
        )


def _with_usage(answer: Answer, exchange: Exchange) -> Answer:
    """Count the requests that were really made; name model and tokens where the policy does not."""
    calls = max(exchange.calls - sum(later.calls for later in answer.later), 0)
    if not exchange.calls:
        return answer
    model, input_tokens, output_tokens = exchange.usage
    return replace(
        answer,
        calls=calls,
        model=answer.model or (sanitize(model) if model else None),
        input_tokens=input_tokens if answer.input_tokens is None else answer.input_tokens,
        output_tokens=output_tokens if answer.output_tokens is None else answer.output_tokens,
    )
