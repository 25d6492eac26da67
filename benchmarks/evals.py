"""
How long an evaluation takes, and how much memory: our corpus, repeated up to 10,000 cases, and 1,000 replayed answers.

    python -m benchmarks.evals

Beside it what a loop in one process takes that asks Airflow's ExceptionRetryPolicy about the same exceptions. Asserts
nothing: what else runs on the machine is in the numbers.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryRule
from rich.console import Console
from rich.table import Table
from rich.text import Text

from airflow_common_ai.evals.runner import RunOptions, RunSummary, run_policy
from airflow_common_ai.policies import LLMRetryPolicy
from airflow_common_ai.recordings.corpus_file import read_corpus, write_corpus_file
from airflow_common_ai.recordings.rebuild import rebuild
from airflow_common_ai.recordings.recording import Recording
from benchmarks.run import LOG_WIDTH, beside_goal

CORPUS = Path(__file__).parent.parent / "recordings" / "corpus"

CASES, CASES_GOAL_S, CASES_GOAL_MB = 10_000, 20.0, 400.0
REPLAYED, REPLAYED_GOAL_S = 1_000, 40.0

_CONN_ID = "benchmarked_model"
_SAMPLE_S = 0.2
_SAID = {"reasoning": "it is so", "category": "network", "confidence": 95, "should_retry": True}


def asks_always() -> LLMRetryPolicy:
    """A policy that asks a model about every failure."""
    return LLMRetryPolicy(_CONN_ID, evidence_first=False)


def airflows() -> ExceptionRetryPolicy:
    return ExceptionRetryPolicy([RetryRule("builtins.OSError")])


class Load:
    """What this process and all its children took together, looked at five times a second."""

    def __init__(self) -> None:
        self.most_mb: float | None = None
        """The most that was held at once; what they share counts once."""
        self._cpu_s: dict[int, float] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def cpu_s(self) -> float:
        return sum(self._cpu_s.values())

    def __enter__(self) -> Load:
        self._before_s = _cpu_s(os.getpid())
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over.wait(_SAMPLE_S):
            pids = list(_family(os.getpid()))
            held = [mb for pid in pids if (mb := _held_mb(pid)) is not None]
            for pid in pids:
                used_s = _cpu_s(pid) - (self._before_s if pid == os.getpid() else 0.0)
                self._cpu_s[pid] = max(used_s, self._cpu_s.get(pid, 0.0))
            if held:
                self.most_mb = max(self.most_mb or 0.0, sum(held))


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    except OSError:
        return
    for child in children:
        yield from _family(int(child))


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _held_mb(pid: int) -> float | None:
    """Return the proportional set size; ``None`` where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), None)


def recordings(count: int) -> list[Recording]:
    """Return the corpus, over and over, under other ids."""
    found = read_corpus(CORPUS)
    return [replace(found[at % len(found)], id=f"benchmark/case-{at:05}") for at in range(count)]


@contextmanager
def answering() -> Iterator[str]:
    """Serve what a model in OpenAI's chat form would answer, always the same."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": json.dumps(_SAID)}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            usage = {"prompt_tokens": 400, "completion_tokens": 30, "total_tokens": 430}
            body = {"id": "1", "object": "chat.completion", "created": 1, "model": request["model"], "usage": usage}
            text = json.dumps({**body, "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def measured(work: Callable[[], RunSummary]) -> tuple[float, Load, RunSummary]:
    """Return seconds, what it took, and what came of it."""
    with Load() as load:
        started = time.perf_counter()
        summary = work()
        seconds = time.perf_counter() - started
    return seconds, load, summary


def loop_s(cases: list[Recording]) -> float:
    """Return what a loop takes that rebuilds each exception and asks Airflow's own policy, imports included."""
    started = time.perf_counter()
    policy = airflows()
    for case in cases:
        policy.evaluate(rebuild(case.evidence), 1, 5)
    return time.perf_counter() - started


def connection(host: str) -> Mapping[str, str]:
    shape = {"conn_type": "pydanticai", "host": host, "password": "none", "extra": {"model": "openai-chat:a-model"}}
    return {f"AIRFLOW_CONN_{_CONN_ID.upper()}": json.dumps(shape)}


def main() -> None:
    table = Table("evaluation", "cases", "seconds", "of CPU", "MB at once", "decided by")
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus_file(folder / "many" / "benchmark.jsonl", many := recordings(CASES))
        write_corpus_file(folder / "some" / "benchmark.jsonl", recordings(REPLAYED))
        runs = (
            ("EvidenceRetryPolicy", "airflow_common_ai.policies:EvidenceRetryPolicy", True),
            ("Airflow's ExceptionRetryPolicy", f"{__file__}:airflows", False),
        )
        for title, policy, has_goal in runs:
            options = RunOptions(folder / "many", policy, folder / f"{title}.jsonl")
            seconds, load, summary = measured(lambda options=options: run_policy(options))  # type: ignore[misc]
            goals = (CASES_GOAL_S, CASES_GOAL_MB) if has_goal else (None, None)
            table.add_row(title, f"{CASES:,}", *_beside(seconds, load, goals), _by(summary))
        table.add_row("- in a loop, nothing written", f"{CASES:,}", Text(f"{loop_s(many):.1f}"), "-", "-", "-")

        with answering() as host:
            os.environ.update(connection(host))
            options = RunOptions(
                folder / "some", f"{__file__}:asks_always", folder / "record.jsonl", record=folder / "answers"
            )
            run_policy(options)
        options = replace(options, output=folder / "replay.jsonl", record=None, replay=folder / "answers")
        seconds, load, summary = measured(lambda: run_policy(options))
        table.add_row(
            "LLMRetryPolicy, replayed",
            f"{REPLAYED:,}",
            *_beside(seconds, load, (REPLAYED_GOAL_S, None)),
            _by(summary),
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=LOG_WIDTH)
    console.print(table)


def _beside(seconds: float, load: Load, goals: tuple[float | None, float | None]) -> tuple[Text, Text, Text]:
    cpu_s = Text(f"{load.cpu_s:.1f}")
    return beside_goal(seconds, goals[0], ".1f"), cpu_s, beside_goal(load.most_mb, goals[1], ".0f")


def _by(summary: RunSummary) -> str:
    outcomes = ", ".join(f"{name} {count}" for name, count in summary.outcomes.items() if name != "decided")
    sources = ", ".join(f"{name} {count}" for name, count in summary.sources.most_common())
    return "; ".join(filter(None, (sources, outcomes, f"{summary.calls} requests" if summary.calls else "")))


if __name__ == "__main__":
    main()
