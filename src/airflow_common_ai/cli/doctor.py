"""``airflow-common-ai doctor``: whether the model behind a connection can judge failures, and what to mend if not."""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import resources
from urllib.parse import urlsplit

from airflow_common_ai.cli.diagnosis import Asked, Diagnosis, Finding, State
from airflow_common_ai.evidence.conclusion import conclude
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor
from airflow_common_ai.policies.airflow_context import mask_registered_secrets
from airflow_common_ai.policies.llm.answer import Answer, ConfidenceSource, read_answer
from airflow_common_ai.policies.llm.call import NoReply, ask
from airflow_common_ai.policies.llm.connections import FetchedConnection, ModelChain, fetch_chain
from airflow_common_ai.policies.llm.endpoint import is_refused
from airflow_common_ai.policies.llm.trouble import in_words
from airflow_common_ai.policies.llm_policy import LLMRetryPolicy
from airflow_common_ai.policies.retry_round import RetryRound
from airflow_common_ai.recordings.label import Label, ShouldRetry
from airflow_common_ai.recordings.recording import Recording
from airflow_common_ai.sanitizer import sanitize

__all__ = ["diagnose", "read_failures"]

POLICY_TIMEOUT_S = 30.0
"""``LLMRetryPolicy``'s own, which users have unless they set another."""

_LISTING_S = 3.0
_FEWEST_ANSWERED = 0.95
_MAX_LISTED = 8
_PORTS = {"http": 80, "https": 443}
_OLLAMA = "ollama:"

_FIXES = (
    ("HTTP 401", "Set the connection's password to a valid key."),
    ("HTTP 403", "Set the connection's password to a key that may use this model."),
    ("HTTP 404", "Check the model's name, and that the host ends in /v1 where a local server is meant."),
    ("HTTP 429", "The provider is throttling or the quota is used up: look at its console."),
    ("a package is missing", "Install it where the workers run, e.g. pip install 'airflow-common-ai[openai]'."),
    ("connections of type", "Give the connection the type pydanticai, or another one of Pydantic AI."),
    ("none of Pydantic AI's", "Give the connection the type pydanticai, or another one of Pydantic AI."),
    ("no answer within", "Give it longer with --timeout, keep the model loaded, or take a smaller one."),
    ("longer than the token cap", "Take a model that keeps to the schema, or raise LLMRetryPolicy(max_tokens=...)."),
    ("does not fit the question", "Take a model, or a server, that holds answers to a JSON schema or a tool."),
    ("did not resolve", "Correct the connection's host."),
    ("TLS failed", "Use http:// for a server without TLS, or install its certificate on the workers."),
)
"""What to do about what ``ask`` said, by its words."""

_SOURCES: dict[ConfidenceSource, str] = {
    "decision_model": "a decision model reports it",
    "token_probabilities": "the probability of the tokens that spell the category",
    "own_statement": "what the model says of itself, capped at 0.9",
    "none": "nothing: its answers count for nothing",
}


def diagnose(
    conn_id: str,
    model_id: str | None = None,
    *,
    timeout_s: float = 120.0,
    progress: Callable[[str], None] = lambda line: None,
) -> Diagnosis:
    """
    Look at a connection in the order in which things go wrong, and ask its model about recorded failures.

    Nothing is written anywhere. What it finds is no measurement that may let a model fail tasks: that takes 59 cases
    of a category, not twenty.

    :param timeout_s: Seconds for one question. More than a policy gives, so as to tell slow from broken.
    :param progress: Told what is done at the moment.
    """
    policy = LLMRetryPolicy(conn_id, model_id, timeout=timeout_s)
    chain = fetch_chain(conn_id, model_id)
    findings = [*_connection(chain)]
    connection = chain.links[0].connection
    if connection is None or any(finding.state is State.BAD for finding in findings):
        return Diagnosis(conn_id, tuple(findings))
    model = model_id or str(connection.extra_dejson.get("model") or "")
    findings += _server(connection, model)
    if any(finding.state is State.BAD for finding in findings):
        return Diagnosis(conn_id, tuple(findings))
    if model.startswith(_OLLAMA):
        findings.append(_ollama_model(connection, model.removeprefix(_OLLAMA)))
    chain = replace(chain, links=chain.links[:1])
    failures = read_failures()
    progress("asking the first question: the model may have to be loaded")
    asked = [_ask(policy, chain, *failures[0])]
    findings.append(_answer(asked[0]))
    if asked[0].answer is None:
        return Diagnosis(conn_id, tuple(findings), tuple(asked))
    for number, failure in enumerate(failures[1:], 2):
        progress(f"asking about recorded failure {number} of {len(failures)}")
        asked.append(_ask(policy, chain, *failure))
    findings += [_speed(asked), _confidence(asked[0].answer), *_quality(asked)]
    return Diagnosis(conn_id, tuple(findings), tuple(asked))


