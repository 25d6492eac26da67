"""Runs for reports: one with everything that a report shows, and one whose every text attacks its reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from evals.replayed_run import label, row, run_of

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.report.report import Report
from airflow_common_ai.evals.runs.run_file import Row, Run
from airflow_common_ai.evals.score import score

__all__ = ["PAYLOADS", "hostile_run", "report_of", "whole_run"]

PAYLOADS = (
    "<script>window.pwned = 1; fetch('CANARY/script')</script>",
    "</style><script>window.pwned = 2</script><style>@import url(CANARY/import);",
    "</title></head><body onload=window.pwned=3><h1>gone</h1>",
    "<img src=CANARY/img onerror=window.pwned=4>",
    "<svg onload=window.pwned=5><image href=CANARY/svg /><foreignObject><iframe src=CANARY/frame>",
    "</text></g></svg><script>window.pwned = 6</script>",
    "</pre></code></details><a href=javascript:window.pwned=7>click me</a>",
    "[click](javascript:window.pwned=8) ![](\tCANARY/md) <CANARY/auto> CANARY/bare www.example.com",
    "'\"><input autofocus onfocus=window.pwned=9><link rel=stylesheet href=CANARY/css>",
    "x; background: url(CANARY/style) } * { display: none !important",
    "| a | b |\\| c `` ` ``` ~~~ \\` <!-- --> &lt;b&gt; &#60;i&#62;",
    "# heading @someone #123 GH-1 someone@example.com **bold** {{ 7 * 7 }} {% raw %}",
    ']]> <!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]> &e; --> <?php ?>',
    "$\\frac{1}{0}$ \\input{x} \x00\x1b[31mred\x1b]8;;CANARY/osc\x07\u202etxet\u200b\ufffe\uffff\r\n\n- item",
    "https" + "://" + "x" * 400 + ".example.com/" + "W" * 900,
)
"""``CANARY`` is where whoever falls for one calls."""


def whole_run() -> Run:
    """Thirty-odd decisions: every outcome, two voices, costs of every kind, repeats, and copies of one failure."""
    rows = [row(number, "retry", label("yes", "network"), **_named("network", "signals")) for number in range(12)]
    rows += [row(number, "fail", label("no", "auth"), **_named("auth", "signals")) for number in range(12, 22)]
    rows += [_by_model(number, 0.5 + number / 100) for number in range(22, 40)]
    rows += [
        row(40, "fail", label("yes", "rate_limit"), asked_delay_s=120.0, **_named("permanent", "signals")),
        row(41, "retry", label("yes", "rate_limit"), asked_delay_s=120.0, **_named("rate_limit", "signals")),
        row(42, "default", label("no", "data")),
        row(43, "default", label("either"), outcome=Outcome.CRASHED, error="KeyError: 'status'"),
        row(44, "default", label("no"), outcome=Outcome.TIMED_OUT, error="stopped after 120 s"),
        row(45, "retry", None, repeat=2, id="family/case-0", fingerprint=f"{0:016x}", **_named("transient", "signals")),
        replace(row(46), label=None),
    ]
    return run_of(
        rows,
        mode="replay",
        model="a-model",
        measured_at=datetime(2026, 11, 30, 12, tzinfo=UTC),
        versions={"python": "3.11.2"},
    )


def hostile_run(canary: str) -> Run:
    """Every text of it is a payload, also those that a reader of files would have cleaned."""
    texts = [payload.replace("CANARY", canary) for payload in PAYLOADS]
    rows = [_hostile(number, text, texts) for number, text in enumerate(texts)]
    run = run_of(rows, versions={text: text for text in texts})
    header = replace(run.header, policy=texts[0], policy_id=texts[7], model=texts[10], corpus=texts[1])
    return replace(run, header=header)


def report_of(run: Run, title: str = "How good is it?") -> Report:
    return Report(score(run), title)


def _named(category: str, source: str) -> dict[str, Any]:
    votes = ({"tier": source, "outcome": "retry", "code": f"{source}.{category}", "category": category},)
    return {"category": category, "source": source, "votes": votes, "code": f"{source}.{category}"}


def _by_model(number: int, confidence: float) -> Row:
    is_right = number % 5 != 0
    named = "transient" if is_right == bool(number % 2) else "data"
    action = "retry" if named == "transient" else "fail"
    vote = {"tier": "llm", "outcome": action, "category": named, "confidence": confidence}
    return row(
        number,
        action,
        label("yes", "transient") if number % 2 else label("no", "data"),
        category=named,
        confidence=confidence,
        source="llm",
        votes=({"tier": "signals", "outcome": "abstained"}, vote),
        calls=1,
        model="a-model",
        input_tokens=400,
        output_tokens=20,
        cost_usd=0.001,
        reason=f"the model named it {named}",
    )


def _hostile(number: int, text: str, texts: Sequence[str]) -> Row:
    plain = row(number, ("fail", "retry", "default")[number % 3], replace(label("yes"), why=text, source=text))
    vote = {"tier": text, "outcome": text, "code": text, "category": text, "confidence": (number + 1) / 20}
    return replace(
        plain,
        id=f"{number} {text}",
        split=text,
        library=text,
        failure=(text, f"Traceback: {text}", *texts),
        tags=(text,),
        category=text,
        confidence=(number + 1) / 20,
        source=text,
        code=text,
        reason=text,
        votes=(vote, {"tier": "plain", "outcome": "abstained"}),
        model=text,
        error=text,
    )
