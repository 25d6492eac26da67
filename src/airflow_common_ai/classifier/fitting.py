"""The linear fits that training makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_common_ai.classifier.features import Features, features_of
from airflow_common_ai.classifier.model import CATEGORIES, HEADS, MOST_STEPS

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from airflow_common_ai.classifier.training import Example, Numbers, Recipe

__all__ = ["Fitted", "Fitting", "folds"]

_COMMON = 0.01
"""The share of examples that a word must be in for its vector to count half."""
_IMPOSSIBLE = -30.0
"""Log-odds of a category of which there is no example."""
_MAX_ITERATIONS = 400
_RETRY_HEAD = len(CATEGORIES)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights as floating-point numbers."""

    coefficients: Numbers
    """A row for each feature, a column for each head."""
    intercepts: Numbers


class Fitting:
    """The examples as a matrix, and fits on some of its rows."""

    def __init__(self, recipe: Recipe, examples: Sequence[Example], vectors: Mapping[str, Sequence[float]]) -> None:
        import numpy as np
        from scipy.sparse import csr_matrix

        self._recipe = recipe
        self._examples = examples
        found = self.features = [features_of(example.evidence, example.signals) for example in examples]
        counts = Counter(name for features in found for name in features.weights)
        frequent = {name for name, count in counts.items() if count >= recipe.least_count}
        self.names = sorted(frequent | vectors.keys())
        self.matrix = _matrix(found, self.names)
        self._placed = np.array([index for index, name in enumerate(self.names) if name in vectors], dtype=int)
        length = len(next(iter(vectors.values()), ()))
        placed = np.array([vectors[self.names[index]] for index in self._placed]).reshape(len(self._placed), length)
        rarity = np.array([_COMMON / (_COMMON + counts[self.names[index]] / len(found)) for index in self._placed])
        self._vectors = placed * rarity.reshape(-1, 1) * recipe.vectors_scale
        self._sums = csr_matrix(self.matrix[:, self._placed] @ self._vectors)
        """Of each example the sum of its words' vectors: linear in the words, so it ends in their weights."""

    def fit(self, rows: Iterable[int]) -> Fitted:
        """Return the weights of both heads, fitted on some examples."""
        import numpy as np
        from scipy.sparse import hstack
        from sklearn.linear_model import LogisticRegression

        kept = list(rows)
        counts = np.asarray((self.matrix[kept] > 0).sum(axis=0)).ravel()
        used = np.flatnonzero(counts >= self._recipe.least_count)
        matrix = hstack([self.matrix[:, used], self._sums], format="csr")
        coefficients = np.zeros((len(self.names), HEADS))
        intercepts = np.full(HEADS, _IMPOSSIBLE)
        for is_retry, asked in enumerate((list(self._category_answers(kept)), list(self._retry_answers(kept)))):
            indexes, answers, weights = map(list, zip(*asked, strict=True))
            fit = LogisticRegression(C=self._recipe.inverse_penalty, max_iter=_MAX_ITERATIONS)
            fit.fit(matrix[indexes], answers, weights)
            columns, signs = list(fit.classes_), np.ones(len(fit.classes_))
            if is_retry:
                columns, signs = [_RETRY_HEAD], np.array([1.0])
            elif len(columns) == 2:  # scikit-learn keeps one row for two classes
                signs = np.array([-0.5, 0.5])
            found = fit.coef_.T * signs
            coefficients[np.ix_(used, columns)] = found[: len(used)]
            coefficients[np.ix_(self._placed, columns)] += self._vectors @ found[len(used) :]
            intercepts[columns] = fit.intercept_ * signs
        return Fitted(coefficients, intercepts)

    def known(self, fitted: Fitted) -> frozenset[str]:
        """Return the features of which weights are left when they are rounded."""
        import numpy as np

        steps = np.abs(fitted.coefficients).max(axis=0) / MOST_STEPS
        is_left = np.rint(fitted.coefficients / np.where(steps, steps, 1.0)).any(axis=1)
        return frozenset(self.names[at] for at in np.flatnonzero(is_left))

    def scores(self, fitted: Fitted, rows: Sequence[int]) -> Numbers:
        """Return the log-odds of each head for some examples."""
        scores: Numbers = self.matrix[list(rows)] @ fitted.coefficients + fitted.intercepts
        return scores

    def _category_answers(self, rows: Iterable[int]) -> Iterator[tuple[int, int, float]]:
        """Yield row, category and weight; the other categories that are as right share a part of the weight."""
        for row in rows:
            example = self._examples[row]
            share = self._recipe.share_of_also if example.also else 0.0
            yield row, CATEGORIES.index(example.category), example.weight * (1 - share)
            for category in example.also:
                yield row, CATEGORIES.index(category), example.weight * share / len(example.also)

    def _retry_answers(self, rows: Iterable[int]) -> Iterator[tuple[int, int, float]]:
        """Yield row, whether to retry, and weight; what may be decided either way speaks for both."""
        for row in rows:
            example = self._examples[row]
            if example.should_retry != "no":
                yield row, 1, example.weight * (0.5 if example.should_retry == "either" else 1.0)
            if example.should_retry != "yes":
                yield row, 0, example.weight * (0.5 if example.should_retry == "either" else 1.0)


def folds(groups: Sequence[str], count: int) -> Iterator[list[int]]:
    """Yield the places of each fold: whole groups, dealt out by size."""
    from sklearn.model_selection import GroupKFold

    splitter = GroupKFold(min(count, len(set(groups))))
    for _, fold in splitter.split(groups, groups=groups):
        yield [int(index) for index in fold]


def _matrix(found: Sequence[Features], names: Sequence[str]) -> csr_matrix:
    import numpy as np
    from scipy.sparse import csr_matrix

    columns = {name: index for index, name in enumerate(names)}
    values: list[float] = []
    indexes: list[int] = []
    starts = [0]
    for features in found:
        for name, weight in features.weights.items():
            if name in columns:
                indexes.append(columns[name])
                values.append(weight)
        starts.append(len(indexes))
    matrix = csr_matrix((np.array(values), indexes, starts), shape=(len(found), len(names)))
    matrix.sort_indices()
    return matrix