def read_failures() -> list[tuple[Recording, Label]]:
    """Return the recorded failures that every model is asked about: with labels that nobody would argue about."""
    file = resources.files("airflow_common_ai.cli").joinpath("doctor_failures.jsonl")
    entries = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [(Recording.from_json(one["recording"], Redactor()), Label.from_json(one["label"])) for one in entries]


def _connection(chain: ModelChain) -> Iterator[Finding]:
    first, *fallbacks = chain.links
    if first.connection is None:
        fix = (
            "See that this machine reaches Airflow's database, or the secrets backend."
            if first.is_airflow_fault
            else f"Define it: airflow connections add {first.conn_id} --conn-type pydanticai --conn-host ..., or the "
            f"variable AIRFLOW_CONN_{first.conn_id.upper()}."
        )
        yield Finding("connection", State.BAD, first.problem, fix)
        return
    model = chain.model_id or first.connection.extra_dejson.get("model")
    if not model:
        fix = 'Name it in the extra, e.g. {"model": "ollama:llama3.2"}, or with --model-id.'
        yield Finding("connection", State.BAD, "it names no model", fix)
        return
    yield Finding("connection", State.OK, f"type {first.connection.conn_type}, model {model}")
    for link in fallbacks:
        if link.connection is None:
            fix = "Define it, or take it out of fallback_conn_ids."
            yield Finding("fallback", State.BAD, f"{link.conn_id}: {link.problem}", fix)
        else:
            fix = f"Look at it: airflow-common-ai doctor --conn-id {link.conn_id}"
            yield Finding("fallback", State.NOTE, f"{link.conn_id} is defined, and was not asked", fix)


def _server(connection: FetchedConnection, model: str) -> Iterator[Finding]:
    if not connection.host:
        yield Finding("server", State.NOTE, "the connection names none, so the provider's own is asked")
        return
    parts = urlsplit(connection.host)
    if parts.scheme not in _PORTS or not parts.hostname:
        fix = "Set the host to a URL, e.g. http://localhost:11434/v1"
        yield Finding("server", State.BAD, f"the host is no URL: {_shown(connection.host)}", fix)
        return
    place = f"{parts.hostname}:{parts.port or _PORTS[parts.scheme]}"
    if asyncio.run(is_refused(connection.host)):
        start = "Start it (ollama serve)" if model.startswith(_OLLAMA) else "Start it"
        yield Finding(
            "server", State.BAD, f"{place} refuses connections", f"{start}, or correct the connection's host."
        )
        return
    yield Finding("server", State.OK, f"{place} does not refuse connections")


def _ollama_model(connection: FetchedConnection, model: str) -> Finding:
    try:
        import ollama
    except ImportError:
        fix = "pip install 'airflow-common-ai[ollama]'"
        return Finding("model", State.NOTE, "the package ollama is missing, so its models could not be listed", fix)
    try:
        url = (connection.host or "").rstrip("/").removesuffix("/v1") or None
        names = sorted(found.model or "" for found in ollama.Client(host=url, timeout=_LISTING_S).list().models)
    except Exception as error:  # noqa: BLE001 - whatever answers there
        found = f"the server does not list its models as Ollama does ({in_words(error, connection)})"
        return Finding("model", State.NOTE, found, "If it is no Ollama, name the model openai-chat:... or vllm:...")
    wanted = model if ":" in model else f"{model}:latest"
    if wanted in names or model.endswith("-cloud"):
        return Finding("model", State.OK, f"{wanted} is there")
    listed = ", ".join(_shown(name) for name in names[:_MAX_LISTED]) or "none"
    return Finding("model", State.BAD, f"{wanted} is not there; there are: {listed}", f"ollama pull {model}")


