"""Ask a policy about one recorded failure, as about the first of several tries, and see who in it decided.

A policy of ours judges the stored evidence itself: the same code on the same facts as in a worker. Every other one is
shown an exception that was rebuilt from the recording.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from types import SimpleNamespace
from typing import Any, TypeGuard

from airflow.providers.common.compat.sdk import ChainRetryPolicy
from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy, RetryAction, RetryDecision, RetryPolicy

from airflow_common_ai.evals.answer import Action, Answer, LaterTry, Outcome
from airflow_common_ai.evals.asking.provider_policies import ProviderLog, is_provider_policy, listening, said_in
from airflow_common_ai.evals.asking.state_store import MemoryStateStore
from airflow_common_ai.evidence.conclusion import Conclusion, conclude
from airflow_common_ai.evidence.model import Evidence, RedactedEvidence
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor, TextFilter
from airflow_common_ai.evidence.type_path import type_path
from airflow_common_ai.policies import history
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.policies.evidence_policy import EvidenceRetryPolicy
from airflow_common_ai.policies.history import History
from airflow_common_ai.policies.judgement import judge
from airflow_common_ai.policies.ladder import Case, Tier, Verdict
from airflow_common_ai.policies.llm_policy import LLMRetryPolicy
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.policies.settings import Settings
from airflow_common_ai.recordings.rebuild import rebuild
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.sanitizer import sanitize

__all__ = ["FIRST_OF_SEVERAL", "Asker", "looks_at_exceptions"]

FIRST_OF_SEVERAL = RetryRound(try_number=1, max_tries=5)

_MODEL_TIER = "llm"
_LONGEST_DELAY_S = 1e11
_MAX_VOTES = 64
_MAX_TEXT_CHARS = 1000
_MAX_NAME_CHARS = 120
_OF_AIRFLOW = {"reschedule": Action.RETRY}
"""Actions of later versions that are a retry by another name."""

_NOBODY = RuntimeError("looked at by rules of users only, and this policy has none")


@dataclass
class _Failure:
    """A recording, and what else a policy may want to see of it."""

    recording: Recording
    repeat: int
    allow_import: tuple[str, ...]
    try_number: int = 1
    store: MemoryStateStore = field(default_factory=MemoryStateStore)
    attempts: dict[int, list[Attempt]] = field(default_factory=lambda: defaultdict(list))
    """What each policy of ours decided about earlier tries, by the identity of its object."""

    @property
    def evidence(self) -> RedactedEvidence:
        return self.recording.evidence

    @cached_property
    def exception(self) -> BaseException:
        return rebuild(self.evidence, allow_import=self.allow_import)

    @cached_property
    def conclusion(self) -> Conclusion:
        return conclude(self.evidence, read_signals(self.evidence))

    @property
    def seed(self) -> str:
        return f"{self.recording.id} {self.repeat} {self.try_number}"

    @property
    def context(self) -> dict[str, Any]:
        """What a policy finds of Airflow's: who the task is, and a place to remember things."""
        family, _, name = self.recording.id.partition("/")
        ti = SimpleNamespace(
            dag_id=family,
            task_id=name,
            run_id="evaluation",
            map_index=-1,
            try_number=self.try_number,
            max_tries=FIRST_OF_SEVERAL.max_tries,
        )
        return {"ti": ti, "task_instance": ti, "task_state_store": self.store, "exception": self.exception}


