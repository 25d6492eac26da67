"""What a policy would ask a model about a corpus: a line for each case and repeat, behind one that says who asks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from airflow_common_ai.evals.batch.request_form import request_of
from airflow_common_ai.sanitizer import sanitize

__all__ = ["Asked", "Question", "QuestionFile", "read_questions", "write_questions"]

SCHEMA = 1
NAME = "questions.jsonl"


@dataclass(frozen=True)
class Asked:
    """Who asks, and through which connections: what the header of recorded answers says too."""

    policy: str
    policy_id: str
    prompt: str | None
    connections: Mapping[str, Mapping[str, Any]]
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Question:
    """What would be asked about one case."""

    id: str
    repeat: int
    request: Mapping[str, Any]
    """As vcrpy keeps it: method, URI, headers, body."""

    @property
    def key(self) -> tuple[str, int]:
        return self.id, self.repeat

    @property
    def batch_request(self) -> dict[str, Any]:
        """
        The same for the operator.

        :raises ValueError: The operator cannot ask this.
        """
        return request_of(urlsplit(self.request["uri"]).path, json.loads(self.request["body"]))


@dataclass(frozen=True)
class QuestionFile:
    """All of them, in the order in which they go into the batch."""

    asked: Asked
    questions: tuple[Question, ...]


def write_questions(folder: Path, asked: Asked, questions: Sequence[Question]) -> Path:
    """
    Write them into a folder of their own in that folder, and return the file.

    The folder is named by the questions, so that results that are put beside them belong to these and no others. The
    same questions are written once, however often a task is tried.
    """
    lines = [json.dumps(asdict(one), sort_keys=True) + "\n" for one in questions]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    path = folder / f"batch-{digest[:16]}" / NAME
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        header = json.dumps({"schema": SCHEMA, **asdict(asked)}, sort_keys=True) + "\n"
        unfinished.write_text("".join((header, *lines)), "ascii")
        unfinished.replace(path)
    return path


def read_questions(path: Path) -> QuestionFile:
    """
    Return what :func:`write_questions` wrote.

    :raises ValueError: It is another file, or damaged.
    """
    try:
        with path.open(encoding="ascii") as file:
            header, *lines = map(json.loads, file)
        if header.pop("schema") != SCHEMA:
            raise ValueError("it has another schema")
        return QuestionFile(Asked(**header), tuple(Question(**line) for line in lines))
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise ValueError(f"{_shown(path)} holds no questions: {sanitize(str(fault))}. Export them again.") from None


def _shown(path: Path) -> str:
    return f"'{sanitize(str(path))}'"
