"""What became of all failures, in parts that add up to one."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_common_ai.evals.score import Score

__all__ = ["OutcomePart", "outcome_parts"]


@dataclass(frozen=True, slots=True)
class OutcomePart:
    """One part."""

    name: str
    key: str
    """Of its colour."""
    failures: float
    share: float


def outcome_parts(score: Score) -> tuple[OutcomePart, ...]:
    """Return the parts, best first. A failure whose copies were decided differently is split between them."""
    worth, hopeless, arguable = (score.actions.matrix[answer] for answer in ("yes", "no", "either"))
    right = worth["retry"] + hopeless["fail"] + arguable["retry"] + arguable["fail"]
    left = sum(row["default"] for row in (worth, hopeless, arguable))
    named = right + left + hopeless["retry"] + worth["fail"]
    total = sum(sum(row.values()) for row in (worth, hopeless, arguable))
    found = (
        ("right", "right", right),
        ("left to Airflow", "left", left),
        ("no answer", "unanswered", max(round(total - named, 6), 0.0)),
        ("wasted retry", "wasted", hopeless["retry"]),
        ("false FAIL", "false-fail", worth["fail"]),
    )
    return tuple(OutcomePart(name, key, failures, failures / total) for name, key, failures in found)
