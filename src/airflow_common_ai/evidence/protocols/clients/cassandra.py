"""Cassandra: the error code that a server sends and the driver prints, whatever class it makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.number_table import NumberRow, signals_by_number

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("cassandra",)
PRINTED_MARKS = ("Error from server: code=",)

_SHORT, _MEDIUM = Wait.SHORT, Wait.MEDIUM
_CODES = "Cassandra native protocol v5 §9; cassandra-driver 3.30.1; whether to retry is judgement"

# The numbers are those of the protocol, which writes them in hexadecimal.
_ROWS: tuple[NumberRow, ...] = (
    (
        f"{0x1000}:unavailable {0x1100}:write_timeout {0x1200}:read_timeout {0x1002}:is_bootstrapping",
        yes("transient", _SHORT, "too few replicas are up or answered in time", _CODES),
    ),
    (f"{0x1001}:overloaded", yes("rate_limit", _MEDIUM, "Cassandra is overloaded", _CODES)),
    (
        f"{0x1700}:cas_write_unknown",
        depends("transient", _SHORT, "whether the write was applied is not known", _CODES),
    ),
    (
        f"{0x0000}:server_error {0x1003}:truncate_error {0x1300}:read_failure {0x1500}:write_failure"
        f" {0x1600}:cdc_write_failure",
        depends("transient", _MEDIUM, "a replica failed", _CODES, 3),
    ),
    (f"{0x2500}:unprepared", yes("transient", _SHORT, "the server has forgotten the prepared statement", _CODES)),
    (f"{0x0100}:bad_credentials {0x2100}:unauthorized", no("auth", "the login or a permission was refused", _CODES)),
    (
        f"{0x2000}:syntax_error {0x2200}:invalid {0x2300}:config_error {0x1400}:function_failure"
        f" {0x000A}:protocol_error",
        no("permanent", "the statement itself is wrong, or what it refers to is missing", _CODES),
    ),
    (f"{0x2400}:already_exists", no("data", "it already exists, perhaps from an earlier try", _CODES)),
)
_SIGNALS: Mapping[int, Signal] = signals_by_number("cassandra", _ROWS)

_PRINTED_CODE = re.compile(r"Error from server: code=([0-9a-fA-F]{4}) \[")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy nothing: the driver prints the code into the message of all that it makes of an error."""
    return {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the server's code says."""
    match = _PRINTED_CODE.search(node.message)
    if match and (signal := _SIGNALS.get(int(match[1], 16))):
        yield signal
