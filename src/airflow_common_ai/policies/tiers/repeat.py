"""The same unsure failure twice in a row: waiting did not help, and nothing says that it would."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_common_ai.policies.ladder import Case, Verdict

__all__ = ["RepeatTier"]


@dataclass(frozen=True)
class RepeatTier:
    """
    Fails a task whose last try ended in the very same failure, when neither could be judged.

    Abstains where the evidence has hints and all of them point to another try, or the classifier leans to one: such a
    failure may well pass.
    """

    name: str = "repeat"

    def decide(self, case: Case) -> Verdict | None:
        tries = case.history.tries
        if not tries or case.conclusion.hints_at_retry:
            return None
        if case.prediction is not None and case.prediction.retry_probability >= 0.5:
            return None
        last = tries[-1]
        if last.tier not in (None, self.name) or last.fingerprint != case.fingerprint or not last.fingerprint:
            return None
        return Verdict(
            code="repeat.identical",
            sentence="the same failure as in the try before, and nothing in it says that another try helps",
            retry=False,
        )
