"""From logs to recordings: each failure is read, redacted and counted; the same one is kept once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from airflow_common_ai.evals.corpus.folder import Corpus
from airflow_common_ai.evals.corpus.log import Log, Skipped, TaskTry
from airflow_common_ai.evals.corpus.origin import case_id, provenance_of
from airflow_common_ai.evidence.fingerprint import fingerprint
from airflow_common_ai.evidence.logs.failed_tries import read_failures
from airflow_common_ai.evidence.model import RedactedEvidence
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.recordings.recording import Recording

__all__ = ["MAX_NEW_CASES", "Intake"]

MAX_NEW_CASES = 10_000
"""Of one go: what bounds the memory. Failures of kinds that are known by then are still counted."""

_MAX_SKIPPED = 1000
_MAX_FAILURES_OF_A_LOG = 2000
"""What bounds the time that one file can take."""


class Intake:
    """
    Puts failures into a corpus, which is not saved here.

    :param corpus: Where to.
    :param redactor: The wall between a log and the corpus.
    """

    def __init__(self, corpus: Corpus, redactor: Redactor) -> None:
        self._corpus = corpus
        self._redactor = redactor
        self._known = {recording.fingerprint: recording.id for recording in reversed(list(corpus))}
        self._seen = corpus.folder.read_seen()
        self.logs = 0
        """Logs that were read."""
        self.logs_added_before = 0
        self.logs_without_failure = 0
        self.failures = 0
        """Failures that were counted."""
        self.new: list[str] = []
        """The ids of what was not in the corpus before."""
        self.repeated: Counter[str] = Counter()
        """How often what was in the corpus, or new a moment ago, was seen again."""
        self.over_limit = 0
        """Failures that were left out because there were too many different ones."""
        self.skipped: list[Skipped] = []
        """What was not read; of many the first."""
        self.skipped_in_all = 0

    def is_seen(self, task_try: TaskTry) -> bool:
        """Whether a try was added before, so that its log need not be fetched."""
        return task_try.key in self._seen

    def add(self, logs: Iterable[Log | Skipped]) -> Iterator[str]:
        """Read logs one after the other; yields the name of each when it is done."""
        for log in logs:
            if isinstance(log, Skipped):
                self._skip(log)
            elif log.key in self._seen:
                self.logs_added_before += 1
            else:
                self._read(log)
            yield log.name

    def save(self) -> None:
        """Write the corpus, and what was added, so that nothing is counted twice."""
        if self.failures:
            self._corpus.save()
            self._corpus.folder.write_seen(self._seen)

    def to_json(self) -> dict[str, Any]:
        """Return what came of it, for programs."""
        return {
            "logs": self.logs,
            "logs_added_before": self.logs_added_before,
            "logs_without_failure": self.logs_without_failure,
            "failures": self.failures,
            "new": self.new,
            "repeated": dict(self.repeated),
            "over_limit": self.over_limit,
            "skipped_in_all": self.skipped_in_all,
            "skipped": [{"name": one.name, "reason": one.reason} for one in self.skipped],
        }

    def _read(self, log: Log) -> None:
        self.logs += 1
        found, left_out_before = 0, self.over_limit
        for failure in read_failures(log.text, log.seen_at, is_task_log=log.task_try is not None):
            if found == _MAX_FAILURES_OF_A_LOG:
                self._skip(Skipped(log.name, f"the rest of it: it holds more than {found:,} failures. Split it"))
                break
            self._count(log, self._redactor.redact(failure))
            found += 1
        self.failures += found
        if not found:
            self.logs_without_failure += 1  # and looked at again next time: it may get one yet
        elif self.over_limit == left_out_before:
            self._seen.add(log.key)

    def _skip(self, skipped: Skipped) -> None:
        self.skipped_in_all += 1
        if len(self.skipped) < _MAX_SKIPPED:
            self.skipped.append(skipped)

    def _count(self, log: Log, failure: RedactedEvidence) -> None:
        known_id = self._known.get(fingerprint(failure))
        if known_id is not None:
            self._corpus.add_to_count(known_id, 1)
            self.repeated[known_id] += 1
        elif len(self.new) < MAX_NEW_CASES:
            recording = Recording.of(self._free_id(log, failure), failure, provenance_of(log, failure))
            self._corpus.put(recording)
            self._known[recording.fingerprint] = recording.id
            self.new.append(recording.id)
        else:
            self.over_limit += 1

    def _free_id(self, log: Log, failure: RedactedEvidence) -> str:
        short, long = (
            case_id(log, failure, fingerprint(failure), self._redactor, is_long=is_long) for is_long in (False, True)
        )
        return long if short in self._corpus else short
