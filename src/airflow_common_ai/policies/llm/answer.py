"""What a model answered, read as what it is: a stranger's word."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from airflow_common_ai.evidence.cut import cut
from airflow_common_ai.policies.categories import FailureCategory
from airflow_common_ai.sanitizer import sanitize

if TYPE_CHECKING:
    from pydantic import BaseModel

    from airflow_common_ai.policies.llm.call import Reply

__all__ = ["Answer", "ConfidenceSource", "answer_type", "read_answer"]

ConfidenceSource = Literal["decision_model", "token_probabilities", "own_statement", "none"]
"""Where a confidence came from."""

MAX_REASONING_CHARS = 160
"""Bounded in the schema: held to a grammar, a small model rambles in an unbounded string until its tokens are spent,
and the answer is lost. Source: measured with a 1.5 B model."""

MAX_DELAY_S = 86400
MAX_STATED_CONFIDENCE = 0.9
"""What a model says of itself counts for no more: most say 95 % or 100 % of anything."""

MAX_UNHELD_CONFIDENCE = 0.85
"""And where nothing held it to the question, for less than a category that fails a task needs: such a model repeats the
hints that stand in the question, sure of them to 100 %, and its agreement with them says nothing."""

_MAX_CATEGORY_CHARS = 200
_MAX_TOKENS = 4096
_ROUNDING = 0.01
"""So far above 0, which is a probability of 1, some servers report."""
_NUMBER = re.compile(r"\s?(\d{1,7}(?:\.\d{1,6})?)\s?%?")
_CATEGORY_KEY = re.compile(r'(?<!\\)"category"\s*:\s*"')


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, validated: a category of the table, and numbers within their bounds."""

    category: str
    confidence: float
    confidence_source: ConfidenceSource = "none"
    reasoning: str = ""
    """The model's words, sanitized, not yet redacted."""
    should_retry: bool | None = None
    """``None``: not said."""
    suggested_delay_s: float | None = None

    def contradicts(self, row: FailureCategory) -> bool:
        """Whether ``should_retry`` says another thing than the category that it names."""
        return self.should_retry is not None and self.should_retry is not row.retry


def answer_type(categories: Sequence[str]) -> type[BaseModel]:
    """
    Return the type that goes over the wire: reasoning before the label, everything bounded, the categories closed.

    What does not fit is mended where that is safe (a text is cut, an absurd number becomes none), since a refused
    answer costs a second call. A category is never mended into another one.
    """
    from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

    def strict(schema: dict[str, Any]) -> None:
        """Ask for every field: the defaults are for models that leave one out all the same."""
        schema["required"] = list(schema["properties"])
        for field in schema["properties"].values():
            field.pop("default", None)
            field.pop("title", None)
        schema["properties"]["should_retry"] = {"type": "boolean"}

    class Base(BaseModel):
        model_config = ConfigDict(json_schema_extra=strict)

    closed: Any = Literal[tuple(categories)]  # known at run time only
    return create_model(
        "FailureAnswer",
        __base__=Base,
        reasoning=(Annotated[str, Field(max_length=MAX_REASONING_CHARS), BeforeValidator(_short_text)], ""),
        category=(Annotated[closed, BeforeValidator(_known(categories))], ...),
        confidence=(Annotated[int, Field(ge=0, le=100), BeforeValidator(_percent)], 0),
        should_retry=(Annotated[bool | None, BeforeValidator(_flag)], None),
        suggested_delay_seconds=(Annotated[int, Field(ge=0, le=MAX_DELAY_S), BeforeValidator(_delay)], 0),
    )


def read_answer(reply: Reply, categories: Mapping[str, FailureCategory]) -> Answer | str:
    """
    Read a reply.

    :param reply: What the model answered, in whatever form.
    :param categories: The table; nothing outside of it is an answer.
    :return: The answer, or why it is none.
    """
    output = reply.output
    category = output if isinstance(output, str) else getattr(output, "category", None)
    if not isinstance(category, str) or category not in categories:
        return "it answered with a category that it was not given"
    confidence, source = _confidence(reply, category)
    answer = Answer(category, confidence, source)
    if not isinstance(output, str):
        should_retry = getattr(output, "should_retry", None)
        answer = Answer(
            category,
            confidence,
            source,
            reasoning=sanitize(_short_text(getattr(output, "reasoning", ""))),
            should_retry=should_retry if isinstance(should_retry, bool) else None,
            suggested_delay_s=float(_delay(getattr(output, "suggested_delay_seconds", 0))) or None,
        )
    if answer.contradicts(categories[category]):
        return _doubted(answer, categories)
    return answer


