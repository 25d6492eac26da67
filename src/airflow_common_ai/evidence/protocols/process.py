"""process."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from airflow_common_ai.evidence.model import Fact, RedactedNode, Signal


def probe(exception: BaseException) -> dict[str, Fact]:
    return {}


def read(node: RedactedNode, observed_at: datetime) -> Iterable[Signal]:
    return ()
