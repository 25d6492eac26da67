"""What the author of the Dag ruled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from airflow.sdk.definitions.retry_policy import RetryRule

from airflow_common_ai.policies.ladder import Case, Verdict
from airflow_common_ai.policies.rules import FailureRule

__all__ = ["RulesTier"]


@dataclass(frozen=True)
class RulesTier:
    """The first matching rule decides. Used twice: first of all, and as the fallback at the end."""

    rules: Sequence[FailureRule | RetryRule]
    name: str = "rules"

    def decide(self, case: Case) -> Verdict | None:
        for number, rule in enumerate(self.rules, start=1):
            if isinstance(rule, FailureRule):
                if rule.matches(case.exception, case.evidence, case.signals):
                    return self._verdict(case, rule, rule.name or str(number), rule.category, rule.max_attempts)
            elif rule.matches(case.exception):
                return self._verdict(case, rule, str(number))
        return None

    def _verdict(
        self,
        case: Case,
        rule: FailureRule | RetryRule,
        name: str,
        category: str | None = None,
        max_attempts: int | None = None,
    ) -> Verdict:
        return Verdict(
            code=f"{self.name}.{name}",
            sentence=rule.reason or f"the task's own rule {name} matched",
            category=category,
            action=rule.action,
            delay=rule.retry_delay,
            asked_delay_s=case.conclusion.asked_delay_s,
            max_attempts=max_attempts,
        )
