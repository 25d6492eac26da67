"""Exit codes and signals that operators, containers and shells print into their messages.

Only where the words around a number leave no doubt: ``status code 137`` may be anybody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import cast

from airflow_common_ai.evidence.model import Signal
from airflow_common_ai.evidence.protocols.findings import settle
from airflow_common_ai.evidence.protocols.process.commands import command_signal
from airflow_common_ai.evidence.protocols.process.exit_codes import exit_signal, killed_signal
from airflow_common_ai.evidence.protocols.text.prose import both_ends

__all__ = ["read_printed_exits"]

_WINDOW_CHARS = 2048

_CODE = r"(?P<code{}>-?\d{{1,3}})\b(?![.,]?\d)"
_SIGNAL_NAMES = {
    "SIGHUP": 1,
    "SIGINT": 2,
    "SIGQUIT": 3,
    "SIGILL": 4,
    "SIGTRAP": 5,
    "SIGABRT": 6,
    "SIGBUS": 7,
    "SIGFPE": 8,
    "SIGKILL": 9,
    "SIGUSR1": 10,
    "SIGSEGV": 11,
    "SIGUSR2": 12,
    "SIGPIPE": 13,
    "SIGALRM": 14,
    "SIGTERM": 15,
    "SIGXCPU": 24,
    "SIGXFSZ": 25,
    "SIGSYS": 31,
}
"""signal(7), the numbers of Linux on x86 and ARM."""
_GO_SIGNALS = {
    "hangup": 1,
    "interrupt": 2,
    "quit": 3,
    "illegal instruction": 4,
    "aborted": 6,
    "bus error": 7,
    "floating point exception": 8,
    "killed": 9,
    "segmentation fault": 11,
    "broken pipe": 13,
    "terminated": 15,
}
"""How Go's os/exec writes them after ``signal: ``."""

_EXIT_IN_TEXT = re.compile(
    rf"""
      # Bash: "returned a non-zero exit code 137", SSH: "exit status = 1", Docker and Kubernetes: "exitCode": 137
      \bexit[ _-]?(?:code|status)(?:\ code)?["']?\s?(?:is|was|of|=|:)?\s?["']?{_CODE.format(1)}
    | \bexited\ (?:abnormally\ )?with\ (?:an?\ )?(?:non-zero\ |error\ |return\ )*(?:code|status)?:?\s?{_CODE.format(2)}
      # not Hive, whose "return code 2 from org.apache…" is no exit code
    | \breturn(?:ed)?\ (?:non-zero\ )?(?:code|status)[\ :=]{{1,2}}{_CODE.format(3)}(?!\ from)
      # Spark: "Cannot execute: […]. Error code is: 1."
    | \bCannot\ execute:.{{0,1000}}\ Error\ code\ is:\ {_CODE.format(4)}
      # Airflow's DockerOperator
    | \bcontainer\ failed:\ .{{0,200}}'StatusCode':\ {_CODE.format(5)}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KILLED_IN_TEXT = re.compile(
    rf"""
      \bdied\ with\ (?:<Signals\.(?P<python>SIG[A-Z0-9]+):|unknown\ signal\ (?P<unknown>\d+))
    | \b(?:terminated|killed|died|exited|stopped|interrupted)\ (?:by|with|on|due\ to|from)\ (?:a\ )?signal:?\s
      (?:(?P<number>\d{{1,2}})\b|(?P<named>SIG[A-Z0-9]+))
    | \b(?:exit|return)\ (?:code|status)\ Negsignal\.(?P<psutil>SIG[A-Z0-9]+)
    | \b(?P<loky>SIG[A-Z0-9]+)\(-\d{{1,2}}\)
    | \bsignal:\ (?P<go>{"|".join(map(re.escape, _GO_SIGNALS))})\b
    """,
    re.VERBOSE,
)
_EXIT_MARKS = ("exit", "return", "error code is", "'statuscode'")
_COMMAND_IN_TEXT = re.compile(r"\bCommand '(?:\[')?(?P<program>[\w./-]{1,200})")


def read_printed_exits(message: str) -> tuple[Signal, ...]:
    """Return how programs ended by the words at either end of a message."""
    message = both_ends(message, _WINDOW_CHARS)
    return settle(_find(message), message)


def _find(message: str) -> Iterator[Signal]:
    lowered = message.lower()
    if "sig" in lowered:
        yield from _find_killed(message)
    if any(map(lowered.__contains__, _EXIT_MARKS)):
        yield from _find_exits(message)


def _find_killed(message: str) -> Iterator[Signal]:
    for match in _KILLED_IN_TEXT.finditer(message):
        word = cast(str, match[cast(str, match.lastgroup)])
        number = int(word) if word.isdigit() else _SIGNAL_NAMES.get(word) or _GO_SIGNALS.get(word, 0)
        yield from filter(None, (killed_signal(number),))


def _find_exits(message: str) -> Iterator[Signal]:
    command = _COMMAND_IN_TEXT.search(message)
    program = PurePath(command["program"]).name if command else ""
    for match in _EXIT_IN_TEXT.finditer(message):
        code = int(cast(str, match[cast(str, match.lastgroup)]))
        if code != 0:  # what is told about a container that went well
            yield from filter(None, (command_signal(program, code) or exit_signal(code),))
