"""What asking cost: calls, tokens, money, time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.evals.statistics.estimate import Estimate, Share
from airflow_common_ai.evals.statistics.intervals import quantile
from airflow_common_ai.evals.statistics.sample import Sample

__all__ = ["Usage", "score_usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Over every row, judged or not."""

    calls: int
    asked: Share
    """Failures that a model was asked about."""
    calls_per_100: Estimate
    """For each hundred distinct failures, as all of these."""
    models: tuple[str, ...]
    """As they answered."""
    input_tokens: int | None
    """``None``: nobody counted."""
    output_tokens: int | None
    tokens_per_call: float | None
    tokens_per_100: Estimate | None
    cost_usd: float | None
    cost_usd_per_100: Estimate | None
    milliseconds_p50: Estimate
    """Time of one decision."""
    milliseconds_p95: Estimate
    is_replayed: bool
    """Then the time is that of the replay; tokens and money are what was recorded."""


def score_usage(header: RunHeader, rows: Sequence[Row]) -> Usage:
    sample = Sample([row.fingerprint for row in rows])
    calls = sum(row.calls for row in rows)
    input_tokens = _sum(row.input_tokens for row in rows)
    output_tokens = _sum(row.output_tokens for row in rows)
    tokens = None if input_tokens is None and output_tokens is None else sum(map(_tokens, rows))
    is_priced = any(row.cost_usd is not None for row in rows)
    milliseconds = [row.milliseconds for row in rows]
    return Usage(
        calls=calls,
        asked=sample.share([row.calls > 0 for row in rows]),
        calls_per_100=sample.mean([100.0 * row.calls for row in rows]),
        models=tuple(sorted({row.model for row in rows if row.model is not None})),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        tokens_per_call=tokens / calls if tokens is not None and calls else None,
        tokens_per_100=None if tokens is None else sample.mean([100.0 * _tokens(row) for row in rows]),
        cost_usd=sum(row.cost_usd or 0.0 for row in rows) if is_priced else None,
        cost_usd_per_100=sample.mean([100 * (row.cost_usd or 0.0) for row in rows]) if is_priced else None,
        milliseconds_p50=quantile(milliseconds, 0.5),
        milliseconds_p95=quantile(milliseconds, 0.95),
        is_replayed=header.mode == "replay",
    )


def _tokens(row: Row) -> int:
    return (row.input_tokens or 0) + (row.output_tokens or 0)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
