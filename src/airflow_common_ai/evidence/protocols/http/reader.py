"""HTTP: the status, the headers that carry a wait and the service's own code, from whatever client raised.

``http_answer`` knows where clients keep the answer, ``http_wording`` how they print it, ``http_body`` what a body
says and ``wait_headers`` how long the headers ask to wait; ``http_judgement`` makes signals of these facts. Its
tables are ``http_status``, ``http_vendor_codes`` and ``http_words``; ``http_classes`` is for failures without answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from airflow_common_ai.evidence.model import Fact, Rank, RedactedNode, Signal, root_of
from airflow_common_ai.evidence.protocols.http.answer import find_answer, is_broken_answer
from airflow_common_ai.evidence.protocols.http.banners import (
    NOT_HTTP,
    OTHER_PROTOCOL,
    greets_otherwise,
    is_length_of_words,
    speaks_http,
)
from airflow_common_ai.evidence.protocols.http.body import body_facts, is_vendor_code
from airflow_common_ai.evidence.protocols.http.classes import class_meaning
from airflow_common_ai.evidence.protocols.http.judgement import judge
from airflow_common_ai.evidence.protocols.http.wording import printed_facts

__all__ = ["probe", "read"]


def probe(exception: BaseException) -> dict[str, Fact]:
    """Return the answer that an exception carries as ``http.…`` facts; empty if it carries none."""
    if is_broken_answer(exception):
        return {"http.broken_answer": True}
    answer = find_answer(exception)
    if answer is None:
        return {}
    facts: dict[str, Fact] = {}
    for body in answer.bodies:
        facts = body_facts(body, is_cloudflare=answer.is_cloudflare) | facts
    for name, code in answer.codes.items():
        if is_vendor_code(code):
            facts.setdefault(f"http.body.{name}", code)
    if answer.retry_after_s is not None:
        facts.setdefault("http.body.retry_after_s", answer.retry_after_s)
    own: dict[str, Fact | None] = {
        "http.status": answer.status,
        "http.method": answer.method,
        "http.landed_on": answer.landed_on,
        "http.retries_spent": answer.has_spent_retries or None,
        **{f"http.header.{name}": value for name, value in answer.headers.items()},
    }
    # The status first: whoever bounds the number of facts keeps the first ones.
    return {name: fact for name, fact in own.items() if fact is not None} | facts


def read(node: RedactedNode, observed_at: datetime) -> Iterable[Signal]:
    """Yield what the answer says, from the SDK's verdict down to the bare status, else what the class says."""
    if node.is_a("smtplib.SMTPException", "aiosmtplib.SMTPException"):
        return  # its code is the reply of a mail server
    if is_length_of_words(node.message) or (root_of(node.type_path) in NOT_HTTP and speaks_http(node.message)):
        yield OTHER_PROTOCOL.signal("http.other_protocol", Rank.STATUS)
        return
    facts = {name: fact for name, fact in node.facts.items() if name.startswith("http.")} or printed_facts(node)
    found = class_meaning(node)
    is_unread = facts.get("http.broken_answer") or (found is not None and found[0] in ("broken_answer", "connection"))
    if is_unread and greets_otherwise(node.message):
        yield OTHER_PROTOCOL.signal("http.other_protocol", Rank.STATUS)
        return
    signals = list(judge(facts, node.message, observed_at)) if facts else []
    yield from signals
    if any(signal.is_conclusive for signal in signals):
        return
    if found is not None:
        detail, meaning = found
        yield meaning.signal(f"http.{detail}", Rank.CLASS)
