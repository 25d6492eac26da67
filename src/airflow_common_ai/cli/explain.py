"""``airflow-common-ai explain``: what a policy would decide about a printed failure, and why."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from airflow_common_ai.cli.failure_input import UnreadableInput, read_input
from airflow_common_ai.evidence.model import Edge, Evidence, RedactedNode, Signal
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.evidence.task_log import read_failure
from airflow_common_ai.policies.delay import RetrySchedule
from airflow_common_ai.policies.evidence_policy import EvidenceRetryPolicy
from airflow_common_ai.policies.judgement import Judgement, judge
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.policies.settings import read_settings
from airflow_common_ai.sanitizer import sanitize

__all__ = ["explain"]

_MAX_SHOWN_CHARS = 240

_EDGE_WORDS = {
    Edge.ROOT: "raised",
    Edge.CAUSE: "caused by",
    Edge.CONTEXT: "raised while handling",
    Edge.MEMBER: "member",
    Edge.WRAPPED: "wraps",
    Edge.TRIGGER: "trigger failed with",
    Edge.NESTED: "its text holds",
}


def explain(source: Path | None, *, as_json: bool, try_number: int, retries: int, retry_delay_s: float) -> str:
    """
    Return the explanation as text for a terminal, or as JSON.

    :raises UnreadableInput: There is no failure to judge.
    """
    nodes = read_failure(read_input(source))
    if not nodes:
        raise UnreadableInput(
            "found no Python traceback and no Airflow error in the input; give the end of the log, where the task "
            "failed"
        )
    root = nodes[0]
    policy = EvidenceRetryPolicy()
    judged = judge(
        policy,
        # Only a user's rules look at the live exception, and there are none here.
        Exception(root.message),
        Evidence(tuple(nodes), observed_at=datetime.now(UTC)),
        RetryRound(
            try_number=try_number,
            max_tries=retries,
            schedule=RetrySchedule(retry_delay_s),
            is_last_try=retries == 0 or try_number > retries,
        ),
        redactor=Redactor(),
        settings=read_settings(),
        uniform=lambda: 0.5,
    )
    return json.dumps(_as_json(judged), indent=2) if as_json else _as_text(judged, policy)


def _as_json(judged: Judgement) -> dict[str, Any]:
    attempt = judged.attempt
    return {
        "decision": {
            "action": attempt.action,
            "delay_s": attempt.delay_s,
            "code": attempt.code,
            "category": attempt.category,
            "reason": attempt.reason,
            "decided_by": attempt.tier,
            "is_last_try": attempt.is_last_try,
        },
        "delay_steps": list(attempt.delay_steps),
        "votes": [vote.to_json() for vote in judged.attempt.votes],
        "signals": [_signal_as_json(signal) for signal in judged.case.signals],
        "fingerprint": attempt.fingerprint,
        "failure": judged.case.evidence.to_json(),
    }


def _signal_as_json(signal: Signal) -> dict[str, Any]:
    return {
        "code": signal.code,
        "category": signal.category,
        "retry": signal.retry.value,
        "wait": signal.wait.value,
        "asked_delay_s": signal.asked_delay_s,
        "max_attempts": signal.max_attempts,
        "strength": signal.strength.value,
        "rank": signal.rank.name.lower(),
        "sentence": signal.sentence,
        "source": signal.source,
        "node": signal.node,
    }


def _as_text(judged: Judgement, policy: EvidenceRetryPolicy) -> str:
    out = Console(file=io.StringIO(), force_terminal=Console().is_terminal, highlight=False, width=_width())
    attempt = judged.attempt
    out.print(Text("What failed", style="bold"))
    for index, node in enumerate(judged.case.evidence.nodes):
        out.print(_node_line(index, node, judged), soft_wrap=True)

    out.print(Text("\nWhat it says", style="bold"))
    if judged.case.signals:
        out.print(_signal_table(judged.case.signals, judged.case.conclusion.signal))
    else:
        out.print("  no signal: neither a code, a class nor words that are known here")

    out.print(Text("\nWho decided", style="bold"))
    for vote in attempt.votes:
        out.print(Text(f"  {vote.tier}: {vote.outcome}{f' ({vote.code})' if vote.code else ''}"))
    asked = {vote.tier for vote in attempt.votes}
    for tier in policy.tiers():
        if tier.name not in asked:
            out.print(Text(f"  {tier.name}: not asked", style="dim"))

    if attempt.delay_steps:
        out.print(Text("\nHow long to wait (jitter at its mean)", style="bold"))
        for step in attempt.delay_steps:
            out.print(Text(f"  {sanitize(step)}"))

    out.print()
    out.print(Text(sanitize(attempt.headline), style="bold"), soft_wrap=True)
    file = out.file
    assert isinstance(file, io.StringIO)  # noqa: S101 - made above
    return file.getvalue().rstrip("\n")


def _width() -> int:
    return max(Console().width, 80)


def _node_line(index: int, node: RedactedNode, judged: Judgement) -> Text:
    depth = 0
    parent = node.parent
    while parent is not None:
        depth, parent = depth + 1, judged.case.evidence.nodes[parent].parent
    message = sanitize(node.message)
    if len(message) > _MAX_SHOWN_CHARS:
        message = f"{message[:_MAX_SHOWN_CHARS]}…"
    return Text.assemble(
        f"  {'  ' * depth}[{index}] {_EDGE_WORDS[node.edge]} ",
        (sanitize(node.type_path), "bold"),
        f": {message}" if message else "",
    )


def _signal_table(signals: tuple[Signal, ...], winner: Signal | None) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for name in ("", "in", "code", "category", "retry", "strength", "what it means", "source"):
        table.add_column(name, overflow="fold")
    for signal in signals:
        retry = signal.retry.value
        if signal.max_attempts is not None:
            retry = f"up to {signal.max_attempts} attempts"
        cells = (
            "→" if signal is winner else " ",
            f"[{signal.node}]",
            signal.code,
            signal.category,
            retry,
            signal.strength.value,
            signal.sentence,
            signal.source,
        )
        table.add_row(*(Text(sanitize(cell)) for cell in cells), style="" if signal is winner else "dim")
    return table
