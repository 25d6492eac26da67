"""The embedded classifier behind the interface of pydantic-ai's decision models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from pydantic_ai.exceptions import ModelAPIError, UserError
from pydantic_ai.models.decision import (
    ChoiceAnswer,
    ChoiceQuestion,
    DecisionModel,
    DecisionModelSettings,
    DecisionQuestion,
    DecisionRequest,
    DecisionResponse,
)

from airflow_common_ai.classifier import Classifier, Prediction
from airflow_common_ai.classifier.classifier import SHIPPED
from airflow_common_ai.classifier.model import CATEGORIES, HOPELESS
from airflow_common_ai.classifier.version import version_of
from airflow_common_ai.decision_model.prompt import evidence_of
from airflow_common_ai.evidence.protocols import read_signals
from airflow_common_ai.evidence.redaction import Redactor

__all__ = ["Abstained", "EmbeddedDecisionModel"]

_CATEGORIES: frozenset[str] = frozenset(CATEGORIES)


class Abstained(ModelAPIError):
    """The classifier has nothing to say; the next model of a fallback chain, or the policy's fallback, is asked."""


class EmbeddedDecisionModel(DecisionModel[None]):
    """
    Names the category of a failure from its text: in this process, without a server or a key.

    .. code-block:: python

        agent = Agent(EmbeddedDecisionModel(), output_type=Literal["network", "auth", "data"])
        agent.run_sync("ConnectionError: connection refused").response.provider_details["confidence"]

    It answers which of some categories a failure is, where those are named like the seven of the Common AI provider,
    whatever their descriptions say; an option of another name gets the probability 0. Not for other questions.

    The text is all that it sees, redacted first: no attributes of the exception, no status, no code but those in words.
    An ``EvidenceRetryPolicy`` sees them, and is right more often.

    :param path: A model that ``airflow-common-ai train`` made; the shipped one if ``None``.
    :raises UnusableModel: The file holds none of this version.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        super().__init__()
        file = Path(path or SHIPPED)
        self._classifier = _loaded(file, version_of(file))
        self._model_name = f"embedded-{version_of(file)}"

    @property
    def client(self) -> None:
        return None

    @property
    def base_url(self) -> None:
        return None

    @property
    def model_name(self) -> str:
        """Which weights: their hash is part of it."""
        return self._model_name

    @property
    def system(self) -> str:
        return "airflow-common-ai"

    async def decide(self, request: DecisionRequest, model_settings: DecisionModelSettings) -> DecisionResponse:
        """
        Answer one request.

        :raises Abstained: The classifier can read too little of the text, it is a conversation, or no option may be
            named.
        :raises UserError: Something else is asked than which category it is.
        """
        if request.images:
            raise UserError(f"{self.model_name} does not support image input.")
        if not isinstance(request.state, str):
            raise Abstained(self.model_name, "The classifier reads the text of one failure, not a conversation.")
        evidence = Redactor().redact(evidence_of(request.state))
        prediction = self._classifier.predict(evidence, read_signals(evidence))
        answers = {name: self._answer(question, prediction) for name, question in request.questions.items()}
        return DecisionResponse(answers=dict(answers), model_name=self.model_name)

    def _answer(self, question: DecisionQuestion, prediction: Prediction | None) -> ChoiceAnswer:
        if not isinstance(question, ChoiceQuestion) or _CATEGORIES.isdisjoint(question.criteria):
            raise UserError(
                f"{self.model_name} only answers which category a failure is, out of {', '.join(CATEGORIES)}. "
                f"Name the options like these."
            )
        if prediction is None:
            raise Abstained(self.model_name, "The classifier knows too few words of this failure, or none.")
        probabilities = _among(question.criteria, prediction)
        likeliest = max(probabilities, key=probabilities.__getitem__)
        if likeliest == prediction.category:
            confidence = _confidence(prediction)
            if likeliest not in HOPELESS or prediction.should_retry is False:
                return ChoiceAnswer(choice=likeliest, confidence=confidence, probabilities=probabilities)
        # Without a bar of its own the policy acts on any answer: nothing that would fail a task may be a mere guess.
        offered = question.criteria
        retried = {
            name: share for name, share in prediction.probabilities.items() if name in offered and name not in HOPELESS
        }
        if not retried:
            raise Abstained(self.model_name, "The classifier is not sure enough to name a category that is failed.")
        choice = max(retried, key=retried.__getitem__)
        confidence = min(retried[choice], prediction.retry_probability)
        return ChoiceAnswer(choice=choice, confidence=confidence, probabilities=probabilities)


def _among(options: Mapping[str, object], prediction: Prediction) -> dict[str, float]:
    """Return the probability of each option: they add up to 1, as an answer must."""
    shares = {name: share for name, share in prediction.probabilities.items() if name in options}
    total = sum(shares.values()) or 1.0
    return {name: shares.get(name, 0.0) / total for name in options}  # type: ignore[call-overload]  # any name may be asked


def _confidence(prediction: Prediction) -> float:
    """Return the lower of what both heads say: that the category is right, and what is usually done about it."""
    is_retried = prediction.category not in HOPELESS
    return min(prediction.confidence, prediction.retry_probability if is_retried else 1 - prediction.retry_probability)


@lru_cache(maxsize=8)
def _loaded(path: Path, version: str) -> Classifier:
    return Classifier.load(path)
