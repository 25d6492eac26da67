"""Errors that a database's own code raises: ``RAISE``, ``SIGNAL``, ``RAISERROR``. Their number says nothing else."""

from __future__ import annotations

from airflow_common_ai.evidence.model import Wait
from airflow_common_ai.evidence.protocols.findings import hint
from airflow_common_ai.evidence.protocols.meaning import Meaning, depends, no

__all__ = ["LATER_WORDS", "RAISED", "RAISED_FOR_NOW"]

_SENTENCE = "the database's own code raised an error of its own"
_SOURCE = "PL/pgSQL RAISE, MySQL SIGNAL, SQL Server RAISERROR, Oracle RAISE_APPLICATION_ERROR; judgement"

RAISED: Meaning = no("data", _SENTENCE, _SOURCE)
"""Most often a check of the data."""
RAISED_FOR_NOW: Meaning = hint(depends("transient", Wait.SHORT, _SENTENCE, _SOURCE, 3))
"""With :data:`LATER_WORDS` in its message the text may tell more."""

LATER_WORDS = (
    r"\bretry|try (?:it )?again|temporar|time[d -]?out|\b(?:dead)?lock|\bbusy|unavailable|concurrent|not (?:yet )?ready"
)
