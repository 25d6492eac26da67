"""Two judgements of the same failures, made apart, and the one label that comes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from airflow_common_ai.recordings.label import Label, ShouldRetry

__all__ = ["is_agreed", "merge", "merge_all"]


def merge_all(first: Mapping[str, Label], second: Mapping[str, Label], argued: Mapping[str, Label]) -> dict[str, Label]:
    """
    Return a label for what both passes judged.

    :param argued: Labels that were found by arguing where the passes disagreed; each ``why`` has the argument.
    """
    return {one: argued.get(one) or merge(first[one], second[one]) for one in first.keys() & second.keys()}


def is_agreed(first: Label, second: Label) -> bool:
    """Whether two judgements want the same done, for reasons that both can accept."""
    return first.should_retry is second.should_retry and (
        first.accepts(second.category) or second.accepts(first.category)
    )


def merge(first: Label, second: Label) -> Label:
    """
    Return the label of one recording: what the two agree on, and ``either`` where they do not.

    Both categories are right where they differ. Of the delays counts what both allow, or if that is nothing, what
    either of them allows.
    """
    should_retry = first.should_retry if first.should_retry is second.should_retry else ShouldRetry.EITHER
    also = sorted({*first.also, *second.also, second.category} - {first.category})
    why = first.why if is_agreed(first, second) else _both(first.why, second.why)
    return replace(
        first,
        should_retry=should_retry,
        also=tuple(also),
        delay_s=None if should_retry is ShouldRetry.NO else _delays(first, second),
        why=why,
        source=_both(first.source, second.source),
    )


def _both(one: str, other: str) -> str:
    return " / ".join(dict.fromkeys((one, other)))


def _delays(first: Label, second: Label) -> tuple[float, float] | None:
    if first.delay_s is None or second.delay_s is None:
        return first.delay_s or second.delay_s
    shortest, longest = max(first.delay_s[0], second.delay_s[0]), min(first.delay_s[1], second.delay_s[1])
    if shortest <= longest:
        return shortest, longest
    return min(first.delay_s[0], second.delay_s[0]), max(first.delay_s[1], second.delay_s[1])
