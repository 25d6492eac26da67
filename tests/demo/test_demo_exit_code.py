"""The demo's exit code says whether every decision was the expected one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from real_airflow import RealAirflow

import demo.run
from demo.expectations import EXPECTATIONS
from demo.outcomes import RunOutcome
from demo.throwaway_airflow import AirflowStartError


class FinishedAirflow:
    """Stands where the demo starts its Airflow, with the run of one that has done its work."""

    def __init__(self, run: RunOutcome) -> None:
        self.run = run
        self.keep_home: bool | None = None

    def __call__(self, *args: Any, **options: Any) -> FinishedAirflow:
        return self

    def __enter__(self) -> FinishedAirflow:
        return self

    def __exit__(self, *error: object) -> None: ...

    def wait_for_run(self, dag_id: str, *, timeout_s: float, on_change: Callable[[RunOutcome], None]) -> RunOutcome:
        on_change(self.run)
        return self.run


@pytest.fixture
def finished(real_airflow: RealAirflow, monkeypatch: pytest.MonkeyPatch) -> FinishedAirflow:
    airflow = FinishedAirflow(real_airflow.finished_run(demo.run.DAG_ID))
    monkeypatch.setattr(demo.run, "ThrowawayAirflow", airflow)
    return airflow


def test_the_demo_ends_with_0_if_every_decision_is_the_expected_one(
    finished: FinishedAirflow, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.run.main() == 0
    assert "every decision is the expected one" in capsys.readouterr().out
    assert finished.keep_home is False


def test_the_demo_ends_with_1_and_says_what_differs_if_two_expectations_are_swapped(
    finished: FinishedAirflow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    swapped = {
        **EXPECTATIONS,
        "fetch_prices": EXPECTATIONS["fetch_archive"],
        "fetch_archive": EXPECTATIONS["fetch_prices"],
    }
    monkeypatch.setattr(demo.run, "EXPECTATIONS", swapped)
    assert demo.run.main() == 1
    shown = capsys.readouterr().out
    assert "Not as expected:" in shown
    assert "every decision is the expected one" not in shown
    assert finished.keep_home is True


def test_the_demo_ends_with_1_if_airflow_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(*args: object, **options: object) -> None:
        raise AirflowStartError("no port is free")

    monkeypatch.setattr(demo.run, "ThrowawayAirflow", refuses)
    assert demo.run.main() == 1
    assert "no port is free" in capsys.readouterr().out