@dataclass(frozen=True)
class Asker:
    """
    Asks one policy.

    :param policy: Any retry policy.
    :param settings: The section of Airflow's configuration.
    :param asks_models: ``False``: a model gives no answer.
    :param tries: How often the same failure comes again, at most; a policy that fails the task is not asked again.
    :param allow_import: Packages whose exception classes may be imported.
    :param mask_registered: Masks the secrets that Airflow knows.
    """

    policy: RetryPolicy
    settings: Settings
    asks_models: bool = False
    tries: int = 1
    allow_import: tuple[str, ...] = ()
    mask_registered: TextFilter | None = None

    def ask(self, recording: Recording, repeat: int = 1) -> Answer:
        """
        Return what the policy decided; a policy that raises has crashed, which is an answer too.

        The same recording and repeat draw the same jitter.

        :raises KeyboardInterrupt: Somebody wants to end.
        """
        failure = _Failure(recording, repeat, self.allow_import)
        answer = last = self._ask_once(failure)
        later: list[LaterTry] = []
        while failure.try_number < self.tries and last.outcome is Outcome.DECIDED and last.action is not Action.FAIL:
            failure.try_number += 1
            last = self._ask_once(failure)
            later.append(LaterTry(last.action, last.delay_s, last.calls))
        return replace(answer, later=tuple(later), asked_delay_s=failure.conclusion.asked_delay_s)

    def _ask_once(self, failure: _Failure) -> Answer:
        random.seed(failure.seed)
        try:
            return self._ask(self.policy, failure)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a stranger's policy may raise anything
            return self._crashed(error)

    def _ask(self, policy: RetryPolicy, failure: _Failure) -> Answer:
        if is_judged(policy):
            return self._judged(policy, failure)
        if type(policy) is ChainRetryPolicy:
            return self._chained(policy, failure)
        return self._evaluated(policy, failure)

    def _judged(self, policy: EvidenceRetryPolicy, failure: _Failure) -> Answer:
        earlier = failure.attempts[id(policy)]
        wall = _Wall(failure.evidence, self.mask_registered, policy.redactor)
        judged = judge(
            policy if self.asks_models else _without_model(policy),
            failure.exception if looks_at_exceptions(policy) else _NOBODY,
            wall.raw,
            replace(FIRST_OF_SEVERAL, try_number=failure.try_number, earlier=History(tuple(earlier))),
            redactor=wall,
            settings=self.settings,
            uniform=random.Random(failure.seed).random,  # noqa: S311 - jitter
        )
        failure.conclusion = judged.case.conclusion
        earlier.append(judged.attempt)
        return self._of_attempt(judged.attempt)

    def _chained(self, chain: ChainRetryPolicy, failure: _Failure) -> Answer:
        """Ask as the chain does: the first decision but DEFAULT wins, and who raises an ``Exception`` has none."""
        votes: list[Mapping[str, Any]] = []
        answers: list[Answer] = []
        for policy in chain.policies:
            try:
                answer = self._ask(policy, failure)
            except Exception as error:  # noqa: BLE001 - as above
                answer = self._crashed(error)
            answers.append(answer)
            votes += answer.votes or [_vote(policy, answer)]
            if answer.action is not Action.DEFAULT:
                break
        last = answers[-1]
        asked = next((one for one in reversed(answers) if one.model is not None), last)
        errors = [answer.error for answer in answers if answer.error]
        return replace(
            last,
            outcome=Outcome.DECIDED,
            source="default" if last.action is Action.DEFAULT else last.source,
            votes=tuple(votes[:_MAX_VOTES]),
            calls=sum(answer.calls for answer in answers),
            model=asked.model,
            input_tokens=asked.input_tokens,
            output_tokens=asked.output_tokens,
            cost_usd=asked.cost_usd,
            error=self._shown("; ".join(errors)) if errors else None,
        )

    def _evaluated(self, policy: RetryPolicy, failure: _Failure) -> Answer:
        with listening() if is_provider_policy(policy) else nullcontext(ProviderLog()) as heard:
            decision: object = policy.evaluate(
                failure.exception,
                failure.try_number,
                FIRST_OF_SEVERAL.max_tries,
                failure.context,  # type: ignore[arg-type]  # the part of it that there is
            )
        if not isinstance(decision, RetryDecision):
            return Answer(
                Outcome.CRASHED, error=self._shown(f"it returned {_kind(decision)} instead of a RetryDecision")
            )
        action = _action(decision.action)
        base = Answer(action=action, delay_s=_delay_s(decision, action), reason=self._shown(decision.reason or ""))
        if attempt := _recorded(failure.store, decision):
            of_record = self._of_attempt(attempt)
            return replace(of_record, delay_s=base.delay_s, reason=base.reason or of_record.reason)
        if is_provider_policy(policy):
            said = said_in(decision, heard)
            return replace(
                base,
                source=said.source,
                category=self._name(said.category),
                confidence=said.confidence,
                votes=said.votes,
                calls=int(self.asks_models),
                error=self._shown(said.error or ""),
            )
        return replace(base, source=_source(policy, decision))

    def _of_attempt(self, attempt: Attempt) -> Answer:
        said = attempt.consultation
        decided = next((vote for vote in attempt.votes if vote.tier == attempt.tier), None)
        was_asked = said is not None and said.connection_milliseconds is not None
        return Answer(
            action=Action(attempt.action),
            delay_s=attempt.delay_s,
            category=attempt.category,
            confidence=decided.confidence if decided else None,
            source=attempt.tier or "default",
            code=attempt.code,
            reason=attempt.reason,
            votes=tuple(vote.to_json() for vote in attempt.votes),
            calls=int(was_asked),
            model=said.model if said else None,
            input_tokens=said.input_tokens if said else None,
            output_tokens=said.output_tokens if said else None,
            cost_usd=said.cost_usd if said else None,
            error=str(said.unused) if said and was_asked and said.category is None and said.unused else None,
        )

    def _crashed(self, error: BaseException) -> Answer:
        try:
            text = str(error)
        except Exception:  # noqa: BLE001 - a stranger's exception
            text = ""
        return Answer(Outcome.CRASHED, error=self._shown(f"{type_path(type(error))}: {text}".removesuffix(": ")))

    def _shown(self, text: str) -> str | None:
        line = " ".join(str(text)[: 16 * 1024].split())
        return sanitize(Redactor(self.mask_registered).text(line), _MAX_TEXT_CHARS) or None

    def _name(self, text: str | None) -> str | None:
        return None if text is None else sanitize(Redactor(self.mask_registered).name(text), _MAX_NAME_CHARS) or None


