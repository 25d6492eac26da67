"""How long a retry policy is held up by a server that misbehaves: this package's beside the Common AI provider's.

    python -m benchmarks.deadline                       # every way to misbehave, about ten minutes
    python -m benchmarks.deadline --only 429 --timeout 2

Each measurement runs in a process of its own, forked from one that has loaded the Task SDK and both policies, as an
Airflow worker forks its tasks: all else is imported within the time that is measured. Both policies ask the same
server with the same timeout. The limit of this package runs from the moment that Airflow has handed over the
connection; the exit code is 1 if it was not kept.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from airflow_common_ai.policies import RetryPolicy

SLACK_S = 0.25
"""What the limit of this package may be late."""

ANSWER = {
    "reasoning": "the peer closed the connection",
    "category": "network",
    "confidence": 90,
    "should_retry": True,
    "suggested_delay_seconds": 30,
}

_fork = multiprocessing.get_context("fork")


class Mode(NamedTuple):
    """A way in which a server behaves, and what runs such a server and gives its URL."""

    name: str
    serve: Callable[[Any], AbstractContextManager[str]]


def _servers() -> Any:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    return importlib.import_module("loopback.llm_server"), importlib.import_module("loopback.sockets")


llm, sockets = _servers()


def _by_manner(manner: Callable[[Any], Any]) -> Callable[[Any], AbstractContextManager[str]]:
    @contextlib.contextmanager
    def serve(wire: Any) -> Iterator[str]:
        with llm.serving_llm(manner(wire), path=wire.path) as server:
            yield server.url

    return serve


@contextlib.contextmanager
def _refused(wire: Any) -> Iterator[str]:
    with sockets.refused_port() as port:
        yield f"http://127.0.0.1:{port}{wire.path}"


MODES = (
    Mode("answers well", _by_manner(lambda wire: wire.answers(ANSWER))),
    Mode("connection refused", _refused),
    Mode("accepts and hangs", _by_manner(lambda wire: llm.hangs)),
    Mode("one byte every 0.5 s", _by_manner(lambda wire: llm.drips)),
    Mode("takes no connection", lambda wire: llm.blackhole()),
    Mode("TLS handshake hangs", lambda wire: llm.silent_tls()),
    Mode("name does not resolve", lambda wire: contextlib.nullcontext("http://nowhere.invalid/v1")),
    Mode("429, Retry-After: 30", _by_manner(lambda wire: llm.refuses(429, headers={"Retry-After": "30"}))),
    Mode("500 for ever", _by_manner(lambda wire: llm.refuses(500))),
    Mode("401", _by_manner(lambda wire: llm.refuses(401))),
    Mode("redirects in a circle", _by_manner(lambda wire: llm.redirects_in_a_circle)),
    Mode("200 that is no JSON", _by_manner(lambda wire: llm.is_no_json)),
    Mode("JSON of the wrong shape", _by_manner(lambda wire: wire.answers({"hello": "world"}))),
    Mode("closes in the middle", _by_manner(lambda wire: llm.closes_in_the_middle)),
    Mode("1 GB", _by_manner(lambda wire: llm.sends_a_gigabyte)),
    Mode("1 GB of gzip", _by_manner(lambda wire: llm.bombs_with_gzip)),
    Mode("an answer of 3 MB", _by_manner(lambda wire: wire.answers({**ANSWER, "reasoning": "x" * 3_000_000}))),
)


def policies(timeout_s: float) -> tuple[RetryPolicy, RetryPolicy]:
    from airflow.providers.common.ai.policies.retry import LLMRetryPolicy as ProvidersPolicy

    from airflow_common_ai.policies import LLMRetryPolicy

    return LLMRetryPolicy("my_llm", timeout=timeout_s), ProvidersPolicy("my_llm", timeout=timeout_s)


class Outcome(NamedTuple):
    """What came of one evaluation."""

    seconds: float
    seconds_with_model: float
    """From the moment that Airflow has handed over the connection."""
    action: str


def _evaluate(policy: RetryPolicy, url: str, model: str, told: Connection) -> None:
    """Ask a policy about a failure that no evidence settles, and tell how long that took and what came of it."""
    from airflow.sdk import BaseHook

    handed_over, get_connection = [time.perf_counter()], BaseHook.get_connection

    def noting(cls: type[BaseHook], conn_id: str) -> Any:
        connection = get_connection(conn_id)
        handed_over.append(time.perf_counter())
        return connection

    BaseHook.get_connection = classmethod(noting)  # type: ignore[assignment,method-assign]  # to know when
    logging.disable(logging.CRITICAL)
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    definition = {"conn_type": "pydanticai", "host": url, "password": "not-a-key", "extra": {"model": model}}
    os.environ["AIRFLOW_CONN_MY_LLM"] = json.dumps(definition)
    told.send("ready")
    started = time.perf_counter()
    decision = policy.evaluate(RuntimeError("the widget would not settle"), 1, 3, {})
    ended = time.perf_counter()
    told.send(Outcome(ended - started, ended - handed_over[-1], decision.action.value))


def measure(policy: RetryPolicy, url: str, model: str, give_up_s: float) -> Outcome | None:
    """Evaluate in a process of its own; ``None`` if that was stopped, or died."""
    listening, told = _fork.Pipe(duplex=False)
    process = _fork.Process(target=_evaluate, args=(policy, url, model, told), daemon=True)
    process.start()
    told.close()
    outcome: Outcome | None = None
    with contextlib.suppress(EOFError):
        listening.recv()  # it is ready
        outcome = listening.recv() if listening.poll(give_up_s) else None
    process.kill()
    process.join()
    return outcome


def _serve(mode: Mode, wire: Any, told: Connection, until: Connection) -> None:
    """Run a server in a process of its own: one with threads must not fork."""
    with mode.serve(wire) as url:
        told.send(url)
        until.poll(None)


@contextlib.contextmanager
def served(mode: Mode, wire: Any) -> Iterator[str]:
    urls, told = _fork.Pipe(duplex=False)
    until, end = _fork.Pipe(duplex=False)
    process = _fork.Process(target=_serve, args=(mode, wire, told, until), daemon=True)
    process.start()
    try:
        yield urls.recv()
    finally:
        end.close()
        process.kill()
        process.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds that both policies are given")
    parser.add_argument("--give-up", type=float, default=20.0, help="seconds after which a measurement is stopped")
    parser.add_argument("--only", default="", help="a part of the names of the modes to run")
    arguments = parser.parse_args()
    wires = {"OpenAI": llm.OPENAI, "Anthropic": llm.ANTHROPIC}
    ours, theirs = policies(arguments.timeout)
    limit_s, kept = arguments.timeout + SLACK_S, True
    table = Table("the server", "form", "this package", "of it asking", "Common AI provider", "times as long")
    table.title = f"seconds held up with timeout={arguments.timeout:g}; asking may take {limit_s:g} in this package"
    for mode in (mode for mode in MODES if arguments.only in mode.name):
        for form, wire in wires.items():
            with served(mode, wire) as url:
                own = measure(ours, url, wire.model, arguments.give_up)
                other = measure(theirs, url, wire.model, arguments.give_up)
            kept = kept and own is not None and own.seconds_with_model <= limit_s
            table.add_row(mode.name, form, *_cells(own, other, arguments.give_up))
    Console(width=120).print(table)
    print(f"{'The limit was kept' if kept else 'THE LIMIT WAS NOT KEPT'} by this package in all modes.")
    return 0 if kept else 1


def _cells(own: Outcome | None, other: Outcome | None, give_up_s: float) -> list[str]:
    stopped = f">{give_up_s:g}"
    theirs = stopped if other is None else f"{other.seconds:.2f} {other.action}"
    if own is None:
        return [stopped, stopped, theirs, ""]
    ratio = (give_up_s if other is None else other.seconds) / own.seconds
    asking = f"{own.seconds_with_model:.2f}"
    return [f"{own.seconds:.2f} {own.action}", asking, theirs, f"{'>' if other is None else ''}{ratio:.1f}"]


if __name__ == "__main__":
    sys.exit(main())
