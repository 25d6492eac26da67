"""Read a file or standard input without trusting its size or its kind."""

from __future__ import annotations

import codecs
import os
import stat
import sys
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from airflow_common_ai.sanitizer import sanitize

__all__ = ["MAX_TAIL_BYTES", "UnreadableInput", "read_input", "read_stream"]

MAX_TAIL_BYTES = 4 * 1024 * 1024
"""What is looked at: the end of a log, where the failure is."""

MAX_READ_BYTES = 256 * 1024 * 1024
"""What is read of a pipe, or unpacked, to get there."""

_MAX_PARTS = 1000
"""Gzip files one behind the other in one file. Each costs a copy of what is left to unpack."""

_CHUNK_BYTES = 1024 * 1024
_START_BYTES = 4096
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_FORMAT = 16 + zlib.MAX_WBITS

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le", 4),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be", 4),
    (codecs.BOM_UTF16_LE, "utf-16-le", 2),
    (codecs.BOM_UTF16_BE, "utf-16-be", 2),
)
"""How a text begins that is not in UTF-8, such as one from PowerShell, and the bytes of one code unit."""


class UnreadableInput(ValueError):
    """The input cannot be read; the text says why and what to do."""


def read_input(source: Path | None) -> str:
    """
    Return a text, of a long one its end.

    Of a file only the end is read. A pipe, a device and packed data are read through, up to 256 MiB.

    :param source: A file, also packed with gzip, or a named pipe; ``None`` or ``-`` for standard input.
    :raises UnreadableInput: It is not there, cannot be read, is no text, is empty or far too large.
    """
    is_standard_input = source is None or str(source) == "-"
    name = "standard input" if is_standard_input else f"'{sanitize(str(source))}'"
    try:
        if source is None or is_standard_input:
            if sys.stdin is None or sys.stdin.isatty():
                raise UnreadableInput("give a file, or pipe a traceback or a task log into standard input")
            return read_stream(sys.stdin.buffer, name)
        # Without waiting: a named pipe may have nobody who writes to it.
        with open(source, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
            if file.isatty():
                raise UnreadableInput(f"{name} is a terminal; give a file, or pipe into standard input")
            os.set_blocking(file.fileno(), True)
            return read_stream(file, name)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableInput(f"{name} cannot be read: {reason}") from None


def read_stream(file: BinaryIO, name: str) -> str:
    """
    Return what an open file, or an answer of a server, holds: of a long text its end.

    :param name: What it is called in an error.
    :raises UnreadableInput: As :func:`read_input`.
    """
    start = file.read(_START_BYTES)
    skipped = 0
    if start.startswith(_GZIP_MAGIC):
        unpacked = _unpacked(_bounded(_chunks(start, file), name), name)
        start = next(unpacked, b"")
        chunks: Iterable[bytes] = chain([start], unpacked)
    else:
        skipped = _skip_to_tail(file)
        chunks = _chunks(b"" if skipped else start, file)
    encoding, unit_bytes = _encoding_of(start[:_START_BYTES], name)
    tail, seen = _last_bytes(_bounded(chunks, name))
    skipped += seen - len(tail)
    text = tail[-skipped % unit_bytes :].decode(encoding, "replace").removeprefix("\ufeff")
    if not text.strip():
        raise UnreadableInput(f"{name} is empty; give a traceback or a task log")
    return text


def _chunks(start: bytes, file: BinaryIO) -> Iterator[bytes]:
    return chain([start], iter(lambda: file.read(_CHUNK_BYTES), b""))


def _bounded(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    seen = 0
    for chunk in chunks:
        seen += len(chunk)
        if seen > MAX_READ_BYTES:
            limit = MAX_READ_BYTES // 1024**2
            raise UnreadableInput(f"{name} holds more than {limit} MiB; give its last part, e.g. with tail -c 4M")
        yield chunk


def _unpacked(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield the text of gzip files, one behind the other, in pieces of bounded size."""
    unpack = zlib.decompressobj(_GZIP_FORMAT)
    parts = 1
    try:
        for chunk in chunks:
            while chunk:
                if unpack.eof:
                    unpack = zlib.decompressobj(_GZIP_FORMAT)
                    parts += 1
                if parts > _MAX_PARTS:
                    raise UnreadableInput(f"{name} is packed in more than {_MAX_PARTS} parts; unpack it first")
                yield unpack.decompress(chunk, _CHUNK_BYTES)
                chunk = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
        while not unpack.eof and (rest := unpack.decompress(b"", _CHUNK_BYTES)):
            yield rest
    except zlib.error:
        raise UnreadableInput(f"{name} is a damaged gzip file") from None
    if not unpack.eof:
        raise UnreadableInput(f"{name} is a gzip file that is cut off, and the failure is in the part that is missing")


def _skip_to_tail(file: BinaryIO) -> int:
    """Go to where the last part of a regular file begins, and return what was skipped."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # no file at all, but a stream in memory
        return 0
    skipped = status.st_size - MAX_TAIL_BYTES
    return file.seek(skipped) if stat.S_ISREG(status.st_mode) and skipped > _START_BYTES else 0


def _last_bytes(chunks: Iterable[bytes]) -> tuple[bytes, int]:
    """Return the end of a stream, and how long all of it was."""
    kept: deque[bytes] = deque()
    seen = kept_bytes = 0
    for chunk in chunks:
        kept.append(chunk)
        seen += len(chunk)
        kept_bytes += len(chunk)
        while kept_bytes - len(kept[0]) >= MAX_TAIL_BYTES:
            kept_bytes -= len(kept.popleft())
    return b"".join(kept)[-MAX_TAIL_BYTES:], seen


def _encoding_of(start: bytes, name: str) -> tuple[str, int]:
    for mark, encoding, unit_bytes in _BYTE_ORDER_MARKS:
        if start.startswith(mark):
            return encoding, unit_bytes
    if b"\0" in start:
        raise UnreadableInput(f"{name} is no text; give a traceback or a task log, as it is or packed with gzip")
    return "utf-8", 1
