"""
Ask a real model about recorded failures, through the real hook, and keep what it answers in recordings/cassettes.

    python -m tools.record_llm --url http://127.0.0.1:8080               what has no current answer, in every form
    python -m tools.record_llm --url ... --form openai-chat --all        everything in one form
    python -m tools.record_llm --conn-id my_llm --form my-llm            any connection that Airflow knows

A current answer is one that was given to the very question of today: after a change of the prompt, the schema or a
failure's evidence only what that has touched is asked again.

The server behind --url must speak OpenAI's Chat Completions and, for the form anthropic, Anthropic's Messages.
llama.cpp's server does both: docs/local-models.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from airflow.providers.common.ai.policies.retry import LLMRetryPolicy as CommonAIPolicy
from airflow.sdk import BaseHook

from airflow_common_ai.policies import LLMRetryPolicy
from airflow_common_ai.recordings.recording import Recording
from tools.cassettes import CASSETTES, CassetteFile, StaleCassette, Wire, connected, recording_cassette, replaying
from tools.llm_cases import LONGEST_S, STOPPED, ask_common_ai, decide, read_cases, silence

__all__ = ["COMMON_AI", "FORMS", "main", "replay"]

COMMON_AI = "common-ai"
"""What the Common AI provider's own policy asks; for comparison."""

_CONN_ID = "recorded_llm"
FORMS: Mapping[str, Wire] = {
    "openai-chat": Wire("openai-chat:local", path="/v1"),
    "ollama": Wire("ollama:local", path="/v1"),
    "anthropic": Wire("anthropic:local", path=""),
    COMMON_AI: Wire("openai-chat:local", path="/v1"),
}
"""What is recorded from a local server."""

_EVERY = {"anthropic": 4, COMMON_AI: 4}
"""Of which only every so many-th failure is asked about: a small model takes long there, or is stopped, while
the other forms' answers take seconds."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.record_llm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url", help="a local server, without /v1")
    where.add_argument("--conn-id", help="a connection of Airflow's; then one --form names the file")
    parser.add_argument("--form", action="append", metavar="NAME", help=f"{', '.join(FORMS)}; all if none is given")
    parser.add_argument("--all", action="store_true", help="also what has a current answer")
    parser.add_argument("--every", type=int, metavar="N", help="ask about every N-th failure only, in each form")
    parser.add_argument(
        "--into", type=Path, default=CASSETTES, metavar="FOLDER", help="instead of recordings/cassettes"
    )
    parser.add_argument("--server", default="llama.cpp", help="what answers, for the file's first line")
    options = parser.parse_args(arguments)
    forms: list[str] = options.form or list(FORMS)
    if options.url and (unknown := [form for form in forms if form not in FORMS]):
        parser.error(f"there is no form {unknown[0]!r}, only {', '.join(FORMS)}")
    if options.conn_id and len(forms) != 1:
        parser.error("--conn-id needs one --form")
    wires = {form: _wire_of(options.conn_id) if options.conn_id else FORMS[form] for form in forms}
    cases = read_cases()
    names = {case.recording.id for case in cases}
    files = {form: _file(options.into / f"{form}.jsonl", names, is_kept=not options.all) for form in forms}
    for number, case in enumerate(cases):
        for form in forms:  # one after the other: a server that has just read a prompt answers it quicker
            if number % (options.every or _EVERY.get(form, 1)):
                continue
            if _is_current(files[form], case.recording):
                continue
            connection = nullcontext() if options.conn_id else connected(wires[form], _CONN_ID, options.url)
            with connection:
                ask = asker(form, options.conn_id or _CONN_ID)
                _record(files[form], case.recording, ask, wires[form], options.server, options.url)
    return 0


def asker(form: str, conn_id: str = _CONN_ID) -> Callable[[Recording], object]:
    """Return what asks about a recording in this form, the same when recording and when replaying."""
    if form == COMMON_AI:
        return partial(ask_common_ai, CommonAIPolicy(conn_id, timeout=LONGEST_S))
    return partial(decide, LLMRetryPolicy(conn_id, timeout=LONGEST_S, evidence_first=False))


def replay(file: CassetteFile, recording: Recording) -> object:
    """Return what was decided with the recorded answer."""
    with connected(file.wire, _CONN_ID), replaying(file, recording.id):
        return asker(file.path.stem)(recording)


def _file(path: Path, names: set[str], *, is_kept: bool) -> CassetteFile:
    """Return what is kept of a file."""
    if not is_kept:
        return CassetteFile(path)
    file = CassetteFile.read(path)
    file.lines = {name: line for name, line in file.lines.items() if name in names}
    return file


def _record(
    file: CassetteFile,
    recording: Recording,
    ask: Callable[[Recording], object],
    wire: Wire,
    server: str,
    url: str | None,
) -> None:
    started = time.monotonic()
    with recording_cassette(file, recording.id):
        said = ask(recording)
    line = file.lines[recording.id]
    line |= {"seconds": round(time.monotonic() - started, 1), "load": round(os.getloadavg()[0], 1)}
    if said == STOPPED:
        line["is_stopped"] = True  # what it was answered before that is kept
    if not line["interactions"] and line["seconds"] < LONGEST_S * 0.9:
        sys.exit(f"{recording.id}: no answer from the server. Is it running, and is the model there?")
    answered = _model_of(line)
    model = file.header.get("model") or answered or _model_served(url)
    if answered not in ("", model):
        sys.exit(f"{file.path.name} holds answers of {model}, and {answered} answers now. Record all of it with --all.")
    file.header = {
        "wire": vars(wire),
        "server": server,
        "model": model,
        "recorded_at": datetime.now(UTC).date().isoformat(),
        "pydantic_ai": version("pydantic-ai-slim"),
    }
    file.write()  # after each: a model that takes minutes may be stopped
    what = "stopped" if said == STOPPED else answered or "no answer"
    print(f"{file.path.stem} {recording.id}: {line['seconds']:g} s, {what}", flush=True)


def _is_current(file: CassetteFile, recording: Recording) -> bool:
    if recording.id not in file.lines:
        return False
    if file.lines[recording.id].get("is_stopped"):
        return True  # a request that was not answered is not kept, so it cannot be compared: --all asks again
    try:
        replay(file, recording)
    except StaleCassette:
        return False
    return True


def _model_of(line: dict[str, Any]) -> str:
    """Return the model as the server names it."""
    for one in line["interactions"]:
        with suppress(ValueError):
            return str(json.loads(one["response"]["body"]["string"]).get("model", ""))
    return ""


def _model_served(url: str | None) -> str:
    """Return the model that a local server says it has: one that was stopped has not said who it is."""
    if url is None:
        return ""
    with urlopen(f"{url.rstrip('/')}/v1/models", timeout=LONGEST_S) as answer:
        return Path(str(json.load(answer)["data"][0]["id"])).name


def _wire_of(conn_id: str) -> Wire:
    connection = BaseHook.get_connection(conn_id)
    path = urlsplit(connection.host).path.rstrip("/") if connection.host else None
    return Wire(connection.extra_dejson["model"], connection.conn_type or "pydanticai", path)


if __name__ == "__main__":
    silence()
    sys.exit(main())
