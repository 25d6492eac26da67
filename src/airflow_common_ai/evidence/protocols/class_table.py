"""The shape of a table of exception classes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from airflow_common_ai.evidence.model import Rank, Signal
from airflow_common_ai.evidence.protocols.meaning import Meaning

__all__ = ["ClassRow", "signals_by_kind"]

ClassRow: TypeAlias = tuple[str, Meaning]
"""Classes separated by blanks, and what they say.

A class is named as :meth:`~airflow_common_ai.evidence.model.ExceptionNode.is_a` names it: ``KeyError`` for a
built-in, else ``root.Name`` with the top package.
"""

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def signals_by_kind(rows: Iterable[ClassRow]) -> dict[str, Signal]:
    """Return what each class of the rows says, with codes such as ``python.redis.connection_error``."""
    return {
        kind: meaning.signal(f"python.{_WORD_START.sub('_', kind).lower().lstrip('_')}", Rank.CLASS)
        for kinds, meaning in rows
        for kind in kinds.split()
    }
