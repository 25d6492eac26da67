"""Categories against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from evals.replayed_run import label, replayed, row
from sklearn.metrics import precision_recall_fscore_support

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evals.score import judged_rows
from airflow_common_ai.evals.scoring.categories import CategoryScore, score_categories
from airflow_common_ai.evals.statistics.sample import Sample
from airflow_common_ai.recordings.label import CATEGORIES, Label, ShouldRetry


def scored(*rows: Row) -> CategoryScore | None:
    judged = [Judged(one, one.label) for one in rows if one.label is not None]
    return score_categories(judged, Sample([one.row.fingerprint for one in judged]))


def test_real_decisions_score_as_scikit_learn_scores_them() -> None:
    judged = judged_rows(replayed("dev", every=6), None)
    sample = Sample([one.row.fingerprint for one in judged])
    found = score_categories(judged, sample)
    assert found is not None
    named = [one.category or "abstained" for one in judged]
    true = [name if one.label.accepts(name) else one.label.category for one, name in zip(judged, named, strict=True)]
    precision, recall, f1, support = precision_recall_fscore_support(
        true, named, labels=list(CATEGORIES), sample_weight=sample.weights, zero_division=0
    )
    for at, one in enumerate(found.rows):
        assert one.precision is not None
        assert one.recall is not None
        assert one.f1 is not None
        assert (one.precision.value, one.recall.value, one.f1.value, one.failures) == pytest.approx(
            (precision[at], recall[at], f1[at], support[at]), abs=1e-6
        )
        assert one.f1.low <= one.f1.value <= one.f1.high
    assert found.macro_f1.value == pytest.approx(np.mean(f1), abs=1e-6)


def test_abstentions_and_crashes_have_columns_of_their_own() -> None:
    found = scored(
        row(1, category="transient"),
        row(2, "default", category=None),
        row(3, category="network", outcome=Outcome.CRASHED),
        row(4, "fail", label("no", "data"), category="permanent"),
    )
    assert found is not None
    assert (found.accuracy.value, found.accuracy_of_named and found.accuracy_of_named.value) == (0.25, 0.5)
    of_transient = found.matrix["transient"]
    assert (of_transient["transient"], of_transient["abstained"], of_transient["crashed"]) == (1.0, 1.0, 1.0)
    assert found.matrix["data"]["permanent"] == 1.0
    assert sum(sum(cells.values()) for cells in found.matrix.values()) == 4.0
    by_name = {one.name: one for one in found.rows}
    assert by_name["transient"].recall is not None
    assert by_name["transient"].recall.value == pytest.approx(1 / 3), "what was abstained about is missed"
    assert by_name["auth"].precision is by_name["auth"].recall is by_name["auth"].f1 is None


def test_another_category_that_is_as_right_counts_as_the_true_one() -> None:
    both = Label("a/b", "data", ShouldRetry.NO, None, "why", "reading", also=("permanent",))
    found = scored(row(1, "fail", both, category="permanent"))
    assert found is not None
    assert found.accuracy.value == 1.0
    assert found.matrix["permanent"]["permanent"] == 1.0
    assert sum(found.matrix["data"].values()) == 0.0


def test_a_category_of_the_users_own_is_a_column_and_never_right() -> None:
    found = scored(row(1, category="maintenance"), row(2, category="transient"))
    assert found is not None
    assert "maintenance" in found.columns
    assert found.matrix["transient"]["maintenance"] == 1.0
    assert found.accuracy.value == 0.5


def test_a_policy_that_names_no_category_has_no_score() -> None:
    assert scored(row(1), row(2, "default")) is None
