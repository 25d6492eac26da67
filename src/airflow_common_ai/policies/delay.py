"""How long to wait before the next try: pure arithmetic, no clock, every step in words.

Three sources, the first that is there wins: the delay that a rule fixes, the delay that the server asked for,
the category's backoff. ``None`` leaves the task's own ``retry_delay``.

Two promises behind the arithmetic. From a failure's first retry to its last, the task keeps at least the span that
its own ``retry_delay`` schedule would have given it: early tries may come sooner, the later ones make up for it;
spending three tries in 35 seconds would fail a task that Airflow alone saves. And no delay that is computed here is
longer than ``max_delay``: where later tries could not make up for an early one within it, the task's own
``retry_delay`` is left as it is. Only a server's first ask is shorter than both, since it is taken at its word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from airflow_common_ai.evidence.model import Wait

__all__ = ["BACKOFFS", "Backoff", "DelayPlan", "Limits", "RetrySchedule", "RoundProgress", "plan_delay"]

IMPLAUSIBLE_ASK_S = 7 * 24 * 3600.0
"""No service asks for more than a week; such a number is a bug or an attack. Source: judgement."""

_ASK_JITTER = 0.10
"""Up to this share is added to a server's ask, so that many tasks do not come back at the same second."""

_MAX_AIRFLOW_DELAY_S = 24 * 3600.0
"""Airflow caps its own exponential backoff here (``MAX_RETRY_DELAY``). Source: task-sdk 1.3.2."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds before the n-th retry: drawn between ``low_s`` and ``high_s``, times ``factor`` each time."""

    low_s: float
    high_s: float
    factor: float = 1.0
    cap_s: float = float("inf")

    def delay_s(self, attempt: int, uniform: float) -> float:
        """Return the delay after the ``attempt``-th failure (1-based); ``uniform`` is drawn from [0, 1)."""
        grown = self.factor ** min(attempt - 1, 64)
        return min((self.low_s + uniform * (self.high_s - self.low_s)) * grown, self.cap_s)

    def starting_at(self, hint_s: float) -> Backoff:
        """Return this backoff with its first delay at a hint; a hint cannot leave the bounds of the backoff."""
        highest = self.high_s if self.cap_s == float("inf") else self.cap_s
        first = min(max(hint_s, self.low_s), highest)
        return Backoff(first, min(first * (1 + _ASK_JITTER), highest), self.factor, self.cap_s)


BACKOFFS: Mapping[Wait, Backoff] = MappingProxyType(
    {
        Wait.NOW: Backoff(0, 5),
        Wait.SHORT: Backoff(5, 30, factor=2, cap_s=300),
        Wait.MEDIUM: Backoff(60, 75, factor=2, cap_s=900),
        Wait.LONG: Backoff(600, 1800),
        Wait.RESET: Backoff(600, 1800),
    }
)
"""The classes of wait. Source: judgement; an Airflow retry costs a worker start, so seconds are the floor."""


@dataclass(frozen=True, slots=True)
class RetrySchedule:
    """The task's own ``retry_delay``, ``retry_exponential_backoff`` and ``max_retry_delay``."""

    retry_delay_s: float = 300.0
    multiplier: float = 1.0
    max_retry_delay_s: float | None = None
    is_known: bool = True
    """Not if there is no task at hand: then these are Airflow's defaults, which nobody should be left to."""

    def delay_s(self, try_number: int) -> float:
        """Return what Airflow would wait after this try, without its jitter."""
        delay = self.retry_delay_s
        if self._grows:
            try:
                delay = max(1.0, delay * self.multiplier ** (try_number - 1))
            except OverflowError:
                delay = _MAX_AIRFLOW_DELAY_S
            delay = min(delay, _MAX_AIRFLOW_DELAY_S)
            if self.max_retry_delay_s is not None:
                delay = min(delay, self.max_retry_delay_s)
        return delay

    def span_s(self, first_try: int, last_try: int, *, at_least_s: float = 0.0) -> float:
        """
        Return what Airflow would wait in all after these tries, both included.

        :param at_least_s: What counts for each wait that is shorter.
        """
        tries = min(max(0, last_try - first_try + 1), 10_000)
        if not self._grows:
            return tries * max(at_least_s, self.delay_s(first_try))
        return sum(max(at_least_s, self.delay_s(number)) for number in range(first_try, first_try + tries))

    @property
    def _grows(self) -> bool:
        return self.multiplier not in (0.0, 1.0) and self.multiplier > 0


