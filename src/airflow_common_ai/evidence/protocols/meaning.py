"""What a row of a table of codes says."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_common_ai.evidence.model import CategoryName, Rank, Retry, Signal, Strength, Wait

__all__ = ["Meaning", "depends", "no", "yes"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """A signal without its code and its response: one row of a table. See :func:`yes` and its siblings."""

    category: CategoryName
    retry: Retry
    wait: Wait
    sentence: str
    source: str
    max_attempts: int | None = None
    strength: Strength = Strength.CONCLUSIVE

    @property
    def is_final(self) -> bool:
        """Whether another try is not worth it."""
        return self.retry is Retry.NO

    def signal(self, code: str, rank: Rank, asked_delay_s: float | None = None) -> Signal:
        """Return the signal; a delay that the server asked for counts where another try is worth it."""
        return Signal(
            code=code,
            category=self.category,
            retry=self.retry,
            wait=self.wait,
            rank=rank,
            sentence=self.sentence,
            source=self.source,
            strength=self.strength,
            asked_delay_s=None if self.is_final else asked_delay_s,
            max_attempts=self.max_attempts,
        )


def yes(category: CategoryName, wait: Wait, sentence: str, source: str) -> Meaning:
    """Return a row that is worth every retry that is left."""
    return Meaning(category, Retry.YES, wait, sentence, source)


def no(category: CategoryName, sentence: str, source: str) -> Meaning:
    """Return a row that no retry mends."""
    return Meaning(category, Retry.NO, Wait.NONE, sentence, source)


def depends(category: CategoryName, wait: Wait, sentence: str, source: str, max_attempts: int = 2) -> Meaning:
    """Return a row that is worth one retry, or ``max_attempts - 1``."""
    return Meaning(category, Retry.DEPENDS, wait, sentence, source, max_attempts)
