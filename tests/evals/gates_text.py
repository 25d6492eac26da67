"""A file of gates for small corpora."""

from __future__ import annotations

__all__ = ["gates"]


def gates(right_at_least: float) -> str:
    return f"""
[measure]
split = "dev"
min_failures = 1
max_unanswered = 0.0
alpha = 0.05

[[bound]]
metric = "right"
at_least = {right_at_least}
"""
