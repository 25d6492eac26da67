"""The formats of a report, by the suffix of its file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from airflow_common_ai.evals.report.html import as_html
from airflow_common_ai.evals.report.junit import as_junit
from airflow_common_ai.evals.report.markdown import as_markdown
from airflow_common_ai.evals.report.report import Report

__all__ = ["FORMATS", "as_json", "format_of", "to_json"]


def to_json(report: Report) -> dict[str, Any]:
    """Return everything for programs: the score, and the verdict of the gates or null."""
    verdict = None
    if report.verdict is not None:
        # The score stands beside it already.
        verdict = {name: value for name, value in report.verdict.to_json().items() if name not in ("score", "header")}
    return {**report.score.to_json(), "title": report.title, "verdict": verdict}


def as_json(report: Report) -> str:
    return json.dumps(to_json(report), indent=2) + "\n"


FORMATS: Mapping[str, Callable[[Report], str]] = MappingProxyType(
    {".html": as_html, ".md": as_markdown, ".xml": as_junit, ".json": as_json}
)


def format_of(path: PurePath) -> Callable[[Report], str]:
    """
    Return what writes the format of a file.

    :raises ValueError: Its suffix is none of ours.
    """
    writer = FORMATS.get(path.suffix.lower())
    if writer is None:
        raise ValueError(
            f"{path} must end in {', '.join(FORMATS)}: the suffix says the format. Write e.g. -o report.html."
        )
    return writer
