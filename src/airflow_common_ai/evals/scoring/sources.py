"""Who decided?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.statistics.estimate import Share
from airflow_common_ai.evals.statistics.sample import Sample

__all__ = ["SourceScore", "score_sources"]


@dataclass(frozen=True, slots=True)
class SourceScore:
    """What one source settled: a tier such as ``signals`` or ``llm``; ``default``: nobody; ``unknown``: not told."""

    name: str
    decided: Share
    """Of the failures that somebody judged."""
    right: Share | None
    """Of what it settled; ``None``: nothing."""
    false_fails: Share | None
    """Of what it settled; exact."""


def score_sources(judged: Sequence[Judged], sample: Sample) -> tuple[SourceScore, ...]:
    """Score each source, those first that decided most."""
    return tuple(
        sorted(
            (_score(name, judged, sample) for name in {one.row.source for one in judged}),
            key=lambda source: (-source.decided.value, source.name),
        )
    )


def _score(name: str, judged: Sequence[Judged], sample: Sample) -> SourceScore:
    is_own = [one.row.source == name for one in judged]
    has_settled = [one.row.source == name and one.is_settled for one in judged]
    return SourceScore(
        name=name,
        decided=sample.share(is_own),
        right=sample.share_within([one.is_right for one in judged], has_settled),
        false_fails=sample.exact_share_within([one.is_false_fail for one in judged], has_settled),
    )
