"""Write down what a policy would ask a model about a corpus, without asking."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from airflow_common_ai.evals.batch.listener import Listening
from airflow_common_ai.evals.batch.question_file import Asked, Question, write_questions
from airflow_common_ai.evals.replay.cassette_store import CassetteStore
from airflow_common_ai.evals.replay.model_connections import Reached
from airflow_common_ai.evals.workers.child_environment import child_environment
from airflow_common_ai.evals.workers.job import PolicyFacts, Setup
from airflow_common_ai.evals.workers.worker_pool import WorkerPool
from airflow_common_ai.recordings.split import Split
from airflow_common_ai.sanitizer import sanitize

__all__ = ["Exported", "export_questions"]

_MAX_CHARS = 1000


@dataclass(frozen=True)
class Exported:
    """What is to be asked."""

    model: str
    """As the operator wants it named: ``openai:gpt-5-mini``."""
    questions: Path | None
    """The file; ``None``: all questions are answered already."""


def export_questions(
    corpus: Path,
    policy: str,
    folder: Path,
    *,
    llm_conn_id: str,
    labels: Path | None = None,
    split: Split | None = None,
    repeats: int = 1,
    answers: Path | None = None,
) -> Exported:
    """
    Write the questions of a policy about a corpus to a file; each is its first about a case, and there is one at most.

    Nobody is asked. Which cases have a question is decided as in a run: what a rule or the evidence settles has none.

    :param policy: As for ``airflow-common-ai run``.
    :param folder: Where a folder for the file is made, named by the questions.
    :param llm_conn_id: The connection that the policy asks, of type ``pydanticai``; it may be one that only a running
        task can see.
    :param repeats: How often each question is put.
    :param answers: Recorded answers: what was asked there in the same words is left out.
    :raises ValueError: The corpus or the policy cannot be used, nothing is asked, or a batch cannot ask it.
    """
    reached = Reached.of([llm_conn_id])
    if reached.missing:
        raise ValueError(f"there is no connection {llm_conn_id!r}. Define it: airflow connections add {llm_conn_id} …")
    facts = _facts(policy, reached)
    listening = Listening(
        policy,
        str(Path.cwd()),
        {name: dict(shape) for name, shape in reached.shapes.items()},
        str(corpus),
        "",
        None if labels is None else str(labels),
        None if split is None else split.value,
    )
    questions = [
        Question(one.id, repeat, one.request) for one in _listened(listening) for repeat in range(1, repeats + 1)
    ]
    if not questions:
        raise ValueError(f"{sanitize(policy)} asks no model about any of these cases. Run it without one.")
    models = {_model_of(one) for one in questions}
    if len(models) > 1:
        raise ValueError(f"{len(models)} models are asked, and a batch is for one.")
    store = None if answers is None else CassetteStore(answers)
    left = [one for one in questions if store is None or not _is_answered(one, store)]
    asked = Asked(policy, facts.policy_id, facts.prompt, facts.connections, facts.versions)
    return Exported(models.pop(), write_questions(folder, asked, left) if left else None)


def _is_answered(question: Question, store: CassetteStore) -> bool:
    first = next(iter(store.get(question.key)), None)
    if first is None or first["request"]["uri"] != question.request["uri"]:
        return False
    return bool(json.loads(first["request"]["body"]) == json.loads(question.request["body"]))


def _facts(policy: str, reached: Reached) -> PolicyFacts:
    setup = Setup(policy, str(Path.cwd()), "replay", connections=reached.shapes)
    with WorkerPool(setup, 1) as pool:
        facts = pool.facts()
    if facts.missing_connections:
        raise ValueError(f"it asks the connection {facts.missing_connections[0]!r}. Name that one.")
    return facts


def _listened(listening: Listening) -> Iterator[Question]:
    with tempfile.TemporaryDirectory(prefix="questions-") as folder:
        heard = Path(folder) / "heard.jsonl"
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "airflow_common_ai.evals.batch.listener"],
            input=replace(listening, output=str(heard)).to_json(),
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=child_environment(),
            check=False,
        )
        if ended.returncode:
            *_, last = ended.stderr.strip().splitlines() or [""]
            raise ValueError(f"the policy could not be listened to: {sanitize(last, _MAX_CHARS)}")
        with heard.open(encoding="ascii") as lines:
            for line in map(json.loads, lines):
                if line["problem"]:
                    raise ValueError(
                        f"{sanitize(line['id'])}: a model was wanted, and no request was made: "
                        f"{sanitize(line['problem'], _MAX_CHARS)}"
                    )
                if line["request"]:
                    yield Question(line["id"], 1, line["request"])


def _model_of(question: Question) -> str:
    try:
        return str(question.batch_request["model"])
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise ValueError(f"a batch cannot ask what is asked about {sanitize(question.id)}: {fault}") from None
