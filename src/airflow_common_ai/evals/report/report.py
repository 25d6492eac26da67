"""What every format tells about a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.gates.gate import GateVerdict
from airflow_common_ai.evals.report.numerals import percent, wait
from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evals.score import CostlyRow, Score
from airflow_common_ai.recordings.label import ShouldRetry

__all__ = ["ANSWER_WORDS", "MAX_WORST", "Report", "decided_words", "right_words", "why_words"]

MAX_WORST = 20
"""Failures that are shown with all that is known about them; the JSON holds more."""

ANSWER_WORDS: Mapping[str, str] = {"yes": "worth a retry", "no": "hopeless", "either": "arguable"}
"""What is right, by :class:`~airflow_common_ai.recordings.label.ShouldRetry`."""

_ONE_ERROR = {
    "false FAILs": "false FAIL",
    "wasted retries": "wasted retry",
    "asks undercut": "ask undercut",
    "retries too early": "retry too early",
    "retries too late": "retry too late",
}
"""Names of errors in the singular, where they differ."""

_OUTCOME_WORDS = {
    Outcome.CRASHED: "crashed: Airflow goes on with its own retries then",
    Outcome.TIMED_OUT: "took too long and were stopped",
    Outcome.STALE: "could not be replayed, so nothing was measured: record the cassettes again",
}


@dataclass(frozen=True, slots=True)
class Report:
    """A scored run and how it is headed."""

    score: Score
    title: str
    verdict: GateVerdict | None = None
    """``None``: no gates were asked for."""

    @property
    def worst(self) -> tuple[CostlyRow, ...]:
        return self.score.worst[:MAX_WORST]

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before a number is believed."""
        return tuple(self._cautions())

    def _cautions(self) -> Iterator[str]:
        header, counts = self.score.header, self.score.counts
        if counts.missing:
            yield f"The run is not complete: {counts.missing:,} rows are missing. Go on with run --resume."
        if header.shard is not None:
            yield f"Only shard {header.shard[0]} of {header.shard[1]}."
        if header.level == "model":
            yield "A batch asked the model alone: no rule, no limit and no fallback took part."
        for outcome, words in _OUTCOME_WORDS.items():
            if found := counts.outcomes.get(outcome.value, 0):
                yield f"{found:,} of {counts.rows:,} answers {words}."
        if counts.unlabelled:
            yield f"{counts.unlabelled:,} of {counts.cases:,} cases have no label, and count in no accuracy."


def why_words(costly: CostlyRow) -> str:
    """Return why a decision costs something, e.g. ``false FAIL``."""
    return _ONE_ERROR.get(costly.why, costly.why)


def right_words(row: Row) -> str:
    """Return what is right about a failure: ``RETRY, network, after 5 s to 10 min``."""
    label = row.label
    if label is None:
        return "nobody knows"
    action = {ShouldRetry.YES: "RETRY", ShouldRetry.NO: "FAIL", ShouldRetry.EITHER: "RETRY or FAIL"}[label.should_retry]
    delay = "" if label.delay_s is None else f", after {wait(label.delay_s[0])} to {wait(label.delay_s[1])}"
    return f"{action}, {' or '.join((label.category, *label.also))}{delay}"


def decided_words(row: Row) -> str:
    """Return what was decided: ``RETRY, rate_limit (75 % sure), after 60 s; asked for 120 s``."""
    if row.outcome is not Outcome.DECIDED:
        return row.outcome.value.replace("_", " ")
    category = f", {row.category}" if row.category else ""
    sure = "" if row.confidence is None else f" ({percent(row.confidence)} sure)"
    delay = f", after {wait(row.delay_s)}" if row.action is Action.RETRY else ""
    asked = "" if row.asked_delay_s is None else f"; asked for {wait(row.asked_delay_s)}"
    return f"{row.action.value.upper()}{category}{sure}{delay}{asked}"
