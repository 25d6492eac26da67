"""The bytes in which a gRPC server sends why it refused and when to come back.

The opposite of :mod:`airflow_common_ai.evidence.protocols.grpc.details`. Source: google/rpc/status.proto and
error_details.proto.
"""

from __future__ import annotations

__all__ = ["status_details"]

_TYPE = b"type.googleapis.com/google.rpc."
_NANOS_PER_S = 1_000_000_000


def status_details(reason: str | None, retry_delay_s: float | None) -> bytes:
    """Return a serialised ``google.rpc.Status`` with these details."""
    blob = b""
    if reason is not None:
        blob += _detail(b"ErrorInfo", _bytes_field(1, reason.encode("utf-8", "replace")))
    if retry_delay_s is not None:
        seconds, nanos = divmod(round(retry_delay_s * _NANOS_PER_S), _NANOS_PER_S)
        duration = _number_field(1, seconds) + _number_field(2, nanos)
        blob += _detail(b"RetryInfo", _bytes_field(1, duration))
    return blob


def _detail(name: bytes, value: bytes) -> bytes:
    return _bytes_field(3, _bytes_field(1, _TYPE + name) + _bytes_field(2, value))


def _bytes_field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _number_field(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*encoded, value))
