"""A month, with causes that pass or do not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from evals.replayed_run import label, replayed, row, run_of

from airflow_common_ai.evals.answer import Action, LaterTry
from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evals.simulate import Assumptions, PolicyMonth, simulate
from airflow_common_ai.evals.unmeasurable import Unmeasurable


def month(rows: Sequence[Row], **changes: Any) -> dict[str, PolicyMonth]:
    fields = {"failures": 1000, "months": 40, "retries": 3, **changes}
    found = simulate(run_of(rows), Assumptions(**fields))
    return {policy.policy: policy for policy in found.policies}


def test_what_never_passes_costs_each_policy_the_retries_that_it_makes() -> None:
    found = month([row(1, "retry", label("no"), delay_s=60.0, later=(LaterTry(Action.FAIL),))], attempt_minutes=6.0)
    ours, default = found["this policy"], found["Airflow's default"]
    assert ours.failed.value == pytest.approx(1000, rel=0.03)
    assert ours.wasted_attempts.value == pytest.approx(ours.failed.value), "one retry, then it gave up"
    assert default.wasted_attempts.value == pytest.approx(3 * ours.failed.value)
    assert default.wasted_slot_hours.value == pytest.approx(default.wasted_attempts.value / 10)
    assert found["never retry"].wasted_attempts.value == 0
    assert ours.lost.value == default.lost.value == 0
    # A wait of a minute and a try of six; three waits of five minutes and three tries.
    assert ours.minutes_to_give_up.value == pytest.approx(7.0)
    assert default.minutes_to_give_up.value == pytest.approx(33.0)
    assert found["never retry"].minutes_to_give_up.value == 0


def test_a_rate_limit_passes_when_the_server_said_so() -> None:
    rows = [row(1, delay_s=600.0, asked_delay_s=600.0, judged=label("yes", "rate_limit", (600.0, 1200.0)))]
    found = month(rows, attempt_minutes=1.0)
    ours, always = found["this policy"], found["always retry"]
    assert (ours.wasted_attempts.value, ours.lost.value) == (0.0, 0.0)
    assert ours.minutes_to_recovery.value == pytest.approx(10.0)
    assert always.lost.value == pytest.approx(1000, rel=0.03), "three tries at once are over before the ten minutes"
    # 300 s, and after a minute's try 660 s: the second retry saves it.
    assert found["Airflow's default"].minutes_to_recovery.value == pytest.approx(11.0)


def test_a_window_without_a_time_passes_at_any_time_of_it() -> None:
    rows = [row(1, delay_s=500.0, judged=label("yes", "rate_limit", (0.0, 1000.0)))]
    found = month(rows, retries=1)["this policy"]
    assert found.recovered.value == pytest.approx(found.lost.value, rel=0.1)


def test_a_passing_cause_is_over_by_the_longest_sensible_wait_in_all_but_a_twentieth() -> None:
    rows = [row(1, delay_s=1000.0, judged=label("yes", "transient", (10.0, 1000.0)))]
    found = month(rows, retries=1, failures=5000)["this policy"]
    assert found.lost.value / 5000 == pytest.approx(0.05, abs=0.01)
    early = month([row(1, delay_s=10.0, judged=label("yes", "transient", (10.0, 1000.0)))], retries=1, failures=5000)
    assert early["this policy"].recovered.value / 5000 == pytest.approx(0.05, abs=0.01)


def test_what_can_be_argued_passes_half_of_the_time() -> None:
    found = month([row(1, "fail", label("either"))])["never retry"]
    assert found.lost.value / found.failed.value == pytest.approx(0.5, abs=0.05)


def test_failures_arrive_as_often_as_they_were_seen() -> None:
    rows = [row(1, "fail", label("no"), count=300), row(2, "fail", label("yes"), count=100)]
    run = run_of(rows)
    assert simulate(run, Assumptions(months=40)).failures.value == pytest.approx(400, rel=0.05)
    scaled = simulate(run, Assumptions(months=40, failures=4000)).policies[0]
    assert scaled.lost.value / scaled.failed.value == pytest.approx(0.25, abs=0.03)


def test_a_model_is_asked_at_each_failure_unless_the_run_knows_better() -> None:
    hopeless = label("no")
    again = month([row(1, "retry", hopeless, calls=1)])["this policy"]
    assert again.model_calls.value / again.failed.value == pytest.approx(3.0), "and not where no retry is left"
    later = (LaterTry(Action.RETRY, 60.0), LaterTry(Action.FAIL))
    once = month([row(1, "retry", hopeless, calls=1, later=later)])["this policy"]
    assert once.model_calls.value / once.failed.value == pytest.approx(1.0)
    saved = month([row(1, "retry", label("yes", "rate_limit", (0.0, 1.0)), calls=1)])["this policy"]
    assert saved.model_calls.value / saved.recovered.value == pytest.approx(1.0)


def test_of_repeats_the_first_counts() -> None:
    found = month([row(1, "fail", label("no"), repeat=1), row(1, "retry", label("no"), repeat=2)])["this policy"]
    assert found.wasted_attempts.value == 0


def test_the_same_seed_simulates_the_same_months_and_another_one_others() -> None:
    run = replayed("dev", every=24)

    def told(seed: int) -> Any:
        return simulate(run, Assumptions(months=20, seed=seed)).to_json()["policies"]

    assert told(1) == told(1)
    assert told(1) != told(2)


def test_real_decisions_spend_fewer_tries_than_airflow_and_lose_fewer_tasks_than_never_retrying() -> None:
    found = {one.policy: one for one in simulate(replayed("dev", every=24, tries=5), Assumptions(months=50)).policies}
    ours, default, never = found["this policy"], found["Airflow's default"], found["never retry"]
    assert ours.wasted_attempts.high < default.wasted_attempts.low
    assert ours.lost.high < never.lost.low
    assert ours.minutes_to_give_up.high < default.minutes_to_give_up.low


def test_the_assumptions_are_told() -> None:
    data = simulate(run_of([row(1, "fail", label("no"))]), Assumptions(months=20, retries=2)).to_json()
    assert data["assumptions"]["retries"] == 2
    assert any("2 retries" in words for words in data["assumptions_in_words"])
    assert data["policies"][0]["minutes_to_recovery"]["value"] is None, "nothing recovered"
    json.dumps(data, allow_nan=False)


def test_what_nobody_judged_cannot_be_simulated() -> None:
    with pytest.raises(Unmeasurable):
        simulate(run_of([row(1)]), split="dev")
