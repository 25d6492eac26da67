"""
Is a model right more often with the evidence in front of it? Compares, on the answers that ``make record-llm`` kept:

* our policy, which asks the model about what the evidence leaves open,
* the same model alone: the category that it names, put through the table,
* the Common AI provider's LLMRetryPolicy with the same model.

Times are those of the recording, with whatever else ran on the machine then.
"""

from __future__ import annotations

import logging
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from airflow_common_ai.policies import LLMRetryPolicy
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES
from airflow_common_ai.recordings.label import ShouldRetry
from tools.cassettes import CASSETTES, CassetteFile, connected, replaying
from tools.llm_cases import LONGEST_S, LLMCase, decide, read_cases
from tools.record_llm import COMMON_AI, replay

__all__ = ["GOAL_S", "Score", "compare", "main"]

GOAL_S = 10.0
"""Within which a model should have answered."""

GOAL_SHARE = 0.95
_FORM = "openai-chat"
_CONN_ID = "compared_model"
_LOG_WIDTH = 120


@dataclass(frozen=True)
class Said:
    """What one contestant decided about one failure."""

    case: LLMCase
    action: str
    """``retry``, ``fail`` or ``default``, which is no decision."""
    calls: int
    seconds: float = 0.0
    """In which its calls were answered."""

    @property
    def is_decided(self) -> bool:
        return self.action != "default"

    @property
    def is_right(self) -> bool:
        return self.action == ("retry" if self.case.label.should_retry is ShouldRetry.YES else "fail")

    @property
    def is_false_fail(self) -> bool:
        return self.action == "fail" and self.case.label.should_retry is ShouldRetry.YES


@dataclass(frozen=True)
class Score:
    """How one contestant did."""

    name: str
    said: Sequence[Said]

    @property
    def row(self) -> tuple[str, ...]:
        decided = [one for one in self.said if one.is_decided]
        asked = [one for one in self.said if one.calls]
        right = sum(one.is_right for one in self.said)
        median = f"{statistics.median(one.seconds for one in asked):.1f} s" if asked else "-"
        return (
            self.name,
            _share(right, len(self.said)),
            _share(right, len(decided)),
            str(sum(one.is_false_fail for one in self.said)),
            str(sum(one.calls for one in self.said)),
            median,
            _share(sum(one.is_decided and one.seconds <= GOAL_S for one in asked), len(asked)),
        )


def compare(asked: CassetteFile, common_ai: CassetteFile) -> list[Score]:
    """Return the scores, each over the failures that its file has answers about."""
    cases = [case for case in read_cases() if case.recording.id in asked.lines]
    theirs = [case for case in cases if case.recording.id in common_ai.lines]
    return [
        Score("evidence first, then the model", [_evidence_first(asked, case) for case in cases]),
        Score("the model alone, through the table", [_model_alone(asked, case) for case in cases]),
        Score("Common AI's LLMRetryPolicy", [_common_ai(common_ai, case) for case in theirs]),
    ]


def _evidence_first(file: CassetteFile, case: LLMCase) -> Said:
    policy, name = LLMRetryPolicy(_CONN_ID, timeout=LONGEST_S), case.recording.id
    with connected(file.wire, _CONN_ID), replaying(file, name, is_all_asked=False) as cassette:
        attempt = decide(policy, case.recording)
    calls = cassette.play_count
    return Said(case, attempt.action, calls, file.lines[name]["seconds"] if calls else 0.0)


def _model_alone(file: CassetteFile, case: LLMCase) -> Said:
    attempt = replay(file, case.recording)
    assert isinstance(attempt, Attempt)
    category = attempt.consultation.category if attempt.consultation else None
    action = "default" if category is None else "retry" if DEFAULT_CATEGORIES[category].retry else "fail"
    return _with_cost(file, case, action)


def _common_ai(file: CassetteFile, case: LLMCase) -> Said:
    # Nothing on the cassette: it was stopped while the model was still writing.
    has_answer = bool(file.lines[case.recording.id]["interactions"])
    return _with_cost(file, case, str(replay(file, case.recording)) if has_answer else "default")


def _with_cost(file: CassetteFile, case: LLMCase, action: str) -> Said:
    line = file.lines[case.recording.id]
    return Said(case, action, max(1, len(line["interactions"])), line["seconds"])


def _share(count: int, of: int) -> str:
    return f"{count}/{of} = {count / of:.0%}" if of else "-"


def _lines(file: CassetteFile, scores: Sequence[Score]) -> Iterator[str]:
    header = file.header
    loads = [line["load"] for line in file.lines.values() if "load" in line]
    load = f", load {statistics.median(loads):.1f}" if loads else ""
    yield f"{header['model']} on {header['server']}, recorded on {header['recorded_at']}{load}"
    seconds = [line["seconds"] for line in file.lines.values()]
    within = sum(second <= GOAL_S for second in seconds)
    is_met = within >= GOAL_SHARE * len(seconds)
    yield (
        f"answers within {GOAL_S:g} s: {_share(within, len(seconds))} (goal: {GOAL_SHARE:.0%}, "
        f"{'met' if is_met else 'missed'}); no decision counts as wrong in the first column"
    )


def main() -> None:
    logging.disable(logging.CRITICAL)
    asked, common_ai = (CassetteFile.read(CASSETTES / f"{form}.jsonl") for form in (_FORM, COMMON_AI))
    scores = compare(asked, common_ai)
    table = Table(
        "decided by", "right of all", "right of decided", "false FAILs", "calls", "median", f"in {GOAL_S:g} s"
    )
    for score in scores:
        table.add_row(*score.row)
    console = Console()
    if not console.is_terminal:
        console = Console(width=_LOG_WIDTH)
    console.print(table)
    for line in _lines(asked, scores):
        console.print(line, markup=False, highlight=False)


if __name__ == "__main__":
    main()
