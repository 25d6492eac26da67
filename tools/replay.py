"""
Replay the corpus: what does the evidence alone settle, without the classifier, and is it right?

    python -m tools.replay                     the table, by split
    python -m tools.replay --wrong             with every wrong decision of the dev split, from which rules are written
    python -m tools.replay --write             keep the figures in recordings/measured.json, which the tests hold
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from airflow_common_ai.evals.asking.asker import FIRST_OF_SEVERAL
from airflow_common_ai.evidence.model import Evidence, RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies import EvidenceRetryPolicy
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.policies.judgement import judge
from airflow_common_ai.policies.settings import Settings
from airflow_common_ai.recordings.corpus_file import read_corpus
from airflow_common_ai.recordings.label import Label, ShouldRetry, read_labels
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split

__all__ = [
    "MEASURED", "RECORDINGS", "Decided", "Figures", "decide", "decided_by", "main", "measure",
    "print_table", "read_measured",
]  # fmt: skip

RECORDINGS = Path(__file__).parent.parent / "recordings"
MEASURED = RECORDINGS / "measured.json"

_WAIT_FACT = re.compile(r"retry.?after|retry_delay|reset", re.IGNORECASE)
_WAIT_IN_WORDS = re.compile(
    r"(?:retry|again|wait|back ?off)[^.(\d\n]{0,30}\d+(?:\.\d+)?\s*"
    r"(?:ms|millisec|s|sec|m|min|h|hour|day)(?:onds?|utes?|s)?\b"
    r"|retry.?after\W{1,4}\d",
    re.IGNORECASE,
)

_SETTINGS = Settings(
    mode="enforce",
    max_delay=timedelta(hours=1),
    max_server_delay=timedelta(hours=24),
    history_retention=timedelta(days=30),
    force_shadow=False,
)


@dataclass(frozen=True)
class Decided:
    """A recording and what was decided about it."""

    recording: Recording
    label: Label | None
    attempt: Attempt

    @property
    def is_settled(self) -> bool:
        return self.attempt.action != "default"

    @property
    def is_false_fail(self) -> bool:
        return self.attempt.action == "fail" and self._wants(ShouldRetry.YES)

    @property
    def is_wasted_retry(self) -> bool:
        return self.attempt.action == "retry" and self._wants(ShouldRetry.NO)

    @property
    def is_early(self) -> bool:
        """Whether the retry comes before the time that makes sense to those who read the failure."""
        delay_s = self.attempt.delay_s
        if self.label is None or self.label.delay_s is None or self.attempt.action != "retry" or delay_s is None:
            return False
        return delay_s < self.label.delay_s[0]

    @property
    def is_undercut(self) -> bool:
        """Whether it is early although the failure names a time, as where a server asks to be left alone."""
        return self.is_early and names_a_time(self.recording.evidence)

    @property
    def is_right(self) -> bool:
        return self.is_settled and not self.is_false_fail and not self.is_wasted_retry

    def _wants(self, answer: ShouldRetry) -> bool:
        return self.label is not None and self.label.should_retry is answer


@dataclass(frozen=True)
class Figures:
    """What the distinct failures of one split came to; what differs in values only counts once."""

    recordings: int = 0
    labelled: int = 0
    """Distinct failures with a label: everything below is of these."""
    settled: int = 0
    right: int = 0
    false_fails: int = 0
    wasted_retries: int = 0
    early: int = 0
    undercut: int = 0

    @classmethod
    def of(cls, decided: Iterable[Decided]) -> Figures:
        everything = list(decided)
        distinct: dict[tuple[str, object], Decided] = {}
        for one in everything:
            if one.label is not None:
                # The same words with another wait are another failure: what a server asks is what is tested.
                distinct.setdefault((one.recording.fingerprint, one.label.delay_s), one)
        judged = distinct.values()
        return cls(
            recordings=len(everything),
            labelled=len(judged),
            settled=sum(one.is_settled for one in judged),
            right=sum(one.is_right for one in judged),
            false_fails=sum(one.is_false_fail for one in judged),
            wasted_retries=sum(one.is_wasted_retry for one in judged),
            early=sum(one.is_early for one in judged),
            undercut=sum(one.is_undercut for one in judged),
        )

    @property
    def accuracy(self) -> float:
        """Of what was settled, the share that is right."""
        return self.right / self.settled if self.settled else 1.0

    @property
    def settled_share(self) -> float:
        return self._share(self.settled)

    @property
    def false_fail_share(self) -> float:
        return self._share(self.false_fails)

    @property
    def undercut_share(self) -> float:
        return self._share(self.undercut)

    def _share(self, count: int) -> float:
        return count / self.labelled if self.labelled else 0.0


def names_a_time(evidence: RedactedEvidence) -> bool:
    """Whether somebody who knows no protocol sees a time to wait in a failure; broad, and apart from the readers."""
    return any(
        any(_WAIT_FACT.search(name) for name in node.facts)
        or any(_WAIT_IN_WORDS.search(text) for text in (node.message, *node.notes))
        for node in evidence.nodes
    )


def decide(recordings: Iterable[Recording], labels: Mapping[str, Label]) -> Iterator[Decided]:
    """Decide about each recording by evidence alone."""
    policy, redactor = EvidenceRetryPolicy(classifier=False), Redactor()
    for recording in recordings:
        yield Decided(recording, labels.get(recording.id), decided_by(policy, recording, redactor))


def decided_by(policy: EvidenceRetryPolicy, recording: Recording, redactor: Redactor) -> Attempt:
    """Let a policy of ours decide about a recording as about the first of several tries, without jitter."""
    seen = recording.evidence
    judged = judge(
        policy,
        RuntimeError("looked at by rules of users only, and this policy has none"),
        Evidence(seen.nodes, seen.observed_at, seen.is_truncated),
        FIRST_OF_SEVERAL,
        redactor=redactor,
        settings=_SETTINGS,
        uniform=lambda: 0.0,
    )
    return judged.attempt


def measure(decided: Iterable[Decided]) -> dict[Split, Figures]:
    everything = list(decided)
    return {split: Figures.of(one for one in everything if one.recording.split is split) for split in Split}


def read_measured(path: Path = MEASURED) -> dict[Split, Figures]:
    """Return the figures that were kept; a split that is not there is empty."""
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {split: Figures(**kept.get(split.value, {})) for split in Split}


def print_table(measured: Mapping[Split, Figures]) -> None:
    print(f"{'split':8} {'recordings':>10} {'labelled':>8} {'settled':>8} {'right':>7} {'false FAILs':>12} "
          f"{'wasted retries':>14} {'early':>6} {'asks undercut':>13}")  # fmt: skip
    for split, figures in measured.items():
        print(f"{split.value:8} {figures.recordings:10} {figures.labelled:8} {figures.settled_share:8.1%} "
              f"{figures.accuracy:7.1%} {figures.false_fails:4} = {figures.false_fail_share:5.1%} "
              f"{figures.wasted_retries:14} {figures.early:6} {figures.undercut:13}")  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.replay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wrong", action="store_true", help="print every wrong decision of the dev split")
    parser.add_argument("--write", action="store_true", help="keep the figures")
    options = parser.parse_args(arguments)
    decided = list(decide(read_corpus(RECORDINGS / "corpus"), read_labels(RECORDINGS / "labels.jsonl")))
    measured = measure(decided)
    print_table(measured)
    if options.wrong:
        for one in decided:
            if one.recording.split is Split.DEV and _is_wrong(one):
                print(f"\n{_row(one)}")
    if options.write:
        kept = {split.value: asdict(figures) for split, figures in measured.items()}
        MEASURED.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
    return 0


def _is_wrong(one: Decided) -> bool:
    return one.is_false_fail or one.is_wasted_retry or one.is_undercut


def _row(one: Decided) -> str:
    assert one.label is not None
    label = one.label
    wanted = f"{label.category}, retry {label.should_retry.value}, delay {label.delay_s}: {label.why}"
    return f"{one.recording.id}\n  decided: {one.attempt.headline}\n  label:   {wanted}"


if __name__ == "__main__":
    sys.exit(main())
