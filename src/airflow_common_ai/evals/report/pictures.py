"""The pictures of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from airflow_common_ai.evals.report.numerals import count, percent
from airflow_common_ai.evals.report.plain import plain
from airflow_common_ai.evals.report.svg import Colour, drawing, inline_svg
from airflow_common_ai.evals.scoring.calibration import Calibration
from airflow_common_ai.evals.scoring.categories import ABSTAINED, CategoryScore
from airflow_common_ai.evals.scoring.risk_coverage import RiskCoverage, RiskPoint

__all__ = ["confusion_matrix", "reliability", "risk_coverage"]

_POINTS_PER_INCH = 72
_CELL = 34.0
_MAX_CATEGORIES = 12
"""A policy may name any number of them; those that nobody named often share a column."""
_OTHERS = ""
"""Their column; no category is called so."""
_MAX_NAME_CHARS = 14

_LINES: Mapping[str, tuple[str, Colour, str, str]] = {
    "any": ("all answers", Colour.ACCENT, "-", "o"),
    "fail": ("to FAIL", Colour.BAD, "--", "s"),
    "retry": ("to RETRY", Colour.WARN, ":", "^"),
}


def confusion_matrix(categories: CategoryScore) -> Markup:
    """Draw which category was named for which: what is right in rows, what was named in columns."""
    rows = [row for row in categories.rows if row.failures]
    columns = _columns(categories)
    left, top, pad = 78.0, 74.0, 6.0
    width, height = left + _CELL * len(columns) + pad + 24, top + _CELL * len(rows) + pad
    with drawing("confusion"):
        figure = _figure(width, height)
        axes = figure.add_axes((left / width, pad / height, _CELL * len(columns) / width, _CELL * len(rows) / height))
        for y, row in enumerate(rows):
            for x, (name, parts) in enumerate(columns.items()):
                found = sum(categories.matrix[row.name][part] for part in parts)
                if found:
                    _cell(axes, x, y, found, found / row.failures, _cell_colour(row.name, name, categories))
        axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
        axes.set_xticks(range(len(columns)), [_short(name) for name in columns], rotation=40, ha="left")
        axes.set_yticks(range(len(rows)), [_short(row.name) for row in rows])
        axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
        axes.grid(visible=False, which="major")
        axes.grid(visible=True, which="minor")
        axes.tick_params(which="both", length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
        axes.spines[:].set_visible(False)
        # What the labels along both sides are.
        axes.text(-0.56, -0.62, "right ↓  named →", color=Colour.MUTED.value, ha="right", va="bottom", fontsize=9)
        words = "; ".join(
            f"of {count(row.failures)} {row.name} failures {count(categories.matrix[row.name][row.name])} named so"
            for row in rows
        )
        return inline_svg(figure, "confusion", "Confusion matrix of the categories", f"{words}.")


def reliability(calibration: Calibration, name: str) -> Markup:
    """Draw how often a voice was right beside how sure it said that it was."""
    confidence = [one.confidence for one in calibration.bins]
    right = [one.accuracy.value for one in calibration.bins]
    reach = [
        [one.accuracy.value - one.accuracy.low for one in calibration.bins],
        [one.accuracy.high - one.accuracy.value for one in calibration.bins],
    ]
    with drawing(name):
        figure = _figure(340, 300)
        axes = _shares(figure, "how sure it said that it was", "how often it was right")
        axes.plot([0, 1], [0, 1], color=Colour.MUTED.value, linewidth=1, linestyle=(0, (2, 3)))
        axes.errorbar(confidence, right, yerr=reach, fmt="none", ecolor=Colour.ACCENT.value, elinewidth=1.4, alpha=0.55)
        axes.plot(confidence, right, "o", color=Colour.ACCENT.value, markersize=6, clip_on=False, zorder=3)
        axes.set(xlim=(0, 1), ylim=(0, 1))
        words = "; ".join(
            f"where it was {percent(one.confidence)} sure, {percent(one.accuracy)} were right"
            for one in calibration.bins
        )
        return inline_svg(figure, name, f"Reliability of {calibration.voice}", f"{words}.")


def risk_coverage(tables: Sequence[RiskCoverage], name: str) -> Markup:
    """Draw what share of a voice's answers a higher bar leaves, and how often those are wrong."""
    errors = [(table.action, point.error) for table in tables for point in table.points if point.error]
    highest = max((error.high if action == "any" else error.value for action, error in errors), default=0.0)
    with drawing(name):
        figure = _figure(340, 300)
        axes = _shares(figure, "share of its answers that are followed", "of those, harmful")
        for table in tables:
            _risk_line(axes, table)
        axes.set(xlim=(0, 1), ylim=(0, min(1.0, max(1.1 * highest, 0.02))))
        axes.legend(loc="lower left", bbox_to_anchor=(-0.05, 1.0), ncols=len(tables), fontsize=9.5, columnspacing=1.4)
        words = "; ".join(
            f"with a bar of {point.min_confidence:g}, {percent(point.coverage)} are followed "
            f"and {percent(point.error)} of those are harmful"
            for table in tables[:1]
            for point in table.points
        )
        return inline_svg(figure, name, f"Risk and coverage of {tables[0].voice}", f"{words}.")


