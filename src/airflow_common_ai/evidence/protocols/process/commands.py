"""Exit codes of well-known programs, which give numbers a meaning of their own."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_common_ai.evidence.model import Rank, Signal, Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no, yes

__all__ = ["KNOWN", "command_signal"]

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_MANUAL = "the program's manual page, exit values; whether to retry is judgement"
_AWS_GUIDE = "AWS CLI v2 user guide, return codes; whether to retry is judgement"

# Program, its exit codes, what they say.
_ROWS: tuple[tuple[str, tuple[int, ...], Meaning], ...] = (
    ("curl", (1, 2, 3, 4), no("permanent", "curl was called wrongly", _MANUAL)),
    ("curl", (5, 6), depends("network", _MEDIUM, "curl could not resolve the host", _MANUAL, 3)),
    ("curl", (7,), yes("network", _MEDIUM, "curl could not connect", _MANUAL)),
    ("curl", (9, 67), no("auth", "curl was denied access", _MANUAL)),
    ("curl", (16, 18, 52, 55, 56, 92, 95, 96), yes("network", _SHORT, "curl's transfer broke off", _MANUAL)),
    (
        "curl",
        (22,),
        hint(depends("transient", _SHORT, "curl got an HTTP error", _MANUAL, 3)),
    ),
    ("curl", (23, 26), depends("transient", _SHORT, "curl could not read or write a local file", _MANUAL)),
    ("curl", (27,), depends("transient", _MEDIUM, "curl ran out of memory", _MANUAL, 3)),
    ("curl", (28,), yes("network", _SHORT, "curl timed out", _MANUAL)),
    ("curl", (35,), depends("network", _SHORT, "curl's TLS handshake failed", _MANUAL, 3)),
    ("curl", (51, 58, 60, 77, 91), no("permanent", "curl does not trust the certificate", _MANUAL)),
    ("curl", (78,), no("resource", "the file that curl was to fetch does not exist", _MANUAL)),
    ("wget", (2,), no("permanent", "wget was called wrongly", _MANUAL)),
    ("wget", (3,), depends("transient", _SHORT, "wget could not read or write a local file", _MANUAL)),
    ("wget", (4,), yes("network", _SHORT, "wget had a network failure", _MANUAL)),
    ("wget", (5,), no("permanent", "wget does not trust the certificate", _MANUAL)),
    ("wget", (6,), no("auth", "wget's login was refused", _MANUAL)),
    ("wget", (7,), depends("network", _SHORT, "wget had a protocol error", _MANUAL, 3)),
    ("wget", (8,), hint(depends("transient", _SHORT, "wget got an HTTP error", _MANUAL, 3))),
    ("rsync", (1, 2, 4), no("permanent", "rsync was called wrongly", _MANUAL)),
    ("rsync", (10, 30, 35), yes("network", _SHORT, "rsync lost its connection", _MANUAL)),
    ("rsync", (5, 12, 255), depends("network", _MEDIUM, "rsync could not talk to the other side", _MANUAL, 3)),
    ("rsync", (11, 14, 22, 23, 24), depends("transient", _SHORT, "rsync transferred only a part", _MANUAL, 3)),
    ("psql", (2,), depends("network", _SHORT, "psql lost its connection, or was refused one", _MANUAL, 3)),
    ("psql", (3,), hint(no("data", "a statement of psql's script failed", _MANUAL))),
    ("ssh", (255,), depends("network", _MEDIUM, "the SSH connection failed", _MANUAL, 3)),
    ("scp", (255,), depends("network", _MEDIUM, "the SSH connection failed", _MANUAL, 3)),
    ("sftp", (255,), depends("network", _MEDIUM, "the SSH connection failed", _MANUAL, 3)),
    ("git", (128,), hint(depends("network", _SHORT, "git failed; its output says why", _MANUAL, 3))),
    ("aws", (252,), no("permanent", "the AWS command was wrong", _AWS_GUIDE)),
    ("aws", (253,), hint(depends("auth", _SHORT, "the AWS command had no credentials or region", _AWS_GUIDE))),
    ("aws", (254, 255), hint(depends("transient", _SHORT, "the AWS service answered an error", _AWS_GUIDE, 3))),
)

_SIGNALS: Mapping[tuple[str, int], Signal] = {
    (program, code): meaning.signal(f"exit.{program}_{code}", Rank.OS)
    for program, codes, meaning in _ROWS
    for code in codes
}

KNOWN = frozenset(program for program, _ in _SIGNALS)
"""The programs that have rows; no other name is copied out of a command line."""


def command_signal(program: str, code: int) -> Signal | None:
    """Return what an exit code of this program says, if the program has a meaning of its own for it."""
    return _SIGNALS.get((program, code))
