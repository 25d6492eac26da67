"""A summary for a job of CI, and for its log: well under GitHub's limit of 1 MiB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from airflow_common_ai.evals.gates.gate import Status
from airflow_common_ai.evals.report.gate_lines import gate_lines
from airflow_common_ai.evals.report.markdown_text import code, code_element, fenced, table
from airflow_common_ai.evals.report.numerals import amount, count, interval, percent, percent_interval
from airflow_common_ai.evals.report.plain import plain_lines
from airflow_common_ai.evals.report.report import ANSWER_WORDS, Report, decided_words, right_words, why_words
from airflow_common_ai.evals.score import CostlyRow, Score
from airflow_common_ai.evals.statistics.estimate import Estimate

__all__ = ["as_markdown"]

_MAX_ROWS = 30
"""Of a table that a stranger's run could make endless."""
_MAX_EVIDENCE_LINES = 8
_MAX_VOTES = 8
_MAX_LINE_CHARS = 300
_MARKS = {Status.PASSED: "✅", Status.FAILED: "❌", Status.NOT_MEASURED: "⚠️", Status.NO_BASELINE: "–"}


def as_markdown(report: Report) -> str:
    """Return the summary; what is long is folded."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    score = report.score
    yield f"## {code(report.title)}"
    header = score.header
    where = f"split {code(score.split)}" if score.split else "all splits"
    yield (
        f"{code(header.policy)} ({code(header.policy_id)}), {where} of corpus {code(header.corpus[:12])}, "
        f"{score.counts.failures:,} distinct failures"
    )
    if report.verdict is not None:
        yield from _gates(report)
    if report.cautions:
        yield "\n".join(f"- {caution}" for caution in report.cautions)
    yield _headline(score)
    yield _folded("Decisions and who made them", _decisions(score))
    yield _folded("Costs", _costs(score))
    if score.categories is not None:
        yield _folded("Categories", _categories(score))
    if score.risk_coverage:
        yield _folded("Which confidence to ask for", _bars(score))
    if report.worst:
        yield f"### The {len(report.worst)} worst failures"
        for number, costly in enumerate(report.worst, 1):
            yield _case(number, costly, score.costs.costs.unit)
    yield "Intervals cover 95 %; copies of a failure count as one."


def _gates(report: Report) -> Iterator[str]:
    verdict = report.verdict
    if verdict is None:
        return
    yield f"**{_MARKS[verdict.status]} Gates: {verdict.status.value}**"
    if verdict.reasons:
        yield "\n".join(f"- {code(reason, 500)}" for reason in verdict.reasons[:_MAX_ROWS])
    rows = [
        [f"{_MARKS[line.status]} {line.status.value}", code(line.name), line.kind, line.asked, code(line.found, 500)]
        for line in gate_lines(verdict)
    ]
    shown, rest = rows[:_MAX_ROWS], rows[_MAX_ROWS:]
    head = ["", "Gate", "Kind", "Asked", "Found"]
    yield table(head, shown)
    if rest:
        yield _folded(f"{len(rest):,} more gates", table(head, rest[: 10 * _MAX_ROWS]))


def _headline(score: Score) -> str:
    actions = score.actions
    rows = [
        ("**right**", actions.right),
        ("right where it settled", actions.right_of_settled),
        ("settled", actions.settled),
        ("**false FAILs**", actions.false_fails),
        ("wasted retries", actions.wasted_retries),
        ("no answer", actions.unanswered),
        ("asks undercut", score.delays.undercut if score.delays else None),
    ]
    return table(
        ["", "", "95 % interval", "failures"],
        [
            [name, percent(found), percent_interval(found), f"{found.hits:,} of {found.failures:,}"]
            for name, found in rows
            if found is not None
        ],
    )


def _decisions(score: Score) -> str:
    columns = [name for name in score.actions.matrix["yes"] if any(row[name] for row in score.actions.matrix.values())]
    decided = table(
        ["", *(name.replace("_", " ") for name in columns)],
        [
            [ANSWER_WORDS[answer], *(count(found[name]) for name in columns)]
            for answer, found in score.actions.matrix.items()
        ],
    )
    sources = table(
        ["Source", "decided", "right where it settled", "false FAILs"],
        [
            [code(one.name), _share(one.decided), _share(one.right), _share(one.false_fails)]
            for one in score.sources[:_MAX_ROWS]
        ],
    )
    return f"{decided}\n\n{sources}"


def _costs(score: Score) -> str:
    rows = [[row.policy, amount(row.per_100), interval(row.per_100)] for row in score.costs.rows]
    return table(["Policy", f"cost of 100 failures, {code(score.costs.costs.unit)}", "95 % interval"], rows)


def _categories(score: Score) -> str:
    rows = score.categories.rows if score.categories else ()
    used = [row for row in rows if row.failures or row.named]
    return table(
        ["Category", "failures", "precision", "recall", "F1"],
        [
            [code(row.name), count(row.failures), _share(row.precision), _share(row.recall), _share(row.f1)]
            for row in used[:_MAX_ROWS]
        ],
    )


def _bars(score: Score) -> str:
    rows = [
        [
            code(one.voice),
            one.action,
            f"{one.answers:,}",
            "follow none" if one.best is None else f"min_confidence {one.best:g}",
        ]
        for one in score.risk_coverage[:_MAX_ROWS]
    ]
    return table(["Voice", "answers that lead to", "failures", "costs least here"], rows)


def _case(number: int, costly: CostlyRow, unit: str) -> str:
    row = costly.row
    head = f"{number}. {why_words(costly)}, {code_element(row.id)}"
    lines = [
        *plain_lines(row.failure, _MAX_EVIDENCE_LINES, _MAX_LINE_CHARS),
        "",
        f"right:   {right_words(row)}",
        f"why:     {row.label.why if row.label else ''}",
        f"decided: {decided_words(row)}, by {row.source}",
        f"reason:  {row.reason or row.error or 'none'}",
        *(f"vote:    {_vote(vote)}" for vote in row.votes[:_MAX_VOTES]),
        f"costs:   {amount(costly.cost)} {unit}",
    ]
    return _folded(head, fenced(lines, _MAX_LINE_CHARS))


def _vote(vote: Mapping[str, Any]) -> str:
    named = [str(vote[key]) for key in ("code", "category") if key in vote]
    sure = f" ({percent(vote['confidence'])} sure)" if "confidence" in vote else ""
    return f"{vote['tier']}: {' '.join([vote['outcome'], *named])}{sure}"


def _folded(summary: str, body: str) -> str:
    """Return what a click unfolds; the summary is HTML already."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def _share(found: Estimate | None) -> str:
    doubt = percent_interval(found)
    return f"{percent(found)} ({doubt})" if doubt else percent(found)
