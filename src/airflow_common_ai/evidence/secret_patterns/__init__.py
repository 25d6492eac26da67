"""What secrets look like in texts about failures. The table of all patterns is in ``table.py``."""

from __future__ import annotations

from airflow_common_ai.evidence.secret_patterns.names import Name, kind_of_name
from airflow_common_ai.evidence.secret_patterns.shapes import is_placeholder
from airflow_common_ai.evidence.secret_patterns.spans import MASK, Span, mask_spans, places_of
from airflow_common_ai.evidence.secret_patterns.table import (
    PATTERNS,
    SecretPattern,
    find_secrets,
    suspect,
)

__all__ = [
    "MASK",
    "PATTERNS",
    "Name",
    "SecretPattern",
    "Span",
    "find_secrets",
    "is_placeholder",
    "kind_of_name",
    "mask_spans",
    "places_of",
    "suspect",
]