def is_judged(policy: RetryPolicy) -> TypeGuard[EvidenceRetryPolicy]:
    """Whether all that it does is to judge evidence: one of ours, or a subclass that decides in tiers as ours do."""
    return isinstance(policy, EvidenceRetryPolicy) and type(policy).evaluate is EvidenceRetryPolicy.evaluate


def looks_at_exceptions(policy: RetryPolicy) -> bool:
    """Whether it sees more than evidence, so that the recorded exceptions have to be rebuilt."""
    if isinstance(policy, ChainRetryPolicy) and type(policy) is ChainRetryPolicy:
        return any(map(looks_at_exceptions, policy.policies))
    if isinstance(policy, EvidenceRetryPolicy) and type(policy) in (EvidenceRetryPolicy, LLMRetryPolicy):
        return bool(policy.rules or policy.fallback_rules)
    return True


class _Wall(Redactor):
    """
    The wall of a policy, for evidence that has passed the named patterns once, when its recording was read.

    They change nothing the second time, so that it passes again only if this wall has more than they: the secrets of
    this machine, or a redactor of the policy's own.
    """

    def __init__(self, seen: RedactedEvidence, mask_registered: TextFilter | None, extra: TextFilter | None) -> None:
        super().__init__(mask_registered, extra)
        self.raw = Evidence(seen.nodes, seen.observed_at, seen.is_truncated)
        self._seen = seen if mask_registered is None and extra is None else None

    def redact(self, evidence: Evidence) -> RedactedEvidence:
        return self._seen if self._seen is not None and evidence is self.raw else super().redact(evidence)


class _NoModelTier:
    """Stands where a model would have been asked."""

    name = _MODEL_TIER

    def decide(self, case: Case) -> Verdict:
        why = "no model was asked, since this evaluation asks none"
        return Verdict("llm.no_answer", why, withheld=why)


def _without_model(policy: EvidenceRetryPolicy) -> EvidenceRetryPolicy:
    """Return the policy with a model that has nothing to say."""
    if not isinstance(policy, LLMRetryPolicy):
        return policy
    tiers: list[Tier] = [_NoModelTier() if tier.name == _MODEL_TIER else tier for tier in policy.tiers()]
    silent = copy(policy)
    silent.tiers = lambda: tiers  # type: ignore[method-assign]  # of this copy only
    return silent


def _recorded(store: MemoryStateStore, decision: RetryDecision) -> Attempt | None:
    """Return what a policy of ours, somewhere inside of the one that was asked, recorded about this very decision."""
    try:
        attempts = History.from_json(store.get(history.KEY), Redactor()).attempts
    except ValueError:
        return None
    matching = (attempt for attempt in reversed(attempts) if attempt.action == decision.action.value)
    if decision.action is RetryAction.DEFAULT:
        return next(matching, None) if decision.reason is None else None
    return next((attempt for attempt in matching if attempt.reason in (decision.reason or "")), None)


def _source(policy: RetryPolicy, decision: RetryDecision) -> str:
    if type(policy) is ExceptionRetryPolicy:
        return "default" if decision.reason is None else "rules"  # a rule that matches always gives a reason
    return "default" if decision.action is RetryAction.DEFAULT else "unknown"


def _vote(policy: RetryPolicy, answer: Answer) -> dict[str, Any]:
    is_crashed = answer.outcome is Outcome.CRASHED
    vote = {
        "tier": sanitize(type(policy).__name__, _MAX_NAME_CHARS),
        "outcome": "crashed" if is_crashed else answer.action.value,
        "category": answer.category,
        "confidence": answer.confidence,
    }
    return {name: value for name, value in vote.items() if value is not None}


def _action(action: RetryAction) -> Action:
    known = {one.value: one for one in Action} | _OF_AIRFLOW
    return known.get(action.value, Action.DEFAULT)


def _delay_s(decision: RetryDecision, action: Action) -> float | None:
    delay: object = decision.retry_delay
    if action is not Action.RETRY or not isinstance(delay, timedelta):
        return None
    seconds = delay.total_seconds()
    return min(max(seconds, 0.0), _LONGEST_DELAY_S) if math.isfinite(seconds) else None


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
