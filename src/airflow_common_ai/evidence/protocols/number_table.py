"""The shape of a table of a server's numbered codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from airflow_common_ai.evidence.model import Rank, Signal
from airflow_common_ai.evidence.protocols.meaning import Meaning

__all__ = ["NumberRow", "signals_by_name", "signals_by_number"]

NumberRow: TypeAlias = tuple[str, Meaning]
"""``number:Name`` pairs separated by blanks, as the server's documentation has them, and what they mean."""


def signals_by_number(protocol: str, rows: Iterable[NumberRow]) -> dict[int, Signal]:
    """Return what each number says, with codes such as ``mongo.DuplicateKey``."""
    return {number: signal for number, _, signal in _entries(protocol, rows)}


def signals_by_name(protocol: str, rows: Iterable[NumberRow]) -> Mapping[str, Signal]:
    """Return the same by the names, which servers print instead."""
    return {name: signal for _, name, signal in _entries(protocol, rows)}


def _entries(protocol: str, rows: Iterable[NumberRow]) -> Iterable[tuple[int, str, Signal]]:
    for codes, meaning in rows:
        for code in codes.split():
            number, _, name = code.partition(":")
            yield int(number), name, meaning.signal(f"{protocol}.{name}", Rank.VENDOR_CODE)
