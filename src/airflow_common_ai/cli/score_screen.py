"""A score on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from airflow_common_ai.cli.figures import amount, columns, percent, range_of, share, span, spread

if TYPE_CHECKING:
    from airflow_common_ai.evals.runs.run_header import RunHeader
    from airflow_common_ai.evals.score import Score
    from airflow_common_ai.evals.scoring.calibration import Calibration
    from airflow_common_ai.evals.scoring.risk_coverage import RiskCoverage

__all__ = ["score_lines", "title"]

_SCREEN_LINES = 40
_MAX_SOURCES = 3
_MAX_VOICES = 2
_MAX_ID_CHARS = 60


def title(header: RunHeader, split: str | None) -> str:
    """Return which policy was run how, on what."""
    level = ", the model alone" if header.level == "model" else ""
    shard = f", shard {header.shard[0]} of {header.shard[1]}" if header.shard else ""
    where = f"split {split}" if split else "all splits"
    return f"{header.policy} ({header.policy_id}; {header.mode}{level}), {where} of corpus {header.corpus[:12]}{shard}"


def score_lines(score: Score, *, is_long: bool) -> Iterator[str]:
    """Yield a score as lines that fit a screen, and as many of the worst decisions as still do; or all of it."""
    lines = list(_lines(score, is_long))
    yield from lines
    worst = score.worst if is_long else score.worst[: max(0, _SCREEN_LINES - len(lines) - 1)]
    if worst:
        yield "Worst"
    for costly in worst:
        yield f"  {amount(costly.cost):>6}  {costly.why}: {costly.row.id[:_MAX_ID_CHARS]}"


def _lines(score: Score, is_long: bool) -> Iterator[str]:
    yield title(score.header, score.split)
    yield _counted(score)
    yield from _actions(score)
    yield from _delays(score)
    yield from _categories(score, is_long)
    yield "Who decided"
    for source in score.sources[: None if is_long else _MAX_SOURCES]:
        right = "" if source.right is None else f", right in {share(source.right)}"
        yield f"  {source.name}: {share(source.decided)}{right}"
    yield from _usage(score)
    yield from _confidence(score, is_long)
    if score.consistency is not None:
        found = score.consistency
        yield (
            f"Asked {found.repeats} times: decided alike {share(found.agreement)}, right each time "
            f"{range_of(found.right_each_time[-1])}; {len(found.flips)} cases flip"
        )
    yield from _costs(score)


def _counted(score: Score) -> str:
    counts = score.counts
    repeats = f", {counts.rows} rows" if counts.rows != counts.cases else ""
    missing = f" {counts.missing} rows are missing: finish the run with --resume." if counts.missing else ""
    return (
        f"{counts.failures} distinct failures with a label, in {counts.cases} cases{repeats}; {counts.unlabelled} "
        f"cases have none.{missing} Intervals: 95 %."
    )


def _actions(score: Score) -> Iterator[str]:
    actions = score.actions
    shares = [
        ("right of all", actions.right),
        ("right of settled", actions.right_of_settled),
        ("settled", actions.settled),
        ("false FAILs", actions.false_fails),
        ("wasted retries", actions.wasted_retries),
    ]
    if actions.unanswered.hits:
        shares.append(("crashed, timed out, stale", actions.unanswered))
    yield "Actions"
    yield from columns(
        [(name, share(found), f"{found.hits} of {found.failures}" if found else "") for name, found in shares]
    )
    has_unanswered = bool(actions.unanswered.hits)
    head = ["", "retry", "fail", "left to Airflow", *(["no answer"] if has_unanswered else [])]
    rows = [head]
    words = {"yes": "worth a retry", "no": "hopeless", "either": "arguable"}
    for answer, cells in actions.matrix.items():
        row = [words[answer], *(f"{cells[name]:.0f}" for name in ("retry", "fail", "default"))]
        if has_unanswered:
            row.append(f"{cells['crashed'] + cells['timed_out'] + cells['stale']:.0f}")
        rows.append(row)
    yield from columns(rows)


def _delays(score: Score) -> Iterator[str]:
    if score.delays is not None:
        delays = score.delays
        yield f"Delays: within {share(delays.within)}, too early {share(delays.too_early)}"
        yield f"  too long {share(delays.too_long)}, asks undercut {share(delays.undercut)}"
    if score.window is not None:
        window = score.window
        median, default = span(window.median_s.value), span(window.default_s)
        if window.later_known.value == 1:
            yield f"Recovery window of {window.retries} retries: median {median}, Airflow's default {default};"
            yield f"  too short for {share(window.too_short)} of what is worth a retry"
        else:
            known = percent(window.later_known.value, 0)
            yield f"Recovery window of {window.retries} retries: the run holds later tries of {known} of the failures;"
            yield f"  if all others are like the first: median {median}, Airflow's default {default}"


def _categories(score: Score, is_long: bool) -> Iterator[str]:
    if score.categories is None:
        yield "Categories: the policy names none"
        return
    found = score.categories
    rows = [["Category", "failures", "precision", "recall", "F1"]]
    rows += (
        [row.name, f"{row.failures:.0f}", share(row.precision), share(row.recall), range_of(row.f1)]
        for row in found.rows
        if row.failures or row.named
    )
    rows.append(["all", "", share(found.accuracy_of_named), share(found.accuracy), range_of(found.macro_f1)])
    yield from columns(rows, indent=0)
    if is_long:
        yield "Confusion matrix: true category, then what was named"
        used = [name for name in found.columns if any(cells[name] for cells in found.matrix.values())]
        matrix = [["", *used]]
        matrix += ([name, *(f"{row[column]:.0f}" for column in used)] for name, row in found.matrix.items())
        yield from columns(matrix)


def _usage(score: Score) -> Iterator[str]:
    usage = score.usage
    replayed = " (as recorded; the time is the replay's)" if usage.is_replayed else ""
    tokens = "" if usage.tokens_per_call is None else f", {usage.tokens_per_call:,.0f} tokens a call"
    money = "" if usage.cost_usd_per_100 is None else f", {spread(usage.cost_usd_per_100)} dollars for 100 failures"
    asked = (
        f"a model was asked about {share(usage.asked)}, {usage.calls} calls" if usage.calls else "no model was asked"
    )
    yield (
        f"Asking: {asked}{tokens}{money}; {amount(usage.milliseconds_p50.value)} ms a decision, p95 "
        f"{spread(usage.milliseconds_p95)}{replayed}"
    )


def _confidence(score: Score, is_long: bool) -> Iterator[str]:
    for found in score.calibrations[: None if is_long else _MAX_VOICES]:
        yield (
            f"Confidence of {found.voice}: category right {share(found.accuracy)} of {found.failures} failures, "
            f"Brier {found.brier.value:.3f}, ECE {range_of(found.ece)}"
        )
        if is_long:
            yield f"  Brier {range_of(found.brier, 3)}, {len(found.bins)} bins of equal mass"
            yield from _bins(found)
        for table in score.risk_coverage:
            if table.voice == found.voice and (is_long or table.action == "any"):
                yield _best(table)
                if is_long:
                    yield from _risk(table)


def _bins(found: Calibration) -> Iterator[str]:
    rows = [["confidence", "mean", "category right", "failures"]]
    rows += (
        [f"{one.low:.2f} to {one.high:.2f}", f"{one.confidence:.2f}", share(one.accuracy), f"{one.accuracy.failures}"]
        for one in found.bins
    )
    yield from columns(rows)


def _best(table: RiskCoverage) -> str:
    which = "" if table.action == "any" else f" that {table.action}"
    best = next((point for point in table.points if point.min_confidence == table.best), None)
    if best is None:
        return f"  no min_confidence costs less than following none of its {table.answers} answers{which}"
    return (
        f"  min_confidence {best.min_confidence:g} costs least: follows {percent(best.coverage.value, 0)} of its "
        f"{table.answers} answers{which}, wrong {share(best.error)}; AURC {table.aurc:.3f}"
    )


def _risk(table: RiskCoverage) -> Iterator[str]:
    rows = [["min_confidence", "followed", "wrong", "false FAILs", "cost of 100"]]
    rows += (
        [
            f"{point.min_confidence:.2f}",
            percent(point.coverage.value),
            share(point.error),
            share(point.false_fails),
            spread(point.cost_per_100),
        ]
        for point in table.points
    )
    rows.append(["none", "0.0 %", "-", "-", amount(table.cost_of_none)])
    yield from columns(rows)


def _costs(score: Score) -> Iterator[str]:
    table = score.costs
    rows = [[f"Cost of 100 failures, {table.costs.unit}", "", "more than this policy"]]
    rows += ([row.policy, spread(row.per_100), spread(row.over_this) if row.over_this else ""] for row in table.rows)
    yield from columns(rows, indent=0)
    made_of = ", ".join(f"{name} {amount(cost)}" for name, cost in table.errors if cost)
    if made_of:
        yield f"  made of {made_of}"
