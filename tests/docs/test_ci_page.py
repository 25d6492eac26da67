"""What the page about gates shows is what the commands read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airflow_common_ai.cli.score import app
from airflow_common_ai.evals.gates.gates_file import Demand, read_gates
from airflow_common_ai.evals.metric import PAIRED, SCORED
from airflow_common_ai.evals.scoring.costs import Costs, read_costs
from airflow_common_ai.evals.statistics.power import smallest_drop

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text("utf-8")
GATES, COSTS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_gates_of_the_page_are_read(tmp_path: Path) -> None:
    path = tmp_path / "gates.toml"
    path.write_text(GATES, "utf-8")
    gates = read_gates(path)
    assert [bound.metric for bound in gates.bounds] == ["false_fails", "right_of_settled"]
    assert gates.must_pass[0].demand is Demand.RIGHT


def test_the_prices_of_the_page_are_all_of_them_with_their_defaults(tmp_path: Path) -> None:
    path = tmp_path / "costs.toml"
    path.write_text(COSTS, "utf-8")
    assert read_costs(path) == Costs()
    assert re.findall(r"^(\w+) =", COSTS, re.MULTILINE) == list(Costs.__dataclass_fields__)


def test_the_page_names_every_metric_and_demand() -> None:
    bounds, drops = re.findall(r"`metric`: (.*?)\.\s(?:Of|\n?-)", PAGE + "\n-", re.DOTALL)
    named = set(re.findall(r"`([\w.]+)`", bounds))
    assert named == {name for name in SCORED if "." not in name} | {"precision.auth", "recall.auth"}
    assert set(re.findall(r"`(\w+)`", drops)) == set(PAIRED)
    assert all(f"`{demand.value}`" in PAGE for demand in Demand)


@pytest.mark.parametrize(("failures", "points"), [(100, "8"), (300, "3.5"), (1000, "1.6")])
def test_the_page_says_what_is_seen(failures: int, points: str) -> None:
    drop = smallest_drop(failures)
    assert drop is not None
    assert f"{failures:,} see {points}" in PAGE or f"{failures:,} failures see {points}" in PAGE
    assert f"{100 * drop:.2g}" == points or f"{100 * drop:.1g}" == points


@pytest.mark.parametrize("command", ["score", "compare", "gate", "simulate", "trust"])
def test_the_options_of_the_page_exist(command: str) -> None:
    (line,) = re.findall(rf"^\$ airflow-common-ai {command} (.*)$", PAGE, re.MULTILINE)
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    assert all(option in shown for option in re.findall(r"(?:^| )(--?[\w-]+)", line))
