"""``gates.toml`` is read strictly: what is misspelt would be a gate that is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_common_ai.evals.gates.gates_file import Bound, Demand, Drop, Measure, MustPass, read_gates
from airflow_common_ai.evals.scoring.costs import Costs

BOUND = '[[bound]]\nmetric = "right"\nat_least = 0.9\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "gates.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    gates = read_gates(
        written(
            tmp_path,
            '[measure]\nsplit = "gate"\nmin_failures = 300\nmax_unanswered = 0.0\nalpha = 0.01\n'
            "[costs]\nfalse_fail = 500\n"
            '[[bound]]\nmetric = "false_fails"\nat_most = 0.02\n'
            '[[bound]]\nmetric = "precision.auth"\nat_least = 0.8\n'
            '[[drop]]\nmetric = "right"\npractical = 0.02\n'
            '[[must_pass]]\nname = "asks are kept"\nids = ["requests_http/429-*"]\n'
            '[[must_pass]]\nname = "never failed"\ntags = ["must-retry"]\ndemand = "not_failed"\n',
        )
    )
    assert gates.measure == Measure("gate", 300, 0.0, 0.01)
    assert gates.bounds == (Bound("false_fails", at_most=0.02), Bound("precision.auth", at_least=0.8))
    assert gates.drops == (Drop("right", 0.02),)
    assert gates.must_pass == (
        MustPass("asks are kept", Demand.RIGHT, ids=("requests_http/429-*",)),
        MustPass("never failed", Demand.NOT_FAILED, tags=("must-retry",)),
    )
    assert gates.costs == Costs(false_fail=500.0)


def test_what_is_left_out_has_defaults(tmp_path: Path) -> None:
    gates = read_gates(written(tmp_path, BOUND))
    assert (gates.measure, gates.costs) == (Measure(), Costs())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no gate in it. Add at least one [[bound]], [[drop]] or [[must_pass]]."),
        (BOUND + "[mesure]\n", "mesure is no key of this file. Known here: measure, bound, drop, must_pass, costs."),
        (BOUND + "[mesure]\n", "Did you mean 'measure'?"),
        (BOUND + "[measure]\nmin_cases = 3\n", "measure.min_cases is no key of this file"),
        (BOUND + "[measure]\nmin_failures = 0\n", "measure.min_failures must be a whole number from 1 to"),
        (BOUND + "[measure]\nalpha = 5\n", "measure.alpha must be a number from 0.0001 to 0.5, got 5"),
        (BOUND + "[costs]\nfalse_fial = 3\n", "costs.false_fial is no key of this file"),
        ('[[bound]]\nmetric = "rigth"\nat_least = 0.9\n', "bound[0].metric must be one of right, "),
        ('[[bound]]\nmetric = "rigth"\nat_least = 0.9\n', "got 'rigth'. Did you mean 'right'?"),
        ("[[bound]]\nat_least = 0.9\n", "bound[0].metric must be one of"),
        ('[[bound]]\nmetric = "right"\n', "bound[0] must have either at_least or at_most. Write e.g. at_least = 0.9."),
        (BOUND + "at_most = 1\n", "bound[0] must have either at_least or at_most"),
        (BOUND + BOUND, "[[bound]] has 'right' twice. Keep one of them."),
        (
            '[bound]\nmetric = "right"\n',
            "bound must be a list of tables, got a value of type dict. Write it as [[bound]].",
        ),
        ("bound = [1]\n", "bound[0] must be a table, got 1. Write it as [bound[0]]."),
        ('[[drop]]\nmetric = "macro_f1"\n', "drop[0].metric must be one of right, settled, false_fails"),
        (
            '[[drop]]\nmetric = "right"\npractical = "1 %"\n',
            "drop[0].practical must be a number from 0 to 1, got '1 %'",
        ),
        ('[[must_pass]]\nname = "a"\n', 'must_pass[0] names no cases. Write e.g. tags = ["must-pass"]'),
        ('[[must_pass]]\nids = ["a"]\n', "must_pass[0].name must be a text of 1 to 200 characters, got nothing"),
        ('[[must_pass]]\nname = "a"\nids = "b"\n', "must_pass[0].ids must be a list of texts, got 'b'"),
        (
            '[[must_pass]]\nname = "a"\nids = ["b"]\ndemand = "ok"\n',
            "demand must be one of right, harmless, not_failed",
        ),
        ("[[bound]\n", "it is no TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_key_and_fix(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"gates\.toml: ") as refused:
        read_gates(written(tmp_path, text))
    assert message in str(refused.value)


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"gates\.toml: it cannot be read: No such file"):
        read_gates(tmp_path / "gates.toml")
    with pytest.raises(ValueError, match=r"it has more than 256 KiB\. Make it shorter"):
        read_gates(written(tmp_path, "#" * 300_000))
