"""A corpus of a few really raised failures, written to a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.corpus_file import write_corpus_file
from airflow_common_ai.recordings.label import Label, ShouldRetry, write_labels
from airflow_common_ai.recordings.recording import Provenance, Recording

__all__ = ["POLICIES", "a_recording", "an_error_each", "judged", "written_corpus"]

POLICIES = Path(__file__).parent / "asked_policies.py"
AT = datetime(2026, 11, 30, tzinfo=UTC)


def a_recording(name: str, error: BaseException) -> Recording:
    try:
        raise error
    except BaseException as raised:
        evidence = Redactor().redact(collect(raised, observed_at=AT))
    return Recording.of(f"family/{name}", evidence, Provenance("test", "python", "3.11", "raise it"))


def an_error_each(count: int) -> list[Recording]:
    """Return failures that are retried, failed, and left open, in turn; none like another."""
    kinds = (
        lambda word: ConnectionRefusedError(111, f"Connection refused by {word}"),
        lambda word: FileNotFoundError(2, f"No such file {word}"),
        lambda word: RuntimeError(f"the {word} is misaligned"),
    )
    return [
        a_recording(f"case-{at:04}", kinds[at % 3](f"{chr(97 + at % 26)}{chr(97 + at // 26)}x")) for at in range(count)
    ]


def judged(recordings: Sequence[Recording]) -> dict[str, Label]:
    return {one.id: Label(one.id, "network", ShouldRetry.YES, (1.0, 600.0), "because", "reading") for one in recordings}


def written_corpus(folder: Path, recordings: Sequence[Recording], labels: Mapping[str, Label] | None = None) -> Path:
    write_corpus_file(folder / "family.jsonl", recordings)
    if labels:
        write_labels(folder / "labels.jsonl", labels.values())
    return folder
