"""What a policy decided about a corpus: ``run.jsonl``, a header and one row for each case and repeat.

It is all that scoring needs: neither the corpus nor the policy is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_common_ai.evals.answer import Action, Answer, LaterTry, Outcome, rounded
from airflow_common_ai.evals.runs.run_header import RunHeader
from airflow_common_ai.recordings.corpus_file import json_lines
from airflow_common_ai.recordings.fields import Fields
from airflow_common_ai.recordings.label import Label
from airflow_common_ai.sanitizer import sanitize

__all__ = ["Row", "Run", "line_of", "read_run"]

_MAX_ITEMS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Answer):
    """One case and what the policy decided about it. Every text in it is redacted."""

    id: str
    fingerprint: str
    """Rows with the same one are one failure: intervals are clustered by it."""
    split: str
    library: str
    repeat: int
    """From 1."""
    label: Label | None
    """What should have been decided; ``None``: nobody judged it, so it counts in no accuracy."""
    failure: tuple[str, ...]
    """What failed, a line for each exception, outermost first."""
    tags: tuple[str, ...] = ()
    count: int = 1
    """How often the failure was seen, where a corpus counts that."""

    @property
    def key(self) -> tuple[str, int]:
        return self.id, self.repeat

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "repeat": self.repeat,
            "fingerprint": self.fingerprint,
            "split": self.split,
            "library": self.library,
            "tags": list(self.tags),
            "count": self.count,
            "failure": list(self.failure),
            "label": None if self.label is None else self.label.to_json(),
            "outcome": self.outcome.value,
            "action": self.action.value,
            "delay_s": rounded(self.delay_s),
            "asked_delay_s": rounded(self.asked_delay_s),
            "later": [later.to_json() for later in self.later],
            "category": self.category,
            "confidence": None if self.confidence is None else round(self.confidence, 6),
            "source": self.source,
            "code": self.code,
            "reason": self.reason,
            "votes": [dict(vote) for vote in self.votes],
            "calls": self.calls,
            "model": self.model,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            "milliseconds": rounded(self.milliseconds),
            "error": self.error,
        }

    @classmethod
    def from_json(cls, data: object) -> Row:
        """
        Return the row that :meth:`to_json` wrote.

        :raises ValueError: with the field, the rule and what was found instead.
        """
        fields = Fields("a row", data)
        label = fields.take("label")
        row = cls(
            id=sanitize(fields.text("id")),
            fingerprint=sanitize(fields.text("fingerprint")),
            split=sanitize(fields.text("split")),
            library=sanitize(fields.text("library")),
            repeat=fields.whole_number("repeat", default=1, most=1000),
            outcome=Outcome(fields.one_of("outcome", [outcome.value for outcome in Outcome])),
            label=None if label is None else Label.from_json(label),
            failure=_safe_texts(fields.any_texts("failure", limit=_MAX_ITEMS)),
            tags=_safe_texts(fields.any_texts("tags", limit=_MAX_ITEMS)),
            count=fields.whole_number("count", default=1, most=1_000_000_000),
            action=Action(fields.one_of("action", [action.value for action in Action])),
            delay_s=fields.optional_number("delay_s"),
            asked_delay_s=fields.optional_number("asked_delay_s"),
            later=_later(fields.take("later")),
            category=_safe(fields.optional_text("category")),
            confidence=fields.optional_number("confidence", most=1),
            source=sanitize(fields.text("source")),
            code=_safe(fields.optional_text("code")),
            reason=_safe(fields.optional_text("reason")),
            votes=_votes(fields.take("votes")),
            calls=fields.optional_count("calls") or 0,
            model=_safe(fields.optional_text("model")),
            input_tokens=fields.optional_count("input_tokens"),
            output_tokens=fields.optional_count("output_tokens"),
            cost_usd=fields.optional_number("cost_usd"),
            milliseconds=fields.optional_number("milliseconds") or 0.0,
            error=_safe(fields.optional_text("error")),
        )
        fields.nothing_else()
        return row


@dataclass(frozen=True, slots=True)
class Run:
    """A whole file."""

    header: RunHeader
    rows: tuple[Row, ...]
    """In the order of the corpus, repeats of a case beside each other."""

    @property
    def missing(self) -> int:
        """How many rows a run that was killed still lacks."""
        return max(self.header.cases * self.header.repeats - len(self.rows), 0)

    @property
    def labelled(self) -> Iterator[Row]:
        """Yield what somebody judged: all that accuracy can be measured on."""
        return (row for row in self.rows if row.label is not None)


def read_run(path: Path) -> Run:
    """
    Return a run that was written before, also one that was killed.

    :raises ValueError: with the file, the line, the rule that it breaks and what to do.
    """
    header: RunHeader | None = None
    rows: dict[tuple[str, int], Row] = {}
    for number, data in json_lines(path):
        try:
            if header is None:
                header = RunHeader.from_json(data)
                continue
            row = Row.from_json(data)
            if row.key in rows:
                raise ValueError(f"{row.id!r}, repeat {row.repeat}, is there twice. Remove one of the lines.")
            rows[row.key] = row
        except ValueError as fault:
            raise ValueError(f"{path}:{number}: {fault}") from None
    if header is None:
        raise ValueError(f"{path}: the file is empty. Write it with `airflow-common-ai run`.")
    return Run(header, tuple(rows.values()))


def line_of(entry: RunHeader | Row) -> str:
    """Return the line that an entry is in a file."""
    return json.dumps(entry.to_json()) + "\n"


def _safe(text: str | None) -> str | None:
    return None if text is None else sanitize(text)


def _safe_texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(sanitize, texts))


def _later(value: object) -> tuple[LaterTry, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > _MAX_ITEMS:
        raise ValueError(f"later must be a list of at most {_MAX_ITEMS} objects.")
    return tuple(map(LaterTry.from_json, value))


def _votes(value: object) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list) or len(value) > _MAX_ITEMS:
        raise ValueError(f"votes must be a list of at most {_MAX_ITEMS} objects.")
    return tuple(map(_vote, value))


def _vote(value: object) -> Mapping[str, Any]:
    fields = Fields("a vote", value)
    vote = {
        "tier": sanitize(fields.text("tier")),
        "outcome": sanitize(fields.text("outcome")),
        "code": _safe(fields.optional_text("code")),
        "category": _safe(fields.optional_text("category")),
        "confidence": fields.optional_number("confidence", most=1),
    }
    fields.nothing_else()
    return {name: item for name, item in vote.items() if item is not None}
