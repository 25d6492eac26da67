"""An explanation for people: wrapped to a terminal; where there is none, one line for each thing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from airflow_common_ai.evidence.model import Edge, RedactedNode, Retry, Signal, Strength
from airflow_common_ai.policies.delay import seconds
from airflow_common_ai.policies.evidence_policy import EvidenceRetryPolicy
from airflow_common_ai.policies.judgement import Judgement
from airflow_common_ai.sanitizer import sanitize

__all__ = ["Screen"]

_MAX_SHOWN = 12
"""Exceptions, and signals: the JSON holds all of them."""
_MAX_CHARS = 300
_MAX_STEPS_IN = 8

_EDGE_WORDS = {
    Edge.ROOT: "",
    Edge.CAUSE: "caused by ",
    Edge.CONTEXT: "while handling ",
    Edge.MEMBER: "member ",
    Edge.WRAPPED: "wraps ",
    Edge.TRIGGER: "the trigger raised ",
    Edge.NESTED: "its words hold ",
}
_RETRY_WORDS = {Retry.YES: "worth a retry", Retry.NO: "not worth a retry", Retry.DEPENDS: "worth {} tries in all"}

_LIMITS = "A log holds no headers and no attributes of exceptions; a policy in the worker sees them too."

_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True)
class Screen:
    """How an explanation is printed."""

    width: int | None = None
    """Columns; ``None``: nothing is wrapped."""
    has_styles: bool = False

    def show(self, judged: Judgement) -> str:
        """Return an explanation as text; nothing in it that came from outside can act on a terminal."""
        return "\n".join(self._lines(judged))

    def show_failure(self, nodes: Sequence[RedactedNode]) -> str:
        """Return the exceptions with the facts that were read from them, and nothing that was made of these."""
        return "\n".join(self._failure(nodes, has_facts=True))

    def _lines(self, judged: Judgement) -> Iterator[str]:
        attempt, conclusion = judged.attempt, judged.case.conclusion
        yield from self._line("What failed", style=_BOLD)
        yield from self._failure(judged.case.evidence.nodes)

        yield from self._line("\nWhat it says", style=_BOLD)
        if not judged.case.signals:
            yield from self._line("  no signal: no code, no class and no words that are known here", hang=2)
        ranked = sorted(judged.case.signals, key=lambda signal: signal is not conclusion.signal)
        for signal in ranked[:_MAX_SHOWN]:
            yield from self._signal(signal, is_winner=signal is conclusion.signal)
        yield from self._more(len(ranked), "signals")

        yield from self._line("\nWho decided", style=_BOLD)
        for vote in attempt.votes:
            sure = "" if vote.confidence is None else f" ({vote.confidence:.2f})"
            words = f"{vote.outcome}: {vote.code}{sure}" if vote.code else vote.outcome
            yield from self._line(f"  {vote.tier:<15} {words}", style="" if vote.tier == attempt.tier else _DIM)
        asked = {vote.tier for vote in attempt.votes}
        if others := [tier.name for tier in EvidenceRetryPolicy().tiers() if tier.name not in asked]:
            yield from self._line(f"  {'not asked':<15} {', '.join(others)}", style=_DIM)

        if attempt.delay_steps:
            yield from self._line("\nHow long to wait, with jitter at its mean", style=_BOLD)
            for step in attempt.delay_steps:
                yield from self._line(f"  {step}", hang=4)

        yield from self._line(f"\nDecision: {attempt.headline}", hang=2, style=_BOLD)
        yield from self._line(f"  {_origin(judged)}", hang=2)
        yield from self._line(f"  {_LIMITS}", hang=2, style=_DIM)

    def _failure(self, nodes: Sequence[RedactedNode], *, has_facts: bool = False) -> Iterator[str]:
        depths: list[int] = []
        for index, node in enumerate(nodes[:_MAX_SHOWN]):
            depths.append(0 if node.parent is None else depths[node.parent] + 1)
            indent = "  " * (1 + min(depths[index], _MAX_STEPS_IN))
            words = f"{node.type_path.removeprefix('builtins.')}: {_one_line(node.message)}".removesuffix(": ")
            yield from self._line(f"{indent}[{index}] {_EDGE_WORDS[node.edge]}{words}", hang=len(indent) + 4)
            for note in node.notes[:_MAX_SHOWN]:
                yield from self._line(f"{indent}    note: {_one_line(note)}", hang=len(indent) + 6)
            for name, fact in sorted(node.facts.items())[: _MAX_SHOWN if has_facts else 0]:
                yield from self._line(f"{indent}    {name} = {_one_line(str(fact))}", hang=len(indent) + 6)
        yield from self._more(len(nodes), "exceptions")

    def _signal(self, signal: Signal, *, is_winner: bool) -> Iterator[str]:
        mark, style = ("→", "") if is_winner else (" ", _DIM)
        yield from self._line(f"  {mark} [{signal.node}] {signal.code}: {signal.sentence}", hang=8, style=style)
        retry = _RETRY_WORDS[signal.retry].format(signal.max_attempts)
        certainty = ", a hint only" if signal.strength is Strength.HINT else ""
        asked = "" if signal.asked_delay_s is None else f", asks for {seconds(signal.asked_delay_s)}"
        words = f"{signal.category}, {retry}{asked}{certainty} ({signal.source})"
        yield from self._line(f"        {words}", hang=8, style=style)

    def _more(self, count: int, what: str) -> Iterator[str]:
        if count > _MAX_SHOWN:
            yield from self._line(f"  … and {count - _MAX_SHOWN} more {what}, see --json", style=_DIM)

    def _line(self, text: str, *, hang: int = 0, style: str = "") -> Iterator[str]:
        start = "\n" if text.startswith("\n") else ""
        text = sanitize(text.removeprefix("\n").replace("\t", " "))
        lines = [text]
        if self.width is not None:
            hang = min(hang, self.width // 2)
            lines = textwrap.wrap(text, self.width, subsequent_indent=" " * hang, break_on_hyphens=False)
        for line in lines:
            yield start + (f"{style}{line}{_PLAIN}" if style and self.has_styles else line)
            start = ""


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_CHARS else f"{line[:_MAX_CHARS]}…"


def _origin(judged: Judgement) -> str:
    """Say which tier decided on what, and for which try."""
    attempt, signal = judged.attempt, judged.case.conclusion.signal
    which = f"judged as try {attempt.try_number} of {max(attempt.try_number, attempt.max_tries + 1)}"
    if attempt.tier is None:
        return f"No tier was sure; {which}."
    node = f" in [{signal.node}]" if attempt.tier == "signals" and signal else ""
    return f"Decided by the tier {attempt.tier} from {attempt.code}{node}; {which}."
