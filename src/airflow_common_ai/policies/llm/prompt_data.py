"""The evidence of one failure as lines of a prompt.

It is data from strangers: each text is one line, so that nothing in it can begin one, and what a chat template could
take for its own marks is broken up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.evidence.model import Edge, RedactedEvidence, RedactedNode, RedactedText, Retry, Signal
from airflow_common_ai.policies.attempt import Attempt
from airflow_common_ai.policies.delay import seconds
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.sanitizer import sanitize

__all__ = ["data_lines", "one_line"]

_MAX_NODES = 12
_MAX_SIGNALS = 8
_MAX_SIGNAL_CHARS = 300
_MAX_FACTS = 8
_MAX_FACT_CHARS = 120
_MAX_TRIES = 6
_MAX_NAME_CHARS = 200
_MAX_FRAME_CHARS = 300

_CHAT_MARKS = re.compile(r"<(?=[^\s<>]{1,40}>)|\[(?=/?[A-Z_]{2,20}\])")
"""What may open a mark of a chat template: ``<|im_start|>``, ``</s>``, ``<start_of_turn>``, ``[INST]``. Servers of
local models turn these into control tokens wherever they stand."""


def data_lines(
    evidence: RedactedEvidence,
    signals: Sequence[Signal],
    retry_round: RetryRound,
    operator: RedactedText,
    frames: RedactedText,
    limit: int,
) -> Iterator[str]:
    """
    Yield what a model is shown of a failure.

    :param limit: Characters for the messages, notes and frames together.
    """
    if operator:
        yield f"Operator: {one_line(operator, _MAX_NAME_CHARS)}"
    yield f"Try {retry_round.try_number} of {retry_round.max_tries + 1}."
    yield "Exceptions, the innermost first:"
    stack = frames[max(0, len(frames) - limit // 2) :]
    yield from _exceptions(evidence.nodes, limit - len(stack))
    if stack:
        yield "Frames, the innermost last:"
        yield from (f"  {one_line(frame, _MAX_FRAME_CHARS)}" for frame in stack.splitlines())
    if signals:
        yield "What these are known to mean:"
        yield from (f"- {_meaning(signal)}" for signal in signals[:_MAX_SIGNALS])
    if tries := retry_round.earlier.tries[-_MAX_TRIES:]:
        yield "Earlier failures of this task:"
        yield from (f"- {_earlier(attempt)}" for attempt in tries)


def _exceptions(nodes: Sequence[RedactedNode], limit: int) -> Iterator[str]:
    """One line an exception; each may take half of the characters that are left, so that none silences the others."""
    kept = nodes if len(nodes) <= _MAX_NODES else (*nodes[: _MAX_NODES // 2], *nodes[-_MAX_NODES // 2 :])
    left = limit
    for number, node in enumerate(reversed(kept), start=1):
        share = left if number == len(kept) else max(left // 2, min(left, 200))
        text = one_line(" | ".join(part for part in (node.message, *node.notes) if part), share)
        left = max(0, left - len(text))
        yield f"{number}. {one_line(node.type_path, _MAX_NAME_CHARS)}{_edge(node.edge)}: {text}{_facts(node)}"


def one_line(text: str, limit: int) -> str:
    """One line in which nothing acts, neither on a terminal nor as a mark of a chat template."""
    return cut(_CHAT_MARKS.sub(lambda mark: f"{mark[0]} ", sanitize(cut(text, limit))), limit)


def _edge(edge: Edge) -> str:
    return " (raised first, perhaps handled)" if edge is Edge.CONTEXT else ""


def _facts(node: RedactedNode) -> str:
    facts = [f"{name}={one_line(str(fact), _MAX_FACT_CHARS)}" for name, fact in sorted(node.facts.items())[:_MAX_FACTS]]
    return f" [{', '.join(facts)}]" if facts else ""


def _meaning(signal: Signal) -> str:
    direction = {Retry.YES: "another try may help", Retry.NO: "another try will not help"}
    meaning = f"{signal.code}: {signal.sentence}; {direction.get(signal.retry, 'perhaps another try helps')}"
    return one_line(meaning, _MAX_SIGNAL_CHARS)  # a code may be one that a stranger sent


def _earlier(attempt: Attempt) -> str:
    wait = f" after {seconds(attempt.delay_s)}" if attempt.delay_s is not None else ""
    category = f" ({one_line(attempt.category, 60)})" if attempt.category else ""
    return f"try {attempt.try_number}: {one_line(attempt.code, 60)}{category}, {one_line(attempt.action, 20)}{wait}"
