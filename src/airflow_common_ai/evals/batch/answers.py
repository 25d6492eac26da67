"""Keep the answers of a batch as if they had been recorded one by one, so that a run can be replayed from them.

They are fetched from the batch itself: the rows that the operator writes hold the text of an answer alone, neither
the probabilities of its tokens nor a tool call that the operator did not ask for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from airflow.sdk import BaseHook, Connection

from airflow_common_ai.evals.batch.question_file import Asked, Question, read_questions
from airflow_common_ai.evals.replay.cassette_store import CassetteStore, StoreHeader
from airflow_common_ai.evals.replay.interaction import Interaction
from airflow_common_ai.evals.replay.scrubbing import Scrubber
from airflow_common_ai.policies.airflow_context import mask_registered_secrets
from airflow_common_ai.sanitizer import sanitize

__all__ = ["Kept", "keep_answers"]

_SUCCESS = 200
_MAX_PROBLEM_CHARS = 200
_Result = tuple[str, Mapping[str, Any] | str]
"""The id of a request in its batch, and the body of the answer, or in a word why there is none."""


@dataclass
class Kept:
    """What came of a batch."""

    questions: int
    answers: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    """Why questions have no answer; in a replay their cases are stale."""

    def __str__(self) -> str:
        problems = "".join(f"; {count} times {problem}" for problem, count in sorted(self.problems.items()))
        return f"{self.answers} of {self.questions} questions were answered{problems}"


def keep_answers(questions: Path, manifest: Mapping[str, Any], folder: Path) -> Kept:
    """
    Put the answers of a batch into a folder for ``airflow-common-ai run --replay``.

    :param questions: The file that the batch was made of.
    :param manifest: What ``LLMBatchOperator`` returned about it.
    :param folder: Where recorded answers are, or are to be.
    :raises ValueError: The batch was made of other questions, or its API is not known here.
    """
    file = read_questions(questions)
    if manifest["request_count"] != len(file.questions):
        raise ValueError(
            f"the batch has {manifest['request_count']} requests, and '{sanitize(str(questions))}' has "
            f"{len(file.questions)} questions. Name the file that it was made of."
        )
    results = _results(manifest)
    kept = Kept(len(file.questions))
    store = CassetteStore(folder)
    store.start(_header(file.asked, datetime.fromisoformat(manifest["completed_at"]), store.header))
    scrubber = Scrubber(mask_registered_secrets)
    places = {f"{manifest['custom_id_prefix']}-{index}": one for index, one in enumerate(file.questions)}
    models: set[str] = set()
    for custom_id, result in results:
        question = places.pop(custom_id, None)
        if question is None:
            continue  # a stranger's, or there twice
        if isinstance(result, str):
            kept.problems[sanitize(result, _MAX_PROBLEM_CHARS)] += 1
            continue
        store.put(question.key, [_interaction(question, result, scrubber)])
        kept.answers += 1
        models.add(sanitize(str(result.get("model", ""))))
    if places:
        kept.problems["there is no result"] = len(places)
    store.finish(sorted(models - {""}))
    return kept


def _header(asked: Asked, at: datetime, before: StoreHeader | None) -> StoreHeader:
    """Return a header that makes no answer younger than it is."""
    if before is None:
        return StoreHeader(recorded_at=at, **vars(asked))
    return StoreHeader(recorded_at=min(at, before.recorded_at), models=before.models, **vars(asked))


def _interaction(question: Question, body: Mapping[str, Any], scrubber: Scrubber) -> Interaction:
    response: Any = scrubber.response(
        {
            "status": {"code": _SUCCESS, "message": "OK"},
            "headers": {"content-type": ["application/json"]},
            "body": {"string": json.dumps(body).encode()},
        }
    )
    response["body"]["string"] = response["body"]["string"].decode()
    return {"request": dict(question.request), "response": response}


def _results(manifest: Mapping[str, Any]) -> Iterator[_Result]:
    connection = BaseHook.get_connection(manifest["llm_conn_id"])
    read = {"openai": _of_openai, "anthropic": _of_anthropic}.get(manifest["adapter"])
    if read is None:
        raise ValueError(f"answers of {sanitize(str(manifest['adapter']))!r} batches cannot be read here.")
    return read(connection, manifest["batch_id"])


def _of_openai(connection: Connection, batch_id: str) -> Iterator[_Result]:
    from openai import OpenAI

    with OpenAI(api_key=connection.password or None, base_url=connection.host or None) as client:
        batch = client.batches.retrieve(batch_id)
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            with client.files.with_streaming_response.content(file_id) as file:
                for line in map(json.loads, filter(None, file.iter_lines())):
                    response, error = line.get("response") or {}, line.get("error") or {}
                    body = response.get("body") or {}
                    if response.get("status_code") == _SUCCESS:
                        yield line["custom_id"], body
                    else:
                        error = error or body.get("error") or {}
                        yield line["custom_id"], str(error.get("code") or f"HTTP {response.get('status_code')}")


def _of_anthropic(connection: Connection, batch_id: str) -> Iterator[_Result]:
    from anthropic import Anthropic

    with Anthropic(api_key=connection.password or None, base_url=connection.host or None) as client:
        for line in client.messages.batches.results(batch_id):
            if line.result.type == "succeeded":
                yield line.custom_id, line.result.message.to_dict(mode="json")
            elif line.result.type == "errored":
                yield line.custom_id, line.result.error.error.type
            else:
                yield line.custom_id, line.result.type
