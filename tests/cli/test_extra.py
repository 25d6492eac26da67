"""What a command says where the extra is not installed."""

from __future__ import annotations

import sys

import pytest
import typer

from airflow_common_ai.cli.extra import require_evals


def test_nothing_is_said_and_nothing_is_loaded_where_all_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    require_evals("score")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("missing", "asked", "needs"),
    [(["scipy"], (), "scipy"), (["sklearn", "vcr"], (), "scikit-learn, vcrpy"), (["vcr"], ("vcr",), "vcrpy")],
)
def test_a_missing_library_is_named_with_the_extra_that_has_it(
    missing: list[str],
    asked: tuple[str, ...],
    needs: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for module in missing:
        monkeypatch.setitem(sys.modules, module, None)  # type: ignore[arg-type]  # how Python marks what is not there
    with pytest.raises(typer.Exit) as ended:
        require_evals("score", *asked)
    assert ended.value.exit_code == 2
    said = f"airflow-common-ai score: needs {needs}. Install the extra: pip install 'airflow-common-ai[evals]'\n"
    assert capsys.readouterr().err == said


def test_a_library_that_the_command_does_not_use_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # type: ignore[arg-type]  # as above
    require_evals("run", "vcr")
