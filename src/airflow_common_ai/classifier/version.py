"""Which weights a file holds, without reading them."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from airflow_common_ai.classifier.model import MAX_MODEL_BYTES

__all__ = ["version_of"]

_HEX_DIGITS = 12


def version_of(path: Path) -> str:
    """
    Return the hash of a file of weights; a file that stays as it is, is read once a process.

    :raises OSError: It cannot be read.
    """
    found = path.stat()
    return _hash(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=8)
def _hash(path: Path, changed_ns: int, size_bytes: int) -> str:
    with path.open("rb") as file:
        return hashlib.sha256(file.read(MAX_MODEL_BYTES + 1)).hexdigest()[:_HEX_DIGITS]
