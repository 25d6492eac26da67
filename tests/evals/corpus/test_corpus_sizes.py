"""What there is, counted by distinct failures, and what so many allow to claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from evals.corpus.collecting import collect_into, corpus_in, label_for, log_of
from scipy.stats import binomtest  # type: ignore[import-untyped]

from airflow_common_ai.evals.corpus.sizes import BOUNDS, ClassSize, could_still_be, sizes_of


def test_what_is_there_twice_counts_once_where_failures_are_distinct(tmp_path: Path) -> None:
    collect_into(
        tmp_path, log_of(ValueError("bad"), 1), log_of(ValueError("bad"), 2), log_of(ConnectionError("broke"), 3)
    )
    corpus = corpus_in(tmp_path)
    bad, broke = sorted(corpus, key=lambda one: -one.count)
    corpus.put(replace(bad, id="shop/copy", count=1))
    for one, answer, category in ((bad.id, "no", "data"), ("shop/copy", "no", "data"), (broke.id, "yes", "network")):
        corpus.labels[one] = label_for(one, answer, category)

    sizes = sizes_of(corpus)

    assert (sizes.cases, sizes.failures, sizes.distinct, sizes.labelled, sizes.labelled_failures) == (3, 4, 2, 2, 4)
    assert sum(split.distinct for split in sizes.splits) == 2
    assert [one for one in sizes.categories if one.labelled] == [
        ClassSize("network", 1, 0, 0),
        ClassSize("data", 0, 1, 0),
    ]
    assert sizes.libraries == (("python", 2),)


@pytest.mark.parametrize(("share", "cases"), BOUNDS)
def test_so_many_cases_and_one_fewer_stand_on_either_side_of_a_bound(share: float, cases: int) -> None:
    assert could_still_be(cases) <= share < could_still_be(cases - 1)


@pytest.mark.parametrize("cases", [1, 7, 59, 1000])
def test_the_bound_is_the_exact_one_sided_interval_of_no_fault(cases: int) -> None:
    exact = binomtest(0, cases, alternative="less").proportion_ci(0.95, "exact").high

    assert could_still_be(cases) == pytest.approx(exact, abs=1e-9)


def test_of_no_case_nothing_can_be_said(tmp_path: Path) -> None:
    assert could_still_be(0) == 1
    assert sizes_of(corpus_in(tmp_path)).labelled == 0
