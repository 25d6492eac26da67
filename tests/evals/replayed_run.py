"""Run files for tests, of real decisions about the real corpus, and small ones by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from airflow_common_ai.evals.run_file import Action, LaterTry, Outcome, Row, Run, RunHeader, line_of
from airflow_common_ai.evidence.model import Evidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies import EvidenceRetryPolicy
from airflow_common_ai.policies.history import History
from airflow_common_ai.policies.judgement import judge
from airflow_common_ai.policies.settings import Settings
from airflow_common_ai.recordings.corpus_file import read_corpus
from airflow_common_ai.recordings.label import Label, ShouldRetry, read_labels
from tools.replay import FIRST_OF_SEVERAL, RECORDINGS, Decided, decide

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
    recordings = [one for one in read_corpus(RECORDINGS / "corpus") if one.split.value == split][::every]
    labels = read_labels(RECORDINGS / "labels.jsonl")
    rows = [_row(one, _later(one, tries)) for one in decide(recordings, labels)]
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


def _row(one: Decided, later: tuple[LaterTry, ...]) -> Row:
    recording, attempt = one.recording, one.attempt
    return Row(
        id=recording.id,
        fingerprint=recording.fingerprint,
        split=recording.split.value,
        library=recording.provenance.library,
        repeat=1,
        outcome=Outcome.DECIDED,
        label=one.label,
        failure=tuple(f"{node.type_path}: {node.message}"[:300] for node in recording.evidence.nodes[:8]),
        tags=recording.tags,
        count=recording.count,
        action=Action(attempt.action),
        delay_s=attempt.delay_s,
        later=later,
        category=attempt.category,
        source=attempt.tier or "default",
        code=attempt.code,
        reason=attempt.reason,
        votes=tuple(vote.to_json() for vote in attempt.votes),
        milliseconds=1.0,
    )


def _later(one: Decided, tries: int) -> tuple[LaterTry, ...]:
    """Let the same failure come again, with the record of what was decided before."""
    seen, attempts = one.recording.evidence, [one.attempt]
    while len(attempts) < tries and attempts[-1].action != "fail":
        judged = judge(
            EvidenceRetryPolicy(),
            RuntimeError("looked at by rules of users only, and this policy has none"),
            Evidence(seen.nodes, seen.observed_at, seen.is_truncated),
            replace(FIRST_OF_SEVERAL, try_number=len(attempts) + 1, earlier=History(tuple(attempts))),
            redactor=Redactor(),
            settings=_SETTINGS,
            uniform=lambda: 0.0,
        )
        attempts.append(judged.attempt)
    return tuple(LaterTry(Action(attempt.action), attempt.delay_s) for attempt in attempts[1:])
