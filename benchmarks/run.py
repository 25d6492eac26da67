"""What ``make bench`` prints: time of a decision, cost of the import, size of the record. Asserts nothing."""

from __future__ import annotations

import json
import logging
import statistics
import subprocess
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from benchmarks.failures import demo_failures, worst_failure

if TYPE_CHECKING:
    from airflow_common_ai.policies import RetryPolicy

IMPORTS = {
    "airflow_common_ai.policies": "from airflow_common_ai.policies import EvidenceRetryPolicy",
    "the Common AI provider's": "from airflow.providers.common.ai.policies.retry import LLMRetryPolicy",
}


class Store:
    """A task state store in memory, so that the record's own cost is in the time."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def set(self, key: str, value: Any, *, retention: timedelta) -> None:
        self.values[key] = json.loads(json.dumps(value))


def decision_times(policy: RetryPolicy, failure: BaseException, runs: int) -> list[float]:
    """Return the milliseconds of each run, shortest first."""
    times = []
    for _ in range(runs):
        context: Any = {"task_state_store": Store()}
        started = time.perf_counter()
        policy.evaluate(failure, 1, 3, context)
        times.append((time.perf_counter() - started) * 1000)
    return sorted(times)


def percentile(times: list[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))]


def decisions(console: Console) -> None:
    from airflow_common_ai.policies import EvidenceRetryPolicy, ExceptionRetryPolicy, RetryRule

    policies = {
        "EvidenceRetryPolicy": EvidenceRetryPolicy(),
        "ExceptionRetryPolicy of Airflow": ExceptionRetryPolicy([RetryRule("builtins.OSError")]),
    }
    failures = demo_failures()
    table = Table("milliseconds for one decision", "p50", "p99", "most", title=f"{len(failures)} failures of the demo")
    for name, policy in policies.items():
        times = sorted(time for failure in failures.values() for time in decision_times(policy, failure, runs=200))
        table.add_row(name, *(f"{value:.3f}" for value in (percentile(times, 0.5), percentile(times, 0.99), times[-1])))
    worst = worst_failure()
    times = decision_times(policies["EvidenceRetryPolicy"], worst, runs=20)
    table.add_row(
        "64 exceptions, 16 deep, 1 MB each", *(f"{v:.1f}" for v in (statistics.median(times), times[-1], times[-1]))
    )
    console.print(table)


def imports(console: Console) -> None:
    table = Table("milliseconds to import after airflow.sdk", "median of 9", "least")
    for name, statement in IMPORTS.items():
        program = f"import airflow.sdk, time; from airflow.sdk import DAG, task; t=time.perf_counter(); {statement}; "
        program += "print((time.perf_counter()-t)*1000)"
        times = [
            float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout)
            for _ in range(9)
        ]
        table.add_row(name, f"{statistics.median(times):.1f}", f"{min(times):.1f}")
    console.print(table)


def record(console: Console) -> None:
    from airflow_common_ai.policies import EvidenceRetryPolicy

    store = Store()
    failures = list(demo_failures().values())
    policy = EvidenceRetryPolicy()
    context: Any = {"task_state_store": store}
    for number in range(1, 1001):
        policy.evaluate(failures[number % len(failures)], number, 1000, context)
    stored = store.values["ai_retry"]
    console.print(f"record after 1,000 attempts: {len(json.dumps(stored)):,} bytes, {len(stored['attempts'])} attempts")


def main() -> None:
    logging.disable(logging.CRITICAL)
    console = Console()
    decisions(console)
    imports(console)
    record(console)


if __name__ == "__main__":
    main()
