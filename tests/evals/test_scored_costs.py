"""What errors cost, and what others would have cost on the same failures."""

from __future__ import annotations

from pathlib import Path

import pytest
from evals.replayed_run import label, row

from airflow_common_ai.evals.answer import Action, LaterTry, Outcome
from airflow_common_ai.evals.judged import Judged
from airflow_common_ai.evals.runs.run_file import Row
from airflow_common_ai.evals.scoring.costs import ERRORS, Costs, CostTable, read_costs, row_parts, score_costs
from airflow_common_ai.evals.statistics.sample import Sample

COSTS = Costs(
    unit="dollars",
    false_fail=100.0,
    wasted_retry_minutes=10.0,
    minute=0.5,
    undercut_ask=7.0,
    early_retry=3.0,
    late_minute=0.2,
    model_call=0.25,
    dollar=2.0,
    retries=4,
    retry_delay_s=300.0,
)


@pytest.mark.parametrize(
    ("one", "error", "cost"),
    [
        (row(1, "fail", label("yes")), "false FAILs", 100.0),
        (row(1, "retry", label("no")), "wasted retries", 20.0),
        (row(1, "retry", label("no"), later=(LaterTry(Action.FAIL),)), "wasted retries", 5.0),
        (row(1, "default", label("no")), "left to Airflow in vain", 20.0),
        (row(1, "fail", label("no"), outcome=Outcome.CRASHED), "left to Airflow in vain", 20.0),
        (row(1, delay_s=60.0, asked_delay_s=100.0), "asks undercut", 7.0),
        (row(1, delay_s=1.0), "retries too early", 3.0),
        (row(1, delay_s=1200.0), "retries too late", 2.0),
        (row(1, "default", label("yes", delay_s=(400.0, 500.0))), "retries too early", 3.0),
        (row(1, calls=1, cost_usd=0.5), "model", 1.25),
        (row(1), None, 0.0),
        (row(1, "fail", label("no")), None, 0.0),
        (row(1, "fail", label("either")), None, 0.0),
        (row(1, "retry", label("either")), None, 0.0),
        (row(1, "default", label("yes")), None, 0.0),
    ],
)
def test_each_error_has_its_price(one: Row, error: str | None, cost: float) -> None:
    assert one.label is not None
    parts = dict(zip(ERRORS, row_parts(Judged(one, one.label), COSTS), strict=True))
    assert {name: part for name, part in parts.items() if part} == pytest.approx({error: cost} if error else {})


def scored(*rows: Row) -> CostTable:
    judged = [Judged(one, one.label) for one in rows if one.label is not None]
    return score_costs(judged, Sample([one.row.fingerprint for one in judged]), COSTS)


def test_policies_stand_side_by_side_on_the_same_failures() -> None:
    found = scored(
        row(1, "retry", label("yes")),
        row(2, "fail", label("no")),
        row(3, "fail", label("yes")),
        row(4, "retry", label("no"), later=(LaterTry(Action.FAIL),)),
    )
    per_100 = {one.policy: one.per_100.value for one in found.rows}
    assert per_100 == pytest.approx(
        {
            "this policy": 100 * (100 + 5) / 4,
            "Airflow's default": 100 * (2 * 20) / 4,
            "always retry": 100 * (2 * 3 + 2 * 20) / 4,
            "never retry": 100 * (2 * 100) / 4,
            "oracle": 0.0,
        }
    )
    assert dict(found.errors)["false FAILs"] == pytest.approx(2500.0)
    for one in found.rows[1:]:
        assert one.over_this is not None
        assert one.over_this.value == pytest.approx(one.per_100.value - per_100["this policy"])
        assert one.over_this.low <= one.over_this.value <= one.over_this.high


def test_copies_of_a_failure_cost_as_one() -> None:
    copied = [row(number, "fail", label("yes"), fingerprint="copied") for number in range(9)]
    found = scored(*copied, row(10, "fail", label("no")))
    assert found.rows[0].per_100.value == pytest.approx(5000.0)


def test_a_file_changes_the_prices_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "costs.toml"
    path.write_text('unit = "euros"\nfalse_fail = 250\nretries = 2\n', "utf-8")
    costs = read_costs(path)
    assert (costs.unit, costs.false_fail, costs.retries, costs.minute) == ("euros", 250.0, 2, 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("false_fial = 3", "false_fial is no key of this file. Known here: unit, retries, false_fail"),
        ("false_fial = 3", "Did you mean 'false_fail'?"),
        ("false_fail = -3", "false_fail must be a number from 0 to 1e+09, got -3. Write e.g. false_fail = 60."),
        ("false_fail = true", "false_fail must be a number from 0 to 1e+09, got true"),
        ("false_fail = nan", "false_fail must be a number from 0 to 1e+09, got nan"),
        ("retries = 1.5", "retries must be a whole number from 0 to 100, got 1.5. Write e.g. retries = 5."),
        ('unit = ""', "unit must be a text of 1 to 200 characters, got ''"),
        ("false_fail = ", "it is no TOML: Invalid value (at end of document)"),
        ("[costs]\n", "costs is no key of this file"),
    ],
)
def test_a_wrong_file_is_refused_with_key_and_fix(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "costs.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"costs\.toml: ") as refused:
        read_costs(path)
    assert message in str(refused.value)
