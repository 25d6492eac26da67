"""Read the failure back from the text in which the Common AI provider's policies tell it to a model."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from airflow_common_ai.evidence.logs.exception_line import built_in_exception, match_exception
from airflow_common_ai.evidence.logs.traceback_text import holds_traceback, parse_tracebacks
from airflow_common_ai.evidence.model import Evidence, ExceptionNode
from airflow_common_ai.evidence.type_path import base_paths, type_path

__all__ = ["evidence_of"]

_LEAD = re.compile(r"Classify this error from a data pipeline task \(attempt \d+ of \d+\):\n\n")
"""Source: ``_ModelRetryPolicy._prompt`` of apache-airflow-providers-common-ai 1.0.0."""
_NO_NAME = "builtins.Exception"
"""The class of a failure whose text names none."""


def evidence_of(text: str) -> Evidence:
    """
    Return what a text says of a failure; not redacted.

    There are no facts and no bases but those of built-in classes: a text has none.

    :param text: A prompt of those policies, or any other text about a failure.
    """
    said = _LEAD.sub("", text, count=1).strip()
    nodes = parse_tracebacks(said) if holds_traceback(said) else []
    return Evidence(tuple(nodes) or (_named(said),), datetime.now(UTC))


def _named(text: str) -> ExceptionNode:
    """Return the exception of ``KeyError: 'orders'``, which the policies write for one without its traceback."""
    first, *more = text.split("\n")
    match = match_exception(first)
    if match is None or ":" not in first:
        return ExceptionNode(_NO_NAME, (), text, from_text=True)
    built_in = built_in_exception(match["type"])
    return ExceptionNode(
        type_path=type_path(built_in) if built_in else match["type"],
        base_paths=base_paths(built_in) if built_in else (),
        message="\n".join([match["message"] or "", *more]),
        from_text=True,
    )
