"""The details that a gRPC status may carry: why, and when to come back.

They travel as a ``google.rpc.Status`` in the trailing metadata. Of its wire format only the few fields are read that
matter here, so that no protobuf library is needed. Source: google/rpc/status.proto and error_details.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from airflow_common_ai.evidence.cut import cut

__all__ = ["METADATA_KEY", "StatusDetails", "read_status_details"]

METADATA_KEY = "grpc-status-details-bin"

_MAX_BYTES = 65_536
_MAX_FIELDS = 256
_DETAILS_FIELD = 3
_MAX_REASON_CHARS = 100


@dataclass(frozen=True, slots=True)
class StatusDetails:
    """What was found."""

    reason: str | None = None
    """``ErrorInfo.reason``, e.g. ``RATE_LIMIT_EXCEEDED``."""
    retry_delay_s: float | None = None
    """``RetryInfo.retry_delay``."""


def read_status_details(blob: bytes) -> StatusDetails:
    """
    Read the details out of a serialised ``google.rpc.Status``.

    :raises ValueError: It is none.
    """
    reason: str | None = None
    retry_delay_s: float | None = None
    for number, detail in _fields(blob[:_MAX_BYTES]):
        if number != _DETAILS_FIELD or not isinstance(detail, bytes):
            continue
        entry = dict(_fields(detail))
        kind, value = entry.get(1), entry.get(2)
        if not isinstance(kind, bytes) or not isinstance(value, bytes):
            continue
        if kind.endswith(b"/google.rpc.ErrorInfo") and isinstance(text := dict(_fields(value)).get(1), bytes):
            reason = cut(text.decode(errors="replace"), _MAX_REASON_CHARS)
        elif kind.endswith(b"/google.rpc.RetryInfo"):
            retry_delay_s = _duration_s(dict(_fields(value)).get(1, b""))
    return StatusDetails(reason, retry_delay_s)


def _duration_s(duration: int | bytes) -> float | None:
    if not isinstance(duration, bytes):
        return None
    parts = dict(_fields(duration))
    seconds, nanos = parts.get(1, 0), parts.get(2, 0)
    if not isinstance(seconds, int) or not isinstance(nanos, int) or seconds >= 2**63:
        return None  # a negative one
    return seconds + nanos / 1e9


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field: an integer, or the bytes of a text or of a message."""
    at = 0
    for _ in range(_MAX_FIELDS):
        if at >= len(message):
            return
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield tag >> 3, value
            continue
        if kind == 2:
            length, at = _varint(message, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"unknown wire type {kind}")
        if at + length > len(message):
            raise ValueError("the message is cut off")
        yield tag >> 3, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for position, byte in enumerate(message[at : at + 10]):
        value |= (byte & 0x7F) << (7 * position)
        if not byte & 0x80:
            return value, at + position + 1
    raise ValueError("a number without an end")
