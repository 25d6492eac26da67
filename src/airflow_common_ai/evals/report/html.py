"""One page that needs no network, no script and no other file."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from airflow_common_ai import __version__
from airflow_common_ai.evals.report import numerals
from airflow_common_ai.evals.report.gate_lines import gate_lines
from airflow_common_ai.evals.report.outcome_parts import outcome_parts
from airflow_common_ai.evals.report.pictures import confusion_matrix, reliability, risk_coverage
from airflow_common_ai.evals.report.plain import plain, plain_lines
from airflow_common_ai.evals.report.report import ANSWER_WORDS, Report, decided_words, right_words, why_words
from airflow_common_ai.evals.score import Score

__all__ = ["as_html"]

_FOLDER = Path(__file__).parent / "page"
_CELLS = {
    ("yes", "retry"): "is-right",
    ("yes", "fail"): "is-false-fail",
    ("no", "retry"): "is-wasted",
    ("no", "fail"): "is-right",
    ("either", "retry"): "is-right",
    ("either", "fail"): "is-right",
}
"""How what was decided looks, by what is right."""
_MAX_VOICES = 6
_MAX_NAME_CHARS = 160
_MAX_ROWS = 30
"""Of a table that a stranger's run could make endless."""


def as_html(report: Report) -> str:
    """Return the page. Everything that is put into the template is cleaned and escaped on its way, by the template."""
    score = report.score
    return _environment().get_template("page.html.jinja").render(
        report=report,
        score=score,
        header=score.header,
        verdict=report.verdict,
        gates=gate_lines(report.verdict) if report.verdict else (),
        parts=outcome_parts(score),
        cells=_CELLS,
        used_columns=[column for column in score.actions.matrix["yes"] if _is_used(score, column)],
        confusion=confusion_matrix(score.categories) if score.categories else None,
        voices=_voices(score),
        more_voices=max(len(score.calibrations) - _MAX_VOICES, 0),
        version=__version__,
    )  # fmt: skip


def _voices(score: Score) -> list[dict[str, Any]]:
    """Return, for each voice, its calibration, its risk-coverage tables and the pictures of both."""
    tables = {voice: list(found) for voice, found in groupby(score.risk_coverage, key=lambda table: table.voice)}
    return [
        {
            "calibration": one,
            "tables": tables[one.voice],
            "reliability": reliability(one, f"reliability-{number}"),
            "risk": risk_coverage(tables[one.voice], f"risk-{number}"),
        }
        for number, one in enumerate(score.calibrations[:_MAX_VOICES], 1)
    ]


def _is_used(score: Score, column: str) -> bool:
    return any(row[column] for row in score.actions.matrix.values())


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_cleaned,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {name: getattr(numerals, name) for name in numerals.__all__}
    environment.filters |= {"lines": plain_lines, "name": _name}
    environment.globals |= {
        "answer_words": ANSWER_WORDS,
        "decided_words": decided_words,
        "max_rows": _MAX_ROWS,
        "newline": Markup("\n"),
        "right_words": right_words,
        "style": Markup((_FOLDER / "page.css").read_text("utf-8")),  # noqa: S704  # ours
        "why_words": why_words,
    }
    return environment


def _name(text: str) -> str:
    return plain(text, _MAX_NAME_CHARS)


def _cleaned(value: object) -> object:
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value
