"""
How long the embedded classifier takes to load and to predict, each beside its goal.

    python -m benchmarks.classifier

Asserts nothing: how fast a machine is, and what else runs on it, is not ours.
"""

from __future__ import annotations

from functools import partial

from rich.console import Console
from rich.table import Table

from airflow_common_ai.classifier.classifier import SHIPPED, Classifier
from airflow_common_ai.evidence.model import RedactedEvidence
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor, from_json
from benchmarks.run import LOG_WIDTH, Timings, beside_goal
from tools.training.made_up import made_up_examples

__all__ = ["main"]

LOAD_GOAL_MS, PREDICT_GOAL_MS = 30.0, 2.0
SIZE_GOAL_KIB = 1024.0
LONG_CHARS = 4096
ROUNDS = 200


def main() -> None:
    loading, long, ordinary = Timings(), Timings(), Timings()
    for _ in range(ROUNDS // 10):
        loading.measure(Classifier.load)
    classifier = Classifier.load()
    failures = [(example.evidence, example.signals) for example in made_up_examples()][:ROUNDS]
    for evidence, signals in failures:
        ordinary.measure(partial(classifier.predict, evidence, signals))
    longest = _long_failure([evidence for evidence, _ in failures])
    signals = read_signals(longest)
    for _ in range(ROUNDS):
        long.measure(partial(classifier.predict, longest, signals))
    table = Table("what", "clock", "times", "p50 ms", "p99 ms", title="The embedded classifier")
    for row in loading.rows("load", LOAD_GOAL_MS):
        table.add_row(*row)
    for row in ordinary.rows("predict, one sentence", PREDICT_GOAL_MS):
        table.add_row(*row)
    for row in long.rows(f"predict, {LONG_CHARS // 1024} kB of text", PREDICT_GOAL_MS):
        table.add_row(*row)
    console = Console(width=None if Console().is_terminal else LOG_WIDTH)
    console.print(table)
    console.print("weights:", beside_goal(SHIPPED.stat().st_size / 1024, SIZE_GOAL_KIB, ".0f"), "KiB")


def _long_failure(failures: list[RedactedEvidence]) -> RedactedEvidence:
    """Return one failure that says what many say."""
    first = failures[0].to_json()
    text = ". ".join(str(node.message) for one in failures for node in one.nodes)
    first["nodes"][0]["message"] = text[:LONG_CHARS]
    return from_json(first, Redactor())


if __name__ == "__main__":
    main()