def _doubted(answer: Answer, categories: Mapping[str, FailureCategory]) -> Answer:
    """Lower the confidence under every bar of a category that fails; a retry may still rest on it."""
    lowest = min((row.bar for row in categories.values() if not row.retry), default=1.0)
    return replace(answer, confidence=min(answer.confidence, max(0.0, lowest - 0.01)))


def _confidence(reply: Reply, category: str) -> tuple[float, ConfidenceSource]:
    details = reply.provider_details
    if reply.form == "decision":
        sure = _decision_confidence(details)
        return (sure, "decision_model") if sure is not None else (0.0, "none")
    sure = _label_probability(details.get("logprobs"), category)
    if sure is not None:
        return sure, "token_probabilities"
    stated = _finite(getattr(reply.output, "confidence", None))
    if stated is None:
        return 0.0, "none"
    most = MAX_UNHELD_CONFIDENCE if reply.form == "prompted" else MAX_STATED_CONFIDENCE
    return min(max(stated / 100, 0.0), most), "own_statement"


def _decision_confidence(details: Mapping[str, Any]) -> float | None:
    """The least of what a decision model reports about its answer."""
    reported = details.get("confidence")
    values = list(islice(reported.values(), 16)) if isinstance(reported, Mapping) else [reported]
    shares = [float(value) for value in values if isinstance(value, int | float) and _is_share(value)]
    return min(shares) if shares and len(shares) == len(values) else None


def _label_probability(logprobs: object, category: str) -> float | None:
    """
    Multiply the probabilities of the tokens that spell the category.

    The first unescaped ``"category":`` is the label itself: inside the reasoning its quotes are escaped.
    """
    if not isinstance(logprobs, Sequence) or isinstance(logprobs, str) or not 0 < len(logprobs) <= _MAX_TOKENS:
        return None
    tokens: list[tuple[str, float]] = []
    for entry in logprobs:
        token = entry.get("token") if isinstance(entry, Mapping) else None
        logprob = _finite(entry.get("logprob")) if isinstance(token, str) else None
        if not isinstance(token, str) or logprob is None or logprob > _ROUNDING:
            return None
        tokens.append((token, min(logprob, 0.0)))
    text = "".join(token for token, _ in tokens)
    key = _CATEGORY_KEY.search(text)
    if key is None or not text.startswith(f'{category}"', key.end()):
        return None
    start, end = key.end(), key.end() + len(category)
    total, position = 0.0, 0
    for token, logprob in tokens:
        if position < end and position + len(token) > start:
            total += logprob
        position += len(token)
    return math.exp(total)


def _is_share(value: float) -> bool:
    return not isinstance(value, bool) and 0 <= value <= 1


def _short_text(value: object) -> str:
    return cut(value, MAX_REASONING_CHARS) if isinstance(value, str) else ""


def _known(categories: Sequence[str]) -> Callable[[object], object]:
    folded = [name.casefold() for name in categories]
    by_spelling = {name.casefold(): name for name in categories if folded.count(name.casefold()) == 1}

    def known(value: object) -> object:
        """Forgive the spelling: ``Rate Limit`` for ``rate_limit``."""
        if not isinstance(value, str) or len(value) > _MAX_CATEGORY_CHARS:
            return None
        return value if value in categories else by_spelling.get(re.sub(r"[\s\-]+", "_", value.strip()).casefold())

    return known


def _percent(value: object) -> int:
    """Read 0 to 100, or a share such as 0.95; anything else is no confidence."""
    number = _finite(value)
    if number is None:
        return 0
    if number <= 1 and "." in str(value) and "%" not in str(value):
        number *= 100
    return int(number) if 0 <= number <= 100 else 0


def _delay(value: object) -> int:
    """Read seconds; what no task should wait is no suggestion."""
    number = _finite(value)
    return int(number) if number is not None and 0 <= number <= MAX_DELAY_S else 0


def _flag(value: object) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value[:8].strip().casefold())
    return value if isinstance(value, bool) else None


def _finite(value: object) -> float | None:
    """Read a number, also one that a model wrote as text: ``"95"``, ``"95%"``."""
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value)
        return float(found[1]) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        return None
    return float(value)