def _ask(policy: LLMRetryPolicy, chain: ModelChain, recording: Recording, label: Label) -> Asked:
    signals = read_signals(recording.evidence)
    asked = Asked(recording, label, is_open=conclude(recording.evidence, signals).signal is None)
    first_try = RetryRound(try_number=1, max_tries=3)
    reply = ask(chain, policy.questioner().question(recording.evidence, signals, first_try), policy.timeout)
    if isinstance(reply, NoReply):
        return replace(asked, problem=_shown(reply.reason))
    answer = read_answer(reply, policy.categories)
    if isinstance(answer, str):
        return replace(asked, reply=reply, problem=answer)
    return replace(asked, reply=reply, answer=answer, would_retry=policy.categories[answer.category].retry)


def _answer(asked: Asked) -> Finding:
    reply = asked.reply
    if reply is None or asked.answer is None:
        return Finding("answer", State.BAD, asked.problem, _fix(asked.problem))
    tokens = f"{reply.input_tokens or '?'} tokens in, {reply.output_tokens or '?'} out"
    found = f"{_shown(reply.model_name)} answers ({reply.form}) in {reply.seconds:.1f} s, {tokens}"
    if reply.seconds <= POLICY_TIMEOUT_S:
        return Finding("answer", State.OK, found)
    fix = f"Keep the model loaded, or give it time: {_timeout(reply.seconds)}"
    return Finding("answer", State.NOTE, f"{found}, which is the first answer", fix)


def _speed(asked: Sequence[Asked]) -> Finding:
    times = sorted(one.reply.seconds for one in asked[1:] if one.reply) or [0.0]
    median, slowest = statistics.median(times), times[-1]
    found = f"half of the answers within {median:.1f} s, the slowest in {slowest:.1f} s"
    if slowest <= POLICY_TIMEOUT_S:
        return Finding("speed", State.OK, found)
    fix = f"Take a smaller model or a quicker machine, or give it time: {_timeout(slowest)}"
    return Finding("speed", State.NOTE if median <= POLICY_TIMEOUT_S else State.BAD, found, fix)


def _confidence(answer: Answer) -> Finding:
    source = answer.confidence_source
    state = State.NOTE if source in ("own_statement", "none") else State.OK
    fix = "A server that gives token probabilities (logprobs) tells more." if state is State.NOTE else ""
    return Finding("confidence", state, _SOURCES[source], fix)


def _quality(asked: Sequence[Asked]) -> Iterator[Finding]:
    answered = [one for one in asked if one.answer]
    if len(answered) < _FEWEST_ANSWERED * len(asked):
        problems = dict.fromkeys(one.problem for one in asked if not one.answer)
        found = f"{len(asked) - len(answered)} of {len(asked)} questions got none: {'; '.join(problems)}"
        yield Finding("answers", State.BAD, found, _fix("; ".join(problems)))
    right = sum(one.is_right for one in answered)
    named = sum(one.label.accepts(one.answer.category) for one in answered if one.answer)
    worth = [one for one in answered if one.label.should_retry is ShouldRetry.YES]
    failed = sum(one.would_retry is False for one in worth)
    found = (
        f"of {len(asked)} recorded failures it names the right category for {named}, and retry or fail would be right "
        f"for {right}; of {len(worth)} worth a retry it would fail {failed}"
    )
    if 2 * right <= len(asked):
        yield Finding("failures", State.BAD, found, "It is no better than a coin: take a larger model.")
    elif failed:
        fix = "Nothing to do: unmeasured, its word alone fails no task. Give it no trust table without an evaluation."
        yield Finding("failures", State.NOTE, found, fix)
    else:
        yield Finding("failures", State.OK, found)


def _fix(problem: str) -> str:
    return next((fix for words, fix in _FIXES if words in problem), "Look at the server's own log.")


def _timeout(seconds: float) -> str:
    return f"LLMRetryPolicy(..., timeout={round(seconds * 1.5)})"


def _shown(text: str) -> str:
    return sanitize(Redactor(mask_registered_secrets).text(text))
