"""Predict what a failure is from its words and from what its signals hint at."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from airflow_common_ai.classifier.features import SAYS_NOTHING, Features, features_of
from airflow_common_ai.classifier.model import CATEGORIES, LinearModel
from airflow_common_ai.classifier.words import words_of_text
from airflow_common_ai.evidence.model import CategoryName, RedactedEvidence, RedactedText, Signal

__all__ = ["SHIPPED", "Classifier", "Prediction", "is_readable", "is_too_long"]

SHIPPED = Path(__file__).parent / "weights.json"

_MAX_CHARS = 12 * 1024
"""Of all messages."""
_SAYS_ONLY_THAT_IT_FAILED = SAYS_NOTHING | {
    stem
    for stem, _ in words_of_text(
        "a about all an and any are as at be been being but by can could did do does for from had has have if in into "
        "is it its may might more no not of on only or our out over see so such than that the their them then there "
        "these they this to under was we were what when which while who will with would you your "
        "abort airflow application bash batch code command complete container docker end ended execute execution exit "
        "finish job kubernetes log logs non operation operator pipeline pod process program remote result return run "
        "script shell ssh state status step submit subprocess successfully task terminate worker zero"
    )
}
"""Stems that say that something failed, or what kind of program, and nothing about why: exit status 1 has any cause."""
_MIN_KNOWN_WORDS = 2
"""Of those that tell something."""
_MIN_KNOWN_SHARE = 0.5
"""Of the distinct words of the texts, how many the model must know."""
_TOP_FEATURES = 3
_ALMOST_NEVER = 1e-9


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model says about one failure."""

    category: CategoryName
    confidence: float
    """The probability that the category is right, calibrated on failures that the training did not see. Higher than
    its entry in :attr:`probabilities` where two categories are likely that may both be right."""
    retry_probability: float
    """The probability that another try is worth it, calibrated as well."""
    should_retry: bool | None
    """Whether to try again; ``None`` where the model is not sure enough to decide alone. To fail takes more."""
    probabilities: Mapping[CategoryName, float]
    """Of all categories; they add up to 1."""
    top_features: tuple[RedactedText, ...]
    """The words that weighed most for the category, redacted, the heaviest first: for the reason."""


class Classifier:
    """
    The embedded model. Needs the standard library only; holds no lock and no file, and can be copied.

    :param model: The weights.
    """

    def __init__(self, model: LinearModel) -> None:
        self._model = model

    @classmethod
    def load(cls, path: Path | None = None) -> Classifier:
        """
        Return the classifier of a file.

        :param path: A model that was trained by this version; the shipped one if ``None``.
        :raises UnusableModel: It is missing, damaged, too large or of another schema; the text says which, and the fix.
        """
        return cls(LinearModel.read(path or SHIPPED))

    @property
    def model(self) -> LinearModel:
        """The weights, and where they come from."""
        return self._model

    def predict(self, evidence: RedactedEvidence, signals: Sequence[Signal]) -> Prediction | None:
        """
        Return what the failure most likely is.

        :param evidence: The failure.
        :param signals: What was read from it; those that are hints count, a conclusive one speaks for itself.
        :return: ``None`` where the model has too little to go by: no words, few words that it knows (another
            language, noise), or too many words in all.
        """
        if is_too_long(evidence):
            return None
        features = features_of(evidence, signals)
        if not is_readable(features, self._model.rows):
            return None
        *scores, retry_score = self._model.scores(features.weights)
        probabilities = _softmax(scores)
        retry_probability = _logistic(retry_score)
        best = max(range(len(CATEGORIES)), key=probabilities.__getitem__)
        category, confidence = CATEGORIES[best], self.confidence_of(probabilities[best])
        return Prediction(
            category=category,
            confidence=confidence,
            retry_probability=retry_probability,
            should_retry=self.should_retry(category, confidence, retry_probability),
            probabilities=MappingProxyType(dict(zip(CATEGORIES, probabilities, strict=True))),
            top_features=self._top_features(features, best),
        )

    def confidence_of(self, probability: float) -> float:
        """Return how sure to be of the most probable category, given its probability."""
        slope, shift = self._model.confidence
        certain = min(max(probability, _ALMOST_NEVER), 1 - _ALMOST_NEVER)
        return _logistic(slope * math.log(certain / (1 - certain)) + shift)

    def should_retry(self, category: CategoryName, confidence: float, retry_probability: float) -> bool | None:
        """
        Return what to do; ``None`` where the model is not sure enough.

        To fail a task both heads must be sure, and say the same: vague words leave one of them in doubt.
        """
        bars = self._model.bars
        if retry_probability >= bars.retry[category]:
            return True
        fail_bar = bars.fail.get(category)
        is_hopeless = fail_bar is not None and min(confidence, 1 - retry_probability) >= fail_bar
        return False if is_hopeless else None

    def _top_features(self, features: Features, category: int) -> tuple[RedactedText, ...]:
        """Return the words that speak most for a category, compared with what they say for the others on average."""
        pulls: list[tuple[float, str]] = []
        for name, weight in features.weights.items():
            stems = name.split(" ")
            if stems[0] not in features.words or _SAYS_ONLY_THAT_IT_FAILED.issuperset(stems):
                continue  # a hint or a base class, which stand in no text, or words that tell nobody why
            *heads, _ = self._model.weights_of(name)
            pull = weight * (heads[category] - sum(heads) / len(heads))
            if pull > 0:
                pulls.append((-pull, name))
        chosen: list[RedactedText] = []
        for _, name in sorted(pulls):
            shown = RedactedText(" ".join(features.words[stem] for stem in name.split(" ")))
            if not any(shown in other or other in shown for other in chosen):
                chosen.append(shown)
            if len(chosen) == _TOP_FEATURES:
                break
        return tuple(chosen)


def is_too_long(evidence: RedactedEvidence) -> bool:
    """Whether the words that say what failed are lost among others."""
    return sum(len(node.message) for node in evidence.nodes) > _MAX_CHARS


def is_readable(features: Features, known: Container[str]) -> bool:
    """Whether enough of a failure's words are known: of its texts, and of all that tell something."""
    telling = [
        word
        for word in features.words
        if word in known and word not in _SAYS_ONLY_THAT_IT_FAILED and not word.isdigit()
    ]
    asked = [word for word in features.text_words if not word.isdigit()]
    share = sum(word in known for word in asked) / len(asked) if asked else 1.0
    return len(telling) >= _MIN_KNOWN_WORDS and share >= _MIN_KNOWN_SHARE


def _softmax(scores: Sequence[float]) -> list[float]:
    highest = max(scores)
    powers = [math.exp(score - highest) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def _logistic(score: float) -> float:
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, score))))
