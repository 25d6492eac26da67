"""Programs that a task ran: how they ended, and what they printed before."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath

from airflow_common_ai.evidence.model import NO_TEXT, Fact, Rank, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import number_in
from airflow_common_ai.evidence.protocols.meaning import depends
from airflow_common_ai.evidence.protocols.printed.exits import read_printed_exits
from airflow_common_ai.evidence.protocols.process.commands import KNOWN, command_signal
from airflow_common_ai.evidence.protocols.process.exit_codes import exit_signal, killed_signal

__all__ = ["outputs", "probe", "read"]

_MAX_OUTPUT_CHARS = 4096
"""Of the end of what a program printed: that is where it says why it stopped."""
_MAX_LINES = 200

_EXIT_CODE_ATTRIBUTES = ("returncode", "exit_status", "exit_code", "exitcode", "retcode")
"""Of subprocess, asyncssh, docker, invoke, multiprocessing's relatives and plumbum. Set on the instance: click's
usage errors have a constant of the class."""
_OUTPUTS = ("stderr", "stdout")
_LOGS = "logs"
"""Lines of a container. Source: apache-airflow-providers-docker, ``DockerContainerFailedException``."""

_TIME_LIMIT = depends(
    "permanent",
    Wait.SHORT,
    "the program took longer than the time limit that the task gave it",
    "Python 3.11 subprocess.TimeoutExpired",
).signal("exit.time_limit", Rank.CLASS)


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy the exit code or signal, the name of a well-known program, the time limit and the output's end."""
    facts: dict[str, Fact] = {}
    code = _exit_code_of(exception)
    if code is not None:
        # Python counts signals below zero. SSH libraries say -1 where no code arrived at all.
        is_killed = code < 0 and isinstance(exception, subprocess.CalledProcessError)
        facts["process.signal" if is_killed else "process.exit_code"] = -code if is_killed else code
    if isinstance(exception, subprocess.TimeoutExpired) and isinstance(exception.timeout, int | float):
        facts["process.time_limit_s"] = exception.timeout
    if logs := _end_of_lines(getattr(exception, "__dict__", {}).get(_LOGS)):
        facts[f"process.{_LOGS}"] = logs
    if not facts:
        return {}
    if program := _program_of(vars(exception).get("cmd")):
        facts["process.program"] = program
    for name in _OUTPUTS:
        if output := _end_of(getattr(exception, name, None)):
            facts[f"process.{name}"] = output
    return facts


def _exit_code_of(exception: BaseException) -> int | None:
    if isinstance(exception, SystemExit):
        if exception.code is None or type(exception.code) is int:
            return exception.code or 0
        return 1  # sys.exit("words") prints them and exits with 1
    held = getattr(exception, "__dict__", {})
    for holder in (held, getattr(held.get("result"), "__dict__", {})):  # invoke keeps a result
        for name in (*_EXIT_CODE_ATTRIBUTES, "exited"):
            code = holder.get(name)
            if type(code) is int:
                return code
    return None


def _program_of(command: object) -> str | None:
    """Return the name of the program that a command starts, if it is one with codes of its own."""
    if isinstance(command, str):
        command = command.split(maxsplit=1)
    if not isinstance(command, Sequence) or not command or not isinstance(command[0], str):
        return None
    name = PurePath(command[0]).name
    return name if name in KNOWN else None


def _end_of_lines(lines: object) -> str:
    if not isinstance(lines, list | tuple):
        return ""
    texts = [line.decode(errors="replace") if isinstance(line, bytes) else line for line in lines[-_MAX_LINES:]]
    return _end_of("\n".join(text.rstrip("\n") for text in texts if isinstance(text, str)))


def _end_of(output: object) -> str:
    if isinstance(output, bytes):
        output = output[-4 * _MAX_OUTPUT_CHARS :].decode(errors="replace")
    return output[-_MAX_OUTPUT_CHARS:].strip() if isinstance(output, str) else ""


def read(node: RedactedNode, observed_at: datetime) -> Iterator[Signal]:
    """Yield how the program ended; :func:`outputs` is what it said before."""
    signal_number, exit_code = number_in(node, "process.signal"), number_in(node, "process.exit_code")
    if signal_number is not None:
        yield from filter(None, (killed_signal(signal_number),))
    elif exit_code is not None:
        program = str(node.facts.get("process.program", ""))
        yield from filter(None, (command_signal(program, exit_code) or exit_signal(exit_code),))
    elif node.is_a("subprocess.TimeoutExpired"):
        yield _TIME_LIMIT
    else:
        yield from read_printed_exits(node.message)


def outputs(node: RedactedNode) -> Iterator[RedactedNode]:
    """Yield what the program printed as nodes of their own, for the readers of all protocols."""
    for name in (*_OUTPUTS, _LOGS):
        if output := node.text_of(f"process.{name}"):
            yield replace(node, type_path=NO_TEXT, base_paths=(), message=output, notes=(), facts={})
