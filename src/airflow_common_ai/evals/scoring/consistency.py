"""Does the policy decide the same when it is asked again?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from airflow_common_ai.evals.answer import Action
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.statistics.estimate import Estimate, Share
from airflow_common_ai.evals.statistics.sample import Sample

__all__ = ["Consistency", "score_consistency"]


@dataclass(frozen=True, slots=True)
class Consistency:
    """Of the cases that were asked several times."""

    repeats: int
    agreement: Share
    """Cases that were decided the same way each time."""
    right_each_time: tuple[Estimate, ...]
    """The chance that k askings of a case are all right, for k from 1: pass^k. Source: tau-bench, arXiv 2406.12045."""
    flips: tuple[str, ...]
    """The ids of the cases that were not, those first that were both failed and retried."""


def score_consistency(judged: Sequence[Judged]) -> Consistency | None:
    """Compare the repeats of each case; ``None`` if there are none."""
    by_case: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        by_case[one.row.id].append(one)
    repeated = [repeats for repeats in by_case.values() if len(repeats) > 1]
    if not repeated:
        return None
    sample = Sample([repeats[0].row.fingerprint for repeats in repeated])
    least = min(map(len, repeated))
    flipped = [repeats for repeats in repeated if len({one.decided for one in repeats}) > 1]
    flipped.sort(key=lambda repeats: (not _is_opposed(repeats), repeats[0].row.id))
    return Consistency(
        repeats=least,
        agreement=sample.share([len({one.decided for one in repeats}) == 1 for repeats in repeated]),
        right_each_time=tuple(
            sample.mean([_all_right(repeats, k) for repeats in repeated]) for k in range(1, least + 1)
        ),
        flips=tuple(repeats[0].row.id for repeats in flipped),
    )


def _all_right(repeats: Sequence[Judged], k: int) -> float:
    return comb(sum(one.is_right for one in repeats), k) / comb(len(repeats), k)


def _is_opposed(repeats: Sequence[Judged]) -> bool:
    return {Action.RETRY, Action.FAIL} <= {one.action for one in repeats}
