"""The recorded failures that models are asked about, with what is right about each, and how they are asked."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from airflow.providers.common.ai.policies.retry import LLMRetryPolicy as CommonAIPolicy

from airflow_common_ai.evals.asking.asker import FIRST_OF_SEVERAL
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies import EvidenceRetryPolicy
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.recordings.corpus_file import read_corpus_file
from airflow_common_ai.recordings.label import Label, read_labels
from airflow_common_ai.recordings.rebuild import rebuild
from airflow_common_ai.recordings.recording import Recording
from tools.cassettes import CASSETTES
from tools.replay import decided_by

__all__ = ["LABELS", "LONGEST_S", "STOPPED", "LLMCase", "ask_common_ai", "decide", "read_cases", "silence"]

LABELS = CASSETTES / "labels.jsonl"
"""The failures, chosen so that nobody would argue about their labels, which were written before any model was asked."""

LONGEST_S = 120.0
"""What any policy gets for one failure; later it counts as having said nothing."""

STOPPED = "stopped"
"""What is left of a policy that would have taken longer."""

_CORPUS = CASSETTES.parent / "corpus"


@dataclass(frozen=True)
class LLMCase:
    """One failure and what is right about it."""

    recording: Recording
    label: Label


def read_cases() -> list[LLMCase]:
    labels = read_labels(LABELS)
    families = {name.partition("/")[0] for name in labels}
    recordings = {one.id: one for family in sorted(families) for one in read_corpus_file(_CORPUS / f"{family}.jsonl")}
    return [LLMCase(recordings[name], label) for name, label in labels.items()]


def silence() -> None:
    """Keep this process from logging: what the libraries say of each call would bury the figures."""
    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


def decide(policy: EvidenceRetryPolicy, recording: Recording) -> Attempt:
    """Let a policy of ours decide about a recording as the replay does."""
    return decided_by(policy, recording, Redactor())


def ask_common_ai(policy: CommonAIPolicy, recording: Recording) -> str:
    """Return what the Common AI provider's policy decides: ``retry``, ``fail`` or ``default``; or :data:`STOPPED`."""
    exception = rebuild(recording.evidence)
    try:
        with _stopping_after(LONGEST_S):
            return policy.evaluate(exception, FIRST_OF_SEVERAL.try_number, FIRST_OF_SEVERAL.max_tries).action.value
    except _Stopped:
        return STOPPED


class _Stopped(BaseException):
    """Nothing that the policy catches."""


@contextmanager
def _stopping_after(limit_s: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _Stopped

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
