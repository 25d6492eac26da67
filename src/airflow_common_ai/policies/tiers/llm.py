"""What a language model makes of a failure that the evidence leaves open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import NO_TEXT, RedactedText
from airflow_common_ai.policies.attempt import MAX_PROMPT_CHARS, Consultation
from airflow_common_ai.policies.ladder import Case, Tier, Verdict
from airflow_common_ai.policies.llm.answer import Answer, read_answer
from airflow_common_ai.policies.llm.call import NoReply, Question, Reply, ask
from airflow_common_ai.policies.llm.connections import fetch_chain
from airflow_common_ai.policies.llm.frames import frames_of
from airflow_common_ai.policies.llm.weight import doubt_about, measured_trust
from airflow_common_ai.policies.own_fault import log_own_fault
from airflow_common_ai.policies.stored_texts import MAX_LINE_CHARS, MAX_NAME_CHARS, MAX_TEXT_CHARS
from airflow_common_ai.sanitizer import sanitize

if TYPE_CHECKING:
    from airflow_common_ai.policies.llm.question import Questioner
    from airflow_common_ai.policies.llm_policy import LLMRetryPolicy

__all__ = ["LLMTier"]

_AFTERWARDS_S = 0.25
"""Of the policy's ``timeout``, for what comes after the wait: to notice that it is over, to read the answer and to plan
the delay takes 2 ms, but a thread that is importing a library lets go of the interpreter late. Source: up to 0.3 s
measured on two processors that six programs want."""

_MOST_FOR_THE_MODEL = 0.9
"""Of a short ``timeout``, at least so much."""

_MOST_TOKENS = 10**9
_MOST_USD = 10**6
"""A server may report any number."""

_MAX_READ_CHARS = 4096
"""More than is kept, so that no secret is cut in half before it is seen."""


@dataclass(frozen=True)
class LLMTier:
    """
    Asks the model of a policy, once for the same failure of a task. The model names a category, the table decides.

    A retry may rest on the model alone. A failure may not: it takes a hint in the evidence that points the same way,
    or a trust table that was measured for this very model and question.
    """

    policy: LLMRetryPolicy
    fallback: Tier
    """The author's own rules for what nothing settles: what they retry, no model fails."""
    name: str = "llm"

    def decide(self, case: Case) -> Verdict:
        why = "the evidence leaves it open" if case.conclusion.signal is None else "evidence_first=False"
        try:
            return self._decide(case, case.redactor.text(why))
        except Exception as fault:  # noqa: BLE001 - a fault of ours costs the model's word, not the rules behind it
            log_own_fault(fault)
            return _unanswered(case, Consultation(case.redactor.text(why)), "asking a model failed here")

    def _decide(self, case: Case, why: RedactedText) -> Verdict:
        policy = self.policy
        asked = Consultation(why, question=self._questioner.identity(policy.llm_conn_id, policy.model_id))
        if case.retry_round.is_last_try:
            return _unanswered(case, asked, "no model was asked, since no retry is left")
        if earlier := self._earlier_answer(case, asked):
            return self._verdict(case, *earlier)
        if case.is_supervisor_down:
            return _unanswered(case, asked, "no model was asked, since Airflow could not even hand over the record")
        question = self._question(case)
        if policy.store_prompt:
            asked = replace(asked, prompt=_kept(case, question.prompt))
        chain = fetch_chain(policy.llm_conn_id, policy.model_id)
        # From here on the clock of ``timeout`` runs: what is slow is behind us, or inside of ``ask``.
        reply = ask(chain, question, max(policy.timeout - _AFTERWARDS_S, policy.timeout * _MOST_FOR_THE_MODEL))
        said = replace(
            _of_reply(asked, reply, case),
            connection_milliseconds=round(chain.fetch_seconds * 1000, 3),
            has_airflow_failed=chain.has_airflow_failed,
        )
        if isinstance(reply, NoReply):
            return _unanswered(case, said, f"no model answered: {reply.reason}")
        answer = read_answer(reply, policy.categories)
        if isinstance(answer, str):
            return _unanswered(case, said, f"the model's answer was not used: {answer}")
        return self._verdict(case, answer, _of_answer(said, answer, case))

    @cached_property
    def _questioner(self) -> Questioner:
        return self.policy.questioner()

    def _question(self, case: Case) -> Question:
        frames = case.redactor.text(frames_of(case.exception)) if self.policy.include_traceback else NO_TEXT
        return self._questioner.question(
            case.evidence, case.signals, case.retry_round, operator=case.operator, frames=frames
        )

    def _earlier_answer(self, case: Case, asked: Consultation) -> tuple[Answer, Consultation] | None:
        """Return what a model said, and was sure of, about the same failure in an earlier try of this round."""
        for attempt in reversed(case.history.attempts):
            said = attempt.consultation
            if said is None or said.question != asked.question:
                continue
            row = self.policy.categories.get(said.category or "")
            if attempt.fingerprint != case.fingerprint or said.category is None or row is None:
                continue
            answer = Answer(
                said.category,
                said.confidence or 0.0,
                reasoning=said.reasoning or "",
                should_retry=said.should_retry,
                suggested_delay_s=said.suggested_delay_s,
            )
            if answer.confidence < row.bar:
                continue
            age_s = (said.reused_age_s or 0.0) + (case.evidence.observed_at - attempt.at).total_seconds()
            return answer, replace(
                asked,
                model=said.model,
                conn_id=said.conn_id,
                conn_type=said.conn_type,
                form=said.form,
                category=said.category,
                confidence=said.confidence,
                confidence_source=said.confidence_source,
                should_retry=said.should_retry,
                suggested_delay_s=said.suggested_delay_s,
                reasoning=said.reasoning,
                reused_age_s=max(0.0, age_s),
            )
        return None

    def _verdict(self, case: Case, answer: Answer, said: Consultation) -> Verdict:
        row = self.policy.categories[answer.category]
        is_trusted, trust = measured_trust(
            self.policy.trust,
            answer,
            row,
            model=said.model or "",
            conn_type=said.conn_type or "",
            hashes=self._questioner.hashes,
        )
        doubt = doubt_about(answer, row, case, fallback=self.fallback, missing_trust=None if is_trusted else trust)
        return Verdict(
            code=f"{self.name}.{answer.category}",
            sentence=f"a model says: {said.reasoning}" if said.reasoning else "a model names this category",
            category=answer.category,
            asked_delay_s=case.conclusion.asked_delay_s,
            confidence=answer.confidence,
            suggested_delay_s=answer.suggested_delay_s,
            withheld=doubt,
            consultation=replace(
                said,
                trust=case.redactor.text(trust) if trust else None,
                unused=case.redactor.text(doubt) if doubt else None,
            ),
        )


