"""Two runs on the same failures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from evals.replayed_run import label, replayed, row, run_of

from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.compare import Comparison, PairedScore, compare
from airflow_common_ai.evals.runs.run_file import Row, Run
from airflow_common_ai.evals.scoring.costs import Costs
from airflow_common_ai.evals.unmeasurable import Unmeasurable


def changed(run: Run, **changes: dict[str, Any]) -> Run:
    """The same corpus, of which some cases are decided otherwise: ``case_1={"action": ...}``."""
    rows = [replace(one, **changes.get(one.id.removeprefix("family/").replace("-", "_"), {})) for one in run.rows]
    return Run(run.header, tuple(rows))


def metric(found: Comparison, name: str) -> PairedScore:
    return next(one for one in found.metrics if one.name == name)


WORTH_IT = [row(number, "retry", label("yes")) for number in range(1, 20, 2)]
HOPELESS = [row(number, "fail", label("no")) for number in range(0, 20, 2)]
RUN = run_of(WORTH_IT + HOPELESS)
FAIL = {"action": Action.FAIL, "delay_s": None}


def test_a_run_beside_itself_shows_no_change() -> None:
    run = replayed("dev", every=6)
    found = compare(run, run)
    assert found.changes == ()
    assert {(one.gain.value, one.test.p, one.holm_p) for one in found.metrics} == {(0.0, 1.0, 1.0)}
    assert (found.cost_change.value, found.cost_change.low, found.cost_change.high) == (0.0, 0.0, 0.0)


def test_what_got_worse_is_tested_and_listed_worst_first() -> None:
    worse = changed(RUN, case_1=FAIL, case_3=FAIL, case_5=FAIL, case_0={"action": Action.DEFAULT})
    found = compare(RUN, worse, costs=Costs(false_fail=60.0, wasted_retry_minutes=2.0, retries=5))
    right, false_fails = metric(found, "right"), metric(found, "false_fails")
    assert (right.test.worse, right.test.better, right.test.p) == (4, 0, 1 / 16)
    assert (right.gain.value, right.before.value, right.after.value) == pytest.approx((-0.2, 1.0, 0.8))
    assert right.gain.low < -0.2 < right.gain.high
    assert (false_fails.test.worse, false_fails.gain.value) == (3, pytest.approx(-0.15)), "more of it is worse"
    assert [(one.cost, one.after.id) for one in found.changes] == [
        (60.0, "family/case-1"), (60.0, "family/case-3"), (60.0, "family/case-5"), (10.0, "family/case-0"),
    ]  # fmt: skip
    assert found.cost_change.value == pytest.approx(100 * 190 / 20)
    assert found.cost_after.value - found.cost_before.value == pytest.approx(found.cost_change.value)
    assert all(one.holm_p >= one.test.p for one in found.metrics)


def test_what_got_better_is_no_regression() -> None:
    worse = changed(RUN, case_1=FAIL, case_3=FAIL, case_5=FAIL)
    right = metric(compare(worse, RUN), "right")
    assert (right.test.worse, right.test.better, right.test.p) == (0, 3, 1.0)
    assert right.gain.value == pytest.approx(0.15)


def test_copies_of_a_failure_are_one_change() -> None:
    rows = [row(number, fingerprint="copied") for number in range(12)] + [row(number) for number in range(12, 20)]
    run = run_of(rows)
    worse = Run(run.header, tuple(replace(one, **FAIL) if one.fingerprint == "copied" else one for one in run.rows))
    found = metric(compare(run, worse), "right")
    assert (found.test.worse, found.test.better) == (1, 0)
    assert found.gain.value == pytest.approx(-1 / 9)


def test_of_repeats_the_majority_counts() -> None:
    def asked(*actions: str) -> list[Row]:
        return [row(1, action, repeat=number) for number, action in enumerate(actions, 1)]

    before, once, twice = (
        run_of(asked(*actions))
        for actions in (("retry", "retry", "retry"), ("fail", "retry", "retry"), ("fail", "fail", "retry"))
    )
    assert metric(compare(before, once), "right").test.worse == 0
    assert metric(compare(before, twice), "right").test.worse == 1
    assert metric(compare(before, once), "right").gain.value == pytest.approx(-1 / 3)


def test_a_delay_that_moved_without_a_cost_is_no_change() -> None:
    assert compare(RUN, changed(RUN, case_1={"delay_s": 61.0})).changes == ()
    (change,) = compare(RUN, changed(RUN, case_1={"delay_s": 1.0})).changes
    assert change.cost == 5.0


def test_how_small_a_drop_this_corpus_shows_is_told() -> None:
    assert metric(compare(RUN, RUN), "right").detectable_drop == pytest.approx(0.314)
    four = run_of([row(number) for number in range(4)])
    assert metric(compare(four, four), "right").detectable_drop is None


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (run_of([row(1)]), "the runs are on different corpora"),
        (Run(RUN.header, RUN.rows[:-1]), "lacks 1 rows: finish it with --resume"),
        (changed(RUN, case_1={"outcome": Outcome.STALE}), "has 1 stale rows: record their answers again"),
        (
            Run(replace(RUN.header, cases=19, shard=(1, 2)), RUN.rows[:-1]),
            "the runs hold different cases of the corpus: run both with the same --shard",
        ),
        (
            Run(
                replace(RUN.header, repeats=2),
                tuple(replace(one, repeat=number) for one in RUN.rows for number in (1, 2)),
            ),
            "asked about each case a different number of times",
        ),
    ],
)
def test_runs_on_different_cases_are_not_compared(after: Run, message: str) -> None:
    with pytest.raises(Unmeasurable, match=message):
        compare(RUN, after)


def test_the_comparison_is_told_to_programs() -> None:
    data = compare(RUN, changed(RUN, case_1=FAIL)).to_json()
    assert data["version"] == 1
    assert data["metrics"][0]["name"] == "right"
    assert data["changes"][0]["after"]["action"] == "fail"