@dataclass(frozen=True, slots=True)
class Limits:
    """What no delay may exceed, in seconds."""

    max_delay_s: float = 3600.0
    max_server_delay_s: float = 24 * 3600.0
    elapsed_left_s: float | None = None
    """What is left of ``max_elapsed``; ``None`` for no limit."""


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """Where a task stands in its round of retries; a clear begins a new round."""

    try_number: int = 1
    max_tries: int = 1
    first_try: int = 1
    """The first try of the round."""
    attempt: int = 1
    """How often the round has failed, this failure included."""
    waited_s: float = 0.0
    """What was waited before the earlier retries of the round."""

    @property
    def retries_left(self) -> int:
        """Retries that can still come, the one that is decided now included."""
        return max(0, self.max_tries - self.try_number + 1)


@dataclass(frozen=True, slots=True)
class DelayPlan:
    """A delay and how it came about."""

    seconds: float | None
    """``None`` leaves the task's own ``retry_delay``."""
    steps: tuple[str, ...] = field(default=())
    refusal: str | None = None
    """Why no retry can be worth it, e.g. the server asked for longer than is allowed."""
    note: str | None = None
    """What the reason of a retry says about the wait: what the server asked for, and if it was not obeyed, why."""


def plan_delay(
    *,
    wait: Wait,
    progress: RoundProgress,
    schedule: RetrySchedule,
    limits: Limits,
    uniform: Callable[[], float],
    asked_s: float | None = None,
    fixed_s: float | None = None,
    backoff: Backoff | None = None,
) -> DelayPlan:
    """
    Plan the delay before the next try.

    :param wait: The class of backoff if nobody named a delay; ``Wait.NONE`` leaves the task's own.
    :param progress: Where the task stands in its round.
    :param schedule: The task's own retry schedule.
    :param limits: The clamps.
    :param uniform: Draws a number from [0, 1).
    :param asked_s: Seconds that the server asked for; never undercut.
    :param fixed_s: Seconds that a rule fixes; only clamped.
    :param backoff: The category's own backoff; replaces the class of ``wait``.
    :return: The delay in seconds with its steps, or a refusal.
    """
    if limits.elapsed_left_s is not None and limits.elapsed_left_s <= 0:
        return DelayPlan(None, refusal="the time allowed for all tries (max_elapsed) is used up")
    if fixed_s is not None and not math.isnan(fixed_s):
        return _clamped(fixed_s, (f"a rule says {seconds(fixed_s)}",), IMPLAUSIBLE_ASK_S, limits)
    ignored: tuple[str, ...] = ()
    note: str | None = None
    if asked_s is not None and asked_s <= 0:
        ignored = ("the server asked for 0 s, which names no time",)
    elif asked_s is not None:
        if asked_s <= max(IMPLAUSIBLE_ASK_S, limits.max_server_delay_s):
            return _asked(asked_s, progress, schedule, limits, uniform())
        note = f"the server asked for {seconds(asked_s)}, which is implausible and was ignored"
        ignored = (note,)
    backoff = backoff or BACKOFFS.get(wait)
    if backoff is None:
        return DelayPlan(None, (*ignored, "no delay of its own: the task's retry_delay"), note=note)
    drawn = backoff.delay_s(progress.attempt, uniform())
    steps = (*ignored, f"backoff for failure {progress.attempt} of this round: {seconds(drawn)}")
    upper = _longest_computed(schedule, limits)
    floor, why = _span_floor(progress, schedule, upper)
    if floor > drawn:
        drawn, steps = floor, (*steps, why)
    if floor > upper and _is_own_left(progress, schedule, limits, upper):
        return _own_delay(progress, schedule, steps, note)
    return replace(_clamped(drawn, steps, upper, limits), note=note)