def _unanswered(case: Case, asked: Consultation, why: str) -> Verdict:
    why = _shown(case, why, MAX_TEXT_CHARS)
    return Verdict("llm.no_answer", why, withheld=why, consultation=replace(asked, unused=why))


def _of_reply(asked: Consultation, reply: Reply | NoReply, case: Case) -> Consultation:
    tried = tuple(_shown(case, f"{conn_id}: {problem}", MAX_TEXT_CHARS) for conn_id, problem in reply.tried)
    if isinstance(reply, NoReply):
        return replace(asked, tried=tried)
    return replace(
        asked,
        model=_shown(case, reply.model_name, MAX_NAME_CHARS),
        conn_id=_shown(case, reply.conn_id, MAX_NAME_CHARS),
        conn_type=_shown(case, reply.conn_type, MAX_NAME_CHARS),
        form=case.redactor.name(reply.form),
        tried=tried,
        input_tokens=_counted(reply.input_tokens),
        output_tokens=_counted(reply.output_tokens),
        cost_usd=reply.cost_usd if reply.cost_usd is not None and 0 <= reply.cost_usd < _MOST_USD else None,
        milliseconds=round(reply.seconds * 1000, 3),
    )


def _of_answer(said: Consultation, answer: Answer, case: Case) -> Consultation:
    return replace(
        said,
        category=case.redactor.name(answer.category),
        confidence=round(answer.confidence, 4),
        confidence_source=case.redactor.name(answer.confidence_source),
        should_retry=answer.should_retry,
        suggested_delay_s=answer.suggested_delay_s,
        reasoning=_shown(case, answer.reasoning, MAX_TEXT_CHARS) if answer.reasoning else None,
    )


def _kept(case: Case, prompt: str) -> tuple[RedactedText, ...]:
    """Return a prompt for the record, behind the wall once more: what is kept is read by more people than is sent."""
    return tuple(_shown(case, line, MAX_LINE_CHARS) for line in cut(prompt, MAX_PROMPT_CHARS).splitlines())


def _counted(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens < _MOST_TOKENS else None


def _shown(case: Case, text: str, max_chars: int) -> RedactedText:
    return sanitize(case.redactor.text(cut(text, _MAX_READ_CHARS)), max_chars)
