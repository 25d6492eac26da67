"""Read a file or standard input without trusting its size."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import BinaryIO

from airflow_common_ai.sanitizer import sanitize

__all__ = ["MAX_TAIL_BYTES", "UnreadableInput", "read_input"]

MAX_TAIL_BYTES = 8 * 1024 * 1024
"""What is looked at: the end of a log, where the failure is."""

MAX_READ_BYTES = 256 * 1024 * 1024
"""What is read, or unpacked, to get there."""

_GZIP_MAGIC = b"\x1f\x8b"


class UnreadableInput(Exception):
    """The input cannot be read; the text says why and what to do."""


def read_input(source: Path | None) -> str:
    """
    Return the end of a text of any size.

    :param source: A file, also packed with gzip; ``None`` or ``-`` for standard input.
    :raises UnreadableInput: There is no such file, it is no text, it is empty or far too large.
    """
    if source is None or str(source) == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise UnreadableInput("give a file, or pipe a traceback or a task log into standard input")
        return _decoded(_tail(sys.stdin.buffer, "standard input"), "standard input")
    name = sanitize(str(source))
    try:
        if not source.is_file():
            reason = "is a folder" if source.is_dir() else "is no file" if source.exists() else "is not there"
            raise UnreadableInput(f"{name!r} {reason}; give the path of a traceback or a task log")
        with source.open("rb") as file:
            return _decoded(_tail(file, name), name)
    except OSError as error:
        raise UnreadableInput(f"{name!r} cannot be read: {error.strerror}") from None


def _tail(file: BinaryIO, name: str) -> bytes:
    buffered = io.BufferedReader(file) if isinstance(file, io.RawIOBase) else file
    start = buffered.read(2)
    try:
        if start == _GZIP_MAGIC:
            return _last_bytes(gzip.GzipFile(fileobj=_Rejoined(start, buffered)), b"", name)
        return _last_bytes(buffered, start, name)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise UnreadableInput(f"{name!r} is a damaged gzip file; unpack it and look at what is left") from None


def _last_bytes(file: BinaryIO | gzip.GzipFile, start: bytes, name: str) -> bytes:
    tail, seen = start, len(start)
    while chunk := file.read(1024 * 1024):
        seen += len(chunk)
        if seen > MAX_READ_BYTES:
            limit = MAX_READ_BYTES // 1024**2
            raise UnreadableInput(f"{name!r} holds more than {limit} MiB; give its last part, e.g. tail -c 8M")
        tail = (tail + chunk)[-MAX_TAIL_BYTES:]
    return tail


class _Rejoined(io.RawIOBase):
    """A stream whose first bytes were read already; standard input cannot seek back."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start = start
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # a memoryview is written like one
        chunk = self._start or self._rest.read(len(buffer))
        taken = chunk[: len(buffer)]
        self._start = chunk[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


def _decoded(data: bytes, name: str) -> str:
    if b"\0" in data[:4096]:
        raise UnreadableInput(f"{name!r} is no text; give a traceback or a task log")
    text = data.decode("utf-8", "replace")
    if not text.strip():
        raise UnreadableInput(f"{name!r} is empty; give a traceback or a task log")
    return text
