"""
What ``make bench`` prints: time of a decision, cost of the import, size of the record, each beside its goal.

Asserts nothing: how fast a machine is, and what else runs on it, is not ours. That is why there are two clocks. What
other programs take is in the wall clock's numbers, and hardly in those of the CPU.
"""

from __future__ import annotations

import json
import logging
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.failures import demo_failures, worst_failure

if TYPE_CHECKING:
    from airflow_common_ai.policies import RetryPolicy

CLOCKS: dict[str, Callable[[], float]] = {"CPU": time.process_time, "wall": time.perf_counter}
"""What reads the seconds."""

ROUNDS = 200
"""Decisions about each failure of the demo."""
WORST_ROUNDS = 150
LATE_ROUNDS = 20
"""Decisions about each failure of the demo when there were others before."""
FRESH_ROUNDS = 5
"""Fresh interpreters for each import and for the first decision."""
LEAST_FOR_P99 = 100
LOG_WIDTH = 120
"""Columns of the table where nobody's terminal says how wide it is."""

EARLIER_ATTEMPTS = 20
"""As many as the record holds."""
RECORDED_ATTEMPTS = 1000
RECORD_GOAL_BYTES = 32 * 1024

DECISION_GOALS_MS = (1.0, 5.0)
"""p50 and p99 for an ordinary failure, without the classifier."""
WORST_GOAL_MS = 50.0
"""Also without."""
IMPORT_GOAL_MS = 50.0

AIRFLOW_IMPORT = "from airflow.sdk import DAG, task"
"""What every process has imported that runs a task."""
OUR_IMPORT = "from airflow_common_ai.policies import EvidenceRetryPolicy"
THEIR_IMPORT = "from airflow.providers.common.ai.policies.retry import LLMRetryPolicy"
FIRST_DECISION = "EvidenceRetryPolicy().evaluate(ConnectionResetError(104, 'Connection reset by peer'), 1, 3)"


class Store:
    """A task state store in memory, so that the record's own cost is in the time."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def get(self, key: str) -> Any:
        return json.loads(self.values[key]) if key in self.values else None

    def set(self, key: str, value: Any, *, retention: timedelta) -> None:
        self.values[key] = json.dumps(value)


class Timings:
    """Milliseconds of the same work, done many times, by each clock."""

    def __init__(self) -> None:
        self._by_clock: dict[str, list[float]] = {clock: [] for clock in CLOCKS}

    def measure(self, work: Callable[[], object]) -> None:
        started = {clock: read() for clock, read in CLOCKS.items()}
        work()
        self.add({clock: (read() - started[clock]) * 1000 for clock, read in CLOCKS.items()})

    def add(self, times_ms: dict[str, float]) -> None:
        for clock, time_ms in times_ms.items():
            self._by_clock[clock].append(time_ms)

    def rows(
        self, name: str, p50_goal_ms: float | None = None, p99_goal_ms: float | None = None
    ) -> Iterable[list[Any]]:
        """Return a row of the table for each clock."""
        for clock, times in self._by_clock.items():
            p50, p99 = percentile(times, 0.5), percentile(times, 0.99) if len(times) >= LEAST_FOR_P99 else None
            yield [name, clock, f"{len(times):,}", beside_goal(p50, p50_goal_ms), beside_goal(p99, p99_goal_ms)]
            name = ""


def percentile(values: Sequence[float], share: float) -> float:
    """Return the least value that ``share`` of all values do not exceed."""
    return sorted(values)[math.ceil(len(values) * share) - 1]


def beside_goal(value: float | None, goal: float | None, form: str = ".3f") -> Text:
    """Return a number with its goal, and whether it was met."""
    if value is None:
        return Text("-")
    if goal is None:
        return Text(f"{value:{form}}")
    is_met = value < goal
    return Text(f"{value:{form}} (< {goal:,.0f} {'met' if is_met else 'missed'})", "green" if is_met else "red")


def decisions(
    policy: RetryPolicy, failures: Iterable[BaseException], *, rounds: int = ROUNDS, earlier: int = 0
) -> Timings:
    """Time the decision about each failure, on the first try or on one that follows others."""
    timings = Timings()
    for failure in failures:
        store = Store()
        for number in range(1, earlier + 1):
            policy.evaluate(failure, number, 1000, _context(store))
        values = dict(store.values)
        for _ in range(rounds):
            store.values = dict(values)
            timings.measure(partial(policy.evaluate, failure, earlier + 1, 1000, _context(store)))
    return timings


def fresh_timings(statement: str, *, before: str = AIRFLOW_IMPORT) -> Timings:
    """Time a statement in fresh interpreters, after another one."""
    program = (
        f"import json, time; {before}; "
        "clocks = {'CPU': time.process_time, 'wall': time.perf_counter}; "
        "started = {name: read() for name, read in clocks.items()}; "
        f"{statement}; "
        "print(json.dumps({name: (read() - started[name]) * 1000 for name, read in clocks.items()}))"
    )
    timings = Timings()
    for _ in range(FRESH_ROUNDS):
        ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
        timings.add(json.loads(ended.stdout.splitlines()[-1]))
    return timings


def record_bytes(policy: RetryPolicy, failures: Sequence[BaseException]) -> int:
    """Return how long the record is after many attempts that ended in turns with each of the failures."""
    store = Store()
    for number in range(1, RECORDED_ATTEMPTS + 1):
        policy.evaluate(failures[number % len(failures)], number, RECORDED_ATTEMPTS, _context(store))
    [record] = store.values.values()
    return len(record.encode())


def _context(store: Store) -> Any:
    return {"task_state_store": store}


def main() -> None:
    from airflow_common_ai.policies import EvidenceRetryPolicy, ExceptionRetryPolicy, RetryRule

    logging.disable(logging.CRITICAL)
    ours, bare = EvidenceRetryPolicy(), EvidenceRetryPolicy(classifier=False)
    airflows = ExceptionRetryPolicy([RetryRule("builtins.OSError")])
    failures = list(demo_failures().values())
    table = Table("milliseconds", "clock", "n", "p50", "p99")
    for rows in (
        decisions(bare, failures).rows(f"decision: {len(failures)} failures of the demo", *DECISION_GOALS_MS),
        decisions(ours, failures).rows("- with the classifier"),
        decisions(ours, failures, rounds=LATE_ROUNDS, earlier=EARLIER_ATTEMPTS).rows(
            f"- and after {EARLIER_ATTEMPTS} attempts"
        ),
        decisions(airflows, failures).rows("- by Airflow's ExceptionRetryPolicy"),
        decisions(bare, [worst_failure()], rounds=WORST_ROUNDS).rows(
            "decision: 64 exceptions of 1 MB, 16 deep", None, WORST_GOAL_MS
        ),
        fresh_timings(FIRST_DECISION, before=f"{AIRFLOW_IMPORT}; {OUR_IMPORT}").rows("first decision of a process"),
        fresh_timings(OUR_IMPORT).rows("import after airflow.sdk", IMPORT_GOAL_MS),
        fresh_timings(THEIR_IMPORT).rows("- of the Common AI provider's policy"),
    ):
        for row in rows:
            table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console = Console(width=LOG_WIDTH)
    console.print(table)
    size = beside_goal(record_bytes(ours, failures), RECORD_GOAL_BYTES, ",")
    console.print(Text(f"bytes of the record after {RECORDED_ATTEMPTS:,} attempts: ").append_text(size))


if __name__ == "__main__":
    main()
