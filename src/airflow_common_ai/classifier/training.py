"""Train the embedded model from labelled failures. Needs scikit-learn: ``pip install 'airflow-common-ai[evals]'``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from airflow_common_ai.classifier.bars import choose_bars
from airflow_common_ai.classifier.calibration import calibrate
from airflow_common_ai.classifier.classifier import is_readable, is_too_long
from airflow_common_ai.classifier.fitting import Fitting, folds
from airflow_common_ai.classifier.model import CATEGORIES, LinearModel
from airflow_common_ai.evidence.model import CategoryName, RedactedEvidence, Signal

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Example", "Recipe", "Trained", "train", "vectors_of"]

Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

_LEAST_EXAMPLES, _LEAST_GROUPS = 20, 2


@dataclass(frozen=True, slots=True)
class Example:
    """One failure with what is right about it."""

    evidence: RedactedEvidence
    signals: Sequence[Signal]
    category: CategoryName
    should_retry: Literal["yes", "no", "either"]
    also: tuple[CategoryName, ...] = ()
    """Other categories that are as right."""
    weight: float = 1.0
    group: str = ""
    """Examples of one group are never on both sides when the model is measured, e.g. those of one library."""
    is_measured: bool = True
    """Whether calibration and bars count it. Made-up examples only teach."""

    def accepts(self, category: str) -> bool:
        """Whether a category is right."""
        return category == self.category or category in self.also


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained. The defaults were chosen on failures of the ``dev`` split, by library."""

    inverse_penalty: float = 4.0
    """scikit-learn's ``C`` of both heads."""
    least_count: int = 2
    """In how many examples a feature must be."""
    vectors_scale: float = 2.0
    """How long the vectors of words are beside the words themselves: the longer, the more a rare word counts like
    its neighbours."""
    share_of_also: float = 0.25
    """The part of an example's weight that its other categories get together."""
    folds: int = 10


@dataclass(frozen=True, slots=True)
class Trained:
    """A calibrated model, with what it said about the measured examples while it had not seen their groups."""

    model: LinearModel
    examples: Sequence[Example]
    """Those that are measured."""
    probabilities: Numbers
    """For each of them the probability of each category."""
    retry_probabilities: Numbers
    is_read: Sequence[bool]
    """Whether it would have answered; it abstains where it knows too few words."""


def train(
    examples: Iterable[Example],
    recipe: Recipe | None = None,
    *,
    vectors: Mapping[str, Sequence[float]] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Trained:
    """
    Return a calibrated model of labelled failures. The same examples make the same model, to the byte.

    :param examples: At least 20 that are measured, of at least two groups and two categories.
    :param recipe: How; the shipped model's recipe if ``None``.
    :param vectors: What is known about words beforehand, by their stems: words with like vectors count alike, also
        those that are in no example. All of one length. For examples of your own: :func:`vectors_of` the shipped
        model, which then knows what it knew and learns what differs at your place.
    :param about: What the file of the model shall say about its origin.
    :raises ImportError: scikit-learn is not installed; the text names the extra.
    :raises ValueError: There is too little to learn from.
    """
    try:
        import numpy as np
        import sklearn  # noqa: F401 - asked for here, where the text can name the extra
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise ImportError(
            "Training needs scikit-learn. Install the extra: pip install 'airflow-common-ai[evals]'."
        ) from error
    chosen = recipe or Recipe()
    everything = list(examples)
    _check(everything)
    fitting = Fitting(chosen, everything, vectors or {})
    measured = [index for index, example in enumerate(everything) if example.is_measured]
    taught = [index for index, example in enumerate(everything) if not example.is_measured]
    scores = np.zeros((len(measured), len(CATEGORIES) + 1))
    is_read = [False] * len(measured)
    # More threads cost more than they give here, and would change the order of sums, and so the bytes of the model.
    with threadpool_limits(limits=1):
        for fold in folds([everything[index].group for index in measured], chosen.folds):
            out = set(fold)
            fitted = fitting.fit([index for at, index in enumerate(measured) if at not in out] + taught)
            scores[fold] = fitting.scores(fitted, [measured[at] for at in fold])
            known = fitting.known(fitted)
            for at in fold:
                row = measured[at]
                is_read[at] = not is_too_long(everything[row].evidence) and is_readable(fitting.features[row], known)
        whole = fitting.fit(range(len(everything)))
    seen = [everything[index] for index in measured]
    calibration = calibrate(scores, seen)
    probabilities, retry_probabilities = calibration.probabilities(scores)
    bars = choose_bars(probabilities.argmax(axis=1), calibration.confidences(probabilities), retry_probabilities, seen)
    final = calibration.applied(whole)
    model = LinearModel.of(
        fitting.names,
        final.coefficients.tolist(),
        final.intercepts.tolist(),
        calibration.confidence,
        bars,
        about or {},
    )
    return Trained(model, seen, probabilities, retry_probabilities, is_read)


def vectors_of(model: LinearModel) -> dict[str, list[float]]:
    """Return what a model knows about words, as :func:`train` takes it, to build on it."""
    return {name: model.weights_of(name) for name in model.rows if name.isalnum()}


def _check(examples: Sequence[Example]) -> None:
    measured = [example for example in examples if example.is_measured]
    groups = {example.group for example in measured}
    categories = {example.category for example in measured}
    if len(measured) < _LEAST_EXAMPLES or len(groups) < _LEAST_GROUPS or len(categories) < 2:
        raise ValueError(
            f"Training needs at least {_LEAST_EXAMPLES} labelled failures of {_LEAST_GROUPS} groups and 2 categories, "
            f"got {len(measured)} of {len(groups)} groups and {len(categories)} categories. Label more of them."
        )
    if not {"yes", "no"} <= {example.should_retry for example in measured}:
        raise ValueError(
            "Training needs both failures that are worth a retry and ones that are not. Label some of the other kind."
        )
