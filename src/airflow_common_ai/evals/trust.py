"""How far a run has measured a model, as the table that lets its word fail a task."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.json_form import as_json
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.runs.run_file import Run
from airflow_common_ai.evals.score import judged_rows
from airflow_common_ai.evals.unmeasurable import Unmeasurable
from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES, FAIL_BAR
from airflow_common_ai.policies.llm.trust import MIN_CASES, Precision, TrustTable

__all__ = ["DEV", "Earned", "TrustMeasurement", "measure_trust"]

DEV = "dev"
"""The split that prompts are written from: what a model is worth there says nothing."""

_MODEL_TIER = "llm"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Earned:
    """What a model earned in one category."""

    category: str
    precision: Precision
    lower: float
    """Of the precision, one-sided at 95 %."""
    bar: float | None
    """What the bound must reach before the model's word alone fails a task, by the default table; ``None``: it only
    retries, and needs no trust."""
    missing_cases: int
    """How many more cases it takes for any bound; such a category is not in the table."""

    @property
    def may_fail(self) -> bool:
        return self.bar is not None and not self.missing_cases and self.lower >= self.bar


@dataclass(frozen=True, slots=True)
class TrustMeasurement:
    """A trust table, and what did not get into it."""

    table: TrustTable
    earned: tuple[Earned, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what was earned, for programs; the file for ``LLMRetryPolicy(trust=...)`` is the table's own JSON."""
        rows = [{**as_json(one), "may_fail": one.may_fail} for one in self.earned]
        return {"version": 1, "table": self.table.to_json(), "earned": rows}


def measure_trust(run: Run, *, split: str | None = None) -> TrustMeasurement:
    """
    Measure how often a model was right when it named a category, whether or not its answer was followed.

    A distinct failure is one case, and right only if all answers about it are.

    :param split: One split only; ``None``: all but ``dev``.
    :raises Unmeasurable: Nobody judged anything, no model answered, several did, no category has enough cases, or the
        run does not say what was asked, and by which connection.
    """
    judged = [one for one in judged_rows(run, split) if split is not None or one.row.split != DEV]
    answers = [(one, category) for one in judged for category in _named(one, run.header.level)]
    if not answers:
        raise Unmeasurable(
            "no model named a category in the run: trust is earned by LLMRetryPolicy, with --replay or --live"
        )
    earned = tuple(sorted(_earned(answers), key=lambda one: one.category))
    enough = {one.category: one.precision for one in earned if not one.missing_cases}
    if not enough:
        most = max(one.precision.cases for one in earned)
        raise Unmeasurable(
            f"no category was named for {MIN_CASES} distinct failures, at most for {most}: take more cases"
        )
    return TrustMeasurement(_table(run, _model(answers), enough), earned)


def _named(one: Judged, level: str) -> Iterator[str]:
    row = one.row
    if row.outcome is not Outcome.DECIDED or row.model is None:
        return
    if level == "model":
        if row.category is not None:
            yield row.category
        return
    for vote in row.votes:
        if vote.get("tier") == _MODEL_TIER and vote.get("category") is not None:
            yield vote["category"]


def _earned(answers: Sequence[tuple[Judged, str]]) -> Iterator[Earned]:
    by_category: dict[str, dict[str, bool]] = defaultdict(dict)
    for one, category in answers:
        of_failure, is_right = by_category[category], one.label.accepts(category)
        of_failure[one.row.fingerprint] = is_right and of_failure.get(one.row.fingerprint, True)
    for category, cases in by_category.items():
        precision = Precision(len(cases), sum(cases.values()))
        row = DEFAULT_CATEGORIES.get(category)
        # What a table of the user's own does about a category of its own is not known here.
        bar = FAIL_BAR if row is None else None if row.retry else row.bar
        yield Earned(category, precision, precision.lower, bar, max(0, MIN_CASES - precision.cases))


def _model(answers: Sequence[tuple[Judged, str]]) -> str:
    models = sorted({one.row.model for one, _ in answers if one.row.model is not None})
    if len(models) > 1:
        raise Unmeasurable(f"several models answered: {', '.join(models)}. Run it again without fallback connections")
    return models[0]


def _table(run: Run, model: str, categories: Mapping[str, Precision]) -> TrustTable:
    header = run.header
    known = {
        "the hashes of the question": bool(header.question),
        "the type of the connection": header.conn_type is not None,
        "when it was measured": header.measured_at is not None,
        "the SHA-256 of its corpus": _SHA256.fullmatch(header.corpus) is not None,
    }
    missing = ", ".join(words for words, is_known in known.items() if not is_known)
    if missing or header.conn_type is None or header.measured_at is None:
        raise Unmeasurable(f"the run does not say {missing}: run LLMRetryPolicy again with this version")
    return TrustTable(
        model=model,
        conn_type=header.conn_type,
        prompt_sha256=header.question["prompt"],
        schema_sha256=header.question["schema"],
        categories_sha256=header.question["categories"],
        corpus_sha256=header.corpus,
        measured_at=header.measured_at,
        categories=dict(categories),
    )
