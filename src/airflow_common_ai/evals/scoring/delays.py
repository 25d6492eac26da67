"""Was the delay right, and how much time to recover do the retries leave?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from airflow_common_ai.evals.course import Task, course_of
from airflow_common_ai.evals.judged import DelayVerdict, Judged
from airflow_common_ai.evals.statistics.estimate import Estimate, Share
from airflow_common_ai.evals.statistics.intervals import quantile
from airflow_common_ai.evals.statistics.sample import Sample

__all__ = ["DelayScore", "RecoveryWindow", "score_delays", "score_window"]


@dataclass(frozen=True, slots=True)
class DelayScore:
    """
    Shares of the failures that were rightly retried; the four add up to one.

    A retry without a delay waits the task's own ``retry_delay``.
    """

    undercut: Share
    """Before the time that a server asked for; an ask that is longer than makes sense to those who judged is none."""
    too_early: Share
    """Before the shortest wait that makes sense, though nobody named a time."""
    within: Share
    too_long: Share
    """After the longest wait that makes sense: it helps, but late."""


@dataclass(frozen=True, slots=True)
class RecoveryWindow:
    """
    The time from a failure to the start of the last retry, in which its cause may pass.

    Of the failures that are worth a retry, whatever was decided: none for one that was failed, and Airflow's own
    waits where it was left to Airflow. Airflow's default is the same number of retries, each after ``retry_delay_s``.
    """

    retries: int
    """That a task has."""
    retry_delay_s: float
    """A task's own, e.g. Airflow's default of 300 s."""
    default_s: float
    """The window that Airflow's default leaves: the product of the two."""
    later_known: Share
    """Failures of which the run holds what was decided at later tries; for the others each wait counts as the first."""
    median_s: Estimate
    """The window that the policy leaves to half of the failures at least."""
    of_default: Estimate
    """The mean over failures of this window as a share of Airflow's; longer ones count as 1, since too long a wait
    makes up for none that was too short."""
    shorter: Share
    """Failures with a shorter window than Airflow's default."""
    too_short: Share
    """Those of them whose window also ends before the longest wait that makes sense: retries may be used up before the
    cause has passed, where Airflow alone would have waited on."""


def score_delays(judged: Sequence[Judged], sample: Sample, task: Task) -> DelayScore | None:
    """Score the delays of what was rightly retried; ``None`` if nothing was."""
    verdicts = [one.delay_verdict(task.retry_delay_s) for one in judged]
    is_retried = [verdict is not None for verdict in verdicts]
    undercut, too_early, within, too_long = (
        sample.share_within([found is verdict for found in verdicts], is_retried) for verdict in DelayVerdict
    )
    if undercut is None or too_early is None or within is None or too_long is None:
        return None
    return DelayScore(undercut, too_early, within, too_long)


def score_window(judged: Sequence[Judged], sample: Sample, task: Task) -> RecoveryWindow | None:
    """Measure the time that is left to recover; ``None`` if nothing is worth a retry, or the task has no retries."""
    worth = [one for one in judged if one.is_worth_a_retry]
    if not worth or not task.own_window_s:
        return None
    of_worth = Sample([one.row.fingerprint for one in worth])
    courses = [course_of(one.row, task) for one in worth]
    windows_s = np.array([course.window_s for course in courses])
    longest_s = np.array([one.label.delay_s[1] if one.label.delay_s else 0.0 for one in worth])
    is_shorter = windows_s < task.own_window_s
    return RecoveryWindow(
        retries=task.retries,
        retry_delay_s=task.retry_delay_s,
        default_s=task.own_window_s,
        later_known=of_worth.share([course.is_known for course in courses]),
        median_s=quantile(of_worth.per_failure(windows_s), 0.5),
        of_default=of_worth.mean(np.minimum(windows_s / task.own_window_s, 1.0)),
        shorter=of_worth.share(is_shorter),
        too_short=of_worth.share(is_shorter & (windows_s < longest_s)),
    )
