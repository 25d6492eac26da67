"""Run files for tests, of real decisions about the real corpus, and small ones by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.asking.asker import Asker
from airflow_common_ai.evals.cases import read_cases, row_of
from airflow_common_ai.evals.runs.run_file import Row, Run, line_of
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.policies import EvidenceRetryPolicy
from airflow_common_ai.policies.settings import Settings
from airflow_common_ai.recordings.label import Label, ShouldRetry
from airflow_common_ai.recordings.split import Split
from tools.replay import RECORDINGS

__all__ = ["header", "label", "replayed", "row", "run_of", "written"]

_SETTINGS = Settings(
    mode="enforce",
    max_delay=timedelta(hours=1),
    max_server_delay=timedelta(hours=24),
    history_retention=timedelta(days=30),
    force_shadow=False,
)


@cache
def replayed(split: str, *, every: int = 1, tries: int = 1) -> Run:
    """
    What EvidenceRetryPolicy decides about a split of the corpus.

    :param every: Take every n-th recording only.
    :param tries: How often a failure comes again, if it is not failed before.
    """
    cases = read_cases(RECORDINGS, split=Split(split))[::every]
    asker = Asker(EvidenceRetryPolicy(), _SETTINGS, tries=tries)
    rows = [row_of(case, 1, asker.ask(case.recording)) for case in cases]
    return run_of(rows, policy="airflow_common_ai.policies:EvidenceRetryPolicy")


def run_of(rows: Iterable[Row], **changes: Any) -> Run:
    """A run of rows; its corpus is named by their ids and labels."""
    found = tuple(rows)
    ids = sorted({f"{one.id} {one.label}" for one in found})
    corpus = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    cases = len({one.id for one in found})
    repeats = max((one.repeat for one in found), default=1)
    return Run(replace(header(), corpus=corpus, cases=cases, repeats=repeats, **changes), found)


def header() -> RunHeader:
    return RunHeader(corpus="0" * 64, cases=1, policy="a.module:policy", policy_id="Policy-01234567", mode="offline")


def label(answer: str = "yes", category: Any = None, delay_s: tuple[float, float] | None = (30.0, 600.0)) -> Label:
    """What is right about a failure that is ``yes``, ``no`` or ``either`` worth a retry."""
    should_retry = ShouldRetry(answer)
    return Label(
        id="family/case",
        category=category or ("permanent" if answer == "no" else "transient"),
        should_retry=should_retry,
        delay_s=None if answer == "no" else delay_s,
        why="by hand",
        source="reading",
    )


def row(number: int, action: str = "retry", judged: Label | None = None, **changes: Any) -> Row:
    """A decision about a failure of its own."""
    plain = Row(
        id=f"family/case-{number}",
        fingerprint=f"{number:016x}",
        split="gate",
        library="a-library",
        repeat=1,
        outcome=Outcome.DECIDED,
        label=judged if judged is not None else label(),
        failure=("builtins.ValueError: by hand",),
        action=Action(action),
        delay_s=60.0 if action == "retry" else None,
        source="default" if action == "default" else "signals",
        milliseconds=1.0,
    )
    return replace(plain, **changes)


def written(run: Run, path: Path) -> Path:
    """The run as a file."""
    path.write_text("".join(map(line_of, (run.header, *run.rows))), "ascii")
    return path