def _risk_line(axes: Axes, table: RiskCoverage) -> None:
    words, colour, style, marker = _LINES[table.action]
    points = [(point.coverage.value, point.error, point) for point in table.points if point.error is not None]
    coverage, errors = [share for share, _, _ in points], [error for _, error, _ in points]
    if table.action == "any":
        low, high = [error.low for error in errors], [error.high for error in errors]
        axes.fill_between(coverage, low, high, color=colour.value, alpha=0.13, linewidth=0)
    values = [error.value for error in errors]
    look: dict[str, Any] = {"linestyle": style, "marker": marker, "color": colour.value, "clip_on": False}
    axes.plot(coverage, values, label=words, linewidth=1.8, markersize=4.5, **look)
    for share, error, point in points:
        if point.min_confidence == table.best:
            _mark(axes, share, error.value, point, colour)


def _mark(axes: Axes, x: float, y: float, point: RiskPoint, colour: Colour) -> None:
    axes.plot([x], [y], "o", color=colour.value, markersize=12, fillstyle="none", markeredgewidth=1.6, clip_on=False)
    bar = f"{point.min_confidence:g}"
    axes.annotate(bar, (x, y), (0, 10), textcoords="offset points", ha="center", fontsize=10, annotation_clip=False)


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width / _POINTS_PER_INCH, height / _POINTS_PER_INCH))


def _shares(figure: Figure, x: str, y: str) -> Axes:
    axes = figure.add_axes((0.2, 0.16, 0.72, 0.75))
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda share, _: f"{100 * share:.3g} %")
        axis.set_tick_params(length=0, pad=5)
    return axes


def _columns(categories: CategoryScore) -> dict[str, tuple[str, ...]]:
    """Return what is in each column."""
    by_size = sorted((row for row in categories.rows if row.failures or row.named), key=lambda row: -row.named)
    kept = {row.name for row in by_size[:_MAX_CATEGORIES]}
    others = tuple(row.name for row in by_size[_MAX_CATEGORIES:])
    columns: dict[str, tuple[str, ...]] = {row.name: (row.name,) for row in categories.rows if row.name in kept}
    if others:
        columns[_OTHERS] = others
    endings = categories.columns[categories.columns.index(ABSTAINED) :]
    is_used = {name: any(found[name] for found in categories.matrix.values()) for name in endings}
    return columns | {name: (name,) for name in endings if name == ABSTAINED or is_used[name]}


def _cell_colour(wanted: str, named: str, categories: CategoryScore) -> Colour:
    if wanted == named:
        return Colour.ACCENT
    return Colour.BAD if named in (_OTHERS, *(row.name for row in categories.rows)) else Colour.MUTED


def _cell(axes: Axes, x: int, y: int, found: float, share: float, colour: Colour) -> None:
    # Never so strong that the number in it would be hard to read, nor so weak that it is not seen.
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=colour.value, alpha=0.1 + 0.45 * share, linewidth=0))
    words = count(found)
    axes.text(x, y, words, ha="center", va="center", fontsize=11 if len(words) <= 5 else 8)


def _short(name: str) -> str:
    return plain(name.replace("_", " "), _MAX_NAME_CHARS) if name != _OTHERS else "others"
