"""``airflow-common-ai report`` as people and programs run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from evals.replayed_run import label, row, run_of, written
from typer.testing import CliRunner

from airflow_common_ai.cli.report import report

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(report)

GATES = '[measure]\nmin_failures = 5\n[[bound]]\nmetric = "false_fails"\nat_most = {}\n'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    rows = [row(number) for number in range(40)] + [row(number, "fail", label("no")) for number in range(40, 60)]
    rows.append(row(60, "fail", label("yes"), split="dev"))
    return written(run_of(rows), tmp_path / "run.jsonl")


def called(*arguments: object, exit_code: int = 0) -> Any:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == exit_code, result.output
    return result


def gates(tmp_path: Path, at_most: float) -> Path:
    path = tmp_path / "gates.toml"
    path.write_text(GATES.format(at_most), "utf-8")
    return path


def test_each_file_is_written_in_the_format_of_its_suffix(run: Path, tmp_path: Path) -> None:
    names = ("a.html", "a.md", "a.junit.xml", "a.json")
    options = [option for name in names for option in ("-o", tmp_path / name)]
    shown = called(run, *options).stdout.splitlines()
    assert shown == [f"wrote {tmp_path / name}" for name in names]
    starts = [(tmp_path / name).read_text("utf-8")[:15] for name in names]
    assert starts == ["<!doctype html>", "## `a.module:po", "<?xml version='", '{\n  "version": ']


def test_the_json_is_the_score_and_the_verdict(run: Path, tmp_path: Path) -> None:
    called(run, "-o", tmp_path / "a.json", "--gates", gates(tmp_path, 0.5), "--title", "of mine")
    data = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert data["title"] == "of mine"
    assert data["actions"]["false_fails"]["hits"] == 1
    assert (data["verdict"]["status"], data["verdict"]["exit_code"]) == ("passed", 0)
    assert "score" not in data["verdict"]


def test_json_for_programs_is_what_the_file_holds(run: Path, tmp_path: Path) -> None:
    printed = called(run, "--json", "-o", tmp_path / "a.json").stdout
    assert json.loads(printed) == json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert json.loads(printed)["verdict"] is None


@pytest.mark.parametrize(("at_most", "exit_code", "words"), [(0.5, 0, "passed"), (0.001, 1, "failed")])
def test_gates_decide_the_exit_code_and_the_files_are_written_anyway(
    run: Path, tmp_path: Path, at_most: float, exit_code: int, words: str
) -> None:
    page = tmp_path / "a.html"
    assert f"gates: {words}" in called(run, "-o", page, "--gates", gates(tmp_path, at_most), exit_code=exit_code).stdout
    assert f"<strong>{words.capitalize()}</strong>" in page.read_text("utf-8")


def test_a_run_that_says_too_little_for_its_gates_exits_with_3_and_says_why(run: Path, tmp_path: Path) -> None:
    path = gates(tmp_path, 0.5)
    path.write_text(path.read_text("utf-8").replace("= 5", "= 500"), "utf-8")
    shown = called(run, "-o", tmp_path / "a.md", "--gates", path, exit_code=3).stdout
    assert "fewer than min_failures = 500" in shown
    assert "fewer than min_failures = 500" in (tmp_path / "a.md").read_text("utf-8")


def test_one_split_can_be_reported(run: Path) -> None:
    assert json.loads(called(run, "--json", "--split", "dev").stdout)["counts"]["failures"] == 1


@pytest.mark.parametrize("with_gates", [False, True])
def test_a_run_that_nobody_judged_exits_with_3_and_writes_nothing(tmp_path: Path, with_gates: bool) -> None:
    unlabelled = [row(number, label=None) for number in range(3)]
    run = written(run_of(unlabelled), tmp_path / "run.jsonl")
    options = ["--gates", gates(tmp_path, 0.5)] if with_gates else []
    result = called(run, "-o", tmp_path / "a.html", *options, exit_code=3)
    assert "no case with a label" in result.stderr
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to write. Name a file, e.g. -o report.html."),
        (["-o", "report.pdf"], "report.pdf must end in .html, .md, .xml, .json: the suffix says the format."),
        (["-o", "a.md", "-o", "a.md"], "a.md is named twice. Leave one of them out."),
        (["-o", "nowhere/a.md"], "nowhere/a.md cannot be written: No such file or directory. Name a file in a folder"),
        (["--json", "--gates", "gates.toml", "--split", "dev"], "--gates names split and prices itself."),
        (["--json", "--baseline", "run.jsonl"], "--baseline is for gates about drops. Give them with --gates"),
        (["--json", "--gates", "missing.toml"], "missing.toml cannot be read: No such file or directory."),
        (["--json", "--costs", "run.jsonl"], "run.jsonl: it is no TOML"),
    ],
)
def test_a_wrong_call_says_what_to_do(run: Path, options: list[str], message: str, monkeypatch: Any) -> None:
    monkeypatch.chdir(run.parent)
    result = called("run.jsonl", *options, exit_code=2)
    assert result.stdout == ""
    assert result.stderr.startswith(f"airflow-common-ai report: {message}")


def test_links_are_followed_neither_to_read_nor_to_write(run: Path, tmp_path: Path) -> None:
    link, precious = tmp_path / "link.jsonl", tmp_path / "precious.md"
    link.symlink_to(run)
    assert "is no regular file" in called(link, "--json", exit_code=2).stderr
    precious.write_text("precious", "utf-8")
    (tmp_path / "a.md").symlink_to(precious)
    called(run, "-o", tmp_path / "a.md")
    assert precious.read_text("utf-8") == "precious"
    assert not (tmp_path / "a.md").is_symlink()


def test_the_same_run_makes_the_same_bytes_in_any_process(run: Path, tmp_path: Path) -> None:
    program = "from airflow_common_ai.cli.report import app; app()"
    for number in ("1", "2"):
        folder = tmp_path / number
        folder.mkdir()
        options = [option for suffix in ("html", "md", "xml", "json") for option in ("-o", str(folder / f"a.{suffix}"))]
        environment = {**os.environ, "PYTHONHASHSEED": number, "LC_ALL": "C"}
        subprocess.run([sys.executable, "-c", program, str(run), *options], env=environment, check=True, timeout=120)
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "2" / path.name).read_bytes(), path.name
