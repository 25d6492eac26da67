"""How a program ended: what its exit code or the signal that killed it says.

A shell reports signal N as code 128+N and Python as -N; both are the same row here. A program may give any
number a meaning of its own, so codes without an agreed one are hints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from airflow_common_ai.evidence.model import Rank, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["SIGNALS", "exit_signal", "killed_signal"]

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_SHELL = "Bash manual, Exit Status"
_SYSEXITS = "sysexits.h"
_SIGNAL = "signal(7)"
_KILLED = 128
_LAST_SIGNAL = 64

_ROWS: tuple[tuple[int, Meaning], ...] = (
    (0, hint(no("permanent", "left with code 0, which Airflow counts as failed", "Airflow 3.3.2"))),
    (1, hint(depends("transient", _SHORT, "the program failed without saying why", _SHELL))),
    (2, hint(no("permanent", "the program was called wrongly, or failed in its own way", _SHELL))),
    (64, no("permanent", "the program was called wrongly", _SYSEXITS)),
    (65, no("data", "the program's input is wrong", _SYSEXITS)),
    (66, no("data", "the program's input file is missing or unreadable", _SYSEXITS)),
    (67, hint(no("permanent", "the program does not know the user", _SYSEXITS))),
    (68, depends("network", _MEDIUM, "the program does not know the host", _SYSEXITS, 3)),
    (69, yes("transient", _SHORT, "a service that the program needs is unavailable", _SYSEXITS)),
    (70, depends("permanent", _SHORT, "the program has an internal error", _SYSEXITS)),
    (71, depends("transient", _SHORT, "the operating system failed the program", _SYSEXITS, 3)),
    (72, no("permanent", "a system file is missing or broken", _SYSEXITS)),
    (73, no("permanent", "the program cannot create its output file", _SYSEXITS)),
    (74, depends("transient", _SHORT, "the program could not read or write", _SYSEXITS, 3)),
    (75, yes("transient", _SHORT, "the program asks to be tried again", _SYSEXITS)),
    (76, depends("network", _SHORT, "the other side broke the program's protocol", _SYSEXITS, 3)),
    (77, no("auth", "the program lacks a permission", _SYSEXITS)),
    (78, no("permanent", "the program is configured wrongly", _SYSEXITS)),
    (124, depends("permanent", _SHORT, "the time limit set for the program has passed", "timeout(1)")),
    (125, depends("transient", _SHORT, "the container could not be run", "docker run")),
    (126, no("permanent", "the program was found but is not executable", _SHELL)),
    (127, no("permanent", "the program was not found", _SHELL)),
    (129, depends("transient", _SHORT, "the program lost its terminal or session (SIGHUP)", _SIGNAL, 3)),
    (130, hint(no("permanent", "the program was interrupted, as by a person (SIGINT)", _SIGNAL))),
    (131, hint(depends("permanent", _SHORT, "the program was told to quit (SIGQUIT)", _SIGNAL))),
    (132, depends("permanent", _SHORT, "illegal instruction: wrong CPU for this program (SIGILL)", _SIGNAL)),
    (133, depends("permanent", _SHORT, "the program stopped itself (SIGTRAP)", _SIGNAL)),
    (134, depends("permanent", _SHORT, "the program aborted itself (SIGABRT)", _SIGNAL)),
    (135, depends("transient", _MEDIUM, "bus error: shared memory full, or a lost file (SIGBUS)", _SIGNAL)),
    (136, no("permanent", "the program's arithmetic failed (SIGFPE)", _SIGNAL)),
    (137, depends("transient", _MEDIUM, "killed from outside: out of memory, eviction (SIGKILL)", _SIGNAL, 3)),
    (138, depends("transient", _SHORT, "stopped by a warning, as before preemption (SIGUSR1)", _SIGNAL, 3)),
    (139, depends("permanent", _SHORT, "the program crashed with a memory fault (SIGSEGV)", _SIGNAL)),
    (140, depends("transient", _SHORT, "stopped by a warning, as before preemption (SIGUSR2)", _SIGNAL, 3)),
    (141, depends("transient", _SHORT, "the reader of the program's output went away (SIGPIPE)", _SIGNAL, 3)),
    (142, depends("permanent", _SHORT, "the program's own alarm went off (SIGALRM)", _SIGNAL)),
    (143, yes("transient", _SHORT, "told to stop: eviction, scale-in or a person (SIGTERM)", _SIGNAL)),
    (152, depends("permanent", _SHORT, "the limit on CPU time was hit (SIGXCPU)", _SIGNAL)),
    (153, no("permanent", "the limit on file size was hit (SIGXFSZ)", _SIGNAL)),
    (159, no("permanent", "a forbidden system call was made (SIGSYS)", _SIGNAL)),
    (255, hint(depends("network", _MEDIUM, "the SSH connection failed, or the program ended with -1", "ssh(1)", 3))),
)

SIGNALS: Mapping[int, Signal] = {code: meaning.signal(f"exit.{code}", Rank.OS) for code, meaning in _ROWS}
"""What each exit code says; codes over 128 are also signals."""


def exit_signal(code: int) -> Signal | None:
    """
    Return what an exit code says.

    :param code: As a shell or a remote host reports it, 0 to 255; -1 if no code arrived. ``None`` comes back
        for what is no exit code.
    """
    if code == -1:
        return SIGNALS[255]
    if code < 0:
        return killed_signal(-code)
    if code > 255:
        return None
    if code in SIGNALS:
        return SIGNALS[code]
    if _KILLED < code <= _KILLED + _LAST_SIGNAL:
        return killed_signal(code - _KILLED)
    return replace(
        SIGNALS[1],
        code=f"exit.{code}",
        sentence=f"the program failed with exit code {code}, which has no agreed meaning",
        source="judgement",
    )


def killed_signal(number: int) -> Signal | None:
    """Return what it says that a program was killed by a signal; ``None`` if there is no such signal."""
    if not 0 < number <= _LAST_SIGNAL:
        return None
    code = _KILLED + number
    if code in SIGNALS:
        return SIGNALS[code]
    return replace(
        SIGNALS[1], code=f"exit.{code}", sentence=f"the program was killed by signal {number}", source=_SIGNAL
    )
