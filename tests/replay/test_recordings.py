"""Every recording, replayed: is the corpus sound, and does the policy decide about it no worse than it did?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from harness.canary import holds_canary

from airflow_common_ai.evidence.collect import collect
from airflow_common_ai.evidence.fingerprint import fingerprint
from airflow_common_ai.evidence.model import RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.corpus_file import read_corpus, read_corpus_file, write_corpus_file
from airflow_common_ai.recordings.label import Label, read_labels, write_labels
from airflow_common_ai.recordings.rebuild import rebuild
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split, is_held_out
from tools.replay import RECORDINGS, Decided, Figures, decide, measure, print_table, read_measured

CORPUS = RECORDINGS / "corpus"
FILES = sorted(CORPUS.glob("*.jsonl"))
LABELS = RECORDINGS / "labels.jsonl"

MUST_PASS: list[tuple[str, str, float | None]] = [
    ("requests_http/status-401", "fail", None),
    ("requests_http/status-404", "fail", None),
    ("requests_http/status-422", "fail", None),
    ("requests_http/429-with-retry-after-in-seconds", "retry", 30),
    ("requests_http/429-with-retry-after-as-a-date", "retry", 89),
    ("requests_http/429-with-retry-after-ms", "retry", 2.5),
    ("requests_http/429-with-ratelimit-reset-in-seconds", "retry", 45),
    ("requests_http/503-with-retry-after-in-seconds", "retry", 120),
    ("requests_http/the-connection-is-refused", "retry", None),
    ("requests_http/the-connection-is-reset-before-the-answer", "retry", None),
    ("requests_http/a-certificate-that-has-expired", "fail", None),
    ("airflow_http/429-with-retry-after-through-httphook", "retry", 30),
    ("python_builtin/a-file-that-is-not-there", "fail", None),
    ("python_builtin/a-key-that-is-missing", "fail", None),
    ("python_builtin/a-module-that-is-not-installed", "fail", None),
    ("python_builtin/a-disk-that-is-full", "retry", None),
]
"""Beyond argument: what is decided, and the shortest delay where a server asked for one, in seconds."""


@pytest.fixture(scope="module")
def corpus() -> list[Recording]:
    return read_corpus(CORPUS)


@pytest.fixture(scope="module")
def labels() -> dict[str, Label]:
    return read_labels(LABELS)


@pytest.fixture(scope="module")
def decided(corpus: list[Recording], labels: dict[str, Label]) -> dict[str, Decided]:
    return {one.recording.id: one for one in decide(corpus, labels)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_valid_and_sorted_and_what_is_read_of_it_writes_the_same_bytes(path: Path, tmp_path: Path) -> None:
    recordings = read_corpus_file(path)

    write_corpus_file(tmp_path / path.name, recordings)

    assert {recording.family for recording in recordings} == {path.stem}
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_labels_are_valid_and_sorted_and_of_recordings_that_there_are(
    labels: dict[str, Label], corpus: list[Recording], tmp_path: Path
) -> None:
    write_labels(tmp_path / "labels.jsonl", labels.values())

    assert (tmp_path / "labels.jsonl").read_bytes() == LABELS.read_bytes()
    assert labels.keys() <= {recording.id for recording in corpus}


def test_the_canary_is_in_no_file() -> None:
    leaking = [path for path in RECORDINGS.rglob("*") if path.is_file() and holds_canary(path.read_text("utf-8"))]

    assert FILES
    assert leaking == []


def test_the_stored_fingerprints_are_what_is_computed_by_now(corpus: list[Recording]) -> None:
    stale = [one.id for one in corpus if one.fingerprint != fingerprint(one.evidence)]

    assert stale == [], "run: python -m tools.record --refresh"


def test_no_failure_is_in_two_splits(corpus: list[Recording]) -> None:
    splits: dict[str, set[Split]] = defaultdict(set)
    for one in corpus:
        if not is_held_out(one.evidence, one.provenance.library):
            splits[one.fingerprint].add(one.split)

    assert {failure: where for failure, where in splits.items() if len(where) > 1} == {}


def test_every_recording_of_a_held_out_library_is_held_out(corpus: list[Recording]) -> None:
    seen_by_all = [one.id for one in corpus if is_held_out(one.evidence, one.provenance.library)]

    assert {one.id for one in corpus if one.split is Split.HELD_OUT} >= set(seen_by_all)


def test_a_rebuilt_exception_is_decided_upon_like_the_recorded_one(
    corpus: list[Recording], decided: dict[str, Decided]
) -> None:
    """Not all: attributes of which a recording has no facts are gone."""
    rebuilt = [replace(one, evidence=_evidence_of(one)) for one in corpus]

    other = [
        one.recording.id
        for one in decide(rebuilt, {})
        if one.attempt.action != decided[one.recording.id].attempt.action
    ]

    share = len(other) / len(corpus)  # apart: a failing comparison would print the whole corpus
    assert share <= 0.01, other


def _evidence_of(recording: Recording) -> RedactedEvidence:
    return Redactor().redact(collect(rebuild(recording.evidence), observed_at=recording.recorded_at))


@pytest.mark.parametrize(("recording_id", "action", "delay_s"), MUST_PASS)
def test_what_is_beyond_argument_is_decided_so(
    decided: dict[str, Decided], recording_id: str, action: str, delay_s: float | None
) -> None:
    attempt = decided[recording_id].attempt

    assert attempt.action == action
    assert delay_s is None or (attempt.delay_s or 0) >= delay_s


@pytest.mark.parametrize("split", Split)
def test_decisions_are_no_worse_than_when_they_were_measured_last(
    decided: dict[str, Decided], split: Split, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = measure(decided.values())
    if split is Split.DEV:
        with capsys.disabled():
            print()
            print_table(measured)

    assert worse_than(measured[split], read_measured()[split]) == [], "if it has to be: python -m tools.replay --write"


def worse_than(now: Figures, before: Figures) -> list[str]:
    """Return what has become worse. More labels are measured anew: the figures are shares."""
    worse = []
    if bool(now.labelled) != bool(before.labelled):
        worse.append(f"{now.labelled} failures with a label, and {before.labelled} when it was measured")
    if now.accuracy < before.accuracy:
        worse.append(f"right in {now.accuracy:.2%} of what was settled, was {before.accuracy:.2%}")
    if now.settled_share < before.settled_share:
        worse.append(f"settled {now.settled_share:.2%}, was {before.settled_share:.2%}")
    if now.false_fail_share > before.false_fail_share:
        worse.append(f"false FAILs {now.false_fail_share:.2%}, was {before.false_fail_share:.2%}")
    if now.undercut_share > before.undercut_share:
        worse.append(f"too early {now.undercut_share:.2%}, was {before.undercut_share:.2%}")
    return worse


BEFORE = Figures(recordings=300, labelled=200, settled=160, right=156, false_fails=1, wasted_retries=3, undercut=0)


@pytest.mark.parametrize(
    ("now", "complaints"),
    [
        (BEFORE, []),
        (replace(BEFORE, recordings=900, labelled=400, settled=330, right=325, false_fails=2), []),
        (replace(BEFORE, right=155, wasted_retries=4), ["right in 96.88% of what was settled, was 97.50%"]),
        (replace(BEFORE, false_fails=2, wasted_retries=2), ["false FAILs 1.00%, was 0.50%"]),
        (replace(BEFORE, settled=150, right=150), ["settled 75.00%, was 80.00%"]),
        (replace(BEFORE, undercut=1), ["too early 0.50%, was 0.00%"]),
        (Figures(recordings=300), ["0 failures with a label, and 200 when it was measured"]),
    ],
)
def test_what_becomes_worse_is_named(now: Figures, complaints: Sequence[str]) -> None:
    assert worse_than(now, BEFORE)[: len(complaints) or None] == list(complaints)
