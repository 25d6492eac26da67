"""The retry policy that decides from evidence, without a model, a key or a network.

This module is imported by every Dag file that uses the policy, at every parse: what only a failure needs is imported
when a task has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from airflow.sdk.definitions.retry_policy import RetryDecision, RetryPolicy, RetryRule

from airflow_common_ai.policies.categories import DEFAULT_CATEGORIES, FailureCategory, check_categories
from airflow_common_ai.policies.own_fault import INTERRUPTS, log_own_fault
from airflow_common_ai.policies.rules import FailureRule, check_rules

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context

    from airflow_common_ai.policies.ladder import Tier
    from airflow_common_ai.policies.settings import Mode

__all__ = ["EvidenceRetryPolicy"]

_LONGEST = timedelta(days=366)
"""Longer times overflow when they are added to a date."""


class EvidenceRetryPolicy(RetryPolicy):
    """
    Decides whether a failed task is retried from what the failure itself says.

    .. code-block:: python

        @task(retries=5, retry_policy=EvidenceRetryPolicy())
        def load(): ...

    Reads the whole exception chain, redacts it, and asks in this order: ``rules``, the signals in the evidence, the
    embedded classifier, whether the same unsure failure came twice in a row, ``fallback_rules``. What nobody settles is
    left to Airflow's own retries. Every decision is kept in the task state store under the key ``ai_retry``.

    Not for failures that never reach a policy: ``AirflowFailException``, sensor timeouts, killed workers.

    :param rules: Airflow's ``RetryRule`` and our :class:`FailureRule`, asked before anything else.
    :param categories: What is done about each category; entries that are not given are the defaults.
    :param fallback_rules: Rules for what nothing else has settled.
    :param max_delay: The longest delay that is computed here; the task's own ``retry_delay``, where that is longer, may
        be left in place. ``None``: the option ``max_delay`` of the section ``[common_ai_retry]`` (1 h).
    :param max_server_delay: The longest delay that a server may ask for; beyond it the task fails at once,
        since an early try is a wasted try. ``None``: the option ``max_server_delay`` (24 h).
    :param max_elapsed: Time for all tries of a round, from the start of its first. ``None``: no limit.
    :param mode: ``enforce``, or ``shadow`` to record every decision and leave the task to Airflow's own retries.
        ``None``: the option ``mode`` (``enforce``). The option ``force_shadow`` beats everything.
    :param redactor: A function from text to text that removes more than the built-in redaction does.
    :param classifier: The embedded model for what the signals leave open: ``True`` for the shipped one, ``False`` for
        none, or the path of one that ``airflow-common-ai train`` made from failures of your own.
    :param vote_always: Whether the classifier's vote is recorded even where a cheaper tier decided, so that the record
        shows how often it would have been right. It takes about a millisecond.
    :param history: Whether to read and write the record in the task state store.
    :raises TypeError: An argument has the wrong type; raised when the Dag is parsed.
    :raises ValueError: An argument is out of range; raised when the Dag is parsed.
    """

    def __init__(
        self,
        *,
        rules: Sequence[FailureRule | RetryRule] = (),
        categories: Mapping[str, FailureCategory] = DEFAULT_CATEGORIES,
        fallback_rules: Sequence[FailureRule | RetryRule] = (),
        max_delay: timedelta | None = None,
        max_server_delay: timedelta | None = None,
        max_elapsed: timedelta | None = None,
        mode: Mode | None = None,
        redactor: Callable[[str], str] | None = None,
        classifier: bool | str | Path = True,
        vote_always: bool = True,
        history: bool = True,
    ) -> None:
        name = type(self).__name__
        self.categories = check_categories(categories)
        self.rules = check_rules(rules, f"{name}.rules", self.categories)
        self.fallback_rules = check_rules(fallback_rules, f"{name}.fallback_rules", self.categories)
        self.max_delay = _check_time(max_delay, f"{name}.max_delay")
        self.max_server_delay = _check_time(max_server_delay, f"{name}.max_server_delay")
        self.max_elapsed = _check_time(max_elapsed, f"{name}.max_elapsed")
        if mode not in (None, "enforce", "shadow"):
            raise ValueError(f"{name}.mode must be 'enforce', 'shadow' or None, got {mode!r}.")
        self.mode = mode
        if redactor is not None and not callable(redactor):
            raise TypeError(f"{name}.redactor must be a function from text to text, got {redactor!r}.")
        self.redactor = redactor
        self.classifier = _check_classifier(classifier, f"{name}.classifier")
        for option, value in (("vote_always", vote_always), ("history", history)):
            if not isinstance(value, bool):
                raise TypeError(f"{name}.{option} must be True or False, got {value!r}.")
        self.vote_always = vote_always
        self.history = history

    def evaluate(
        self,
        exception: BaseException,
        try_number: int,
        max_tries: int,
        context: Context | None = None,
    ) -> RetryDecision:
        """
        Decide about one failed try. Raises nothing but an interrupt: our own fault never fails a user's task.

        :param exception: The exception that failed the task.
        :param try_number: The try that has failed, from 1.
        :param max_tries: The task instance's ``max_tries``.
        :param context: The task's context; without it there is no memory and no record.
        :return: RETRY with a delay, FAIL, or DEFAULT where nothing is settled, in shadow mode and on our own fault.
        """
        try:
            from airflow_common_ai.policies.evaluation import evaluate

            return evaluate(self, exception, try_number, max_tries, context)
        except INTERRUPTS:
            raise
        except BaseException as fault:  # noqa: BLE001 - see above
            log_own_fault(fault)
        return RetryDecision.default()

    def tiers(self) -> list[Tier]:
        """Return the rungs of the ladder, cheapest first."""
        from airflow_common_ai.policies.tiers.classifier import ClassifierTier
        from airflow_common_ai.policies.tiers.repeat import RepeatTier
        from airflow_common_ai.policies.tiers.rules import RulesTier
        from airflow_common_ai.policies.tiers.signals import SignalsTier

        return [
            RulesTier(self.rules),
            SignalsTier(),
            *([ClassifierTier(self.categories)] if self.classifier else ()),
            RepeatTier(),
            RulesTier(self.fallback_rules, name="fallback_rules"),
        ]


def _check_classifier(value: object, name: str) -> bool | str:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str | Path):
        raise TypeError(
            f"{name} must be True, False or the path of a model, got {value!r}. Use e.g. '/opt/model.json'."
        )
    from airflow_common_ai.classifier import Classifier, UnusableModel

    try:
        Classifier.load(Path(value))
    except UnusableModel as fault:
        raise ValueError(f"{name}: {fault}") from None
    return str(value)


def _check_time(value: object, name: str) -> timedelta | None:
    if value is None:
        return None
    if not isinstance(value, timedelta):
        raise TypeError(f"{name} must be a timedelta or None, got {value!r}. Use e.g. timedelta(hours=1).")
    if not timedelta(0) < value <= _LONGEST:
        raise ValueError(
            f"{name} must be longer than zero and at most a year, got {value!r}. Use e.g. timedelta(hours=1)."
        )
    return value
