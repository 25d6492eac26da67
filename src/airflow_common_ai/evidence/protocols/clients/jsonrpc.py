"""JSON-RPC: the numbers that the standard gives to errors; those of each server's own mean what it likes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_common_ai.evidence.model import Fact, RedactedNode, Signal, Wait
from airflow_common_ai.evidence.protocols.meaning import depends, no, yes
from airflow_common_ai.evidence.protocols.number_table import NumberRow, signals_by_number

__all__ = ["PRINTED_MARKS", "ROOTS", "probe", "read"]

ROOTS = ("jsonrpcclient", "jsonrpclib", "jsonrpc", "pyjsonrpc", "web3")
PRINTED_MARKS = ("'code': -32", '"code": -32', '"code":-32')

_STANDARD = "JSON-RPC 2.0 §5.1"
_ROWS: tuple[NumberRow, ...] = (
    ("-32700:parse_error -32600:invalid_request -32602:invalid_params",
     no("data", "the server says that the request is wrong", _STANDARD)),
    ("-32601:method_not_found", no("permanent", "the server has no such method", _STANDARD)),
    ("-32603:internal_error", depends("transient", Wait.MEDIUM, "the server failed", _STANDARD, 3)),
    ("-32005:limit_exceeded", yes("rate_limit", Wait.MEDIUM, "rate limited", "EIP-1474")),
)  # fmt: skip
_SIGNALS: Mapping[int, Signal] = signals_by_number("jsonrpc", _ROWS)
_PRINTED = re.compile(r"['\"]code['\"]: ?(-32\d{3})\b")


def probe(exception: BaseException) -> dict[str, Fact]:
    """Copy nothing: clients print what the server answered."""
    return {}


def read(node: RedactedNode) -> Iterator[Signal]:
    """Yield what the number says."""
    if match := _PRINTED.search(node.message):
        yield from filter(None, [_SIGNALS.get(int(match[1]))])
