"""A whole score, of real decisions about the real corpus."""

from __future__ import annotations

import json
import math

import pytest
from evals.replayed_run import label, replayed, row, run_of

from airflow_common_ai.evals.answer import Outcome
from airflow_common_ai.evals.score import score
from airflow_common_ai.evals.scoring.costs import Costs
from airflow_common_ai.evals.unmeasurable import Unmeasurable


def test_real_decisions_are_scored_as_they_are_counted_by_hand() -> None:
    run = replayed("dev", every=6)
    found = score(run, split="dev")
    by_failure: dict[str, list[bool]] = {}
    for one in run.labelled:
        assert one.label is not None
        right = {"yes": ("retry",), "no": ("fail",), "either": ("retry", "fail")}[one.label.should_retry.value]
        by_failure.setdefault(one.fingerprint, []).append(one.action.value in right)
    share = math.fsum(sum(flags) / len(flags) for flags in by_failure.values()) / len(by_failure)
    assert found.actions.right.value == pytest.approx(share)
    assert found.counts.failures == len(by_failure)
    assert found.counts.unlabelled == sum(one.label is None for one in run.rows)
    assert found.sources[0].name == "signals"
    assert "signals" not in {one.voice for one in found.calibrations}, "they are certain, and report no confidence"


def test_a_policy_with_a_record_leaves_the_window_that_the_tasks_own_schedule_would() -> None:
    found = score(replayed("dev", every=24, tries=5))
    assert found.window is not None
    assert found.window.later_known.value == 1.0
    assert found.window.median_s.value >= found.window.default_s
    assert found.window.of_default.value > 0.9
    first_tries_only = score(replayed("dev", every=24))
    assert first_tries_only.window is not None
    assert first_tries_only.window.of_default.value < found.window.of_default.value


def test_the_same_run_makes_the_same_json() -> None:
    run = replayed("dev", every=24)
    one, other = json.dumps(score(run).to_json(), allow_nan=False), json.dumps(score(run).to_json(), allow_nan=False)
    assert one == other
    data = json.loads(one)
    assert (data["version"], data["header"]["policy"]) == (1, run.header.policy)
    assert data["actions"]["right"].keys() >= {"value", "low", "high", "method", "failures", "effective_n"}


def test_only_the_rows_of_a_split_are_scored() -> None:
    run = run_of([row(1, "fail", split="dev"), row(2, split="gate"), row(3, split="gate", outcome=Outcome.STALE)])
    assert score(run, split="dev").actions.right.value == 0.0
    assert score(run, split="gate").actions.right.value == 0.5
    assert score(run).counts.outcomes == {"decided": 2, "crashed": 0, "timed_out": 0, "stale": 1}


def test_what_nobody_judged_cannot_be_scored() -> None:
    with pytest.raises(
        Unmeasurable, match="split 'heldout' of the run holds no case with a label; splits with labels: gate"
    ):
        score(run_of([row(1)]), split="heldout")
    with pytest.raises(Unmeasurable, match="the run holds no case with a label; splits with labels: none"):
        score(run_of([]))


def test_the_costliest_decisions_come_first_and_copies_once() -> None:
    copies = [row(number, "fail", label("yes"), fingerprint="copied") for number in (1, 2)]
    run = run_of([row(3, "retry", label("no")), *copies, row(4), row(5, "default", label("yes"))])
    found = score(run, costs=Costs(false_fail=60.0, wasted_retry_minutes=1.0, retries=3))
    assert [(one.cost, one.why, one.row.id) for one in found.worst] == [
        (60.0, "false FAILs", "family/case-1"),
        (3.0, "wasted retries", "family/case-3"),
    ]


def test_rows_that_a_run_lacks_are_counted() -> None:
    run = run_of([row(1), row(2)])
    assert score(run).counts.missing == 0
    assert score(type(run)(run.header, run.rows[:1])).counts.missing == 1