def _asked(
    asked_s: float, progress: RoundProgress, schedule: RetrySchedule, limits: Limits, uniform: float
) -> DelayPlan:
    step = f"the server asked for {seconds(asked_s)}"
    if asked_s > limits.max_server_delay_s:
        return DelayPlan(None, (step,), f"{step}, longer than max_server_delay ({seconds(limits.max_server_delay_s)})")
    if limits.elapsed_left_s is not None and asked_s > limits.elapsed_left_s:
        return DelayPlan(None, (step,), f"{step}, and max_elapsed leaves {seconds(limits.elapsed_left_s)}")
    delay = min(asked_s * (1 + _ASK_JITTER * uniform), limits.max_server_delay_s)
    steps: tuple[str, ...] = (step, f"with jitter {seconds(delay)}")
    note = step
    # The first ask of a round is taken at its word. A server that goes on failing after it was obeyed does not
    # know how long it needs, and its small numbers must not burn the remaining tries.
    if progress.attempt > 1:
        floor, why = _span_floor(progress, schedule, _longest_computed(schedule, limits))
        if floor > delay:
            steps, note = (*steps, why), f"{step}, but such a wait has not helped before: it is longer now"
            if floor > limits.max_delay_s and _is_own_left(progress, schedule, limits, max(delay, limits.max_delay_s)):
                return _own_delay(progress, schedule, steps, note)
            delay = max(delay, min(floor, limits.max_delay_s))
    if limits.elapsed_left_s is not None:
        delay = max(asked_s, min(delay, limits.elapsed_left_s))
    return DelayPlan(delay, steps, note=note)


def _longest_computed(schedule: RetrySchedule, limits: Limits) -> float:
    if schedule.max_retry_delay_s is None:
        return limits.max_delay_s
    return min(limits.max_delay_s, schedule.max_retry_delay_s)


def _span_floor(progress: RoundProgress, schedule: RetrySchedule, upper_s: float) -> tuple[float, str]:
    """
    Return what this retry must wait at least, so that the remaining tries span what the task's own schedule would.

    A later retry makes up for at most ``upper_s``, or for its own ``retry_delay`` where that is longer. What all of
    them together cannot make up for must be waited now.
    """
    left = progress.retries_left
    if left == 0:
        return 0.0, ""
    owed = schedule.span_s(progress.first_try, progress.max_tries) - progress.waited_s
    made_up_later = schedule.span_s(progress.try_number + 1, progress.max_tries, at_least_s=upper_s)
    # Doubling from here on, the remaining retries together wait exactly what is owed. The first of them may be early.
    share = 0.0 if progress.attempt == 1 and left > 1 else owed / (2.0 ** min(left, 1000) - 1)
    floor = max(share, owed - made_up_later)
    more_tries = "1 more try" if left == 1 else f"{left} more tries"
    return floor, f"the task's own retry_delay leaves {seconds(owed)} for {more_tries}: at least {seconds(floor)} now"


def _is_own_left(progress: RoundProgress, schedule: RetrySchedule, limits: Limits, upper_s: float) -> bool:
    """Whether the task's own delay serves better than the longest that may be computed."""
    own = schedule.delay_s(progress.try_number)
    is_in_time = limits.elapsed_left_s is None or own <= limits.elapsed_left_s
    return schedule.is_known and own >= upper_s and is_in_time


def _own_delay(progress: RoundProgress, schedule: RetrySchedule, steps: tuple[str, ...], note: str | None) -> DelayPlan:
    own = seconds(schedule.delay_s(progress.try_number))
    return DelayPlan(None, (*steps, f"more than max_delay: the task's own retry_delay of {own} is left"), note=note)


def _clamped(delay_s: float, steps: tuple[str, ...], upper_s: float, limits: Limits) -> DelayPlan:
    if limits.elapsed_left_s is not None:
        upper_s = min(upper_s, limits.elapsed_left_s)
    if not delay_s <= upper_s:  # what is no number is clamped too
        return DelayPlan(upper_s, (*steps, f"clamped to {seconds(upper_s)}"))
    return DelayPlan(max(0.0, delay_s), steps)


def seconds(value: float) -> str:
    """Return a number of seconds as people read it: ``3.2 s``, ``120 s``, ``25 min``, ``2 h``, ``8 days``."""
    if not math.isfinite(value):
        return "an endless time" if value > 0 else "no time that is a number"
    if value > 366 * 86400:
        return "more than a year"
    if value >= 48 * 3600:
        return f"{value / 86400:.1f}".removesuffix(".0") + " days"
    if value >= 7200:
        return f"{value / 3600:.1f}".removesuffix(".0") + " h"
    if value >= 600:
        return f"{value / 60:.0f} min"
    return f"{value:.1f} s" if value < 10 and value != int(value) else f"{value:.0f} s"
