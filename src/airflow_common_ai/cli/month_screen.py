"""A simulated month on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from airflow_common_ai.cli.figures import columns, spread
from airflow_common_ai.cli.score_screen import title

if TYPE_CHECKING:
    from airflow_common_ai.evals.simulate import Month
    from airflow_common_ai.evals.statistics.estimate import Estimate

__all__ = ["month_lines"]

_ROWS = (
    ("retries that failed again", "wasted_attempts"),
    ("hours of slots they took", "wasted_slot_hours"),
    ("tasks a retry saved", "recovered"),
    ("tasks lost that would recover", "lost"),
    ("tasks failed in the end", "failed"),
    ("minutes to recovery", "minutes_to_recovery"),
    ("minutes to a hopeless FAIL", "minutes_to_give_up"),
    ("calls of a model", "model_calls"),
)


def month_lines(month: Month) -> Iterator[str]:
    yield title(month.header, month.split)
    yield f"{month.assumptions.months} months of {spread(month.failures)} failures; in brackets: 95 % of the months"
    rows = [["", *(policy.policy for policy in month.policies)]]
    for words, name in _ROWS:
        found: list[Estimate] = [getattr(policy, name) for policy in month.policies]
        rows.append([words, *map(spread, found)])
    yield from columns(rows, indent=0)
    yield "Assumed"
    for assumption in month.assumptions.in_words():
        yield f"  {assumption}"
