"""Other kinds of models on the same failures and folds, for the table in the model card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from airflow_common_ai.classifier.features import features_of
from airflow_common_ai.classifier.fitting import folds
from airflow_common_ai.classifier.model import CATEGORIES
from airflow_common_ai.classifier.training import Example, Recipe, train
from airflow_common_ai.evidence.wording import PLACEHOLDER, normalise
from tools.training.corpus import Recorded
from tools.training.minilm import MiniLM

__all__ = ["compare"]

Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Scores: TypeAlias = tuple[Numbers, Numbers]
"""The probabilities of the categories, and of a retry."""

_FOLDS = 5
_HASHED, _EMBEDDED = 2**15, 64
_PENALTY = 4.0


def compare(
    recorded: Sequence[Recorded],
    made_up: Sequence[Example],
    vectors: Mapping[str, Sequence[float]],
    minilm: Path | None,
) -> list[dict[str, Any]]:
    """Return one row for each kind of model, measured on libraries of ``dev`` that it had not seen."""
    examples = [*(one.example() for one in recorded), *made_up]
    recipe = Recipe(folds=_FOLDS)

    def linear(vectors: Mapping[str, Sequence[float]] | None) -> Callable[[], Scores]:
        def scores() -> Scores:
            trained = train(examples, recipe, vectors=vectors)
            return trained.probabilities, trained.retry_probabilities

        return scores

    kinds: dict[str, Callable[[], Scores]] = {
        "linear, words and pairs of words, with word vectors (shipped)": linear(vectors),
        "linear, words and pairs of words": linear(None),
        "complement naive Bayes, the same features": lambda: _naive_bayes(examples),
        f"{_EMBEDDED} numbers from hashed features, linear head": lambda: _hashed(examples),
    }
    if minilm is not None:
        kinds["MiniLM sentence embedding, linear head (reference, 90 MB)"] = lambda: _sentences(examples, minilm)
    return [{"name": name, **_figures(recorded, scores())} for name, scores in kinds.items()]


def _figures(recorded: Sequence[Recorded], scores: Scores) -> dict[str, Any]:
    from sklearn.metrics import roc_auc_score

    probabilities, retries = scores
    right = np.array(
        [one.label.accepts(CATEGORIES[at]) for one, at in zip(recorded, probabilities.argmax(axis=1), strict=True)]
    )
    is_open = np.array([one.is_open for one in recorded])
    asked = np.array([one.label.should_retry.value != "either" for one in recorded])
    is_yes = np.array([one.label.should_retry.value == "yes" for one in recorded])
    return {
        "category": round(float(right.mean()), 4),
        "category_open": round(float(right[is_open].mean()), 4),
        "retry_auc": round(float(roc_auc_score(is_yes[asked], retries[asked])), 4),
        "retry_auc_open": round(float(roc_auc_score(is_yes[asked & is_open], retries[asked & is_open])), 4),
    }


def _naive_bayes(examples: Sequence[Example]) -> Scores:
    from sklearn.naive_bayes import ComplementNB

    return _by_folds(examples, _rows(examples), lambda: ComplementNB(alpha=0.3))


def _hashed(examples: Sequence[Example]) -> Scores:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction import FeatureHasher

    hashed = FeatureHasher(_HASHED).transform(
        [features_of(example.evidence, example.signals).weights for example in examples]
    )
    embedded = TruncatedSVD(_EMBEDDED, random_state=0).fit_transform(hashed)
    return _by_folds(examples, embedded * 3, _logistic)


def _sentences(examples: Sequence[Example], path: Path) -> Scores:
    return _by_folds(examples, MiniLM(path).vectors([_sentence(example) for example in examples]) * 2, _logistic)


def _sentence(example: Example) -> str:
    """Return the innermost exceptions in words, which is what a sentence embedding can read."""
    nodes = example.evidence.nodes[::-1][:3]
    return " ".join(f"{node.class_name}: {normalise(node.message)[:300]}" for node in nodes).replace(PLACEHOLDER, "")


def _rows(examples: Sequence[Example]) -> Any:
    from sklearn.feature_extraction import DictVectorizer

    return DictVectorizer().fit_transform(
        [features_of(example.evidence, example.signals).weights for example in examples]
    )


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=_PENALTY, max_iter=400)


def _by_folds(examples: Sequence[Example], rows: Any, model: Callable[[], Any]) -> Scores:
    measured = [index for index, example in enumerate(examples) if example.is_measured]
    taught = [index for index, example in enumerate(examples) if not example.is_measured]
    probabilities = np.zeros((len(measured), len(CATEGORIES)))
    retries = np.zeros(len(measured))
    for fold in folds([examples[index].group for index in measured], _FOLDS):
        out = set(fold)
        seen = [index for at, index in enumerate(measured) if at not in out] + taught
        asked = [measured[at] for at in fold]
        weights = [examples[index].weight for index in seen]
        fit = model().fit(rows[seen], [CATEGORIES.index(examples[index].category) for index in seen], weights)
        probabilities[np.ix_(fold, fit.classes_)] = fit.predict_proba(rows[asked])
        clear = [index for index in seen if examples[index].should_retry != "either"]
        answers = [examples[index].should_retry == "yes" for index in clear]
        fit = model().fit(rows[clear], answers, [examples[index].weight for index in clear])
        retries[fold] = fit.predict_proba(rows[asked])[:, 1]
    return probabilities, retries
