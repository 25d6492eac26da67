"""Does a run pass? And when can that not be said?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from evals.replayed_run import label, replayed, row, run_of

from airflow_common_ai.evals.answer import Action, Outcome
from airflow_common_ai.evals.gates.gate import Status, check
from airflow_common_ai.evals.gates.gates_file import Bound, Demand, Drop, Gates, Measure, MustPass, read_gates
from airflow_common_ai.evals.runs.run_file import Row, Run

GATES = Path(__file__).parents[3] / "gates.toml"
FEW = Measure(min_failures=1)


def many(count: int = 200, wrong: int = 0, **changes: object) -> list[Row]:
    """Failures that are rightly retried, but for some."""
    rows = [row(number, **changes) for number in range(count)]  # type: ignore[arg-type]  # fields of a row
    return [replace(one, action=Action.FAIL, delay_s=None) for one in rows[:wrong]] + rows[wrong:]


def on_same_corpus(run: Run, rows: Sequence[Row]) -> Run:
    return Run(run.header, tuple(rows))


@pytest.mark.parametrize(
    ("bound", "wrong", "status"),
    [
        (Bound("right", at_least=0.95), 0, Status.PASSED),
        # 97.5 % right of 200, but the interval begins at 94.3 %.
        (Bound("right", at_least=0.95), 5, Status.FAILED),
        (Bound("false_fails", at_most=0.02), 0, Status.PASSED),
        (Bound("false_fails", at_most=0.01), 0, Status.FAILED),
        (Bound("cost_per_100", at_most=100.0), 0, Status.PASSED),
        (Bound("cost_per_100", at_most=100.0), 10, Status.FAILED),
    ],
)
def test_the_bound_of_the_interval_must_hold_the_bar(bound: Bound, wrong: int, status: Status) -> None:
    verdict = check(run_of(many(wrong=wrong)), Gates(FEW, bounds=(bound,)))
    assert verdict.status is verdict.bounds[0].status is status
    assert verdict.exit_code == (0 if status is Status.PASSED else 1)
    assert verdict.bounds[0].room is not None
    assert (verdict.bounds[0].room >= 0) is (status is Status.PASSED)


@pytest.mark.parametrize(
    ("worse", "practical", "status"),
    [
        (0, 0.01, Status.PASSED),
        (4, 0.01, Status.PASSED),  # p = 1/16: it may be chance
        (5, 0.01, Status.FAILED),  # p = 1/32
        (5, 0.03, Status.PASSED),  # no chance, but 2.5 points do not matter
    ],
)
def test_a_drop_fails_if_it_is_no_chance_and_matters(worse: int, practical: float, status: Status) -> None:
    baseline = run_of(many())
    verdict = check(
        on_same_corpus(baseline, many(wrong=worse)), Gates(FEW, drops=(Drop("right", practical),)), baseline
    )
    assert verdict.status is status
    assert (verdict.drops[0].worse, verdict.drops[0].better) == (worse, 0)
    assert verdict.drops[0].loss is not None
    assert verdict.drops[0].loss.value == pytest.approx(worse / 200)


def test_several_drops_are_one_family() -> None:
    baseline = run_of(many())
    drops = (Drop("right", 0.01), Drop("undercut", 0.01))
    verdict = check(on_same_corpus(baseline, many(wrong=5)), Gates(FEW, drops=drops), baseline)
    assert verdict.drops[0].p == pytest.approx(1 / 32)
    assert verdict.drops[0].holm_p == pytest.approx(2 / 32)
    assert verdict.status is Status.PASSED


def test_how_small_a_drop_is_seen_is_told_without_a_baseline_too() -> None:
    gates = Gates(FEW, drops=(Drop("right", 0.01),))
    alone = check(run_of(many()), gates)
    assert alone.status is Status.PASSED
    assert alone.drops[0].status is Status.NO_BASELINE
    assert alone.drops[0].detectable == check(run_of(many()), gates, run_of(many())).drops[0].detectable
    assert alone.drops[0].detectable is not None
    assert 0.02 < alone.drops[0].detectable < 0.05


@pytest.mark.parametrize(
    ("demand", "one", "status"),
    [
        (Demand.RIGHT, row(1, "retry"), Status.PASSED),
        (Demand.RIGHT, row(1, "default"), Status.FAILED),
        (Demand.RIGHT, row(1, asked_delay_s=90.0), Status.FAILED),
        (Demand.RIGHT, row(1, outcome=Outcome.CRASHED), Status.FAILED),
        (Demand.HARMLESS, row(1, "default"), Status.PASSED),
        (Demand.HARMLESS, row(1, "retry", label("no")), Status.FAILED),
        (Demand.HARMLESS, row(1, asked_delay_s=90.0), Status.FAILED),
        (Demand.NOT_FAILED, row(1, "retry", label("no")), Status.PASSED),
        (Demand.NOT_FAILED, row(1, "fail"), Status.FAILED),
    ],
)
def test_a_single_case_that_must_pass_fails_the_run(demand: Demand, one: Row, status: Status) -> None:
    must = (MustPass("this one", demand, tags=("chosen",)), MustPass("by id", demand, ids=("family/case-[1]",)))
    run = run_of([replace(one, tags=("chosen",)), row(2, "fail")])
    verdict = check(run, Gates(replace(FEW, max_unanswered=1.0), must_pass=must))
    assert verdict.status is status
    broken = ("family/case-1",) if status is Status.FAILED else ()
    assert [result.broken for result in verdict.must_pass] == [broken, broken]


def test_one_broken_repeat_breaks_a_case_that_must_pass() -> None:
    run = run_of([row(1, repeat=1), row(1, "fail", repeat=2)])
    verdict = check(run, Gates(FEW, must_pass=(MustPass("all", Demand.RIGHT, ids=("*",)),)))
    assert (verdict.status, verdict.must_pass[0].cases, verdict.must_pass[0].broken) == (
        Status.FAILED, 1, ("family/case-1",),
    )  # fmt: skip


RIGHT = Bound("right", at_least=0.1)
WHOLE = run_of(many(100))


@pytest.mark.parametrize(
    ("run", "gates", "reason"),
    [
        (run_of([]), Gates(FEW, (RIGHT,)), "the run holds no case with a label"),
        (
            WHOLE,
            Gates(Measure(split="gate", min_failures=101), (RIGHT,)),
            "100 distinct failures .* min_failures = 101",
        ),
        (
            run_of([row(number, fingerprint="copied") for number in range(100)]),
            Gates(Measure(), (RIGHT,)),
            "1 distinct failures with a label are fewer than min_failures = 59",
        ),
        (Run(WHOLE.header, WHOLE.rows[:90]), Gates(FEW, (RIGHT,)), "10 rows are missing: finish the run with --resume"),
        (
            run_of([*many(99), row(99, outcome=Outcome.STALE)]),
            Gates(FEW, (RIGHT,)),
            "1 rows are stale, since the cassettes hold no answer",
        ),
        (
            run_of([*many(98), row(98, outcome=Outcome.CRASHED), row(99, outcome=Outcome.TIMED_OUT)]),
            Gates(FEW, (RIGHT,)),
            "2 of 100 rows crashed or timed out, more than max_unanswered = 0.01 allows",
        ),
        (WHOLE, Gates(FEW, (Bound("category", at_least=0.1),)), "the run has nothing to measure category on"),
        (
            WHOLE,
            Gates(FEW, must_pass=(MustPass("typo", Demand.RIGHT, tags=("chozen",)),)),
            "must_pass 'typo' names no case with a label: correct its ids or tags",
        ),
    ],
)
def test_what_was_not_measured_neither_passes_nor_fails(run: Run, gates: Gates, reason: str) -> None:
    verdict = check(run, gates)
    assert (verdict.status, verdict.exit_code) == (Status.NOT_MEASURED, 3)
    (found,) = verdict.reasons
    assert re.search(reason, found), found


def test_a_baseline_on_another_corpus_measures_nothing() -> None:
    verdict = check(WHOLE, Gates(FEW, drops=(Drop("right", 0.01),)), run_of(many(99)))
    assert verdict.exit_code == 3
    assert "different corpora" in verdict.reasons[0]


def test_what_was_not_measured_outweighs_what_failed() -> None:
    run = run_of([*many(90, wrong=90), row(99, outcome=Outcome.STALE)])
    assert check(run, Gates(FEW, (Bound("right", at_least=0.9),))).exit_code == 3


def test_our_own_gates_hold_for_what_is_shipped_and_a_run_passes_beside_itself() -> None:
    run = replayed("gate")
    verdict = check(run, read_gates(GATES), run)
    assert verdict.status is Status.PASSED, [*verdict.reasons, *verdict.bounds, *verdict.must_pass]
    assert all(result.loss is not None and result.loss.value == 0.0 for result in verdict.drops)


def test_our_own_gates_stop_a_policy_that_fails_everything() -> None:
    run = replayed("gate")
    failing = [replace(one, action=Action.FAIL, delay_s=None) for one in run.rows]
    verdict = check(on_same_corpus(run, failing), read_gates(GATES), run)
    failed = {result.bound.metric for result in verdict.bounds if result.status is Status.FAILED}
    assert failed >= {"false_fails", "right_of_settled"}
    assert [result.drop.metric for result in verdict.drops if result.status is Status.FAILED] == [
        "right",
        "false_fails",
    ]
    # Nothing was retried, so no ask can have been undercut; what failed has failed all the same.
    assert verdict.reasons == ("the run has nothing to measure undercut on: take the bound out, or another policy",)
    assert verdict.exit_code == 1


def test_the_verdict_is_told_to_programs() -> None:
    data = check(WHOLE, Gates(FEW, (RIGHT,))).to_json()
    assert (data["version"], data["status"], data["exit_code"]) == (1, "passed", 0)
    assert data["bounds"][0]["bound"] == {"metric": "right", "at_least": 0.1, "at_most": None}
    assert data["score"]["actions"]["right"]["value"] == 1.0
