"""Where a task stands between its first failure (or its last clear) and its last retry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow_common_ai.policies import airflow_context
from airflow_common_ai.policies.delay import RetrySchedule, RoundProgress
from airflow_common_ai.policies.history import History

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context

__all__ = ["RetryRound"]


@dataclass(frozen=True)
class RetryRound:
    """One round of tries of a task instance, seen from the try that has just failed."""

    try_number: int = 1
    max_tries: int = 0
    earlier: History = field(default_factory=History)
    """The earlier tries of this round only."""
    schedule: RetrySchedule = field(default_factory=RetrySchedule)
    started_at: datetime | None = None
    """When the failed try was started."""
    is_last_try: bool = False

    @classmethod
    def from_context(
        cls, context: Context | Mapping[str, Any] | None, try_number: int, max_tries: int, past: History
    ) -> RetryRound:
        """Read the round from Airflow's task context and the record."""
        return cls(
            try_number=try_number,
            max_tries=max_tries,
            earlier=past.before(try_number, max_tries),
            schedule=airflow_context.retry_schedule(context),
            started_at=airflow_context.try_started_at(context),
            is_last_try=not airflow_context.is_retry_left(context, try_number, max_tries),
        )

    def progress(self) -> RoundProgress:
        """Return how far the round has come; without a record this try counts as its first."""
        tries = self.earlier.tries
        return RoundProgress(
            try_number=self.try_number,
            max_tries=self.max_tries,
            first_try=tries[0].try_number if tries else self.try_number,
            attempt=len(tries) + 1,
            waited_s=sum(
                self.schedule.delay_s(attempt.try_number) if attempt.waits_own_delay else attempt.delay_s or 0.0
                for attempt in tries
            ),
        )

    def elapsed(self, now: datetime) -> timedelta:
        """Return the time since the first try of the round was started."""
        tries = self.earlier.tries
        start = (tries[0].started_at or tries[0].at) if tries else self.started_at
        return max(now - start, timedelta(0)) if start else timedelta(0)
