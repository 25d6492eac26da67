"""One person labels a corpus, failure by failure: where they are, what they answered, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from airflow_common_ai.evals.corpus.folder import Corpus
from airflow_common_ai.evidence.model import CategoryName
from airflow_common_ai.recordings.label import CATEGORIES, Label, ShouldRetry
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.recordings.split import Split

__all__ = ["CATEGORY_KEYS", "DELAYS", "RETRY_KEYS", "Delay", "Judgement", "LabellingSession"]


@dataclass(frozen=True, slots=True)
class Delay:
    """The shortest and the longest wait that make sense, for one key."""

    words: str
    shortest_s: float
    longest_s: float


CATEGORY_KEYS: Mapping[str, CategoryName] = {str(number): name for number, name in enumerate(CATEGORIES, 1)}
RETRY_KEYS: Mapping[str, ShouldRetry] = {"y": ShouldRetry.YES, "n": ShouldRetry.NO, "e": ShouldRetry.EITHER}
DELAYS: Mapping[str, Delay] = {
    "1": Delay("at once to 5 min", 0, 300),
    "2": Delay("5 s to 10 min", 5, 600),
    "3": Delay("30 s to 30 min", 30, 1800),
    "4": Delay("1 min to 1 h", 60, 3600),
    "5": Delay("5 min to 2 h", 300, 7200),
    "6": Delay("1 h to a day", 3600, 86400),
}
"""Source: the ranges that the labels of this repository's own corpus name most."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a person answered about one failure."""

    category: CategoryName
    should_retry: ShouldRetry
    delay: Delay | None
    """``None`` if it should not be retried."""


class LabellingSession:
    """
    Goes through the failures without a label, those first that were seen most. Every answer is saved at once.

    Of recordings with one fingerprint only the first is asked about, and none if another one has a label.

    :param corpus: What is labelled.
    :param judge: Whose judgement it is, for the labels' ``source``.
    :param split: Of one split only.
    """

    def __init__(self, corpus: Corpus, *, judge: str = "reading", split: Split | None = None) -> None:
        self._corpus = corpus
        self._judge = judge
        labelled = {corpus[recording_id].fingerprint for recording_id in corpus.labels if recording_id in corpus}
        open_ones: dict[str, Recording] = {}
        for recording in corpus:
            if recording.fingerprint not in labelled and split in (None, recording.split):
                open_ones.setdefault(recording.fingerprint, recording)
        self._cases = sorted(open_ones.values(), key=lambda one: (-one.count, one.id))
        self._at = 0
        self.answered: list[str] = []
        """The ids of what was labelled in this session, in that order."""

    @property
    def current(self) -> Recording | None:
        """What is asked about; ``None`` at the end."""
        return self._cases[self._at] if self._at < len(self._cases) else None

    @property
    def left(self) -> int:
        """How many are still to come, with the current one; those that were skipped come again in another session."""
        return len(self._cases) - self._at

    @property
    def total(self) -> int:
        return len(self._cases)

    def answer(self, judgement: Judgement) -> None:
        """Save a label for the current failure, and go on."""
        recording = self._cases[self._at]
        delay = judgement.delay
        self._corpus.labels[recording.id] = Label(
            id=recording.id,
            category=judgement.category,
            should_retry=judgement.should_retry,
            delay_s=None if delay is None else (delay.shortest_s, delay.longest_s),
            why=f"judged a {judgement.category} failure by reading it",
            source=self._judge,
        )
        self._corpus.save_labels()
        self.answered.append(recording.id)
        self._at += 1

    def skip(self) -> None:
        """Go on without a label."""
        self._at += 1

    def undo(self) -> bool:
        """Go back to the failure before, and take its label away; whether there is one."""
        if self._at == 0:
            return False
        self._at -= 1
        recording_id = self._cases[self._at].id
        if recording_id in self.answered:
            self.answered.remove(recording_id)
            del self._corpus.labels[recording_id]
            self._corpus.save_labels()
        return True
