"""
Is a model right more often with the evidence in front of it? Compares, on the same answers of the same model:

* our policy, which asks the model about what the evidence leaves open, without and with the embedded classifier,
* the same model alone: the category that it names, put through the table,
* the Common AI provider's LLMRetryPolicy with the same model.

    python -m benchmarks.models                                 on the answers that make record-llm has kept
    python -m benchmarks.models --url http://127.0.0.1:8080     asks a model now; a small one takes an hour

Times are those of the recording, with whatever else ran on the machine then.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from airflow_common_ai.policies import LLMRetryPolicy
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES
from airflow_common_ai.recordings.label import ShouldRetry
from airflow_common_ai.recordings.split import Split
from tools import record_llm
from tools.cassettes import CASSETTES, CassetteFile, StaleCassette, connected, replaying
from tools.llm_cases import LONGEST_S, LLMCase, decide, read_cases, silence
from tools.record_llm import COMMON_AI, replay

__all__ = ["GOAL_S", "Score", "compare", "main"]

GOAL_S = 10.0
"""Within which a model should have answered."""

GOAL_SHARE = 0.95
_FORM = "openai-chat"
_CONN_ID = "compared_model"
_LOG_WIDTH = 120
_ALONE = "the model alone, through the table"


@dataclass(frozen=True)
class Said:
    """What one contestant decided about one failure."""

    case: LLMCase
    action: str
    """``retry``, ``fail`` or ``default``, which is no decision."""
    calls: int
    seconds: float = 0.0
    """In which its calls were answered, or it was stopped."""

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


def compare(cases: Sequence[LLMCase], asked: CassetteFile, common_ai: CassetteFile | None = None) -> list[Score]:
    """Return the scores of ours, and with ``common_ai`` of the provider's policy, over those that the files hold."""
    files = (asked, common_ai) if common_ai is not None else (asked,)
    cases = [case for case in cases if all(case.recording.id in file.lines for file in files)]
    without, with_it = (LLMRetryPolicy(_CONN_ID, timeout=LONGEST_S, classifier=is_on) for is_on in (False, True))
    scores = [
        Score("the evidence, then the model", [_ours(without, asked, case) for case in cases]),
        Score("the evidence, the classifier, the model", [_ours(with_it, asked, case) for case in cases]),
        Score(_ALONE, [_model_alone(asked, case) for case in cases]),
    ]
    if common_ai is not None:
        scores.append(Score("Common AI's LLMRetryPolicy", [_common_ai(common_ai, case) for case in cases]))
    return scores


def _ours(policy: LLMRetryPolicy, file: CassetteFile, case: LLMCase) -> Said:
    name = case.recording.id
    with connected(file.wire, _CONN_ID), replaying(file, name, is_all_asked=False) as played:
        attempt = decide(policy, case.recording)
    return Said(case, attempt.action, played.calls, file.lines[name]["seconds"] if played.calls else 0.0)


def _model_alone(file: CassetteFile, case: LLMCase) -> Said:
    attempt = replay(file, case.recording)
    assert isinstance(attempt, Attempt)
    category = attempt.consultation.category if attempt.consultation else None
    action = "default" if category is None else "retry" if DEFAULT_CATEGORIES[category].retry else "fail"
    return _with_cost(file, case, action)


def _common_ai(file: CassetteFile, case: LLMCase) -> Said:
    line = file.lines[case.recording.id]
    if line.get("is_stopped"):  # while the model was still writing
        return Said(case, "default", len(line["interactions"]) + 1, line["seconds"])
    return _with_cost(file, case, str(replay(file, case.recording)))


def _with_cost(file: CassetteFile, case: LLMCase, action: str) -> Said:
    line = file.lines[case.recording.id]
    return Said(case, action, len(line["interactions"]), line["seconds"])


def _share(count: int, of: int) -> str:
    return f"{count}/{of} = {count / of:.0%}" if of else "-"


def _lines(file: CassetteFile) -> Iterator[str]:
    header = file.header
    loads = [line["load"] for line in file.lines.values() if "load" in line]
    load = f", load {statistics.median(loads):.1f}" if loads else ""
    yield f"{header['model']} on {header['server']}, recorded on {header['recorded_at']}{load}"
    seconds = [line["seconds"] for line in file.lines.values()]
    within = sum(second <= GOAL_S for second in seconds)
    is_met = within >= GOAL_SHARE * len(seconds)
    yield f"answers within {GOAL_S:g} s: {_share(within, len(seconds))} (goal: {GOAL_SHARE:.0%}, {_met(is_met)})"


def _verdicts(scores: Sequence[Score]) -> Iterator[str]:
    right = [sum(one.is_right for one in score.said) for score in scores]
    for score, own in zip(scores[:2], right, strict=False):
        yield f"{score.name}: right more often than what does without the evidence: {_met(own > max(right[2:]))}"


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"


def _table(title: str, scores: Sequence[Score]) -> Table:
    table = Table(
        "decided by", "right of all", "right of decided", "false FAILs", "calls", "median", f"in {GOAL_S:g} s"
    )
    table.title = title
    for score in scores:
        table.add_row(*score.row)
    return table


def _print_comparison(folder: Path) -> None:
    asked, common_ai = (CassetteFile.read(folder / f"{form}.jsonl") for form in (_FORM, COMMON_AI))
    console = Console()
    if not console.is_terminal:
        console = Console(width=_LOG_WIDTH)

    def show(title: str, scores: Sequence[Score], lines: Iterable[str] = ()) -> None:
        console.print(_table(f"{len(scores[0].said)} recorded failures{title}", scores))
        for line in (*lines, *_verdicts(scores)):
            console.print(line, markup=False, highlight=False)

    cases = read_cases()
    show("", compare(cases, asked), _lines(asked))
    unseen = [case for case in cases if case.recording.split is not Split.DEV]
    show(", of which the classifier has learned nothing", compare(unseen, asked))
    if common_ai.lines:
        stopped = sum(bool(line.get("is_stopped")) for line in common_ai.lines.values())
        end = f"Common AI's policy was stopped after {LONGEST_S:g} s at {stopped} failures: no decision"
        scores = compare(cases, asked, common_ai)
        show(" that Common AI's policy was asked about too", scores, (next(_lines(common_ai)), end))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.models", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", help="a server to ask now, without /v1")
    parser.add_argument("--every", type=int, metavar="N", help="with --url: ask about every N-th failure only")
    options = parser.parse_args()
    try:
        if options.url is None:
            _print_comparison(CASSETTES)
            return
        with TemporaryDirectory() as folder:
            arguments = ["--url", options.url, "--form", _FORM, "--form", COMMON_AI, "--into", folder]
            record_llm.main(arguments + (["--every", str(options.every)] if options.every else []))
            _print_comparison(Path(folder))
    except StaleCassette as stale:
        sys.exit(str(stale))


if __name__ == "__main__":
    silence()
    main()
